"""Rules about rows of a data set, each a problem."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from proctor.errors import Cancelled, InputError, NoLanguage
from proctor.formats.problem_rows import ProblemRow
from proctor.grading import Checker
from proctor.judgement import Judgement
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.judge import start
from proctor.judging.lint.finding import Finding, named, tests
from proctor.judging.lint.graders import of_checker
from proctor.judging.lint.tests import digest, of_tests
from proctor.judging.runners import compile_graders
from proctor.judging.settings import JudgeSettings
from proctor.judging.total_time import TotalTime
from proctor.languages import registry
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict


def lint_rows(
    rows: Iterable[ProblemRow], pool: Pool, solutions: int, time: TotalTime | None = None
) -> Iterator[Finding]:
    """Yield what is wrong with the rows of a data set, the last of it when its time is over.

    Of the programs that a row records as right, the first `solutions` are judged. Raises
    InfraFault, and what reading the rows raises.
    """
    with time or TotalTime() as total:
        try:
            yield from _of_rows(rows, pool, solutions, total)
        except Cancelled:
            yield Finding("time-over", total.said())


def _of_rows(
    rows: Iterable[ProblemRow], pool: Pool, solutions: int, time: TotalTime
) -> Iterator[Finding]:
    seen = _Seen()
    for row in rows:
        findings = seen.row(row)
        if row.error is not None:
            where = f"{row.error.field}: " if row.error.field else ""
            findings.append(Finding("unusable", where + row.error.message))
        elif row.problem is None:
            findings.append(Finding("no-tests", "there is no test: nothing can be judged by it"))
        else:
            findings += seen.problem(row.line, row.problem)
            with time.of(f"line {row.line}"):
                findings += _of_problem(row.problem, row.right[:solutions], pool, time)
        for each in findings:
            yield replace(each, line=row.line, problem=row.id)


@dataclass(slots=True)
class _Seen:
    """Rows seen so far: the first line with each id, statement and set of tests."""

    ids: dict[str, int] = field(default_factory=dict)
    statements: dict[bytes, int] = field(default_factory=dict)
    tests: dict[bytes, int] = field(default_factory=dict)

    def row(self, row: ProblemRow) -> list[Finding]:
        if row.id and self.ids.setdefault(row.id, row.line) != row.line:
            return [Finding("duplicate-id", f"line {self.ids[row.id]} has this id too")]
        return []

    def problem(self, line: int, problem: Problem) -> list[Finding]:
        found = []
        words = " ".join(problem.statement.split()).encode("utf-8", "surrogatepass")
        whole = hashlib.blake2b(words, digest_size=16).digest()
        if words and self.statements.setdefault(whole, line) != line:
            what = f"the statement is that of line {self.statements[whole]}"
            found.append(Finding("duplicate-statement", what))
        every = b"".join(sorted(digest(test, answer=True) for test in problem.tests))
        whole = hashlib.blake2b(every, digest_size=16).digest()
        if self.tests.setdefault(whole, line) != line:
            found.append(
                Finding("duplicate-tests", f"the tests are those of line {self.tests[whole]}")
            )
        return found


def _of_problem(
    problem: Problem, right: Sequence[Program], pool: Pool, time: TotalTime
) -> Iterator[Finding]:
    try:
        for found in of_tests(problem):
            if found.rule != "no-last-newline":  # most data sets strip their texts
                yield found
        judged = _judged(problem, right, pool, time)
        yield from _of_solutions(judged)
        if isinstance(problem.grading, Checker):
            environment = JudgingEnvironment(pool, time.cancellation)
            graders = compile_graders(problem, environment)
            passing = next((program for _, program, each in judged if each.passed), None)
            yield from of_checker(problem, graders, environment, passing)
    except InputError as error:  # such as a checker that does not compile
        yield Finding("unusable", error.message)


def _judged(
    problem: Problem, right: Sequence[Program], pool: Pool, time: TotalTime
) -> list[tuple[int, Program, Judgement]]:
    """Judge the programs in languages that are here, all tests of each."""
    settings = JudgeSettings(stop="never")
    futures = []
    for number, program in enumerate(right, 1):
        try:
            registry.find(registry.get(program.language))
        except (InputError, NoLanguage):
            continue
        future = start(problem, program, settings, pool, time.cancellation)
        futures.append((number, program, future))
    return [(number, program, future.result()) for number, program, future in futures]


def _of_solutions(judged: Sequence[tuple[int, Program, Judgement]]) -> Iterator[Finding]:
    """Compare the recorded right programs with the answers, and with one another."""
    verdicts: dict[str, dict[int, Verdict]] = {}
    for number, _, judgement in judged:
        for name, verdict in _by_test(judgement):
            verdicts.setdefault(name, {})[number] = verdict
    disputed = [name for name, each in verdicts.items() if not any(v.passed for v in each.values())]
    if disputed:
        count = len(judged)
        who = (
            f"none of {count} programs recorded as right passes"
            if count > 1
            else ("the program recorded as right does not pass")
        )
        yield Finding("answer-disputed", f"{who} {tests(disputed)}")
    for number, _, judgement in judged:
        failed = [
            f"{name} ({verdict})"
            for name, verdict in _by_test(judgement)
            if not verdict.passed and name not in disputed
        ]
        if failed:
            yield Finding("solution-fails", f"solution {number}, recorded as right, fails where"
                          f" others pass: test {named(failed)}")  # fmt: skip
        elif not judgement.tests and not judgement.passed:
            said = judgement.message.strip().partition("\n")[0][:200]
            yield Finding("solution-fails", f"solution {number}, recorded as right, gets"
                          f" {judgement.verdict}: {said}")  # fmt: skip


def _by_test(judgement: Judgement) -> list[tuple[str, Verdict]]:
    return [(each.name or str(n), each.verdict) for n, each in enumerate(judgement.tests)]
