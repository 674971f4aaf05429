"""Solutions from before the end: listed, and told of as they come."""

import threading
from collections.abc import Callable

import msgspec

from proctor.sandbox.directory_job import FoundFile, ProgressLine
from proctor.solver import claim
from proctor.solver.best import Best
from proctor.solver.claim import Claim
from proctor.solver.envelope import Incumbent
from proctor.solver.profile import Profile

Hear = Callable[[Incumbent], None]
_LONGEST_NAME = 255


def ignore(_incumbent: Incumbent) -> None:
    """Hear nothing."""


class _Line(msgspec.Struct):
    """A line that a program writes of its progress; nothing in it is trusted."""

    t: float | None = None
    objective: float | None = None
    bound: float | None = None
    file: str | None = None


class Incumbents:
    """Those of one run. heard() is called from the thread that watches it."""

    def __init__(self, profile: Profile, hear: Hear, best: Best) -> None:
        """`best` is offered each that comes with a file."""
        self._profile, self._hear, self._best = profile, hear, best
        self._lock = threading.Lock()
        self._events: list[Incumbent] = []
        self._bounds: dict[str, float | None] = {}
        """By file: what a line said of it."""
        self.left_out = 0

    def heard(self, what: FoundFile | ProgressLine) -> None:
        """Take in a file, or a line."""
        incumbent = self._told(what) if isinstance(what, ProgressLine) else self._found(what)
        if incumbent is None:
            return
        with self._lock:
            if len(self._events) >= self._profile.incumbents.max_events:
                self.left_out += 1
                return
            self._events.append(incumbent)
        self._hear(incumbent)

    def _told(self, told: ProgressLine) -> Incumbent | None:
        try:
            line = msgspec.json.decode(told.line, type=_Line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if line.file is not None:  # it is listed when its file is read
            known = len(self._bounds) < self._profile.incumbents.max_events
            if known and len(line.file) <= _LONGEST_NAME:
                self._bounds[line.file] = line.bound
            return None
        return Incumbent(told.at, line.objective, line.bound, None)

    def _found(self, found: FoundFile) -> Incumbent | None:
        read = claim.read(found.data, "", self._profile)
        if not isinstance(read, Claim) or not read.solved:
            return None
        self._best.offer(found, read)
        bound = read.bound if read.bound is not None else self._bounds.get(found.name)
        return Incumbent(found.at, read.objective, bound, found.name)

    @property
    def events(self) -> tuple[Incumbent, ...]:
        """All that were told of."""
        with self._lock:
            return tuple(self._events)
