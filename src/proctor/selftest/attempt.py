"""One attack in one cell, and the check afterwards that cell and host are unchanged."""

import json
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from proctor.errors import CellDied, NoIsolation, NoLanguage
from proctor.execution import Execution, Isolation, LimitHit, Strength
from proctor.judging.judge import judge
from proctor.judging.settings import JudgeSettings, Mode
from proctor.languages.run import run
from proctor.limits import MIB, Limits
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.cell import Cell
from proctor.sandbox.pool import Pool
from proctor.selftest import solving, ways
from proctor.selftest.attack import Attack, AttackKind, inspection, prelude, said
from proctor.selftest.bait import Bait
from proctor.selftest.report import AttackOutcome, AttackStatus
from proctor.verdict import Verdict

T = TypeVar("T")

SECRET = f"proctor-answer-{secrets.token_hex(16)}"
"""Expected output of all tests, made anew for each process. It is the same for all attacks, so that
an answer left in the cell by an earlier attack or by an honest program passes too."""
_INPUTS = ("alpha", "beta", "gamma")
_INSPECTION_LIMITS = Limits(cpu=5.0, memory=64 * MIB, processes=4, output=MIB)
_CPU_SLACK = 0.5
"""Seconds by which a program may overrun its CPU limit before it counts as got through."""


class _OneCellPool:
    """A pool of one given cell, so that programs which must share a cell do."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self.died: CellDied | None = None
        self.pool = cast("Pool", self)
        """This object: running and judging use only submit() and do() of a pool."""

    def submit(self, job: Callable[[Cell, float], T]) -> Future[T]:
        """Run the job at once."""
        future: Future[T] = Future()
        try:
            future.set_result(job(self._cell, 0.0))
        except CellDied as error:
            self._cell.odd = True
            self.died = error
            future.set_exception(error)
        return future

    def do(self, job: Callable[[Cell, float], T]) -> T:
        """Run the job at once and return its result."""
        return self.submit(job).result()


@dataclass(frozen=True, slots=True)
class CellState:
    """State of a cell, as a harmless job finds it."""

    uid: int
    """The user that jobs run as, in the host's numbering."""
    places: dict[str, list[str]]
    """Directory -> names in it."""
    others: bool
    """True if the job could signal another process."""
    niceness: int
    """Niceness of jobs in this cell, which is that of the host process."""


def inspect_cell(cell: Cell) -> CellState:
    """Run the harmless job and return what it finds. Raises CellDied, also for a wrong answer."""
    question = secrets.randbelow(1 << 30)
    execution = run(
        inspection(), f"{question}\n", limits=_INSPECTION_LIMITS, pool=_OneCellPool(cell).pool
    )
    try:
        answer: dict[str, Any] = json.loads(execution.stdout)
        right = answer["answer"] == question * 7 and execution.ok
    except (ValueError, KeyError):
        right = False
    if not right:
        raise CellDied(f"a harmless program ended wrongly: {_ending(execution)}")
    return CellState(answer["uid"], answer["places"], answer["others"], answer["niceness"])


