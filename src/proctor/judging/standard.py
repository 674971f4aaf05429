"""Mode `standard`: what a contest judge does. Real files on 0-2, fresh state for every test."""

import re
from dataclasses import replace

from proctor.cell import plain_data
from proctor.cell.wire import Kind
from proctor.errors import CellDied
from proctor.execution import LimitHit
from proctor.judgement import Judgement, TestResult
from proctor.judging.answers import Answers
from proctor.judging.assignment import Assignment
from proctor.judging.comparison import compare_tokens
from proctor.judging.values import (
    Bounds,
    Tolerance,
    compare_values,
    error_of_floats,
    expected_values,
)
from proctor.limits import MIB, Limits
from proctor.problem import Test
from proctor.sandbox import process_limit
from proctor.sandbox.cell import Serving, TestRun
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.shared_memory import may_need_shm
from proctor.verdict import Verdict

OVERRUN = {
    LimitHit.CPU: (Verdict.TLE, "CPU time limit exceeded"),
    LimitHit.WALL: (Verdict.ILE, "wall time limit exceeded"),
    LimitHit.IDLE: (Verdict.ILE, "idle for too long"),
    LimitHit.MEMORY: (Verdict.MLE, "memory limit exceeded"),
    LimitHit.OUTPUT: (Verdict.OLE, "output limit exceeded"),
    LimitHit.DISK: (Verdict.OLE, "disk limit exceeded"),
    LimitHit.PROCESSES: (Verdict.RE, "process limit exceeded"),
}


DISK = 64 * MIB
"""Bytes of the working directory of a test whose program turned out to need one."""
_LACKED = re.compile(
    r"PermissionError: \[Errno 13\]|OSError: \[Errno 30\]"
    r"|FileNotFoundError: \[Errno 2\] No usable temporary directory"
    r"|FileNotFoundError: \[Errno 2\] No such file or directory(: '/(psm_|dev/shm).*)?$"
)
"""Python's messages where no file can be written, or there is no /dev/shm."""
_NO_DISK = "programs can write to files and share memory at level namespaces only"


def judge_standard(assignment: Assignment) -> Judgement:
    """Judge one program in one cell. Raises CellDied.

    A directory to write to costs a job for each test, and few programs need one. So a program that
    crashes for want of it is judged again from its first test, each test with a file system of its
    own: in a directory of the machine, inode numbers would reveal the tests before. The crash
    gains nothing: it reveals nothing about answers, and a wrong answer before it is final.
    """
    at_once = disk_at_once(assignment)
    found = _Standard(assignment, at_once).judge()
    if at_once or found.verdict is not Verdict.RE or not lacked_disk(found.message):
        return found
    if not has_disk(assignment):
        return replace(found, message=f"{found.message} ({_NO_DISK})")
    return _Standard(assignment, DISK).judge()


def lacked_disk(message: str) -> bool:
    """Return whether a program that ended with this message could write nowhere."""
    return _LACKED.match(message) is not None


def has_disk(assignment: Assignment) -> bool:
    """Return whether a job in this cell can have a file system of its own."""
    return assignment.cell.isolation.level == "namespaces"


def disk_at_once(assignment: Assignment) -> int:
    """Return the bytes of disk for a program that may need the /dev/shm which comes with it."""
    wanted = may_need_shm(assignment.program.encoded()) and has_disk(assignment)
    return DISK if wanted else 0


class _Standard:
    def __init__(self, assignment: Assignment, disk: int = 0) -> None:
        self._assignment = assignment
        self._disk = disk
        self._problem, self._settings = assignment.problem, assignment.settings
        self._clock = ContestClock(self._settings.limits)
        self._answers = Answers(self._settings.stop, self._compare)

    def judge(self) -> Judgement:
        fast = self._settings.fast and not self._disk
        kind = Kind.SERVE_SHARED if fast else Kind.SERVE_FORK
        total = len(self._problem.tests)
        while len(self._answers) < total and not self._answers.stopped:
            with self._assignment.serve(kind, self._clock, self._disk) as serving:
                if not serving.alive:
                    return self._not_compiled(serving)
                self._run_tests(serving, kind)
            # What the shared process itself may have caused is run again the careful way and so,
            # for simplicity, are all later tests. Never a test with an answer: a program can
            # notice a second try, and would answer the first at random.
            kind = Kind.SERVE_FORK
        self._answers.compare()
        return Judgement.of_tests(self._answers.results, total, self._assignment.cell.isolation)

    def _run_tests(self, serving: Serving, kind: Kind) -> None:
        """Run tests until all are done, one stops the judgement, or the process is spent.

        With a disk it is spent after one test: the tests of one process would share the disk.
        """
        for test in self._problem.tests[len(self._answers) :]:
            run = self._assignment.run_test(serving, test, self._clock)
            crashed = self._failure(run) is not None
            if crashed and kind is Kind.SERVE_SHARED:
                return
            size = len(run.stdout) + len(run.stderr) + len(run.result)
            self._answers.take((run, test), size, crashed=crashed)
            if self._disk or self._answers.stopped or not serving.alive:
                return

    def _failure(self, run: TestRun) -> tuple[Verdict, str] | None:
        return failed_run(run, self._settings.limits, called=self._problem.function is not None)

    def _compare(self, answer: tuple[TestRun, Test]) -> TestResult:
        run, test = answer
        verdict, message = self._verdict(run, test)
        return TestResult(verdict, run.cpu, run.wall, run.memory, message, test.name)

    def _verdict(self, run: TestRun, test: Test) -> tuple[Verdict, str]:
        failure = self._failure(run)
        if failure is not None:
            return failure
        difference = self._difference(run, test)
        return (Verdict.AC, "") if difference is None else (Verdict.WA, difference)

    def _difference(self, run: TestRun, test: Test) -> str | None:
        tolerance = self._settings.tolerance
        if self._problem.function is None:
            return compare_tokens(run.stdout, test.output_bytes(), tolerance)
        if not Bounds.of(test.output_text()).hold(run.result):
            return "the function's result is far larger than what was expected"
        try:
            value = plain_data.decode(run.result)
        except ValueError:
            return "the function's result is not plain data"
        allowed = Tolerance(tolerance, error_of_floats(self._problem.platform))
        wanted = expected_values(test.output_text())
        differences = [compare_values(value, each, allowed) for each in wanted]
        return None if None in differences else differences[0]

    def _not_compiled(self, serving: Serving) -> Judgement:
        if len(self._answers):
            raise CellDied("a program that had been compiled did not compile again")
        if serving.load_limit is not None:
            message = f"while compiling: {OVERRUN[serving.load_limit][1]}"
        else:
            message = serving.unloadable or ""
        isolation = self._assignment.cell.isolation
        return Judgement(Verdict.CE, 0.0, (), message, isolation, compiled=False)


def failed_run(run: TestRun, limits: Limits, *, called: bool) -> tuple[Verdict, str] | None:
    """Return why a run failed, or why a call did not return; None if it ended well."""
    if run.limit is not None:
        return OVERRUN[run.limit]
    at_limit = process_limit.note(run.stderr, limits.processes)
    if run.signal is not None:
        return Verdict.RE, f"ended by signal {run.signal}{at_limit}"
    if run.exit_code != 0:
        return Verdict.RE, (last_line(run.stderr) or f"exit code {run.exit_code}") + at_limit
    if called and not run.result:
        return Verdict.RE, "ended before the function returned"
    return None


def last_line(stderr: bytes) -> str:
    """Return the last line of stderr: of a traceback, the exception."""
    lines = stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""
