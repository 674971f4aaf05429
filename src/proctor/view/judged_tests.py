"""Tests of a judged sample with their contents, which come from the source of the run."""

import threading
from itertools import islice
from pathlib import Path

import msgspec

from proctor.errors import InputError, NotFound
from proctor.evals.replaying.recorded import InputFiles, RecordedJudgement
from proctor.evals.replaying.runs import of_run
from proctor.evals.store_file import stamp
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import Problem, Test
from proctor.view.cut import CutText
from proctor.view.sample import TestLine

PAGE = 20
"""Most tests in one answer."""
MOST = 4_000
"""Bytes of an input or output that are shown at once."""
_KEPT = 2


class JudgedTest(msgspec.Struct, frozen=True):
    """A test and its outcome."""

    name: str
    public: bool
    outcome: TestLine | None
    """None if it was not run."""
    input: CutText
    expected: CutText | None
    gone: str = ""
    """Reason why its contents cannot be read."""


class JudgedTests(msgspec.Struct, frozen=True):
    """Some tests of a judged sample."""

    tests: list[JudgedTest]
    begin: int
    """Position of the first."""
    total: int


class RecordedJudgements:
    """Recorded judgements by sample; finding one may read a large source, so some are kept."""

    def __init__(self) -> None:
        """Begin with no judgements."""
        self._lock = threading.Lock()
        self._kept: dict[tuple[Path, tuple[int, ...], str], RecordedJudgement] = {}

    def find(self, directory: Path, problem_id: str, number: int, mode: str) -> RecordedJudgement:
        """Find a judgement.

        Raises InputError, also if its source is gone; SettingsError, InfraFault.
        """
        wanted = f"{problem_id}:{number}:{mode}"
        key = (directory, stamp(directory), wanted)
        with self._lock:
            if key not in self._kept:
                found = of_run(directory, wanted, InputFiles())
                for old in list(self._kept)[: 1 - _KEPT]:
                    del self._kept[old]
                self._kept[key] = found
            return self._kept[key]


def judged_tests(recorded: RecordedJudgement, begin: int) -> JudgedTests:
    """Return tests in the problem's order, from position `begin` on."""
    known = _tests_of(recorded.problem)
    results = recorded.outcome.tests
    by_name = {each.name: each for each in results} if all(e.name for e in results) else None
    found = []
    for at, (name, test) in islice(enumerate(known.items()), begin, begin + PAGE):
        if by_name is None:
            result = results[at] if at < len(results) else None
        else:
            result = by_name.get(name)
        line = None if result is None else TestLine.of(result.name or str(at), result)
        found.append(_with_contents(name, test, line))
    return JudgedTests(found, begin, len(known))


def test_content(recorded: RecordedJudgement, name: str, part: str) -> bytes:
    """Return the whole `input` or `expected` output of a test. Raises NotFound, InputError."""
    test = _tests_of(recorded.problem).get(name)
    if test is None or part not in {"input", "expected"}:
        raise NotFound(f"there is no {part!r} of a test {name!r}")
    if part == "input":
        return test.input_bytes()
    if test.output is None:
        raise NotFound(f"test {name!r} has no expected output")
    return test.output_bytes()


def _tests_of(problem: Problem) -> dict[str, Test]:
    """Return a problem's tests; the only test of a question for one value is the question."""
    asked = problem.running
    if isinstance(asked, CallTask):
        return {"0": Test(f"{asked.code}\n\n{asked.call}\n", asked.output)}
    if isinstance(asked, AssertionTask):
        return {"0": Test(asked.call, asked.output)}
    return problem.tests_by_name()


def _with_contents(name: str, test: Test, line: TestLine | None) -> JudgedTest:
    try:
        expected = None if test.output is None else test.output_bytes()
        return JudgedTest(
            name, test.public, line, CutText.of_bytes(test.input_bytes(), MOST, "input"),
            None if expected is None else CutText.of_bytes(expected, MOST, "expected"),
        )  # fmt: skip
    except InputError as error:
        return JudgedTest(name, test.public, line, CutText("", 0), None, str(error))