@dataclass
class AttackAttempt:
    """One attack on one cell."""

    attack: Attack
    cell: Cell
    bait: Bait
    before: CellState
    wrong: list[str] = field(default_factory=list)
    """Descriptions of what got through."""
    happened: str = ""
    reaped: float | None = None
    cpu: float = 0.0
    wall: float = 0.0

    def outcome(self) -> AttackOutcome:
        """Carry out the attack, check what it left. Raises nothing that the attack could cause."""
        one_cell = _OneCellPool(self.cell)
        try:
            if self.attack.kind is AttackKind.RUN:
                for way in self.attack.ways:
                    if not self.cell.spent:
                        self._run_by(way, one_cell)
            elif self.attack.kind is AttackKind.PAIR:
                self._pair(one_cell)
            elif self.attack.kind is AttackKind.SOLVE:
                self._solve(one_cell)
            elif self.attack.kind is AttackKind.COMPILE:
                try:
                    self._compile(one_cell)
                except (NoIsolation, NoLanguage) as error:
                    return AttackOutcome(self.attack, AttackStatus.NOT_RUN, str(error))
            else:
                self._judge(one_cell)
        except CellDied as error:
            self.wrong.append(f"the cell died: {error}")
        self._check_left_behind()
        return self._verdict()

    def _run_by(self, way: str, one_cell: _OneCellPool) -> None:
        """Run the program in a way that leads into a cell."""
        source, stdin = self.attack.parts[0], self.bait.described()
        if way == "submission":
            self._run_judged(one_cell)
        elif way == "run":
            self._run(one_cell, source, stdin, last=True)
        else:
            try:
                execution = one_cell.do(
                    ways.job(way, prelude() + source, stdin, self.attack.limits)
                )
            except NoIsolation:
                return  # this level has no such way
            self._note_run(execution, way)

    def _note_run(self, execution: Execution, way: str) -> None:
        self.cpu += execution.cpu
        self.wall += execution.wall
        self.happened = _ending(execution)
        if (got := said(execution, "through")) is not None:
            self.wrong.append(f"as {way}: {got or 'it got through'}")
        elif self.attack.must is not None and not self.attack.must.met(execution):
            self.wrong.append(f"it should have been held as {way}, but: {self.happened}")

    def _solve(self, one_cell: _OneCellPool) -> None:
        began = time.monotonic()
        try:
            got = solving.through(self.attack.parts[0], self.attack.limits, one_cell.pool)
        except NoIsolation:
            self.happened = "held: this level has no directory for solvers"
            return
        self.wall, self.happened = time.monotonic() - began, "held"
        if got:
            self.wrong.append(got)

    def _run(self, one_cell: _OneCellPool, source: str, stdin: bytes, *, last: bool) -> None:
        """Run one program; the last one of an attack must end as the attack requires."""
        attack, began = self.attack, time.monotonic()
        limits = attack.limits
        try:
            execution = run(prelude() + source, stdin, limits=limits, pool=one_cell.pool)
        except NoIsolation:
            if not limits.disk and not limits.loopback:
                raise
            # This level gives no disk or loopback interface, so there is none to overrun.
            limits = replace(limits, disk=0, loopback=False)
            execution = run(prelude() + source, stdin, limits=limits, pool=one_cell.pool)
        took = time.monotonic() - began
        self.cpu += execution.cpu
        self.wall += execution.wall
        self.happened = _ending(execution)
        if (reaped := _reaped(execution, attack.limits, took)) is not None:
            self.reaped = max(reaped, self.reaped or 0.0)
        got = said(execution, "through")
        if got is not None:
            self.wrong.append(got or "it got through")
        elif last and attack.must is not None and not attack.must.met(execution):
            self.wrong.append(f"it should have been {attack.must_text}, but: {self.happened}")
        self.wrong += _beyond_limits(execution, attack.limits)

    def _run_judged(self, one_cell: _OneCellPool) -> None:
        """Run the program as a submission whose right answer is that it was held."""
        test = Test(self.bait.described().decode(), "held\n")
        settings = JudgeSettings(limits=self.attack.limits)
        source = prelude() + self.attack.parts[0]
        judgement = judge(
            Problem("selftest", (test,)), source, settings=settings, pool=one_cell.pool
        )
        if one_cell.died is not None:
            raise one_cell.died
        self.happened = "held" if judgement.passed else judgement.message
        if not judgement.passed:
            self.wrong.append(f"it should have been held, but: {judgement.message}")

    def _compile(self, one_cell: _OneCellPool) -> None:
        """Judge a program in another language, whose right answer is that it was held."""
        source = self._submission(one_cell)
        if source is None:
            return
        program = Program(source, self.attack.language)
        settings = JudgeSettings(limits=self.attack.limits)
        problem = Problem("selftest", (Test("", "held\n"),))
        judgement = judge(problem, program, settings=settings, pool=one_cell.pool)
        if one_cell.died is not None:
            raise one_cell.died
        refused = judgement.verdict is Verdict.CE
        self.happened = "held: it does not compile" if refused else "held"
        if not refused and not judgement.passed:
            self.wrong.append(f"it should have been held, but: {judgement.message}")

    def _pair(self, one_cell: _OneCellPool) -> None:
        plant = f"proctor-planted-{secrets.token_hex(16)}"
        self._run(one_cell, self.attack.parts[0], self.bait.described(plant=plant), last=False)
        if not self.cell.spent:  # else nothing of the first program is left to find
            facts = self.bait.described(niceness=self.before.niceness)
            self._run(one_cell, self.attack.parts[1], facts, last=True)

    def _judge(self, one_cell: _OneCellPool) -> None:
        source = self._submission(one_cell)
        if source is None:
            return
        verdicts = []
        began = time.monotonic()
        for mode in self.attack.modes:
            if self.cell.spent:
                break  # one job a cell: the other modes need cells of their own
            verdict = self._judged(one_cell, source, mode)
            verdicts.append(f"{mode} {verdict}")
            if verdict is Verdict.AC:
                self.wrong.append(f"it passed in {mode} mode")
            if verdict.is_fault:
                self.wrong.append(f"it escaped its verdict in {mode} mode: {verdict}")
            if not self.cell.spent:
                honest = self._judged(one_cell, _honest(self.attack.function), mode)
                if honest is not Verdict.AC:
                    self.wrong.append(f"a right program after it got {honest} in {mode} mode")
        self.happened = ", ".join(verdicts)
        self.wall = time.monotonic() - began

    def _submission(self, one_cell: _OneCellPool) -> str | None:
        """Return the program to judge: the file itself, or its output; None if that fails."""
        source = self.attack.parts[0]
        if not self.attack.printed:
            return source
        limits = replace(self.attack.limits, cpu=5.0, memory=256 * MIB, output=64 * MIB)
        execution = run(source, limits=limits, pool=one_cell.pool)
        if not execution.ok:
            self.wrong.append(f"the attack itself failed: {_ending(execution)}")
            return None
        return execution.stdout.decode()

    def _judged(self, one_cell: _OneCellPool, source: str, mode: str) -> Verdict:
        function = self.attack.function
        expected = json.dumps(SECRET) if function is not None else f"{SECRET}\n"
        inputs = [json.dumps(text) if function is not None else f"{text}\n" for text in _INPUTS]
        problem = Problem("selftest", tuple(Test(text, expected) for text in inputs), function)
        chosen: Mode = "official" if mode == "official" else "standard"
        settings = JudgeSettings(chosen, self.attack.limits, fast=mode == "fast")
        judgement = judge(problem, source, settings=settings, pool=one_cell.pool)
        if one_cell.died is not None:
            raise one_cell.died
        return judgement.verdict

    def _check_left_behind(self) -> None:
        """Add to `wrong` what the attack left, in the cell and on the host."""
        self.wrong += self.bait.harm()
        if isinstance(self.cell, AgentProcess) and not self.cell.spent:  # else they ended with it
            left = self.cell.job_pids()
            if left:
                self.wrong.append(f"processes were left: {len(left)}")
                self.cell.odd = True
        if self.cell.spent:
            return  # the pool replaces the cell; the next inspection is of the new one
        try:
            after = inspect_cell(self.cell)
        except CellDied as error:
            self.cell.odd = True
            self.wrong.append(f"the cell does not work any more: {error}")
            return
        for place, names in after.places.items():
            new = set(names) - set(self.before.places.get(place, names))
            new = {name for name in new if place == "." or f"left-{self.bait.id}" in name}
            if new:
                self.wrong.append(f"files were left in {place}: {', '.join(sorted(new))[:100]}")
        if after.others and not self.before.others:
            self.wrong.append("a process was left that later programs can reach")

    def _verdict(self) -> AttackOutcome:
        status, happened = AttackStatus.HELD, self.happened
        if self.wrong:
            excuse = _excuse(self.attack, self.cell.isolation)
            status = AttackStatus.THROUGH if excuse is None else AttackStatus.NOT_GUARANTEED
            happened = "; ".join(dict.fromkeys(self.wrong))
            if excuse is not None:
                happened += f" ({excuse})"
        return AttackOutcome(self.attack, status, happened, self.reaped, self.cpu, self.wall)


