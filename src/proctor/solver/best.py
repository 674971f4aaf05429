"""The best solution that the validator accepts, looked for while the program still runs.

What a program claims of its solutions decides in which order they are looked at, where there are
too many for all of them, and nothing else.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from proctor.errors import ProctorError
from proctor.limits import MIB
from proctor.sandbox.directory_job import FoundFile
from proctor.solver import claim
from proctor.solver.checking import Checked
from proctor.solver.claim import Claim
from proctor.solver.envelope import NOTHING, Partial
from proctor.solver.profile import Objective, Profile

Check = Callable[[Claim], Checked]
Keep = Callable[[Partial], None]
_MOST_WAITING = 16
_MOST_HELD = 64 * MIB
"""Bytes of those that wait to be looked at."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A solution that was looked at."""

    found: FoundFile
    read: Claim
    checked: Checked
    partial: Partial
    number: int
    """Of those that were offered: the higher, the newer."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    found: FoundFile
    claimed: float
    """The less, the better."""
    number: int


class Best:
    """The best of one run: offered solutions are checked in a thread, which is begun by the first.

    The checks take at most half of the time until settle() is called.
    """

    def __init__(self, profile: Profile, check: Check, keep: Keep) -> None:
        """`keep` is called with each that is better than those before, when it has passed."""
        self._profile, self._check, self._keep = profile, check, keep
        self._changed = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._offered = 0
        self._newest_next = False
        self._over = False
        self._thread: threading.Thread | None = None
        self._latest: Looked | None = None
        """Of those that were looked at, valid or not."""
        self.valid: Looked | None = None
        """The best that has passed."""

    def offer(self, found: FoundFile, read: Claim) -> None:
        """Have a solution looked at; what it claims to be is known."""
        claimed = _cost(read.objective, self._profile.objective)
        with self._changed:
            if self._over or any(one.found.data == found.data for one in self._waiting):
                return
            self._offered += 1
            self._waiting.append(_Waiting(found, claimed, self._offered))
            while len(self._waiting) > _MOST_WAITING or self._held() > _MOST_HELD:
                self._waiting.remove(self._least())
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="proctor-best", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _held(self) -> int:
        return sum(len(each.found.data) for each in self._waiting)

    def _least(self) -> _Waiting:
        """Return the oldest that is not of the half which claims most; the only one, else."""
        promising = sorted(self._waiting, key=lambda each: (each.claimed, -each.number))
        return min(promising[len(promising) // 2 :], key=lambda each: each.number)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._over)
                if self._over:
                    return
                each = self._next()
            began = time.monotonic()
            try:
                self._look(each)
            except ProctorError:  # the next offer tries again; settle() has somebody hear of it
                with self._changed:
                    self._waiting.append(each)
                    self._thread = None
                return
            with self._changed:
                self._changed.wait_for(lambda: self._over, time.monotonic() - began)

    def _next(self) -> _Waiting:
        """Take the newest, and the one that claims most, in turn."""
        if self._newest_next:
            each = max(self._waiting, key=lambda one: one.number)
        else:
            each = min(self._waiting, key=lambda one: (one.claimed, -one.number))
        self._newest_next = not self._newest_next
        self._waiting.remove(each)
        return each

    def _look(self, each: _Waiting) -> Looked | None:
        """Check one. Raises InfraFault, PlatformError."""
        read = claim.read(each.found.data, "", self._profile)
        if not isinstance(read, Claim):
            return None
        return self._take(each.found, read, self._check(read), each.number)

    def _take(self, found: FoundFile, read: Claim, checked: Checked, number: int) -> Looked:
        looked = Looked(found, read, checked, _partial(found, read, checked, self._profile), number)
        with self._changed:
            if self._latest is None or number > self._latest.number:
                self._latest = looked
            better = looked.partial.valid and (
                self.valid is None or self._is_better(looked, self.valid)
            )
            if better:
                self.valid = looked
        if better:
            self._keep(looked.partial)
        return looked

    def _is_better(self, looked: Looked, than: Looked) -> bool:
        """Compare what was computed of both; the newer, where nothing was."""
        if _is_computed(looked) != _is_computed(than):
            return _is_computed(looked)
        if not _is_computed(looked):
            return looked.number > than.number
        rule = self._profile.objective
        gain = _cost(than.partial.objective, rule) - _cost(looked.partial.objective, rule)
        return gain > rule.tolerance

    def end(self) -> None:
        """Begin no more checks beside the program, and wait for the one that is made."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def result(self, data: bytes, read: Claim, at: float) -> Looked:
        """Check the run's last word, once it has ended. Raises InfraFault, PlatformError."""
        self._waiting = [each for each in self._waiting if each.found.data != data]
        for known in (self.valid, self._latest):
            if known is not None and known.found.data == data:
                return known
        self._offered += 1
        found = FoundFile(self._profile.result.file, data, at)
        return self._take(found, read, self._check(read), self._offered)

    def settle(self) -> None:
        """Look at what still waits, once the run has ended, as long as one result may take.

        Each may be made to take all of that. Raises InfraFault, PlatformError if none can be.
        """
        began = time.monotonic()
        most = float(self._profile.validator.timeout)
        try:
            while self._waiting and time.monotonic() - began <= most:
                self._look(self._next())
        except ProctorError:
            if self.valid is None:
                raise

    def beats(self, word: Looked) -> bool:
        """Return whether a valid solution is better than the run's last word."""
        if self.valid is None or self.valid is word:
            return False
        return not word.partial.valid or self._is_better(self.valid, word)

    def partial(self, ended: float | None) -> Partial:
        """Return the best, else the newest, as not valid; `ended`: seconds that the run took."""
        looked = self.valid or self._latest
        if looked is None:
            return NOTHING
        if ended is None:
            return looked.partial
        age = round(max(ended - looked.found.at, 0) * 1000)
        return msgspec.structs.replace(looked.partial, age_ms=age)


def _cost(objective: float | None, rule: Objective) -> float:
    """Return a number that is the less, the better a solution is."""
    if objective is None:
        return float("inf")
    return objective if rule.sense == "min" else -objective


def _is_computed(looked: Looked) -> bool:
    return looked.checked.report is not None and looked.partial.objective is not None


def _partial(each: FoundFile, read: Claim, checked: Checked, profile: Profile) -> Partial:
    report = checked.report
    recomputed = report.objective if report is not None and profile.objective.recompute else None
    sound = not checked.problems and not checked.failed and not checked.refused
    return Partial(
        available=True,
        valid=sound and (report is not None and report.ok if profile.validator.function else True),
        objective=read.objective if recomputed is None else recomputed,
        bound=read.bound,
        file=each.name,
        data=read.data,
        validation=report,
    )
