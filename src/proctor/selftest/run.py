"""The self-test: all attacks, over the cells of a pool, with bait for each."""

import gc
import os
import select
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, as_completed
from pathlib import Path

from proctor.errors import CellDied, CellStartFailed, SettingsError
from proctor.execution import Isolation
from proctor.languages import registry
from proctor.sandbox.cell import Cell
from proctor.sandbox.pool import open_pool
from proctor.selftest import guessing, stranger
from proctor.selftest.attack import Attack, AttackKind
from proctor.selftest.attempt import AttackAttempt, inspect_cell
from proctor.selftest.bait import Bait
from proctor.selftest.report import AttackOutcome, AttackStatus, SelftestReport

_FIRST_PRIVATE_UID = 0x70000000
"""User ids from here on belong to cells only."""
_KILL_TIMEOUT = 10.0
"""Seconds to wait for the kernel to end a killed process."""
Show = Callable[[AttackOutcome], None]


def selftest(
    attacks: Sequence[Attack],
    *,
    isolation: str | None = None,
    judgements: int = guessing.JUDGEMENTS,
    show: Show = lambda _outcome: None,
) -> SelftestReport:
    """Carry out attacks on this machine; `show` is called with each outcome at once.

    `judgements`: how often each program that guesses is judged.

    On KeyboardInterrupt the report covers the attacks so far, and is not complete. Raises
    PlatformError where no level works, CellStartFailed if no cell works, UsageError if
    none of the attacks may be run here.
    """
    began = time.monotonic()
    descriptors = _descriptors()
    test = _SelftestRun(isolation, show)
    try:
        complete = test.carry_out(attacks, judgements)
    finally:
        test.close()
    gc.collect()  # frees what judging keeps for a pool, now that the pool is gone
    order = {attack.name: number for number, attack in enumerate(attacks)}
    outcomes = sorted(test.outcomes, key=lambda outcome: order[outcome.attack.name])
    left = [
        f"the descriptor {fd} ({target}) since {test.first_seen.get((fd, target), 'the start')}"
        for fd, target in _descriptors() - descriptors
    ]
    assert test.isolation is not None
    return SelftestReport(
        test.isolation, tuple(outcomes), (*sorted(left), *test.survivors()),
        time.monotonic() - began, complete,
    )  # fmt: skip


class _SelftestRun:
    def __init__(self, isolation: str | None, show: Show) -> None:
        self.outcomes: list[AttackOutcome] = []
        self.isolation: Isolation | None = None
        self.first_seen: dict[tuple[int, str], str] = {}
        """Attack after which a descriptor was first open; only those that stay are leaks."""
        self._show = show
        self._lock = threading.Lock()
        self._baits: list[Bait] = []
        self._idle: list[Bait] = []
        self._uids: set[int] = set()
        self._level = isolation
        self._pool = open_pool(isolation=isolation, directories=registry.reads())

    def carry_out(self, attacks: Sequence[Attack], judgements: int) -> bool:
        """Carry out the attacks; return True if all were done."""
        try:
            self.isolation = self._pool.submit(self._first).result()
            attacks = self._permitted(attacks)
            guesses = [attack for attack in attacks if attack.kind is AttackKind.GUESS]
            strangers = [attack for attack in attacks if attack.kind is AttackKind.HOST]
            others = [attack for attack in attacks if attack not in (*guesses, *strangers)]
            self._all(attack for attack in others if not attack.alone)
            for attack in others:
                if attack.alone:
                    self._all([attack])
            self._guess(guesses, judgements)
            for attack in strangers:
                self._note(stranger.carry_out(attack))
        except KeyboardInterrupt:
            if self.isolation is None:
                raise
            return False
        return True

    def _first(self, cell: Cell, _waited: float) -> Isolation:
        inspect_cell(cell)
        return cell.isolation

    def _permitted(self, attacks: Sequence[Attack]) -> Sequence[Attack]:
        """Return the attacks to carry out: at level none only those that cannot do harm."""
        assert self.isolation is not None
        if self.isolation.level != "none":
            return attacks
        permitted = [attack for attack in attacks if attack.harmless]
        if not permitted:
            raise SettingsError("at level none these attacks would harm this machine: none was run")
        reason = "level none would not hold it, and it does harm"
        for attack in attacks:
            if not attack.harmless:
                self._note(AttackOutcome(attack, AttackStatus.NOT_RUN, reason))
        return permitted

    def _all(self, attacks: Iterable[Attack]) -> None:
        running: dict[Future[AttackOutcome], Attack] = {}
        for attack in attacks:
            running[self._pool.submit(self._job(attack))] = attack
        for future in as_completed(running):
            try:
                outcome = future.result()
            except (CellDied, CellStartFailed) as error:
                reason = f"no cell works any more: {error}"
                outcome = AttackOutcome(running[future], AttackStatus.THROUGH, reason)
            self._note(outcome)

    def _guess(self, attacks: Sequence[Attack], judgements: int) -> None:
        if not attacks:
            return
        with open_pool(isolation=self._level, cells=guessing.CELLS) as pool:
            for attack in attacks:
                self._note(guessing.guess(attack, pool, judgements))

    def _note(self, outcome: AttackOutcome) -> None:
        self.outcomes.append(outcome)
        self._show(outcome)

    def _job(self, attack: Attack) -> Callable[[Cell, float], AttackOutcome]:
        def job(cell: Cell, _waited: float) -> AttackOutcome:
            before = inspect_cell(cell)
            bait = self._take(before.uid)
            try:
                attempt = AttackAttempt(attack, cell, bait, before)
                outcome = attempt.outcome()
            except BaseException:
                self._discard(bait)
                raise
            if outcome.status is AttackStatus.HELD:
                with self._lock:
                    self._idle.append(bait)
            else:
                self._discard(bait)  # the attack may have changed it
            with self._lock:
                for seen in _descriptors():
                    self.first_seen.setdefault(seen, attack.name)
            return outcome

        return job

    def _take(self, uid: int) -> Bait:
        with self._lock:
            self._uids.add(uid)
            for bait in self._idle:
                if bait.uid == uid:
                    self._idle.remove(bait)
                    return bait
        bait = Bait(uid)
        with self._lock:
            self._baits.append(bait)
        return bait

    def _discard(self, bait: Bait) -> None:
        bait.close()
        with self._lock:
            self._baits.remove(bait)

    def survivors(self) -> tuple[str, ...]:
        """Describe processes of the users that only cells run as; to be called after `close`."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                status = (entry / "status").read_text()
                pidfd = os.pidfd_open(int(entry.name))
            except OSError:
                continue
            try:
                uid = int(status.partition("\nUid:")[2].split()[1])
                # A process that was killed with its cell may still be ending.
                private = uid in self._uids and uid >= _FIRST_PRIVATE_UID
                if private and not select.select([pidfd], [], [], _KILL_TIMEOUT)[0]:
                    found.append(f"the process {entry.name} ({status.split()[1]})")
            finally:
                os.close(pidfd)
        return tuple(found)

    def close(self) -> None:
        self._pool.close()
        for bait in self._baits:
            bait.close()


def _descriptors() -> set[tuple[int, str]]:
    """Return this process's open descriptors and their targets."""
    found = set()
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names are all that is wanted
        try:
            found.add((int(name), os.readlink(f"/proc/self/fd/{name}")))  # noqa: PTH115 - as above
        except OSError:
            continue  # the one that the listing itself used
    return found
