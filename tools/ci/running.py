"""Runs one item with a bound on its time, and what failed in it once more, alone."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ci.changes import ROOT

_TOO_LONG = (124, 137, -9)
"""Exit codes of `timeout` where a time was over."""
_STOPPED = 143
"""Exit code of what was not started any more, as if SIGTERM had ended it."""
_TAIL = 400
"""Lines of a failed item's log that are shown where pytest did not get as far as its failures."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that a landing runs."""

    name: str
    command: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that fetch what it needs; it fails if one of them does."""
    pytest: bool = False
    """True if the command ends in arguments of pytest: then only what failed is run again."""
    environment: Mapping[str, str] | None = None
    """Variables for it beside those of this process."""
    most: float = 1800.0
    """Seconds after which it is ended, with the stacks of its Python processes in the log."""
    shown: int = 15
    """Lines at the end of its log that are shown if all is well."""


@dataclass(slots=True)
class Outcome:
    """What came of an item."""

    item: Item
    seconds: float = 0.0
    status: int = 0
    again: int | None = None
    """Exit code of the second try; None if there was none."""
    flaky: tuple[str, ...] = ()
    """Tests that failed and then passed alone; the item's name where it is not of pytest."""

    @property
    def failed(self) -> bool:
        """Say whether it failed in the end."""
        return (self.status if self.again is None else self.again) != 0

    @property
    def how_it_failed(self) -> str:
        """Say that it failed twice, once, or was stopped since something else had failed."""
        if self.again is not None:
            return "failed, twice"
        return "stopped" if self.status in (_STOPPED, -signal.SIGTERM) else "failed"


class Runner:
    """Runs items, several at a time if asked from several threads; prints one after the other."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._printing = threading.Lock()
        self._running = set[subprocess.Popen[bytes]]()
        self.stopped = False
        self.outcomes: list[Outcome] = []

    def run(self, item: Item) -> Outcome:
        """Run an item, and print the end of its log."""
        log = self._scratch / f"{item.name}.log"
        outcome = Outcome(item)
        self.outcomes.append(outcome)
        began = time.monotonic()
        outcome.status = self._ended(item, self._command(item), log)
        outcome.seconds = time.monotonic() - began
        with self._printing:
            self._show(outcome, log)
        return outcome

    def run_again(self, outcome: Outcome) -> None:
        """Run what failed in an item once more."""
        item = outcome.item
        log, last = self._scratch / f"{item.name}.log", self._last_failed(item)
        first = _names(last)
        command = self._command(item)
        # Where a process of pytest's died, tests have not been run: then it is all of them again.
        if item.pytest and first and b" crashed while running " not in log.read_bytes():
            command = with_arguments(command, "--last-failed", "--last-failed-no-failures", "none")
        print(f"\n== what failed in {item.name}, once more and alone", flush=True)
        outcome.again = self._ended(item, command, log)
        print(*_last(log, item.shown if outcome.again == 0 else _TAIL), sep="\n", flush=True)
        outcome.flaky = tuple(sorted(first - _names(last)))
        if not first and outcome.again == 0:
            outcome.flaky = (item.name,)

    def stop(self) -> None:
        """End what is running, and start nothing more."""
        self.stopped = True
        for process in list(self._running):
            process.terminate()  # which `timeout` passes on to the group

    def _command(self, item: Item) -> tuple[str, ...]:
        if not item.pytest:
            return item.command
        return with_arguments(item.command, "-o", f"cache_dir={self._cache(item)}")

    def _cache(self, item: Item) -> Path:
        return self._scratch / "cache" / item.name

    def _last_failed(self, item: Item) -> Path:
        return self._cache(item) / "v/cache/lastfailed"

    def _ended(self, item: Item, command: tuple[str, ...], log: Path) -> int:
        """Run its commands up to the first that fails; return that one's exit code, or 0."""
        with log.open("wb") as out:
            for each in (*item.before, command):
                if status := self._one(item, each, out):
                    return status
        return 0

    def _one(self, item: Item, command: tuple[str, ...], out: BinaryIO) -> int:
        if self.stopped:
            return _STOPPED
        # What takes too long shows the stacks of its Python processes, which pytest's faulthandler
        # does on SIGABRT, and is killed with all that it started in its group.
        bounded = ("timeout", "--signal=ABRT", "--kill-after=30", f"{item.most:.0f}", *command)
        process = subprocess.Popen(
            bounded, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            env={**os.environ, **(item.environment or {})},
        )  # fmt: skip
        self._running.add(process)
        try:
            return process.wait()
        finally:
            self._running.discard(process)

    def _show(self, outcome: Outcome, log: Path) -> None:
        item = outcome.item
        how = "" if outcome.status == 0 else f", FAILED with exit code {outcome.status}"
        if outcome.status in _TOO_LONG:
            how += f": it took more than {item.most:.0f} s"
        print(f"\n== {item.name}: {outcome.seconds:.0f} s{how}")
        lines = _last(log, item.shown if outcome.status == 0 else 100_000)
        if outcome.status != 0:
            begins = [
                number for number, line in enumerate(lines)
                if line.startswith("===") and (" FAILURES " in line or " ERRORS " in line)
            ]  # fmt: skip
            lines = lines[begins[0] :] if begins else lines[-_TAIL:]
        print(*lines, sep="\n", flush=True)


def with_arguments(command: tuple[str, ...], *arguments: str) -> tuple[str, ...]:
    """Add arguments of pytest to a command, of `make` too, which passes them on in a variable."""
    *first, last = command
    if last.startswith("PYTEST_FLAGS="):
        return (*first, " ".join((last, *arguments)))
    return (*command, *arguments)


def _last(log: Path, count: int) -> list[str]:
    return log.read_text("utf-8", errors="replace").splitlines()[-count:]


def _names(last_failed: Path) -> set[str]:
    return set(json.loads(last_failed.read_text("utf-8"))) if last_failed.exists() else set()
