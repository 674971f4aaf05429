"""Choice among several servers that do the same work: the least loaded of those that are well.

Bookkeeping alone: no I/O, no clock, no lock. `now` is any clock in seconds that never goes back,
always the same one, such as time.monotonic() or an event loop's time(). For one event loop, or for
threads that hold one lock around each call::

    endpoints = Endpoints()
    endpoints.replace({"http://a": 4, "http://b": 8}, now())
    turn = endpoints.take(now())
    if turn is None:
        ...  # wait for the end of another request, or endpoints.next_trial(now()) seconds
    else:
        ...  # send the request to turn.endpoint, and then say once how it ended:
        endpoints.succeeded(turn)  # or failed(turn, "why", now()), or released(turn)

**Circuit breaker.** An endpoint that fails gets no requests for a pause, which doubles with each
failure in a row. After it one request is let through, as a trial: its success ends the matter, its
failure begins a longer pause. Requests that were under way when the pause began change nothing,
however they end, so that ten that break together count as one failure.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from proctor.errors import UsageError

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds."""
_MOST_DOUBLINGS = 30  # beyond these every pause is the longest, and a float is still large enough


@dataclass(frozen=True, slots=True, eq=False)
class EndpointTurn:
    """Permission to send one request to an endpoint."""

    endpoint: str
    trial: bool
    """True if the endpoint has failed before, and this request shows whether it is well again."""
    pauses: int
    """Pauses that the endpoint had had when this turn was given."""


@dataclass(slots=True)
class _EndpointState:
    at_once: int = 0
    """Most requests at once; 0 if the endpoint is no longer listed."""
    load: int = 0
    others: int = 0
    """Requests of other clients that it has, as far as is known."""
    failures: int = 0
    """Failures in a row; 0 for an endpoint that is well."""
    paused_until: float = 0.0
    in_trial: bool = False
    pauses: int = 0
    last_turn: int = 0
    error: str = ""

    def may_take(self, now: float) -> bool:
        if self.failures and (self.in_trial or now < self.paused_until):
            return False
        return self.load < self.at_once


