"""LiveCodeBench's evaluation functions, answered by proctor's official mode.

Change the import and a script goes on as it was: names, signatures and return shapes are those of
lcb_runner at 28fef95, and so are the verdicts but for the departures in docs/reference/
lcb_runner.md. Programs run in cells, never in the calling process.

What cannot be judged is an error, not a failed program: InputError for a sample, a program or an
argument that cannot be used (found before anything is run), InfraFault where proctor's own
machinery failed, PlatformError where there is no isolation.

The cells may import what is installed beside numpy, if numpy is installed: lcb_runner does not
work without it, and some programs rely on that. `use_pool` puts another pool in its place.
"""

import json
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import msgspec

from proctor.errors import InfraFault, InputError, NotAllJudged
from proctor.formats.livecodebench import parse_json, schema_error
from proctor.formats.replies import between_last_fences
from proctor.integrations.pools import chosen_pool
from proctor.judgement import Judgement
from proctor.judging.judge import AHEAD, start
from proctor.judging.settings import OFFICIAL_LIMITS, JudgeSettings
from proctor.problem import Problem, Test
from proctor.reports.pass_at_k import mean_pass_at_k, pass_at_k
from proctor.sandbox.pool import Pool

__all__ = [
    "check_correctness",
    "codegen_check_correctness",
    "codegen_metrics",
    "compute_metrics_from_results",
    "estimate_pass_at_k",
    "evaluate_generations",
    "extract_code_generation",
    "extract_instance_results",
    "run_test",
    "use_pool",
]

Sample = Mapping[str, Any]
"""`{"input_output": text}`, where the text is JSON with `inputs`, `outputs` and `fn_name`."""
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
) -> list[Any]:
    """Judge every generation and return [metrics, results, metadata].

    metrics is what `compute_metrics_from_results` makes of the results; results are as in
    `evaluate_generations`; metadata has a list a problem, with a JSON text a generation.

    Arguments and errors are those of `evaluate_generations`; a `k` below 1 is an InputError too.
    """
    wanted = tuple(k_list)
    if any(_whole(k, "k_list") < 1 for k in wanted):
        raise InputError("k must be at least 1", field="k_list")
    results, metadata = evaluate_generations(
        samples_list, generations_list, debug, num_process_evaluate, timeout
    )
    metrics = compute_metrics_from_results(results, wanted)
    return [metrics, results, [[json.dumps(entry) for entry in metadata[i]] for i in metadata]]


def evaluate_generations(
    samples_list: Sequence[Sample],
    generations_list: Sequence[Sequence[str]],
    debug: bool = False,  # noqa: ARG001 - upstream's; it prints more, and proctor prints nothing
    num_process_evaluate: int = 16,
    timeout: int = 6,
) -> tuple[Results, dict[int, list[dict[str, Any]]]]:
    """Judge every generation; return results and metadata, both by problem, then by generation.

    `generations_list` has a list of programs for each sample, in the same order. At most
    `num_process_evaluate` programs run at once, and never more than the pool has cells. `timeout`
    is in whole seconds, per test. `debug` changes nothing.

    Raises InputError, before anything is run, for a sample that has no tests, or unequal numbers
    of inputs and outputs, or another shape than `Sample`; for samples and generations of unequal
    number; for a problem without a generation. Raises NotAllJudged, an InfraFault, rather than
    score a program that was not judged; it has what was found of all others.
    """
    settings = _settings(timeout)
    most = _whole(num_process_evaluate, "num_process_evaluate")
    if most < 1:
        raise InputError("must be at least 1", field="num_process_evaluate")
    _check(samples_list, generations_list)
    results: dict[int, list[Any]] = {
        i: [None] * len(entry) for i, entry in enumerate(generations_list)
    }
    metadata: dict[int, list[Any]] = {i: [None] * len(results[i]) for i in results}
    faults: list[str] = []
    every = _generations(samples_list, generations_list)
    for task, judgement in _judge_all(every, settings, most):
        report = judgement.upstream
        if judgement.verdict.is_fault or report is None:
            faults.append(_fault(task, judgement))
        else:
            results[task.sample][task.generation] = list(report.results)
            metadata[task.sample][task.generation] = dict(report.metadata)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise NotAllJudged(faults[0] + more, results, metadata)
    return results, metadata


