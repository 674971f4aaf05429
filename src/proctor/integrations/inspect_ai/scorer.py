"""The scorer `proctor_judge`: programs in model outputs, judged against the samples' tests.

The tests stay on the host; programs are judged in cells of their own, whatever the sample's
sandbox is, which sees neither.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from proctor import units
from proctor.errors import InfraFault, InputError
from proctor.evals import extraction
from proctor.formats import livecodebench
from proctor.json_values import convert_json
from proctor.judgement import Judgement
from proctor.judging.judge import judge_async
from proctor.judging.settings import JudgeSettings, Mode, Stop, default_limits
from proctor.languages import registry
from proctor.languages.run import default_pool
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict

_ROW = ("public_test_cases", "private_test_cases")


class _SampleTest(msgspec.Struct, forbid_unknown_fields=True):
    input: str
    output: str


@scorer(metrics=[accuracy(), stderr()])
def proctor_judge(
    *,
    mode: Mode = "standard",
    language: str = "python",
    extract: str = extraction.DEFAULT,
    cpu: float | str | None = None,
    memory: int | str | None = None,
    tolerance: float | None = None,
    partial: bool = False,
) -> Scorer:
    """Judge the program in the model's output by the tests in the sample's metadata.

    The metadata holds `tests`, a list of `{"input": ..., "output": ...}`, with `function` if it
    is to be called (one JSON value a line in `input`, one in `output`); or the fields of a row of
    LiveCodeBench. `language`, if the metadata names one, overrides that of the scorer. `cpu` and
    `memory` are limits per test, `extract` is one of proctor's policies. A score is C or I; with
    `partial` it is the fraction of tests passed. A fault of the task or of the machinery is no
    score: the sample is left out of the metrics, with `reason` task_fault or infra_fault.

    Raises UsageError for what the caller set wrongly, also while scoring: a sample without any
    tests in its metadata.
    """
    settings = _settings(mode, cpu, memory, tolerance, "never" if partial else "crash")
    if extract not in extraction.policies():
        raise InputError(f"{extract!r} is not one of {', '.join(extraction.policies())}")
    registry.get(language)

    async def score(state: TaskState, target: Target) -> Score:
        del target
        metadata = state.metadata
        spoken = str(metadata.get("language", language))
        reply = state.output.completion
        try:
            problem = _problem(str(state.sample_id), metadata)
        except _BrokenTests as fault:
            code = extraction.extract(reply, extract, spoken).code
            return unscored(Verdict.TASK_FAULT, str(fault), code)
        code = extraction.extract(reply, extract, spoken, problem.function).code
        try:
            judgement = await judge_async(
                problem, Program(code, spoken), settings=settings, pool=default_pool()
            )
        except InfraFault as fault:
            return unscored(Verdict.INFRA_FAULT, str(fault), code)
        return _score(judgement, problem, code, partial=partial)

    return score


class _BrokenTests(Exception):
    """The sample has tests that cannot be used."""


def _settings(
    mode: Mode,
    cpu: float | str | None,
    memory: int | str | None,
    tolerance: float | None,
    stop: Stop,
) -> JudgeSettings:
    limits = default_limits(mode)
    if cpu is not None:
        seconds = units.seconds(cpu, "cpu") if isinstance(cpu, str) else cpu
        limits = replace(limits, cpu=seconds)
    if memory is not None:
        size = units.size(memory, "memory") if isinstance(memory, str) else memory
        limits = replace(limits, memory=size)
    return JudgeSettings(mode=mode, limits=limits, tolerance=tolerance, stop=stop)


def _problem(sample: str, metadata: Mapping[str, Any]) -> Problem:
    if "tests" in metadata:
        try:
            cases = convert_json(metadata["tests"], list[_SampleTest])
            function = msgspec.convert(metadata.get("function"), str | None)
        except msgspec.ValidationError as error:
            raise _BrokenTests(f"the sample's tests cannot be used: {error}") from error
        return Problem(sample, tuple(Test(case.input, case.output) for case in cases), function)
    if not any(name in metadata for name in _ROW):
        raise InputError(
            f"sample {sample} has no tests: proctor_judge wants `tests`, or the fields of a row of"
            " LiveCodeBench, in its metadata"
        )
    try:
        return livecodebench.problem_of({"question_id": sample, **metadata})
    except InputError as error:
        raise _BrokenTests(f"the sample's tests cannot be used: {error}") from error


def _score(judgement: Judgement, problem: Problem, code: str, *, partial: bool) -> Score:
    verdict = judgement.verdict
    if verdict.is_fault:
        return unscored(verdict, judgement.message, code)
    if partial and not judgement.score_known:
        fault = next(each for each in judgement.tests if each.verdict.is_fault)
        return unscored(fault.verdict, fault.message, code)
    value: str | float = CORRECT if verdict.passed else INCORRECT
    return Score(
        value=judgement.score if partial else value,
        answer=code,
        explanation=f"{verdict}: {judgement.message}" if judgement.message else str(verdict),
        reason="invalid_response_format" if verdict is Verdict.NC else None,
        metadata={
            "verdict": str(verdict),
            "tests_passed": sum(test.verdict.passed for test in judgement.tests),
            "tests_run": len(judgement.tests),
            "tests": len(problem.tests),
            "cpu": sum(test.cpu for test in judgement.tests),
            "isolation": judgement.isolation.level if judgement.isolation else None,
        },
    )


def unscored(verdict: Verdict, message: str, code: str) -> Score:
    """Return the score of a sample that a fault kept from being judged: no metric counts it."""
    return Score.unscored(
        reason=verdict.lower(),
        answer=code,
        explanation=f"{verdict}: {message}",
        metadata={"verdict": str(verdict)},
    )
