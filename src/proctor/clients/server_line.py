"""Judgements under way at one start of a server: sent, answered, requested again after a break.

The connection may break without harm: unless the server has been restarted, it is asked for the
same judgements by their keys, and answers with those that it has made meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from proctor.clients.http import Unsent
from proctor.clients.packed_http import PackedHttp, outcome_of
from proctor.endpoints import Endpoints, EndpointTurn
from proctor.errors import (
    Busy,
    InputError,
    ProctorError,
    ReplyBroken,
    UnknownProblem,
    Unreachable,
)
from proctor.judgement import Judgement
from proctor.judging.dispatch import Dispatcher, PendingJudgement, Site, blames_the_site
from proctor.judging.remote import PackedProblem
from proctor.limits import MIB
from proctor.service.http.native.packed_schema import PackedAnswer, PackedRequest, ServerLoad

ROOM = 32
"""Judgements that a server has at once, for each of its places, while many wait."""
_LOW = 4
"""Divisor of a server's room: it gets more judgements when it has at most that part. A request then
carries several, since it costs as much as a small judgement."""
GATHER = 0.01
"""Seconds that a judgement waits for others, to be sent with them to a server that has enough."""
STALLED = 6 * 3600.0
"""Seconds without a judgement after which a server that has some to make counts as gone, although
it gives signs of life."""
LOOK_EVERY = 2.0
"""Seconds between two looks at how a server does."""
BREAKS = 3
"""Times in a row that a server may break off before it has judged anything."""
_MOST_BYTES, _MOST_TASKS = 4 * MIB, 1000
"""Most bytes of programs in one request, unless a single one has more; most judgements in it."""
_MOST_FORGOTTEN = 100
"""Most problems in a row that a server may have forgotten before it judges anything."""
_PROBLEMS_SHARE = 2
"""Divisor of the bytes of problems that a server keeps: problems under way may take that part, and
the latest may exceed it."""


@dataclass(frozen=True, slots=True)
class FleetParts:
    """Parts that all servers of a fleet share."""

    key: str
    """Beginning of the idempotency keys of the fleet's judgements."""
    dispatcher: Dispatcher
    endpoints: Endpoints
    token: str | None
    silence: float
    """Seconds without a sign of life after which a server counts as gone."""
    wake: Callable[[], None]
    """Gives waiting judgements to servers; called when one may have room."""


