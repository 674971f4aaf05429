"""Verifying a package: every labelled submission must get what its label says."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from proctor.errors import NoLanguage
from proctor.formats.packages.model import (
    Bound,
    Claim,
    Labelled,
    Package,
    Part,
)
from proctor.formats.packages.programs import DATA
from proctor.judgement import Judgement, TestResult
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.group_grader import scored
from proctor.judging.judge import start
from proctor.judging.runners import compile_graders
from proctor.judging.settings import JudgeSettings
from proctor.judging.total_time import TotalTime
from proctor.languages import registry
from proctor.problem import Problem
from proctor.sandbox.cancellation import Cancellation
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Checked:
    """One submission, judged and held against its label."""

    submission: Labelled
    judgement: Judgement
    slowest: float
    """CPU seconds of its slowest test."""
    differences: tuple[str, ...]
    """Differences from the label; none if it is right."""
    warnings: tuple[str, ...] = ()
    """Reasons why its time is too close to the time limit to rely on."""


@dataclass(frozen=True, slots=True)
class Timed:
    """The time limit, and the times of submissions that support it."""

    limit: float
    """CPU seconds."""
    given: bool
    """True if the package states it."""
    slowest_right: float | None
    """CPU seconds of the slowest submission that has to be fast enough."""
    fastest_slow: float | None
    """CPU seconds of the fastest submission that has to be too slow; measured up to a bound."""


Show = Callable[[Checked], None]


def verify(
    package: Package, pool: Pool, show: Show | None = None, time: TotalTime | None = None
) -> tuple[list[Checked], Timed]:
    """Judge every labelled submission in a language that is here; `show` is called after each.

    Raises Cancelled when the time for all of it is over.

    A time limit that the package does not state is first worked out from the submissions that
    have to be fast enough. Raises InputError if a program of the package does not compile.
    """
    if time is None:
        with TotalTime(math.inf) as endless:
            return verify(package, pool, show, endless)
    with time.of("compiling the checker"):
        compile_graders(package.problem, JudgingEnvironment(pool, time.cancellation))
    limit = package.problem.test_limits.cpu
    here = [each for each in package.submissions if _can_run(each)]
    order = sorted(here, key=lambda each: each.bound is not Bound.LOWER)
    checked: list[Checked] = []
    settled = package.timing.given
    for submission in order:
        if not settled and submission.bound is not Bound.LOWER:
            limit, settled = _worked_out(package, checked, limit), True
        with time.of(f"submission {submission.name}"):
            found = _check(package, submission, limit, pool, time)
        checked.append(found)
        if show is not None:
            show(found)
    if not settled:  # all submissions have to be fast enough
        limit = _worked_out(package, checked, limit)
    return checked, _timed(checked, limit, package)


def _can_run(submission: Labelled) -> bool:
    """Return whether this machine has the submission's language."""
    if submission.program.language == DATA:
        return True
    try:
        registry.find(registry.get(submission.program.language))
    except NoLanguage:
        return False
    return True


def left_out(package: Package) -> list[str]:
    """Return the names of submissions in languages that this machine lacks."""
    return [each.name for each in package.submissions if not _can_run(each)]


def _worked_out(package: Package, checked: list[Checked], default: float) -> float:
    timing = package.timing
    times = [each.slowest for each in checked if each.judgement.passed]
    if not times:
        return default
    steps = math.ceil(max(times) * timing.multiplier / timing.resolution)
    return max(steps, 1) * timing.resolution


def _check(
    package: Package, submission: Labelled, limit: float, pool: Pool, time: TotalTime
) -> Checked:
    # A longer limit shows by how much a submission is too slow.
    margin = max(package.timing.margin, 1.0) if submission.bound is Bound.UPPER else 1.0
    own = submission.limits
    limit = limit if own is None else own.cpu
    limits = replace(own or package.problem.test_limits, cpu=limit * margin)
    stubs = {} if submission.complete else package.problem.stubs
    longer = replace(package.problem, limits=limits, stubs=stubs)
    tests_matter = any(
        claim.permitted is not None or claim.required is not None
        for claim in (submission.expected.whole, *(p.claim for p in submission.expected.parts))
    )
    settings = JudgeSettings(stop="never" if tests_matter else "first")
    raw = start(longer, submission.program, settings, pool, time.cancellation).result()
    slowest = max((result.cpu for result in raw.tests), default=0.0)
    # Keep the verdict of a run under the limit itself: it may have hit another limit just before.
    judgement = (
        raw if margin == 1.0 else (at_limit(package.problem, raw, limit, pool, time.cancellation))
    )
    warnings = []
    if submission.bound is Bound.UPPER and judgement.verdict is Verdict.TLE and raw.passed:
        warnings.append(f"it is too slow, but by less than {margin:g} times")
    if submission.bound is Bound.LOWER and slowest * package.timing.multiplier > limit:
        needs = f"{slowest * package.timing.multiplier:.2f} s"
        warnings.append(f"the time limit should be at least {needs} for it")
    differences = tuple(compare(submission, judgement))
    return Checked(submission, judgement, slowest, differences, tuple(warnings))


