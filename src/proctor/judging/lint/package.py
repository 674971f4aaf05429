"""Rules about a whole package: its labelled submissions, its tests and what grades them."""

from collections.abc import Callable, Iterator, Sequence

from proctor.errors import Cancelled
from proctor.formats.packages.input_validators import InputValidator
from proctor.formats.packages.model import ACCEPTED, PARTIAL, Claim, Labelled, Package
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.input_programs import InputProgram
from proctor.judging.lint.finding import Finding, tests
from proctor.judging.lint.graders import of_checker, of_partner
from proctor.judging.lint.tests import of_tests
from proctor.judging.runners import compile_graders
from proctor.judging.total_time import TotalTime
from proctor.judging.verify import Checked, Timed, verify
from proctor.problem import Batch, OutputOnly, Problem
from proctor.sandbox.pool import Pool

_ROOM = 2.0
"""Least ratio of the time limit to the slowest right submission's time, unless the package says
otherwise."""
_LEAST = 0.1
"""Seconds; right submissions that take less are not compared with the limit: for them the machine's
speed hardly matters."""
_NOT_INPUTS = {
    "nothing": b"",
    "words": b"lorem ipsum dolor\n",
}


def lint_package(
    package: Package,
    pool: Pool,
    validators: Sequence[InputValidator] = (),
    show: Callable[[Checked], None] | None = None,
    time: TotalTime | None = None,
) -> Iterator[Finding]:
    """Yield what the author of a package has missed, the last of it when its time is over.

    All labelled submissions are judged; `show` is called after each. Raises InputError if one of
    the package's own programs does not compile, InfraFault.
    """
    with time or TotalTime() as total:
        try:
            yield from _of_package(package, pool, validators, show, total)
        except Cancelled:
            yield Finding("time-over", total.said())


def _of_package(
    package: Package,
    pool: Pool,
    validators: Sequence[InputValidator],
    show: Callable[[Checked], None] | None,
    time: TotalTime,
) -> Iterator[Finding]:
    problem = package.problem
    for note in package.notes:
        yield Finding("left-out", note)
    yield from _of_labels(package.submissions)
    if not isinstance(problem.running, OutputOnly):
        yield from of_tests(problem)
    environment = JudgingEnvironment(pool, time.cancellation)
    for validator in validators:
        with time.of(f"validator {validator.name}"):
            yield from _of_validator(validator, problem, environment)
    checked, timed = verify(package, pool, show, time)
    yield from _of_submissions(checked)
    yield from _of_limit(package, timed)
    with time.of("compiling the checker"):
        graders = compile_graders(problem, environment)
    if isinstance(problem.running, Batch):
        passing = next((each for each in checked if each.judgement.passed), None)
        program = None if passing is None else passing.submission.program
        with time.of("the checker"):
            yield from of_checker(problem, graders, environment, program)
    with time.of("the interactor or manager"):
        yield from of_partner(problem, graders, environment)


def _of_labels(submissions: Sequence[Labelled]) -> Iterator[Finding]:
    if not any(map(_must_pass, submissions)):
        yield Finding("no-right", "no submission is labelled as right: nothing shows that the"
                      " answers are, or that the limits can be met")  # fmt: skip
    if not any(map(_must_fail, submissions)):
        yield Finding("no-wrong", "no submission is labelled as wrong: nothing shows that the"
                      " tests catch one")  # fmt: skip


def _claims(submission: Labelled) -> list[Claim]:
    return [submission.expected.whole, *(part.claim for part in submission.expected.parts)]


def _must_pass(submission: Labelled) -> bool:
    """Return True if its label says that it passes or gets points, and that no part of it fails."""
    some = [
        verdicts
        for claim in _claims(submission)
        for verdicts in (claim.verdicts, claim.permitted, claim.required)
        if verdicts is not None
    ]
    passes = any(verdicts <= ACCEPTED | PARTIAL for verdicts in some)
    points = submission.expected.whole.points
    return all(verdicts & ACCEPTED for verdicts in some) and bool(passes or (points and points[1]))


def _must_fail(submission: Labelled) -> bool:
    """Return True if its label says that some part of it fails, or states points."""
    return any(
        claim.points is not None
        or any(some and not some & ACCEPTED for some in (claim.verdicts, claim.required))
        or (claim.permitted is not None and not claim.permitted & ACCEPTED)
        for claim in _claims(submission)
    )


def _of_submissions(checked: Sequence[Checked]) -> Iterator[Finding]:
    for each in checked:
        if not each.differences:
            continue
        name, said = each.submission.name, "; ".join(each.differences)
        if each.judgement.passed and _must_fail(each.submission):
            yield Finding("weak-tests", f"{name} is labelled as wrong and passes: {said}")
        else:
            yield Finding("label", f"{name}: {said}")


def _of_limit(package: Package, timed: Timed) -> Iterator[Finding]:
    right, slow = timed.slowest_right, timed.fastest_slow
    room = package.timing.multiplier if package.timing.multiplier > 1 else _ROOM
    if right is not None and right > _LEAST and right * room > timed.limit:
        what = f"the time limit is {timed.limit:g} s, and the slowest right submission takes"
        yield Finding("tight-limit", f"{what} {right:.2f} s: it should be {room:g} times that")
    margin = package.timing.margin
    if slow is not None and timed.limit < slow < timed.limit * margin:
        what = f"the time limit is {timed.limit:g} s, and the fastest submission that is to be"
        yield Finding("loose-limit", f"{what} too slow takes {slow:.2f} s")


def _of_validator(
    validator: InputValidator, problem: Problem, environment: JudgingEnvironment
) -> Iterator[Finding]:
    program = InputProgram.compiled(validator.program, f"validator {validator.name}", environment)
    refused, why = [], ""
    last: tuple[str, ...] = ()
    for name, test in problem.tests_by_name().items():
        if validator.tests is not None and name not in validator.tests:
            continue
        args = last = validator.args.get(name, ())
        found = program.refusal(environment, test.input_bytes(), validator.accepts, args)
        if found is not None and found.too_slow:
            what = f"validator {validator.name} does not end in its time: {found.why} (test {name})"
            yield Finding("validator-slow", f"{what}; it was not tried further")
            return
        if found is not None:
            refused.append(name)
            why = why or found.why
    if refused:
        yield Finding("input-refused", f"{tests(refused)}: {why}")
    for what, data in _NOT_INPUTS.items():
        if program.refusal(environment, data, validator.accepts, last) is None:
            yield Finding("validator-lenient", f"validator {validator.name} accepts {what}")
