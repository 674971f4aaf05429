"""Comparison of a recorded judgement with those made now: what is the same, what differs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from proctor.judgement import Judgement, TestResult

_LISTED = 3
"""Most differing tests that a sentence names."""


@dataclass(frozen=True, slots=True)
class ComparedTest:
    """A test in the recorded judgement, and in each of those made now; None where it did not run.

    Times and memory are facts of a run: they are shown, but do not count as a difference.
    """

    name: str
    then: TestResult | None
    now: tuple[TestResult | None, ...]

    def difference(self, at: int) -> str:
        """Say how the judgement at this position differs; empty if it does not."""
        then, now = _shown(self.then), _shown(self.now[at])
        return "" if then == now else f"test {self.name} {now}, was {then}"

    @property
    def differs(self) -> bool:
        """True if any judgement differs here."""
        return any(self.difference(at) for at in range(len(self.now)))

    @property
    def passed(self) -> bool:
        """True if the test passed in the recorded judgement and in all made now."""
        return all(each is not None and each.verdict.passed for each in (self.then, *self.now))


def compared_tests(then: Judgement, now: Sequence[Judgement]) -> list[ComparedTest]:
    """Put results of the same test together: by name where all have one, else by position."""
    made = [then.tests, *(each.tests for each in now)]
    if all(test.name for tests in made for test in tests):
        by_name = [{test.name: test for test in tests} for tests in made]
        names = dict.fromkeys(name for tests in by_name for name in tests)
        rows = [(name, [tests.get(name) for tests in by_name]) for name in names]
    else:
        rows = [(str(at), list(row)) for at, row in enumerate(zip_longest(*made))]
    return [ComparedTest(name, first, tuple(others)) for name, (first, *others) in rows]


def differences(then: Judgement, now: Judgement) -> list[str]:
    """Say how a judgement differs from the recorded one, the most important first."""
    told = []
    if now.verdict is not then.verdict:
        told.append(f"{now.verdict}, was {then.verdict}")
    if then.points is not None and then.points != now.points:  # runs of eval record no points
        told.append(f"{_points(now)} points, were {_points(then)}")
    tests = [test.difference(0) for test in compared_tests(then, [now])]
    told += list(filter(None, tests))
    if then.upstream is not None and now.upstream is not None:
        codes = then.upstream.error_code, now.upstream.error_code
        if codes[0] != codes[1]:
            told.append(f"error code {codes[1]}, was {codes[0]}")
    if not told and abs(then.score - now.score) > 1e-6:
        told.append(f"score {now.score:g}, was {then.score:g}")
    return told


def sentence(then: Judgement, now: Sequence[Judgement]) -> str:
    """Say what differs from the recorded judgement, or that nothing does."""
    differing = [told for each in now if (told := differences(then, each))]
    verdicts = Counter(str(each.verdict) for each in now)
    times = f", {len(now)} times of {len(now)}" if len(now) > 1 else ""
    if not differing:
        return f"same verdict: {then.verdict}{times}"
    if len(now) > 1:
        counts = ", ".join(f"{name} {count}" for name, count in verdicts.most_common())
        times = f" {len(differing)} times of {len(now)} ({counts})"
    told = differing[0]
    more = f" and {len(told) - _LISTED} more" if len(told) > _LISTED else ""
    same = (
        ""
        if len(verdicts) > 1 or then.verdict not in verdicts
        else f"same verdict {then.verdict}, but "
    )
    return f"{same}differs{times}: {'; '.join(told[:_LISTED])}{more}"


def _shown(result: TestResult | None) -> str:
    """Return the part of a test's result that must be the same: verdict and partial score."""
    if result is None:
        return "not run"
    partial = "" if result.score in {0.0, 1.0} else f" {result.score:g}"
    return f"{result.verdict}{partial}"


def _points(judgement: Judgement) -> str:
    return "no" if judgement.points is None else f"{judgement.points:g}"