def at_limit(
    problem: Problem,
    raw: Judgement,
    limit: float,
    pool: Pool,
    cancellation: Cancellation | None = None,
) -> Judgement:
    """Return a judgement made under a longer time limit as it would be under this one."""
    if not raw.tests:
        return raw
    results = {each.name: _result_at(each, limit) for each in raw.tests}
    environment = JudgingEnvironment(pool, cancellation)
    subtasks, verdict, points, _ = scored(problem, results, None, environment)
    return replace(
        raw,
        verdict=verdict,
        points=points,
        tests=tuple(results.values()),
        subtasks=subtasks,
    )


def _result_at(result: TestResult, limit: float) -> TestResult:
    if result.cpu <= limit or result.verdict.is_fault:
        return result
    return replace(result, verdict=Verdict.TLE, score=0.0, message="CPU time limit exceeded")


def compare(submission: Labelled, judgement: Judgement) -> Iterator[str]:
    """Yield each difference between a judgement and the submission's label."""
    if judgement.verdict.is_fault:
        yield f"{judgement.verdict}: {judgement.message}"
        return
    expected = submission.expected
    verdicts = {result.name: result.verdict for result in judgement.tests}
    yield from _against("", expected.whole, judgement.verdict, judgement.points, verdicts)
    for part in expected.parts:
        yield from _part_differences(part, judgement, verdicts)


def _part_differences(
    part: Part,
    judgement: Judgement,
    verdicts: Mapping[str, Verdict],
) -> Iterator[str]:
    where = f"{part.name}: "
    if part.tests is not None:
        own = {name: each for name, each in verdicts.items() if name in set(part.tests)}
        failed = next((each for each in own.values() if each is not Verdict.AC), Verdict.AC)
        yield from _against(where, part.claim, failed, None, own)
        return
    found = next((each for each in judgement.subtasks if each.name == part.name), None)
    if found is None:
        yield f"{where}there is no such subtask"
        return
    own = {name: verdicts[name] for name in found.tests if name in verdicts}
    yield from _against(where, part.claim, found.verdict, found.points, own)


def _against(
    where: str,
    claim: Claim,
    verdict: Verdict,
    points: float | None,
    tests: Mapping[str, Verdict],
) -> Iterator[str]:
    if claim.verdicts is not None and verdict not in claim.verdicts:
        yield f"{where}{verdict}, expected {_named(claim.verdicts)}"
    if claim.permitted is not None:
        for name, each in tests.items():
            if each not in claim.permitted:
                yield f"{where}test {name}: {each}, expected {_named(claim.permitted)}"
                break
    if claim.required is not None and not claim.required & set(tests.values()):
        yield f"{where}no test is {_named(claim.required)}"
    if claim.points is not None and points is not None:
        least, most = claim.points
        if not least - _CLOSE <= points <= most + _CLOSE:
            wanted = f"{least:g}" if least == most else f"{least:g} to {most:g}"
            yield f"{where}{points:g} points, expected {wanted}"


def _named(verdicts: frozenset[Verdict]) -> str:
    return " or ".join(sorted(verdicts))


def _timed(checked: list[Checked], limit: float, package: Package) -> Timed:
    right = [each.slowest for each in checked if each.submission.bound is Bound.LOWER]
    # Idle submissions say nothing about CPU time.
    slow = [
        each.slowest
        for each in checked
        if each.submission.bound is Bound.UPPER and each.judgement.verdict is not Verdict.ILE
    ]
    return Timed(limit, package.timing.given, max(right, default=None), min(slow, default=None))
