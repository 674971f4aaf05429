"""Running tests on Pistons with the package cms_ioi, as the published pipeline does.

Needs httpx and stamina (`pip install 'proctor[eval]'`). Each test goes to the least busy Piston of
those that are well. One that breaks the connection, answers 429 or 5xx, or says that it is
overloaded is left alone for a while, and its test goes to another at once (endpoints.py).
"""

import logging
import os
import time
from collections import deque
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, Event, Thread
from typing import Any, Self

import stamina

from proctor.endpoints import Endpoints, EndpointTurn
from proctor.errors import InfraFault, InputError, ProctorError, UsageError
from proctor.evals.ioi.piston_list import PistonList
from proctor.evals.ioi.piston_requests import (
    PistonDown,
    PistonHttp,
    PistonRefused,
    PistonUnsure,
    execute_request,
)

ATTEMPTS = 6
"""Most requests for one test that may break a Piston, and most answers to it without a result."""
PATIENCE = 60.0
"""Seconds for which all Pistons may be down before tests are given up."""
_LOOK_AGAIN = 1.0
"""Seconds between two looks at a list that may change."""
_CHECKS = 64
"""Most Pistons that are checked at the same time at the start."""
_NAMED = 20
"""Most Pistons whose errors are listed in a message."""
_LONGEST_NAME = 100
_ENDED = "the run has ended"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _WaitingTest:
    """A test that waits for a Piston."""

    avoid: Collection[str]
    """Pistons that it must not go to."""
    turn: "Future[EndpointTurn | None]" = field(default_factory=Future)


