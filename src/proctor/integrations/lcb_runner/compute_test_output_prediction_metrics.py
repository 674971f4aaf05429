"""lcb_runner.evaluation.compute_test_output_prediction_metrics: predictions as assertions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proctor.errors import InputError
from proctor.formats.livecodebench import parse_json
from proctor.integrations.lcb_runner.in_cell import changed
from proctor.integrations.lcb_runner.judgements import (
    Memory,
    NumberedProgram,
    Progress,
    judge_all,
    judge_alone,
    settings_of,
)
from proctor.integrations.lcb_runner.pass_k_utils import compute_metrics_from_results
from proctor.integrations.lcb_runner.samples import (
    Sample,
    check_lists,
    checked_program,
    text_at,
    whole,
)
from proctor.judgement import Judgement
from proctor.prediction import AssertionTask
from proctor.problem import Problem

__all__ = [
    "check_testcase_output",
    "compute_metrics_from_results",
    "parse_assert_statement",
    "test_output_metrics",
]

SECONDS = 3
"""Time-out of one prediction; upstream has none."""


def test_output_metrics(
    samples: Sequence[Sample],
    generations: Sequence[Sequence[str]],
    k_list: Iterable[int] = (1, 5),  # noqa: PT028 - upstream's name, no test
    *,
    memory: Memory = None,  # noqa: PT028
    progress: Progress | None = None,  # noqa: PT028
) -> list[Any]:
    """Judge every prediction and return [metrics, results].

    A sample's `output` is the right value as JSON. Results are by sample: a list with True or False
    for each prediction. metrics is what `compute_metrics_from_results` makes of them. `memory` and
    `progress` are those of `evaluate_generations`.

    Raises InputError, before anything is run, for another shape, and NotAllJudged rather than score
    a prediction that was not judged.
    """
    wanted = tuple(whole(k, "k_list") for k in k_list)
    check_lists(samples, generations)
    problems = [
        _problem(text_at(sample, "output", place), place)
        for place, sample in ((f"samples[{i}]", sample) for i, sample in enumerate(samples))
    ]
    results, _ = judge_all(
        _each(problems, generations),
        [len(texts) for texts in generations],
        settings_of(SECONDS, memory=memory),
        _found,
        progress=progress,
    )
    return [compute_metrics_from_results(results, wanted), results]


def check_testcase_output(testcase_str: str, expected_output: str) -> bool:
    """Return whether a prediction, an assertion or a value, equals the expected JSON.

    Raises InputError if the expected output is not JSON, InfraFault.
    """
    problem = _problem(expected_output, "expected_output")
    text = checked_program(testcase_str, "testcase_str")
    return judge_alone(NumberedProgram(0, 0, problem, text), settings_of(SECONDS)).verdict.passed


def parse_assert_statement(statement: str) -> str:
    """Return the text behind the == of an assertion, or a few words that say why there is none."""
    return changed("parse_assert_statement", statement) or "Invalid syntax"


def _problem(output: str, place: str) -> Problem:
    try:
        parse_json(output)
    except InputError as error:
        raise InputError(f"the right output is not JSON: {error.message}", field=place) from error
    return Problem(place, (), running=AssertionTask("", output))


def _each(
    problems: Sequence[Problem], generations: Sequence[Sequence[str]]
) -> Iterator[NumberedProgram]:
    for index, (problem, texts) in enumerate(zip(problems, generations, strict=True)):
        for number, text in enumerate(texts):
            yield NumberedProgram(index, number, problem, text)


def _found(judgement: Judgement) -> tuple[list[bool], None]:
    return [judgement.verdict.passed], None
