"""Solutions from before the end: they are listed and announced, and the best valid one is kept.

Where there are too many solutions to check all of them, the program's claims decide in which order
they are checked, and nothing else.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from proctor.errors import ProctorError
from proctor.limits import MIB
from proctor.sandbox.directory_job import FoundFile, ProgressLine
from proctor.solver import claim
from proctor.solver.checking import CheckResult
from proctor.solver.claim import ClaimedResult
from proctor.solver.envelope import NOTHING, Incumbent, Partial, SolveRefused
from proctor.solver.profile import ObjectiveRule, Profile

OnIncumbent = Callable[[Incumbent], None]
_LONGEST_NAME = 255
_MOST_WAITING = 16
_MOST_WAITING_BYTES = 64 * MIB


def ignore(_incumbent: Incumbent) -> None:
    """Do nothing with an incumbent."""


class _ProgressLine(msgspec.Struct):
    """A line that a program writes of its progress; nothing in it is trusted."""

    t: float | None = None
    objective: float | None = None
    bound: float | None = None
    file: str | None = None


class Incumbents:
    """Incumbents of one run. add() is called from the thread that watches the run."""

    def __init__(self, profile: Profile, on_incumbent: OnIncumbent, best: "BestSolution") -> None:
        """Create an empty list; `best` is offered each solution that comes with a file."""
        self._profile, self._on_incumbent, self._best = profile, on_incumbent, best
        self._lock = threading.Lock()
        self._events: list[Incumbent] = []
        self._bounds: dict[str, float | None] = {}
        """Bounds by file, from progress lines that named a file."""
        self.left_out = 0

    def add(self, source: FoundFile | ProgressLine) -> None:
        """List and announce a solution, from a file or from a line of progress."""
        incumbent = (
            self._of_line(source) if isinstance(source, ProgressLine) else self._of_file(source)
        )
        if incumbent is None:
            return
        with self._lock:
            if len(self._events) >= self._profile.incumbents.max_events:
                self.left_out += 1
                return
            self._events.append(incumbent)
        self._on_incumbent(incumbent)

    def _of_line(self, told: ProgressLine) -> Incumbent | None:
        try:
            line = msgspec.json.decode(told.line, type=_ProgressLine)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if line.file is not None:  # the incumbent is listed when this file is read
            has_room = len(self._bounds) < self._profile.incumbents.max_events
            if has_room and len(line.file) <= _LONGEST_NAME:
                self._bounds[line.file] = line.bound
            return None
        return Incumbent(told.at, line.objective, line.bound, None)

    def _of_file(self, found: FoundFile) -> Incumbent | None:
        read = claim.read(found.data, "", self._profile)
        if not isinstance(read, ClaimedResult) or not read.solved:
            return None
        self._best.offer(found, read)
        bound = read.bound if read.bound is not None else self._bounds.get(found.name)
        return Incumbent(found.at, read.objective, bound, found.name)

    @property
    def events(self) -> tuple[Incumbent, ...]:
        """All that were announced."""
        with self._lock:
            return tuple(self._events)


@dataclass(frozen=True, slots=True)
class CheckedSolution:
    """A solution that was checked."""

    found: FoundFile
    read: ClaimedResult
    checked: CheckResult
    partial: Partial
    number: int
    """Number of the offer: the higher, the newer."""


@dataclass(frozen=True, slots=True)
class _WaitingSolution:
    found: FoundFile
    cost: float
    """Claimed objective as a cost: lower is better."""
    number: int


class BestSolution:
    """The best solution of one run. Offers are checked in a thread, which the first one starts.

    Checks take at most half of the time until settle() is called.
    """

    def __init__(
        self,
        profile: Profile,
        check: Callable[[ClaimedResult], CheckResult],
        keep: Callable[[Partial], None],
    ) -> None:
        """`keep` is called with each valid solution that is better than those before."""
        self._profile, self._check, self._keep = profile, check, keep
        self._changed = threading.Condition()
        self._waiting: list[_WaitingSolution] = []
        self._offered = 0
        self._newest_next = False
        self._over = False
        self._thread: threading.Thread | None = None
        self._latest: CheckedSolution | None = None
        """The newest that was checked, valid or not."""
        self.valid: CheckedSolution | None = None
        """The best that passed."""

    def offer(self, found: FoundFile, read: ClaimedResult) -> None:
        """Queue a solution for a check; `read` is the claim in it."""
        cost = _cost(read.objective, self._profile.objective)
        with self._changed:
            if self._over or any(one.found.data == found.data for one in self._waiting):
                return
            self._offered += 1
            self._waiting.append(_WaitingSolution(found, cost, self._offered))
            while len(self._waiting) > _MOST_WAITING or self._bytes() > _MOST_WAITING_BYTES:
                self._waiting.remove(self._least())
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._check_all, name="proctor-best", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def _bytes(self) -> int:
        return sum(len(each.found.data) for each in self._waiting)

    def _least(self) -> _WaitingSolution:
        """Return the oldest of the half that claims the worse objectives, or the only one."""
        promising = sorted(self._waiting, key=lambda each: (each.cost, -each.number))
        return min(promising[len(promising) // 2 :], key=lambda each: each.number)

    def _check_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._over)
                if self._over:
                    return
                each = self._next()
            began = time.monotonic()
            try:
                self._check_waiting(each)
            except (ProctorError, SolveRefused):  # the next offer tries again, settle() reports it
                with self._changed:
                    self._waiting.append(each)
                    self._thread = None
                return
            with self._changed:
                self._changed.wait_for(lambda: self._over, time.monotonic() - began)

    def _next(self) -> _WaitingSolution:
        """Take alternately the newest and the one that claims the best objective."""
        if self._newest_next:
            each = max(self._waiting, key=lambda one: one.number)
        else:
            each = min(self._waiting, key=lambda one: (one.cost, -one.number))
        self._newest_next = not self._newest_next
        self._waiting.remove(each)
        return each

    def _check_waiting(self, each: _WaitingSolution) -> None:
        """Check a waiting solution. Raises InfraFault, PlatformError, SolveRefused."""
        read = claim.read(each.found.data, "", self._profile)
        if isinstance(read, ClaimedResult):
            self._take(each.found, read, self._check(read), each.number)

    def _take(
        self, found: FoundFile, read: ClaimedResult, checked: CheckResult, number: int
    ) -> CheckedSolution:
        partial = _partial(found, read, checked, self._profile)
        solution = CheckedSolution(found, read, checked, partial, number)
        with self._changed:
            if self._latest is None or number > self._latest.number:
                self._latest = solution
            better = partial.valid and (self.valid is None or self._is_better(solution, self.valid))
            if better:
                self.valid = solution
        if better:
            self._keep(partial)
        return solution

    def _is_better(self, solution: CheckedSolution, than: CheckedSolution) -> bool:
        """Compare computed objectives; where there are none, the newer solution is the better."""
        if _is_computed(solution) != _is_computed(than):
            return _is_computed(solution)
        if not _is_computed(solution):
            return solution.number > than.number
        rule = self._profile.objective
        gain = _cost(than.partial.objective, rule) - _cost(solution.partial.objective, rule)
        return gain > rule.tolerance

    def end(self) -> None:
        """Start no more checks beside the program, and wait for the current one."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def final(self, data: bytes, read: ClaimedResult, at: float) -> CheckedSolution:
        """Check the result of a run that has ended.

        Raises InfraFault, PlatformError, SolveRefused.
        """
        self._waiting = [each for each in self._waiting if each.found.data != data]
        for known in (self.valid, self._latest):
            if known is not None and known.found.data == data:
                return known
        self._offered += 1
        found = FoundFile(self._profile.result.file, data, at)
        return self._take(found, read, self._check(read), self._offered)

    def settle(self) -> None:
        """Check waiting solutions, once the run has ended, for as long as one check may take.

        A check begun within that time may itself take as long. Raises InfraFault, PlatformError or
        SolveRefused if a check cannot be made and no valid solution is known.
        """
        began = time.monotonic()
        most = float(self._profile.validator.timeout)
        try:
            while self._waiting and time.monotonic() - began <= most:
                self._check_waiting(self._next())
        except (ProctorError, SolveRefused):
            if self.valid is None:
                raise

    def beats(self, final: CheckedSolution) -> bool:
        """Return whether an earlier valid solution is better than the run's result."""
        if self.valid is None or self.valid is final:
            return False
        return not final.partial.valid or self._is_better(self.valid, final)

    def partial(self, ended: float | None) -> Partial:
        """Return the best valid solution, else the newest checked; `ended`: seconds of the run."""
        solution = self.valid or self._latest
        if solution is None:
            return NOTHING
        if ended is None:
            return solution.partial
        age = round(max(ended - solution.found.at, 0) * 1000)
        return msgspec.structs.replace(solution.partial, age_ms=age)


def _cost(objective: float | None, rule: ObjectiveRule) -> float:
    """Return an objective as a cost: lower is better; infinite if it is None."""
    if objective is None:
        return float("inf")
    return objective if rule.sense == "min" else -objective


def _is_computed(solution: CheckedSolution) -> bool:
    return solution.checked.report is not None and solution.partial.objective is not None


def _partial(
    found: FoundFile, read: ClaimedResult, checked: CheckResult, profile: Profile
) -> Partial:
    report = checked.report
    recomputed = report.objective if report is not None and profile.objective.recompute else None
    return Partial(
        available=True,
        valid=not checked.problems
        and (report.ok if report is not None else not profile.validator.function),
        objective=read.objective if recomputed is None else recomputed,
        bound=read.bound,
        file=found.name,
        data=read.data,
        validation=report,
    )
