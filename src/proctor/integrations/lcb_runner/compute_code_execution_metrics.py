"""lcb_runner.evaluation.compute_code_execution_metrics: predictions of a call's result."""

from collections.abc import Iterator, Sequence
from typing import Any

from proctor import reports
from proctor.errors import InputError
from proctor.integrations.lcb_runner.judgements import (
    Memory,
    NumberedProgram,
    Progress,
    judge_all,
    settings_of,
)
from proctor.integrations.lcb_runner.pass_k_utils import Port, standard_error, unit_of
from proctor.integrations.lcb_runner.samples import (
    Sample,
    check_lists,
    check_programs,
    text_at,
)
from proctor.integrations.lcb_runner.utils_execute import BASE_IMPORTS, check_correctness
from proctor.judgement import Judgement
from proctor.prediction import CallTask
from proctor.problem import Problem

__all__ = [
    "BASE_IMPORTS",
    "check_correctness",
    "code_execution_metrics",
    "evaluate_score",
    "pass_at_k",
]

SECONDS = 3
"""Upstream's time-out of one assertion."""

Reference = tuple[str, str, str]
"""A program, a call in it, and what that returns, all as Python text."""


def code_execution_metrics(
    samples: Sequence[Sample],
    generations: Sequence[Sequence[str]],
    *,
    memory: Memory = None,
    progress: Progress | None = None,
    port: Port = "upstream",
) -> list[Any]:
    """Judge every prediction and return [{"pass@1": per cent}, results].

    A sample has `code`, `input` and `output`. Results are by sample: a list with True or False for
    each prediction. One that repeats the call is left out, as upstream does; if all do, each is
    False. `memory` and `progress` are those of `evaluate_generations`. With `port="nvidia"` pass@1
    is a share of 1, with `pass@1_stderr` beside it.

    Raises InputError, before anything is run, for another shape and for no samples at all, and
    NotAllJudged rather than score a prediction that was not judged.
    """
    unit_of(port)
    check_lists(samples, generations)
    references = [_reference(sample, f"samples[{i}]") for i, sample in enumerate(samples)]
    if not references:
        raise InputError("is empty: there is no mean of nothing", field="samples")
    found = _judged(references, generations, memory, progress)
    unit = 1 if port == "nvidia" else 100
    rates = [unit * each.count(True) / len(each) for each in found]
    metrics = {"pass@1": sum(rates) / len(rates)}
    if port == "nvidia":
        metrics["pass@1_stderr"] = standard_error(rates)
    return [metrics, {i: [[right] for right in each] for i, each in enumerate(found)}]


def evaluate_score(args: tuple[Sequence[str], Reference]) -> list[bool]:
    """Judge the predictions of one call: (predictions, (code, input, output)).

    Predictions that repeat the call are left out; where all do, each is False.
    """
    predictions, reference = args
    check_programs(predictions, "args[0]")
    return _judged([reference], [predictions], None, None)[0]


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return pass@k of one problem with `n` samples of which `c` are right.

    1 for fewer than `k` samples, as upstream has it. Raises InputError for counts that cannot be.
    """
    found = reports.pass_at_k.pass_at_k(n, c, k)
    return 1.0 if found is None else found


def _reference(sample: Sample, place: str) -> Reference:
    code, call, output = (text_at(sample, key, place) for key in ("code", "input", "output"))
    return code, call, output


def _judged(
    references: Sequence[Reference],
    generations: Sequence[Sequence[str]],
    memory: Memory,
    progress: Progress | None,
) -> list[list[bool]]:
    asked = [
        [text for text in texts if call not in text]
        for texts, (_, call, _) in zip(generations, references, strict=True)
    ]
    results, _ = judge_all(
        _each(references, asked),
        [len(texts) for texts in asked],
        settings_of(SECONDS, memory=memory),
        _found,
        progress=progress,
    )
    return [results[i] or [False] * len(texts) for i, texts in enumerate(generations)]


def _each(
    references: Sequence[Reference], asked: Sequence[Sequence[str]]
) -> Iterator[NumberedProgram]:
    for index, ((code, call, output), texts) in enumerate(zip(references, asked, strict=True)):
        task = CallTask(code, call.partition("(")[0], call, output, lcb=True)
        problem = Problem(f"samples[{index}]", (), running=task)
        for number, text in enumerate(texts):
            yield NumberedProgram(index, number, problem, text)


def _found(judgement: Judgement) -> tuple[bool, None]:
    return judgement.verdict.passed, None
