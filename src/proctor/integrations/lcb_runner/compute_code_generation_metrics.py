"""lcb_runner.evaluation.compute_code_generation_metrics: many programs on many problems."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proctor.errors import InputError
from proctor.integrations.lcb_runner.judgements import (
    Memory,
    NumberedProgram,
    Progress,
    judge_all,
    settings_of,
)
from proctor.integrations.lcb_runner.pass_k_utils import (
    Port,
    compute_metrics_from_results,
    unit_of,
)
from proctor.integrations.lcb_runner.samples import (
    Sample,
    check_lists,
    check_programs,
    problem_of_sample,
    whole,
)
from proctor.integrations.lcb_runner.testing_util import Outcome, run_test
from proctor.judgement import Judgement
from proctor.judging.settings import Codes

__all__ = [
    "check_correctness",
    "codegen_check_correctness",
    "codegen_metrics",
    "compute_metrics_from_results",
    "evaluate_generations",
    "evaluate_generations_by_problem",
    "run_test",
]

Results = dict[int, list[list[int]]]
"""By problem, then by generation: True for each passed test, then a code if one failed."""

_K_LIST = (1, 5, 10, 20, 40, 50, 75, 100, 125, 150, 200, 500, 1000)


def codegen_metrics(
    samples_list: Sequence[Sample],
    generations_list: Sequence[Sequence[str]],
    k_list: Iterable[int] = _K_LIST,
    num_process_evaluate: int = 16,
    timeout: int = 6,
    debug: bool = False,
    *,
    codes: Codes = "upstream",
    memory: Memory = None,
    progress: Progress | None = None,
    port: Port = "upstream",
) -> list[Any]:
    """Judge every generation and return [metrics, results, metadata].

    metrics is what `compute_metrics_from_results` makes of the results; results are as in
    `evaluate_generations`; metadata has a list a problem, with a JSON text a generation. `port` is
    that of `compute_metrics_from_results`.

    Arguments and errors are those of `evaluate_generations`; a `k` below 1 is an InputError too.
    """
    wanted = tuple(whole(k, "k_list") for k in k_list)
    unit_of(port)
    results, metadata = evaluate_generations(
        samples_list,
        generations_list,
        debug,
        num_process_evaluate,
        timeout,
        codes=codes,
        memory=memory,
        progress=progress,
    )
    metrics = compute_metrics_from_results(results, wanted, port=port)
    return [metrics, results, [[json.dumps(entry) for entry in metadata[i]] for i in metadata]]


def evaluate_generations(
    samples_list: Sequence[Sample],
    generations_list: Sequence[Sequence[str]],
    debug: bool = False,  # noqa: ARG001 - upstream's; it prints more, and proctor prints nothing
    num_process_evaluate: int = 16,
    timeout: int = 6,
    *,
    codes: Codes = "upstream",
    memory: Memory = None,
    progress: Progress | None = None,
) -> tuple[Results, dict[int, list[dict[str, Any]]]]:
    """Judge every generation; return results and metadata, both by problem, then by generation.

    `generations_list` has a list of programs for each sample, in the same order. At most
    `num_process_evaluate` programs run at once, and never more than the pool has cells. `timeout`
    is in whole seconds, per test. `debug` changes nothing. `codes="ports"` gives the error codes of
    lcb_runner's ports in training frameworks, `memory` is each program's limit, and `progress` is
    called after each program with how many are judged and how many there are.

    Raises InputError, before anything is run, for a sample that has no tests, or unequal numbers
    of inputs and outputs, or another shape than `Sample`; for samples and generations of unequal
    number; for a problem without a generation. Raises NotAllJudged, an InfraFault, rather than
    score a program that was not judged; it has the results of all others.
    """
    settings = settings_of(timeout, codes, memory)
    most = whole(num_process_evaluate, "num_process_evaluate")
    check_lists(samples_list, generations_list)
    for index, sample in enumerate(samples_list):  # checked before a long run, not in its middle
        problem_of_sample(sample, f"samples_list[{index}]")
    return judge_all(
        _each(samples_list, generations_list),
        [len(entry) for entry in generations_list],
        settings,
        _found,
        most=most,
        progress=progress,
    )


def evaluate_generations_by_problem(
    args: Sequence[Any], *, codes: Codes = "upstream", memory: Memory = None
) -> tuple[list[list[int]], list[dict[str, Any]]]:
    """Judge the programs of one problem; return their results and their metadata.

    `args` are programs, sample, debug and timeout. Errors are those of `evaluate_generations`.
    """
    if len(args) != 4:
        raise InputError("are programs, sample, debug and timeout", field="args")
    programs, sample, debug, timeout = args
    check_programs(programs, "args[0]")
    results, metadata = evaluate_generations(
        [sample], [programs], debug, timeout=timeout, codes=codes, memory=memory
    )
    return results[0], metadata[0]


def check_correctness(
    sample: Sample,
    generation: str,
    timeout: int,
    debug: bool = True,
    *,
    codes: Codes = "upstream",
    memory: Memory = None,
) -> Outcome:
    """`run_test` with its arguments in another order; `generation` is the program."""
    return run_test(sample, generation, debug, timeout, codes=codes, memory=memory)


codegen_check_correctness = check_correctness
"""The name this has in OpenCompass and its relatives. The codes are lcb_runner's."""


def _each(
    samples: Sequence[Sample], generations: Sequence[Sequence[str]]
) -> Iterator[NumberedProgram]:
    for index, (sample, programs) in enumerate(zip(samples, generations, strict=True)):
        problem = problem_of_sample(sample, f"samples_list[{index}]")
        for number, program in enumerate(programs):
            yield NumberedProgram(index, number, problem, program)


def _found(judgement: Judgement) -> Outcome:
    assert judgement.upstream is not None  # official mode always sets it
    return list(judgement.upstream.results), dict(judgement.upstream.metadata)