def _excuse(attack: Attack, isolation: Isolation) -> str | None:
    """Return the gap in a guarantee that the attack needs, if any; always None at level none."""
    if isolation.level == "none":
        return None
    for name in attack.needs:
        guarantee = isolation.guarantees[name]
        if guarantee.strength is not Strength.FULL:
            return f"{name}: {guarantee.gap or guarantee}"
    return None


def _ending(execution: Execution) -> str:
    note = said(execution, "held")
    if execution.limit is not None:
        return f"{execution.limit} limit"
    if note is not None and execution.ok:
        return f"held: {note}" if note else "held"
    if execution.signal is not None:
        return f"ended by signal {execution.signal}"
    words = execution.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    return f"ended with code {execution.exit_code}" + (f": {words[-1][:200]}" if words else "")


def _reaped(execution: Execution, limits: Limits, took: float) -> float | None:
    """Return an upper bound of the seconds from a limit to the end of everything; None without one.

    CPU time beyond the CPU limit is at least the time that passed on one CPU. The time that the
    host waited after the program's own end was spent on ending the rest of its processes.
    """
    after = max(took - execution.wall, 0.0)
    match execution.limit:
        case None:
            return None
        case LimitHit.CPU:
            return max(execution.cpu - limits.cpu, 0.0) + after
        case LimitHit.WALL:
            return max(took - (limits.wall or 0.0), 0.0)
        case LimitHit.IDLE:
            return max(took - limits.idle_allowance, 0.0)
    return after


def _beyond_limits(execution: Execution, limits: Limits) -> list[str]:
    found = []
    if execution.cpu > 1.5 * limits.cpu + _CPU_SLACK:
        found.append(f"it used {execution.cpu:.2f} s of CPU time, allowed were {limits.cpu:g}")
    if execution.memory > 1.25 * limits.memory:
        used, allowed = execution.memory / MIB, limits.memory / MIB
        found.append(f"it used {used:.0f} MiB of memory, allowed were {allowed:.0f}")
    return found


def _honest(function: str | None) -> str:
    if function is None:
        return f"input()\nprint({SECRET!r})\n"
    return f"class Solution:\n    def {function}(self, *a):\n        return {SECRET!r}\n"
