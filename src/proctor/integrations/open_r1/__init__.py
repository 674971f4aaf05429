"""The scoring functions of open-r1's IOI and Codeforces pipelines, on proctor instead of Piston.

Names, arguments and results are those of `open_r1.utils.competitive_programming` and of
huggingface/ioi's `run_tests`, so that a change of the import is enough; submodules have their names
there. What is different, since it was wrong there:

- a fault of the machine or of the task raises, and is never a score of 0;
- `test_batch_size` below 1 runs all tests at once, as documented there; there it ran none;
- a wrong answer that a checker finds is WA; there it was RE;
- programs are compiled once, in a cell that holds no test, and cannot reach answer or checker.
"""

from proctor.integrations.open_r1.cf_scoring import score_submission
from proctor.integrations.open_r1.ioi_scoring import (
    SubtaskResult,
    TestResult,
    run_submission,
    score_single_test_case,
    score_subtask,
    score_subtasks,
)
from proctor.integrations.open_r1.ioi_utils import add_includes, load_ioi_tests
from proctor.integrations.open_r1.piston_client import (
    OpenR1Client,
    PistonClient,
    PistonError,
    get_piston_client_from_env,
)
from proctor.integrations.open_r1.selection_simulator import (
    get_problem_scores,
    get_submission_cot_length,
    simulate_round_robin,
)

Client = OpenR1Client

__all__ = [
    "Client",
    "PistonClient",
    "PistonError",
    "SubtaskResult",
    "TestResult",
    "add_includes",
    "get_piston_client_from_env",
    "get_problem_scores",
    "get_submission_cot_length",
    "load_ioi_tests",
    "run_submission",
    "score_single_test_case",
    "score_submission",
    "score_subtask",
    "score_subtasks",
    "simulate_round_robin",
]
