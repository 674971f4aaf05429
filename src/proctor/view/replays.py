"""Verdicts made again, one at a time; nothing in the run changes."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from proctor.errors import Busy, NotFound, ProctorError
from proctor.evals.replaying.recorded import RecordedJudgement
from proctor.evals.replaying.replay import GRADED, Replayed, replay
from proctor.judging.judge import PoolJudges
from proctor.judging.one_test import output_on
from proctor.languages.pools import open_pool
from proctor.sandbox.pool import Pool
from proctor.text import well_formed
from proctor.view.cut import CutText
from proctor.view.judged_tests import MOST
from proctor.view.sample import TestLine

_MOST_OUTPUTS = 50
"""Tests on which a program is run once more to see its output: those not passed first."""
_KEPT = 1 << 20
"""Bytes of an output that are kept."""
_MOST_TESTS = 500


class ReplayTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict to make again."""

    run: str
    problem: str
    sample: int
    mode: str


class ReplayedTest(msgspec.Struct, frozen=True):
    """A test then and now."""

    name: str
    then: TestLine | None
    """None, as `now`, if it was not run."""
    now: TestLine | None
    output: CutText | None
    """Output of the program in one more run; None where it is not available."""


class ReplayState(msgspec.Struct, frozen=True, kw_only=True):
    """State of the latest replay, and its result."""

    target: ReplayTarget | None = None
    state: str
    """`none`, `running`, `done` or `failed`."""
    said: str = ""
    """A sentence on what differs, or the reason for a failure."""
    then: str = ""
    now: str = ""
    """Verdict now; `then` is the recorded one."""
    message: str = ""
    """The judge's message on the verdict now."""
    surroundings: list[tuple[str, str, str]] = []
    """Versions and machine: name, then, now."""
    tests: list[ReplayedTest] = []


@dataclass(slots=True)
class _EndedReplay:
    """A replay that has ended."""

    replayed: Replayed
    outputs: dict[str, bytes] = field(default_factory=dict)


class ReplayDesk:
    """Takes one replay at a time; the latest is kept."""

    def __init__(self) -> None:
        """Begin with no replay."""
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, "replay")
        self._target: ReplayTarget | None = None
        self._future: Future[_EndedReplay] | None = None
        self._pool: Pool | None = None
        self._stopped = False

    def start(self, target: ReplayTarget, find: Callable[[], RecordedJudgement]) -> ReplayState:
        """Begin a replay. Raises Busy while another is under way."""
        with self._lock:
            if self._future is not None and not self._future.done():
                raise Busy("another verdict is being made again: wait until it is there", 2.0)
            self._target = target
            self._future = self._thread.submit(self._replay, find)
        return self.state()

    def state(self) -> ReplayState:
        """Return the state of the latest replay. Raises its error if that is no ProctorError."""
        target, future = self._target, self._future
        if future is None:
            return ReplayState(state="none")
        if not future.done():
            return ReplayState(target=target, state="running")
        error = future.exception()
        if isinstance(error, ProctorError):
            return ReplayState(target=target, state="failed", said=well_formed(str(error)))
        return _shown(target, future.result())

    def output(self, target: ReplayTarget, name: str) -> bytes:
        """Return the output on a test that was replayed last, its first MiB. Raises NotFound."""
        future = self._future
        if (
            target == self._target
            and future is not None
            and future.done()
            and future.exception() is None
        ):
            found = future.result().outputs.get(name)
            if found is not None:
                return found
        raise NotFound(f"no output of test {name!r} is kept")

    def close(self) -> None:
        """End the replay that is under way."""
        self._stopped = True
        pool = self._pool
        if pool is not None:
            pool.close()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _replay(self, find: Callable[[], RecordedJudgement]) -> _EndedReplay:
        recorded = find()
        # The run may come from a stranger, who must not decide that its programs run in no cell.
        options: dict[str, Any] = {
            name: None if name.endswith("isolation") and value == "none" else value
            for name, value in recorded.pool.items()
        }
        with open_pool(**options) as pool:
            self._pool = pool
            if self._stopped:
                pool.close()
            try:
                found = replay(recorded, PoolJudges(pool))
                return _EndedReplay(found, dict(_outputs(found, pool)))
            finally:
                self._pool = None


def _outputs(replayed: Replayed, pool: Pool) -> Iterator[tuple[str, bytes]]:
    recorded = replayed.recorded
    known = recorded.problem.tests_by_name()
    settings = replace(recorded.settings, mode="standard", codes="upstream")
    for each in sorted(replayed.tests, key=lambda each: each.passed)[:_MOST_OUTPUTS]:
        now = each.now[-1]
        if now is None or now.verdict not in GRADED or each.name not in known:
            continue
        found = output_on(known[each.name], recorded.problem, recorded.program, settings, pool)
        if found is not None:
            yield each.name, found[:_KEPT]


def _shown(target: ReplayTarget | None, kept: _EndedReplay) -> ReplayState:
    replayed = kept.replayed
    then, now = map(msgspec.to_builtins, (replayed.recorded.then, replayed.now))
    tests = [
        ReplayedTest(
            each.name,
            None if each.then is None else TestLine.of(each.name, each.then),
            None if each.now[-1] is None else TestLine.of(each.name, each.now[-1]),
            CutText.of_bytes(output, MOST, "output")
            if (output := kept.outputs.get(each.name)) is not None
            else None,
        )
        for each in replayed.tests[:_MOST_TESTS]
    ]
    return ReplayState(
        target=target, state="done", said=replayed.said,
        then=replayed.recorded.outcome.verdict, now=replayed.made[-1].verdict,
        message=replayed.made[-1].message,
        surroundings=[
            (name, then[name], now[name]) for name in then if then[name] or now[name]
        ],
        tests=tests,
    )  # fmt: skip