class ServerLine:
    """A server that answers, with the judgements that it has been given."""

    def __init__(self, url: str, http: PackedHttp, load: ServerLoad, parts: FleetParts) -> None:
        self.site = Site(load.id, load.places, load.places)
        self.judged = 0
        self._url, self._http, self._parts = url, http, parts
        self._instance = load.instance
        self._turns: dict[int, EndpointTurn] = {}
        """Turns of the judgements under way, by id."""
        self._outbox: list[PendingJudgement] = []
        self._awaiting: dict[str, list[PendingJudgement]] = {}
        """Judgements that wait for their problem to be sent, by its digest."""
        self._forgotten = 0
        """Number of problems that the server had forgotten since the latest judgement."""
        self._problems = Counter[str]()
        """Number of judgements under way of each problem, by its digest."""
        self._problem_bytes = 0
        self._most_problem_bytes = load.problem_bytes // _PROBLEMS_SHARE
        self._wake = asyncio.Event()
        self._work: set[asyncio.Task[None]] = set()
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._checking = asyncio.Lock()
        self._heard = self._checked = time.monotonic()
        """Times of the latest sign of life, and of the latest check after a break."""
        self._progressed = self._heard
        """Time of the latest judgement, or when it got one and had none."""
        self._breaks = 0
        self._busy_until = 0.0
        self._reachable, self._stopping, self._retired = True, False, False
        self._gone = Unreachable("is gone")
        """Reason why the server cannot be reached, while it cannot."""
        self._note(load)

    def takes(self, now: float) -> bool:
        """Return True if it may be given judgements at this monotonic time."""
        usable = self._reachable and not self._stopping and not self._retired
        return usable and now >= self._busy_until

    def wants(self, now: float) -> bool:
        """Return True if it may be given judgements, and has few enough."""
        few = _LOW * len(self.site.tasks) <= self.site.room
        return few and not self.full and self.takes(now)

    @property
    def full(self) -> bool:
        """True if it has as many problems as it can be relied upon to keep."""
        return len(self._problems) > 1 and self._problem_bytes > self._most_problem_bytes

    def give(self, task: PendingJudgement, turn: EndpointTurn) -> None:
        """Queue a judgement that the site has taken, to be sent."""
        if not self._turns:
            self._progressed = time.monotonic()
        self._turns[task.id] = turn
        self._problems[task.problem.digest] += 1
        if self._problems[task.problem.digest] == 1:
            self._problem_bytes += len(task.problem.data)
        self._outbox.append(task)
        self._wake.set()

    def retire(self) -> None:
        """Take nothing more, and end when all that is under way has been answered."""
        self._retired = True
        self._end_if_empty()

    async def run(self) -> None:
        """Judge until the server is retired. Raises the reason if it is lost."""
        self._spawn(self._look())
        self._spawn(self._send())
        try:
            await self._over
        finally:
            for task in self._work:
                task.cancel()
            await asyncio.gather(*self._work, return_exceptions=True)

    def leave(self, why: ProctorError | None, pause: float) -> None:
        """Give judgements under way to other servers; this one then gets a pause, in seconds."""
        unsent = [*self._outbox, *(task for each in self._awaiting.values() for task in each)]
        for task in unsent:
            self._return(task)
        endpoints, now = self._parts.endpoints, time.monotonic()
        if why is not None and not self._turns:
            turn = endpoints.take_at(self._url, now)
            self._turns = {} if turn is None else {-1: turn}
        for turn in self._turns.values():
            if why is None:
                endpoints.released(turn)
            else:
                endpoints.failed(turn, str(why), now, pause)
        self._turns = {}
        said = f"{self.site.name}: {why}"
        self._parts.dispatcher.lost(self.site, said, blameless=self._stopping or why is None)
        self._parts.wake()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._over.done():
            self._over.set_exception(error)

    def _end_if_empty(self) -> None:
        """End if nothing is under way and the server is retired or cannot be reached."""
        if self.site.tasks or self._over.done():
            return
        if self._retired:
            self._over.set_result(None)
        elif not self._reachable:
            self._over.set_exception(self._gone)

    async def _look(self) -> None:
        """Ask for the server's load now and then. Raises the reason if the server is lost."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                load = await self._http.load()
            except Unreachable as error:
                # The server may have stopped listening, and still be answering earlier requests.
                self._reachable, self._gone = False, error
                if time.monotonic() - self._heard > self._parts.silence:
                    raise
                self._end_if_empty()
                continue
            if load.instance != self._instance:
                raise Unreachable("was started anew")
            self._heard = time.monotonic()
            if self._turns and self._heard - self._progressed > STALLED:
                raise Unreachable(f"has judged nothing for {STALLED:g} s")
            self._note(load)
            self._parts.wake()

    def _note(self, load: ServerLoad) -> None:
        site = self.site
        others = max(0, load.running + load.waiting - len(site.tasks))
        site.cells, site.room = load.places, max(load.places, ROOM * load.places - others)
        self._reachable, self._stopping = True, load.stopping
        self._parts.endpoints.report(self._url, ROOM * load.places, others)

    async def _send(self) -> None:
        """Send the judgements in the outbox whenever there are any."""
        while True:
            await self._wake.wait()
            if len(self.site.tasks) - len(self._outbox) >= self.site.cells:
                await asyncio.sleep(GATHER)
            self._wake.clear()
            tasks, self._outbox = self._outbox, []
            ready = []
            for task in tasks:
                digest = task.problem.digest
                if digest in self.site.problems:
                    ready.append(task)
                elif digest in self._awaiting:
                    self._awaiting[digest].append(task)
                else:
                    self._awaiting[digest] = [task]
                    self._spawn(self._put(task.problem))
            for some in _portions(ready):
                self._spawn(self._ask(some))

    async def _put(self, problem: PackedProblem) -> None:
        """Send a problem, and then the judgements that wait for it."""
        began, refusal = time.monotonic(), None
        try:
            await self._http.put(problem.digest, problem.data)
            self.site.problems.add(problem.digest)
        except Unreachable as error:
            await self._goes_on(error, began)
        except Busy as error:
            self._hold(error)
        except InputError as error:
            refusal = error
        tasks = self._awaiting.pop(problem.digest)
        if refusal is None and self.takes(time.monotonic()):
            self._give_again(tasks)
        else:
            for task in tasks:
                if refusal is not None:
                    self._finish(task, refusal)
                else:
                    self._return(task)
        self._parts.wake()
        self._end_if_empty()

    async def _ask(self, tasks: list[PendingJudgement]) -> None:
        """Request judgements, and request them again if the connection breaks."""
        waiting = {f"{self._parts.key}-{task.id}": task for task in tasks}
        requests = [
            PackedRequest(key, task.problem.digest, task.payload) for key, task in waiting.items()
        ]

        def take(answers: list[PackedAnswer]) -> None:
            self._heard = time.monotonic()
            for answer in answers:
                if (task := waiting.pop(answer.key, None)) is not None:
                    self._answered(task, answer)
            if answers:
                self._breaks = 0
                self._parts.wake()
                self._end_if_empty()

        began = time.monotonic()
        try:
            await self._http.judge(requests, take)
            if waiting:
                raise Unreachable("the answer ended too early")
        except Unreachable as error:
            if await self._goes_on(error, began):
                self._give_again(list(waiting.values()))
            else:
                self._drop(list(waiting.values()), error)
            self._end_if_empty()
        except Busy as error:
            self._hold(error)
            for task in waiting.values():
                self._return(task)
        except InputError as error:
            self._take_apart(list(waiting.values()), error)

    def _take_apart(self, tasks: list[PendingJudgement], error: InputError) -> None:
        """Send judgements of a refused request (too large, say) one by one; a single one fails."""
        for task in tasks:
            if len(tasks) == 1:
                self._finish(task, error)
            else:
                self._spawn(self._ask([task]))

    async def _goes_on(self, error: Unreachable, began: float) -> bool:
        """Return True if the server goes on after a broken connection, False if it is unreachable.

        Raises the error if the server has been restarted, or has broken off too often.
        """
        async with self._checking:
            if self._checked > began:  # another request has checked since: several broke together
                return self._reachable
            self._breaks += 1
            if self._breaks >= BREAKS:
                raise error
            try:
                load = await self._http.load()
            except Unreachable:
                self._reachable, self._gone = False, error
            else:
                if load.instance != self._instance:
                    raise error
                self._note(load)
            self._checked = time.monotonic()
            return self._reachable

    def _drop(self, tasks: list[PendingJudgement], why: Unreachable) -> None:
        """Give these judgements of an unreachable server to others; it may yet answer the rest."""
        if isinstance(why, Unsent):
            for task in tasks:
                self._return(task)
        else:
            now = time.monotonic()
            for task in tasks:
                self._parts.endpoints.failed(self._taken_off(task), str(why), now)
            said = f"{self.site.name}: {why}"
            self._parts.dispatcher.dropped(self.site, [task.id for task in tasks], said)
        self._parts.wake()

    def _answered(self, task: PendingJudgement, answer: PackedAnswer) -> None:
        outcome = outcome_of(answer)
        if isinstance(outcome, UnknownProblem):
            self._send_problem_again(task)
        elif isinstance(outcome, Busy):
            self._hold(outcome)
            self._return(task)
        elif blames_the_site(outcome):
            assert isinstance(outcome, ProctorError)
            raise outcome
        else:
            self._finish(task, outcome)

    def _send_problem_again(self, task: PendingJudgement) -> None:
        """Send a judgement again, with its problem, which the server no longer keeps."""
        self._forgotten += 1
        if self._forgotten > _MOST_FORGOTTEN:
            raise ReplyBroken("forgets problems that it has just been sent")
        self.site.problems.discard(task.problem.digest)
        self._give_again([task])

    def _finish(self, task: PendingJudgement, outcome: Judgement | ProctorError) -> None:
        self._parts.endpoints.succeeded(self._taken_off(task))
        self.judged += 1
        self._progressed = time.monotonic()
        self._forgotten = 0
        self._parts.dispatcher.answered(self.site, task.id, outcome)

    def _taken_off(self, task: PendingJudgement) -> EndpointTurn:
        """Remove a judgement from those under way; return its turn."""
        self._problems[task.problem.digest] -= 1
        if not self._problems[task.problem.digest]:
            del self._problems[task.problem.digest]
            self._problem_bytes -= len(task.problem.data)
        return self._turns.pop(task.id)

    def _give_again(self, tasks: list[PendingJudgement]) -> None:
        self._outbox[:0] = tasks
        self._wake.set()

    def _return(self, task: PendingJudgement) -> None:
        """Return to the dispatcher a judgement that the server has not begun."""
        self._parts.endpoints.released(self._taken_off(task))
        self._parts.dispatcher.returned(self.site, task.id)

    def _hold(self, error: Busy) -> None:
        """Give the server nothing for as long as its error says."""
        self._busy_until = time.monotonic() + error.retry_after
        asyncio.get_running_loop().call_later(error.retry_after, self._parts.wake)


def _portions(tasks: Iterable[PendingJudgement]) -> Iterator[list[PendingJudgement]]:
    """Yield judgements in portions for one request each."""
    some: list[PendingJudgement] = []
    size = 0
    for task in tasks:
        if some and (size + len(task.payload) > _MOST_BYTES or len(some) >= _MOST_TASKS):
            yield some
            some, size = [], 0
        some.append(task)
        size += len(task.payload)
    if some:
        yield some
