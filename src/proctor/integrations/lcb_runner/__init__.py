"""LiveCodeBench's evaluation functions, answered by proctor's official mode.

After a change of its import a script runs unchanged: modules, names, signatures and return shapes
are those of `lcb_runner.evaluation` at 28fef95, and so are the verdicts but for the departures in
docs/reference/lcb_runner.md. Programs run in cells, never in the calling process.

What cannot be judged is an error, not a failed program: InputError for a sample, a program or an
argument that cannot be used (found before anything is run), InfraFault where proctor's own
machinery failed, PlatformError where there is no isolation.

The cells may import what is installed beside numpy, if numpy is installed: lcb_runner does not
work without it, and some programs rely on that. `use_pool` puts another pool in its place.
"""

from proctor.integrations.lcb_runner.compute_code_execution_metrics import code_execution_metrics
from proctor.integrations.lcb_runner.compute_code_generation_metrics import (
    check_correctness,
    codegen_check_correctness,
    codegen_metrics,
    evaluate_generations,
    evaluate_generations_by_problem,
)
from proctor.integrations.lcb_runner.compute_test_output_prediction_metrics import (
    check_testcase_output,
    parse_assert_statement,
    test_output_metrics,
)
from proctor.integrations.lcb_runner.extraction_utils import (
    extract_code,
    extract_code_generation,
    extract_execution_code,
    extract_test_output_code,
)
from proctor.integrations.lcb_runner.judgements import use_pool
from proctor.integrations.lcb_runner.pass_k_utils import (
    compute_metrics_from_results,
    estimate_pass_at_k,
    extract_instance_results,
)
from proctor.integrations.lcb_runner.testing_util import (
    CODE_TYPE,
    Capturing,
    clean_if_name,
    compile_code,
    grade_call_based,
    grade_stdio,
    import_string,
    make_function,
    reliability_guard,
    run_test,
)

__all__ = [
    "CODE_TYPE",
    "Capturing",
    "check_correctness",
    "check_testcase_output",
    "clean_if_name",
    "code_execution_metrics",
    "codegen_check_correctness",
    "codegen_metrics",
    "compile_code",
    "compute_metrics_from_results",
    "estimate_pass_at_k",
    "evaluate_generations",
    "evaluate_generations_by_problem",
    "extract_code",
    "extract_code_generation",
    "extract_execution_code",
    "extract_instance_results",
    "extract_test_output_code",
    "grade_call_based",
    "grade_stdio",
    "import_string",
    "make_function",
    "parse_assert_statement",
    "reliability_guard",
    "run_test",
    "test_output_metrics",
    "use_pool",
]