def check_correctness(
    sample: Sample,
    generation: str,
    timeout: int,
    debug: bool = True,  # noqa: ARG001 - upstream's
) -> tuple[list[int], dict[str, Any]]:
    """Judge one program; return its results and metadata, as in `evaluate_generations`.

    Where upstream's process leaves no result, this returns what its `codegen_metrics` reports
    then, [-2] and TestRunnerError, instead of raising IndexError.
    """
    settings = _settings(timeout)
    only = [
        _Generation(0, 0, _problem(sample, "sample"), _checked_program(generation, "generation"))
    ]
    [(task, judgement)] = _judge_all(only, settings, 1)
    if judgement.verdict.is_fault or judgement.upstream is None:
        raise InfraFault(_fault(task, judgement))
    return list(judgement.upstream.results), dict(judgement.upstream.metadata)


codegen_check_correctness = check_correctness
"""The name this has in OpenCompass and its relatives. The codes are lcb_runner's."""


def run_test(
    sample: Sample,
    test: str | None = None,
    debug: bool = False,
    timeout: int = 6,
) -> tuple[list[int], dict[str, Any]]:
    """`check_correctness` with its arguments in another order; `test` is the program.

    Unlike upstream's it leaves the calling process as it is: no signal handler, no functions
    removed from `os`. Raises InputError without a program.
    """
    if test is None:
        raise InputError("is missing; give the program to be judged", field="test")
    return check_correctness(sample, test, timeout, debug)


def estimate_pass_at_k(
    num_samples: SupportsIndex | Iterable[int], num_correct: Iterable[int], k: int
) -> Any:
    """Return pass@k of each problem; `num_samples` is one number for all or one for each.

    Returns a numpy array where numpy can be imported, since callers use its methods, else a list
    of floats. NaN stands for a problem with fewer than `k` samples, for which upstream says 1.

    Raises InputError for counts that cannot be, or that differ in number.
    """
    correct = [operator.index(c) for c in num_correct]
    if isinstance(num_samples, Iterable):
        samples = [operator.index(n) for n in num_samples]
    else:
        samples = [operator.index(num_samples)] * len(correct)
    if len(samples) != len(correct):
        raise InputError(
            f"has {len(samples)} numbers, num_correct {len(correct)}", field="num_samples"
        )
    estimates = (pass_at_k(n, c, k) for n, c in zip(samples, correct, strict=True))
    values = [math.nan if estimate is None else estimate for estimate in estimates]
    try:
        import numpy as np
    except ImportError:
        return values
    return np.array(values)


def compute_metrics_from_results(
    results: Mapping[Any, Sequence[Sequence[int]]], k_list: Iterable[int] = (1, 5)
) -> dict[str, Any]:
    """`{"pass@k": mean, ..., "detail": {"pass@k": {problem: value}, ...}}`, all plain floats.

    A `k` is left out unless every problem has that many generations, and all are if there is no
    problem. A generation passes if all its tests did; without tests it does not.
    """
    counts = {task: (len(of), sum(map(_passed, of))) for task, of in results.items()}
    metrics: dict[str, Any] = {}
    detail: dict[str, dict[Any, float | None]] = {}
    for k in k_list:
        mean = mean_pass_at_k(counts.values(), k)
        if mean is not None:
            metrics[f"pass@{k}"] = mean
            detail[f"pass@{k}"] = {task: pass_at_k(n, c, k) for task, (n, c) in counts.items()}
    return {**metrics, "detail": detail}


def extract_instance_results(results: Mapping[Any, Sequence[Sequence[int]]]) -> list[list[bool]]:
    """Return for each generation if it passes: a list a problem, in order of the problems' keys."""
    return [[_passed(generation) for generation in results[task]] for task in sorted(results)]


def extract_code_generation(model_output: str, model_type: str = "chat") -> str:
    """Return the program in a model's reply.

    chat: the lines between the last two that hold a Markdown fence, and "" if there are no two.
    base: all of it, stripped. Raises InputError for another `model_type`.
    """
    if model_type == "base":
        return model_output.strip()
    if model_type != "chat":
        raise InputError(f"is chat or base, not {model_type!r}", field="model_type")
    return between_last_fences(model_output)


def use_pool(pool: Pool | None) -> None:
    """Judge in this pool from now on, in this process; None goes back to the module's own.

    The caller still has to close it, after the last call.
    """
    chosen_pool.use(pool)


@dataclass(frozen=True, slots=True)
class _Generation:
    sample: int
    generation: int
    problem: Problem
    program: str


