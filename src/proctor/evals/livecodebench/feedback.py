"""Feedback to a model on a program that failed.

For lcb_runner's verdicts it shows the metadata beside the error code, as lcb_runner's own prompts
do (source: get_check_prompt in lcb_runner/prompts/self_repair.py), except that any of it may be
missing and every code has words. For a contest judge's verdicts it shows nothing of a hidden test.
"""

import json
from collections.abc import Mapping
from typing import Any

from proctor.evals.stored import SampleJudgement
from proctor.judging.official.upstream import TEST_RUNNER_ERROR, shorten
from proctor.problem import Problem
from proctor.verdict import Verdict

_CODES: Mapping[Any, str] = {
    -1: "It does not compile.",
    -2: "It gives a wrong answer.",
    -3: "It runs out of time.",
    -4: "It fails with an error.",
    TEST_RUNNER_ERROR: "Its process ended in the middle of the tests: it crashed, ended itself, or "
    "used too much time or memory.",
}
_VERDICTS = {
    Verdict.WA: "gives a wrong answer",
    Verdict.PE: "gives its answer in a wrong form",
    Verdict.PA: "gives an answer that is right in parts only",
    Verdict.TLE: "runs out of CPU time",
    Verdict.ILE: "waits instead of going on, until its time is over",
    Verdict.MLE: "uses too much memory",
    Verdict.OLE: "writes too much",
    Verdict.RE: "fails with an error",
    Verdict.CE: "does not compile",
}
_SHOWN = (("Input", "inputs"), ("Its output", "output"), ("Expected output", "expected"),
          ("Error", "error"))  # fmt: skip


def feedback(problem: Problem, judged: SampleJudgement) -> str:
    """Describe a failure."""
    if judged.mode == "official":
        report = json.loads(judged.upstream) if judged.upstream else {}
        return _of_upstream(report.get("metadata") or {})
    return _of_a_contest(problem, judged)


def _of_upstream(metadata: Mapping[str, Any]) -> str:
    code = metadata.get("error_code")
    said = _CODES.get(code, "It does not pass the tests.")
    if code == TEST_RUNNER_ERROR:
        return said  # the other fields are about the evaluator, not the program
    parts = [_part(title, metadata[name]) for title, name in _SHOWN if name in metadata]
    if not parts and metadata.get("error_message"):
        parts = [_part("Error", metadata["error_message"])]
    return said + "".join(parts)


def _of_a_contest(problem: Problem, judged: SampleJudgement) -> str:
    said = _VERDICTS.get(Verdict(judged.verdict), "does not pass the tests")
    results = json.loads(judged.tests)
    failed = next((n for n, each in enumerate(results) if each["verdict"] != Verdict.AC), None)
    if failed is None or failed >= len(problem.tests):
        return f"It {said}.{_part('Error', judged.message) if judged.message else ''}"
    where = f"It {said} on test {failed + 1} of {len(problem.tests)}"
    test = problem.tests[failed]
    if not test.public:
        return f"{where}, which is hidden."
    message = results[failed].get("message")
    return (
        f"{where}, which is public."
        + _part("Input", test.input)
        + _part("Expected output", test.output)
        + (_part("Judge", message) if message else "")
    )


def _part(title: str, value: object) -> str:
    return f"\n\n{title}:\n{fenced(shorten(value), 'text')}"


def fenced(text: str, language: str) -> str:
    """Return a text as a fenced block of Markdown, even if it holds fences itself."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