class Endpoints:
    """Servers by name, such as their URLs: how busy each is, and which are paused."""

    def __init__(
        self, *, first_pause: float = FIRST_PAUSE, longest_pause: float = LONGEST_PAUSE
    ) -> None:
        """Start without endpoints. Pauses are in seconds."""
        self._first_pause, self._longest_pause = first_pause, longest_pause
        self._states: dict[str, _EndpointState] = {}
        self._turns = 0
        self._down_since: float | None = None

    def replace(self, listed: Mapping[str, int], now: float) -> None:
        """Replace the list of endpoints; values are the most requests at once, 1 or more.

        Endpoints that were listed before keep what is known of them. Those no longer listed get no
        further requests; the ends of requests under way must still be reported. Raises UsageError
        for a value below 1, and then changes nothing.
        """
        for name, at_once in listed.items():
            if at_once < 1:
                raise UsageError(f"{name}: must get at least 1 request at once, not {at_once}")
        for state in self._states.values():
            state.at_once = 0
        for name, at_once in listed.items():
            self._states.setdefault(name, _EndpointState()).at_once = at_once
        self._states = {
            name: state for name, state in self._states.items() if state.at_once or state.load
        }
        self._note_whether_down(now)

    def report(self, name: str, at_once: int, others: int) -> None:
        """Note an endpoint's report: the requests it takes at once, and those of other clients.

        Nothing happens if it is not listed.
        """
        state = self._states.get(name)
        if state is not None and state.at_once:
            state.at_once, state.others = max(at_once, 1), others

    def take_at(self, name: str, now: float) -> EndpointTurn | None:
        """Give a turn at this endpoint; None if it is not listed, or may get no request now."""
        state = self._states.get(name)
        return self._turn(name, state) if state is not None and state.may_take(now) else None

    def take(self, now: float, avoid: Collection[str] = ()) -> EndpointTurn | None:
        """Give a turn at the endpoint with the most to spare.

        That is the one with the fewest requests, including other clients', in relation to what it
        takes at once; of equals, the one that has waited longest. None if all that are well and
        not in `avoid` are busy, and no trial is due.
        """
        free = [
            name
            for name, state in self._states.items()
            if state.may_take(now) and name not in avoid
        ]
        if not free:
            return None
        chosen = min(free, key=self._rank)
        return self._turn(chosen, self._states[chosen])

    def _turn(self, name: str, state: _EndpointState) -> EndpointTurn:
        self._turns += 1
        state.load, state.last_turn = state.load + 1, self._turns
        state.in_trial = state.failures > 0
        return EndpointTurn(name, state.in_trial, state.pauses)

    def _rank(self, name: str) -> tuple[float, int]:
        state = self._states[name]
        return (state.load + state.others) / state.at_once, state.last_turn

    def succeeded(self, turn: EndpointTurn) -> None:
        """End a turn: the endpoint has done its work, whatever the answer means."""
        state = self._end(turn)
        if turn.pauses == state.pauses:
            state.failures, state.error, state.in_trial = 0, "", False
            if state.at_once:
                self._down_since = None

    def failed(
        self, turn: EndpointTurn, error: str, now: float, pause: float | None = None
    ) -> None:
        """End a turn: the endpoint is broken or overloaded, and gets a pause.

        `error` is for people. `pause` is the least pause in seconds, if the endpoint has named one
        (Retry-After); it is obeyed up to the longest.
        """
        state = self._end(turn)
        state.error = error
        if turn.pauses != state.pauses:
            return
        grown = self._first_pause * 2.0 ** min(state.failures, _MOST_DOUBLINGS)
        state.paused_until = now + min(max(grown, pause or 0.0), self._longest_pause)
        state.failures += 1
        state.pauses += 1
        state.in_trial = False
        self._note_whether_down(now)

    def released(self, turn: EndpointTurn) -> None:
        """End a turn that says nothing of the endpoint, such as a request that was cancelled."""
        state = self._end(turn)
        if turn.pauses == state.pauses:
            state.in_trial = False

    def _end(self, turn: EndpointTurn) -> _EndpointState:
        state = self._states[turn.endpoint]
        state.load -= 1
        if not state.at_once and not state.load:
            del self._states[turn.endpoint]
        return state

    @property
    def listed(self) -> tuple[str, ...]:
        """All endpoints that get requests, paused ones among them."""
        return tuple(name for name, state in self._states.items() if state.at_once)

    @property
    def well(self) -> tuple[str, ...]:
        """Endpoints whose latest request did not fail, busy or not, and those not yet tried."""
        return tuple(
            name for name, state in self._states.items() if state.at_once and not state.failures
        )

    @property
    def capacity(self) -> int:
        """Requests that the endpoints which are well take at once, all together."""
        return sum(state.at_once for state in self._states.values() if not state.failures)

    @property
    def errors(self) -> dict[str, str]:
        """Last errors of the endpoints that are not well."""
        return {
            name: state.error
            for name, state in self._states.items()
            if state.at_once and state.failures
        }

    @property
    def down_since(self) -> float | None:
        """Time since which no endpoint has been well, or none listed; None if one is well."""
        return self._down_since

    def next_trial(self, now: float, name: str | None = None) -> float | None:
        """Return the seconds until the first pause ends, or that of endpoint `name`; else None.

        Pauses that are over do not count.
        """
        ends = [
            state.paused_until - now
            for each, state in self._states.items()
            if state.at_once and state.failures and state.paused_until > now
            if name in (None, each)
        ]
        return min(ends, default=None)

    def _note_whether_down(self, now: float) -> None:
        if self.well:
            self._down_since = None
        elif self._down_since is None:
            self._down_since = now