class _InputOutput(msgspec.Struct):
    # Upstream takes the lines of a stdin as a list, too.
    inputs: list[str | list[str]]
    outputs: list[str]
    fn_name: str | None = None


def _check(samples: Sequence[Sample], generations: Sequence[Sequence[str]]) -> None:
    """Raise InputError for what would otherwise be found halfway through a long run."""
    if len(samples) != len(generations):
        raise InputError(
            f"has {len(generations)} lists for {len(samples)} samples; give one list a sample",
            field="generations_list",
        )
    for index, entry in enumerate(generations):
        place = f"generations_list[{index}]"
        if not isinstance(entry, list | tuple):
            raise InputError(f"is a list of programs, not {type(entry).__name__}", field=place)
        if not entry:
            raise InputError('is empty; where a model gave no program, give ""', field=place)
        for number, program in enumerate(entry):
            _checked_program(program, f"{place}[{number}]")
    for index, sample in enumerate(samples):
        _problem(sample, f"samples_list[{index}]")


def _checked_program(program: object, place: str) -> str:
    if not isinstance(program, str):
        kind = type(program).__name__
        raise InputError(f"a program is a string of source text, not {kind}", field=place)
    return program


def _generations(
    samples: Sequence[Sample], generations: Sequence[Sequence[str]]
) -> Iterator[_Generation]:
    # One problem after the other, read when its turn comes: a benchmark's tests are gigabytes.
    for index, (sample, programs) in enumerate(zip(samples, generations, strict=True)):
        problem = _problem(sample, f"samples_list[{index}]")
        for number, program in enumerate(programs):
            yield _Generation(index, number, problem, program)


def _problem(sample: Sample, place: str) -> Problem:
    """Raises InputError for a sample that no program can be judged by."""
    text = sample.get("input_output") if isinstance(sample, Mapping) else None
    if not isinstance(text, str):
        raise InputError('is not a dict with a JSON string at "input_output"', field=place)
    place += ".input_output"
    try:
        content = msgspec.convert(parse_json(text), _InputOutput)
    except msgspec.ValidationError as error:
        raise schema_error(error, within=place) from error
    except InputError as error:
        raise InputError(error.message, field=place) from error
    inputs, outputs, function = content.inputs, content.outputs, content.fn_name
    if len(inputs) != len(outputs):
        raise InputError(f"has {len(inputs)} inputs but {len(outputs)} outputs", field=place)
    if not inputs:
        raise InputError(
            "has no tests, so that any program would pass; leave the problem out", field=place
        )
    if function is not None and not function.isidentifier():
        raise InputError(
            f"{function[:40]!r} is not the name of a function; null is for stdin and stdout",
            field=f"{place}.fn_name",
        )
    tests = (
        Test(entry if isinstance(entry, str) else "\n".join(entry), output)
        for entry, output in zip(inputs, outputs, strict=True)
    )
    return Problem(place, tuple(tests), function)


def _settings(timeout: int) -> JudgeSettings:
    seconds = _whole(timeout, "timeout")
    if seconds < 1:
        raise InputError("must be at least 1 second", field="timeout")
    return JudgeSettings(mode="official", limits=replace(OFFICIAL_LIMITS, cpu=seconds))


def _whole(value: SupportsIndex, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError as error:
        raise InputError(f"must be a whole number, not {value!r}", field=name) from error


def _judge_all(
    generations: Iterable[_Generation], settings: JudgeSettings, most: int
) -> Iterator[tuple[_Generation, Judgement]]:
    """Yield judgements as they come, with at most `most` on their way."""
    # After an error the few that are on their way run to their end in the pool, unheard.
    pool = chosen_pool.get()
    most = min(most, pool.cells * AHEAD)
    running: dict[Future[Judgement], _Generation] = {}
    for task in generations:
        if len(running) >= most:
            yield from _take(running)
        running[start(task.problem, task.program, settings, pool)] = task
    while running:
        yield from _take(running)


def _take(running: dict[Future[Judgement], _Generation]) -> Iterator[tuple[_Generation, Judgement]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield running.pop(future), future.result()


def _fault(task: _Generation, judgement: Judgement) -> str:
    return (
        f"sample {task.sample}, generation {task.generation} could not be judged:"
        f" {judgement.message}"
    )


def _passed(generation: Sequence[int]) -> bool:
    return len(generation) > 0 and all(result > 0 for result in generation)
