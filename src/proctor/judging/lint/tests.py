"""Rules about tests, for which nothing has to be run."""

import hashlib
from collections.abc import Iterator, Mapping

from proctor.formats.packages.validator_flags import comparison
from proctor.grading import Checker, Comparison
from proctor.judging.comparison import compare
from proctor.judging.lint.finding import Finding, tests
from proctor.problem import Batch, Problem, Test


def of_tests(problem: Problem) -> Iterator[Finding]:
    """Yield what is wrong with a problem's tests. Raises InputError if a file is gone."""
    named_tests = problem.tests_by_name()
    yield from _same_inputs(problem, named_tests)
    yield from _line_ends(named_tests)
    yield from _constants(problem, named_tests)


def digest(test: Test, *, answer: bool) -> bytes:
    """Return a digest of all that a program is given, and of the answer if wanted."""
    found = hashlib.blake2b(test.input_bytes(), digest_size=16)
    for word in (*test.args, *sorted(test.files or ()), *test.flags):
        found.update(b"\0" + word.encode("utf-8", "surrogatepass"))
    if answer:
        found.update(b"\0\0" + test.output_bytes())
    return found.digest()


def _same_inputs(problem: Problem, named_tests: Mapping[str, Test]) -> Iterator[Finding]:
    groups: dict[bytes, list[str]] = {}
    for name, test in named_tests.items():
        groups.setdefault(digest(test, answer=False), []).append(name)
    for names in groups.values():
        if len(names) == 1:
            continue
        if isinstance(problem.grading, Comparison) and isinstance(problem.running, Batch):
            first, *others = names
            unlike = [each for each in others if not _same(problem, named_tests, first, each)]
            if unlike:
                yield Finding(
                    "same-input",
                    f"{tests([first, *unlike])} have one input and answers that differ: no program"
                    " can pass them all",
                )
                continue
        memberships: dict[frozenset[str], list[str]] = {}
        for name in names:
            if not named_tests[name].public:  # samples are often repeated as tests
                own = frozenset(s.name for s in problem.subtasks if name in s.tests)
                memberships.setdefault(own, []).append(name)
        for repeated in memberships.values():
            if len(repeated) > 1:
                yield Finding("duplicate-test", f"{tests(repeated)} have one input")


def _same(problem: Problem, named_tests: Mapping[str, Test], first: str, second: str) -> bool:
    one, other = named_tests[first], named_tests[second]
    if one.output_bytes() == other.output_bytes():
        return True
    assert isinstance(problem.grading, Comparison)
    how = comparison(one.flags, problem.grading)
    return compare(one.output_bytes(), other.output_bytes(), how) is None


def _line_ends(named_tests: Mapping[str, Test]) -> Iterator[Finding]:
    carriage, unended = [], []
    for name, test in named_tests.items():
        data = test.input_bytes()
        if b"\r\n" in data:
            carriage.append(name)
        if data and not data.endswith(b"\n"):
            unended.append(name)
    if carriage:
        yield Finding("line-ends", f"lines end with CR LF in {tests(carriage)}: programs that read"
                      " lines get the CR too")  # fmt: skip
    if unended:
        yield Finding("no-last-newline", f"the last line is not ended in {tests(unended)}")


def _constants(problem: Problem, named_tests: Mapping[str, Test]) -> Iterator[Finding]:
    """Find groups of tests that a program passes by always printing the same."""
    if isinstance(problem.grading, Checker) or not isinstance(problem.running, Batch):
        return
    groups = {each.name: each.tests for each in problem.subtasks if each.points} or {
        "": tuple(named_tests)
    }
    for name, members in groups.items():
        inputs = {digest(named_tests[each], answer=False) for each in members}
        if len(inputs) < 2:
            continue
        first = members[0]
        if all(_same(problem, named_tests, first, each) for each in members[1:]):
            where = f"all tests of subtask {name}" if len(groups) > 1 else "all tests"
            shown = named_tests[first].output_bytes()[:40].decode("utf-8", "replace").strip()
            yield Finding("constant-answer", f"{where} have the same answer ({shown!r}): a program"
                          " that prints it without reading passes")  # fmt: skip
