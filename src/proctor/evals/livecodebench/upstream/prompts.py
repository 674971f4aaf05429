"""Prompts of lcb_runner for one instance of each scenario, equal to its own byte for byte."""

import json

from proctor.evals.livecodebench.upstream.names import parse
from proctor.evals.livecodebench.upstream.templates import templates
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo, SampleJudgement
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import Problem

_SHOWN = ("error", "inputs", "output", "expected")
_KNOWN = frozenset({-1, -2, -3, -4})
"""Error codes for which upstream has words; of others it says nothing, or fails."""


def generation(problem: Problem, settings: Settings) -> tuple[Message, ...]:
    """Ask for a program."""
    return templates(settings, "codegeneration").fill(
        "starter" if problem.starter_code else "stdin",
        statement=problem.statement,
        starter=problem.starter_code,
    )


def repair(
    problem: Problem, code: str, judged: SampleJudgement | None, settings: Settings
) -> tuple[Message, ...]:
    """Ask for the repair of a program that failed in mode official.

    A field that the verdict lacks is empty, where upstream fails with a KeyError.
    """
    report = json.loads(judged.upstream) if judged is not None and judged.upstream else {}
    metadata = report.get("metadata") or {}
    error_code = metadata.get("error_code")
    return templates(settings, "selfrepair").fill(
        str(error_code) if error_code in _KNOWN else "",
        statement=problem.statement,
        code=code,
        **{name: str(metadata.get(name, "")) for name in _SHOWN},
    )


def output_prediction(
    info: ProblemInfo, task: AssertionTask, settings: Settings
) -> tuple[Message, ...]:
    """Ask for the right side of an assertion."""
    function, _, arguments = task.call.partition("(")
    return templates(settings, "testoutputprediction").fill(
        "",
        statement=info.statement,
        starter=info.starter_code,
        function=function,
        input=arguments.removesuffix(")"),
    )


def execution(task: CallTask, settings: Settings) -> tuple[Message, ...]:
    """Ask for what a call returns."""
    return templates(settings, "codeexecution").fill(
        "cot" if parse(settings.prompt).cot else "", code=task.code, input=task.call
    )