class Piston:
    """A RunTest on one Piston or many. Thread-safe; use as a context manager."""

    def __init__(
        self,
        where: PistonList | str,
        at_once: int = 1,
        key: str | None = None,
        *,
        patience: float = PATIENCE,
        endpoints: Endpoints | None = None,
    ) -> None:
        """Take a list of Pistons, and how many tests each is given at once.

        `key` is sent to all of them as the header Authorization. `endpoints` may have other pauses.
        Raises UsageError, PlatformError and InfraFault for a list that has nothing in it or cannot
        be read.
        """
        self._list = where if isinstance(where, PistonList) else PistonList(where, "--runner")
        self._at_once, self._patience = at_once, patience
        self._endpoints = endpoints or Endpoints()
        self._changed = Condition()
        """Lock of the attributes below and of the endpoints; notified for _give_turns."""
        self._waiting: deque[_WaitingTest] = deque()
        self._closing = Event()
        self._checked: set[str] = set()
        found = self._list.read(time.monotonic())
        if not found:
            raise UsageError(
                f"there is no Piston in {self._list.text!r:.200}: give URLs, @FILE with such, or"
                " slurm where jobs named piston-worker-PORT run"
            )
        self._take_list(found)
        self._http = PistonHttp(key)

    @classmethod
    def from_environment(cls, text: str) -> Self:
        """Return an instance with the settings of open-r1's environment variables.

        Its Pistons are those of `text` or, if that is empty, those of the variables.
        Raises UsageError, PlatformError, InfraFault.
        """
        where, field = (text, "--runner") if text else (_variable("ENDPOINTS"), "PISTON_ENDPOINTS")
        if not where:
            raise UsageError("no Piston is named: use --runner piston:URL, or set PISTON_ENDPOINTS")
        most = _variable("MAX_REQUESTS_PER_ENDPOINT") or "1"
        if not (most.isascii() and most.isdigit() and 0 < len(most) < 6 and int(most)):
            raise InputError(
                f"must be a number from 1 on, not {most!r:.100}",
                field="PISTON_MAX_REQUESTS_PER_ENDPOINT",
            )
        key = _variable("KEY")
        if not (key.isascii() and key.isprintable()):
            raise InputError("cannot be sent in a header", field="PISTON_KEY")
        return cls(PistonList(where, field), int(most), key)

    def __enter__(self) -> Self:
        """Check all Pistons. Raises InputError and Unauthorized for one that is not a Piston.

        One that cannot be reached is not an error: it may start later.
        """
        try:
            with ThreadPoolExecutor(_CHECKS) as checks:
                for _ in checks.map(self._check_first, self._endpoints.listed):
                    pass
        except BaseException:
            self._http.close()
            raise
        Thread(target=self._give_turns, name="turns at Pistons", daemon=True).start()
        if self._list.may_change:
            Thread(target=self._follow_list, name="list of Pistons", daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Close; tests that still wait or run raise InfraFault."""
        self._closing.set()
        with self._changed:
            self._changed.notify()
        self._http.close()

    @property
    def name(self) -> str:
        """Name for results: the list, shortened."""
        text = self._list.text
        return f"piston:{text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + '...'}"

    def capacity(self) -> int:
        """Return how many tests the Pistons that are well take at present, at least 1."""
        with self._changed:
            return max(1, self._at_once * len(self._checked.intersection(self._endpoints.well)))

    def __call__(
        self,
        problem: Mapping[str, Any],
        test_input: str,
        submission: str,
        test_output: str | None = None,
    ) -> tuple[str, str]:
        """Run one test; return score and feedback. Raises InfraFault if no Piston gives them."""
        request = execute_request(problem, test_input, submission, test_output)
        try:
            for trial in stamina.retry_context(on=PistonUnsure, attempts=ATTEMPTS, timeout=None):
                with trial:
                    return self._run_somewhere(request)
        except PistonUnsure as error:
            raise InfraFault(str(error)) from error
        raise AssertionError("unreachable: the loop returns or raises")

    def _run_somewhere(self, request: Mapping[str, Any]) -> tuple[str, str]:
        """Return the first answer that any Piston gives."""
        broke, refusal, avoid = 0, "", frozenset[str]()
        while True:
            turn = self._next_turn(avoid)
            if turn is None:
                raise InfraFault(refusal)
            try:
                return self._run_at(turn, request)
            except PistonDown as error:
                broke += error.begun
                if broke >= ATTEMPTS:
                    said = f"a test has been begun {broke} times; last: {turn.endpoint}: {error}"
                    raise InfraFault(said) from error
            except PistonRefused as error:
                if refusal:
                    raise InfraFault(f"{refusal}; and {error}") from error
                # A second Piston shows if the request or the first one's settings are at fault.
                refusal, avoid = str(error), frozenset({turn.endpoint})

    def _next_turn(self, avoid: Collection[str]) -> EndpointTurn | None:
        """Wait for a turn; None if only Pistons in `avoid` are well. Raises InfraFault."""
        waiting = _WaitingTest(avoid)
        with self._changed:
            if self._closing.is_set():
                raise InfraFault(_ENDED)
            self._waiting.append(waiting)
            self._changed.notify()
        return waiting.turn.result()

    def _give_turns(self) -> None:
        """Give turns to tests in the order in which they wait, until the run ends.

        One thread does so for all: otherwise each of a thousand tests that wait for the last few
        Pistons would have to look whenever something changes.
        """
        with self._changed:
            while not self._closing.is_set():
                now = time.monotonic()
                passed_over: list[_WaitingTest] = []
                while self._waiting and (not passed_over or passed_over[-1].avoid):
                    first = self._waiting.popleft()
                    if not self._settle(first, now):
                        passed_over.append(first)
                self._waiting.extendleft(reversed(passed_over))
                self._changed.wait(self._next_look(now) if self._waiting else None)
            for each in self._waiting:
                each.turn.set_exception(InfraFault(_ENDED))

    def _settle(self, waiting: _WaitingTest, now: float) -> bool:
        """Give a test its turn, or say why there is none; False if it has to wait."""
        endpoints, avoid = self._endpoints, waiting.avoid
        if avoid and not set(endpoints.well).difference(avoid):
            waiting.turn.set_result(None)
        elif (turn := endpoints.take(now, avoid)) is not None:
            waiting.turn.set_result(turn)
        elif endpoints.down_since is not None and now >= endpoints.down_since + self._patience:
            fault = InfraFault(self._all_down(now - endpoints.down_since))
            waiting.turn.set_exception(fault)
        else:
            return False
        return True

    def _next_look(self, now: float) -> float | None:
        """Return the seconds after which something changes by itself; None if nothing does."""
        times = [self._endpoints.next_trial(now)]
        if self._endpoints.down_since is not None:
            times.append(self._endpoints.down_since + self._patience - now)
        return min((each for each in times if each is not None), default=None)

    def _run_at(self, turn: EndpointTurn, request: Mapping[str, Any]) -> tuple[str, str]:
        """Run a test at the Piston whose turn it is, and note how the Piston has done."""
        url = turn.endpoint
        try:
            if turn.trial or url not in self._checked:
                self._check_again(url)
            answer = self._http.run_test(url, request)
        except PistonDown as error:
            with self._changed:
                self._endpoints.failed(turn, str(error), time.monotonic(), error.pause)
                self._changed.notify()
            raise
        except (PistonRefused, PistonUnsure):
            self._end(turn, well=True)
            raise
        except BaseException:
            self._end(turn, well=False)
            raise
        self._end(turn, well=True)
        return answer

    def _end(self, turn: EndpointTurn, *, well: bool) -> None:
        with self._changed:
            end = self._endpoints.succeeded if well else self._endpoints.released
            end(turn)
            self._changed.notify()

    def _check_first(self, url: str) -> None:
        with suppress(PistonDown):
            self._http.check(url)
            self._checked.add(url)

    def _check_again(self, url: str) -> None:
        """Look at a Piston that is new, or has failed. Raises PistonDown."""
        try:
            self._http.check(url)
        except PistonDown as error:
            raise PistonDown(str(error), pause=error.pause) from error
        except UsageError as error:  # at the start it is the caller's mistake, but not later
            raise PistonDown(str(error)) from error
        self._checked.add(url)

    def _all_down(self, seconds: float) -> str:
        errors = self._endpoints.errors
        if not errors:
            return f"there has been no Piston in {self._list.text} for {seconds:.0f} s"
        told = [f"{url}: {error}" for url, error in list(errors.items())[:_NAMED]]
        more = f"; and {len(errors) - _NAMED} more" if len(errors) > _NAMED else ""
        return f"no Piston has been well for {seconds:.0f} s: {'; '.join(told)}{more}"

    def _take_list(self, urls: Collection[str]) -> None:
        with self._changed:
            if set(urls) != set(self._endpoints.listed):
                self._endpoints.replace(dict.fromkeys(urls, self._at_once), time.monotonic())
                self._changed.notify()

    def _follow_list(self) -> None:
        said = ""
        while not self._closing.wait(_LOOK_AGAIN):
            try:
                self._take_list(self._list.read(time.monotonic()))
            except ProctorError as error:
                if said != str(error):
                    said = str(error)
                    _logger.warning("%s; the Pistons stay those that they were", said)


def _variable(name: str) -> str:
    return os.environ.get(f"PISTON_{name}", "").strip()
