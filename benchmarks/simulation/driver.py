"""The driver: the real queue, fed and emptied as evals/durable.py and integrations/ray do it."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from proctor.judgement import Judgement
from proctor.judging.dispatch import Dispatcher, PendingJudgement, Site
from proctor.judging.remote import KEPT, PackedProblem
from proctor.verdict import Verdict
from simulation.events import Core, Events
from simulation.figures import Figures
from simulation.nodes import Answered, Network, Node
from simulation.workload import Workload

ACCEPTED = Judgement(Verdict.AC, 1.0, ())
_MAIN, _LOOP = 0, 1
"""Threads: the one that packs programs and writes rows, and the event loop."""
_CHUNK = 50
"""Judgements that the main thread begins or ends without being interrupted."""
BURST = 1000
"""That of evals/durable.py."""


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU seconds of the driver, and bytes (driver_costs.py measures them)."""

    start: float = 30e-6
    """To pack a program and queue it, in the main thread."""
    finish: float = 55e-6
    """To make and write the row of a judgement, in the main thread."""
    site: float = 16e-9
    """To count a site's room, each time when a judgement is started."""
    take: float = 20e-6
    """To send a judgement, in the event loop, beside its call's."""
    answer: float = 57e-6
    """To unpack a judgement and hand it over, in the event loop, beside its call's."""
    call: float = 240e-6
    """To call a node and have what it returns, in the event loop."""
    ray_call: float = 210e-6
    ray_judgement: float = 14e-6
    """The same in Ray's own threads, beside the interpreter's lock."""
    look: float = 2.5e-6
    """To wake a seat that finds nothing to do."""
    watch: float = 20e-6
    """To look at one node, every second."""
    pack: float = 1e-9
    """To pack a byte of a problem."""
    program: float = 1100.0
    """Bytes of a packed program."""
    judgement: float = 1000.0
    """Bytes of a packed judgement."""
    pending: float = 2100.0
    """Bytes of memory for each judgement that waits or is under way, beside its program's."""
    made: float = 2600.0
    """Bytes of memory for a judgement that was made and not written yet."""


FREE = Costs(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
"""A driver that takes no time: the queue alone."""


@dataclass(slots=True, eq=False)
class Seat:
    """A node's place, as integrations/ray/seat.py."""

    site: Site
    node: Node
    fed: bool = False
    """True while a call of `take` is under way, or about to be made."""
    lost: bool = False


class Driver:
    """One process that judges everything on nodes that come and go."""

    def __init__(
        self, work: Workload, costs: Costs, events: Events, network: Network, figures: Figures
    ) -> None:
        self.dispatcher = Dispatcher(events.clock)
        self.core = Core(events, 2)
        self.seats: dict[Seat, None] = {}
        self.left = len(work.seconds)
        """Judgements whose rows are not written."""
        self.outcomes: Counter[Verdict] = Counter()
        self._work, self._costs, self._events = work, costs, events
        self._network, self._figures = network, figures
        self._problems = [PackedProblem(str(number), None) for number in range(len(work.sizes))]
        self._kept: OrderedDict[int, float] = OrderedDict()
        self._size = 0.0
        self._next = 0
        self._started: list[float] = []
        self._answers = bytearray(len(work.seconds))
        """Number of answers for each judgement."""
        self._running = self._burst = 0
        self._inbox: list[PendingJudgement] = []
        self._ended: deque[Future[Judgement]] = deque()
        self._filling, self._asleep, self._waking = True, True, False
        self._wake_main()
        self._watch()

    @property
    def all_given(self) -> bool:
        """True if nodes have all that is left."""
        return (
            self._next == len(self._work.seconds)
            and not self._inbox
            and not self.dispatcher.waiting
        )

    def is_answered(self, number: int) -> bool:
        """Return True if a judgement has its answer: what is made of it yet is for nothing."""
        return self._answers[number] == 1

    # The main thread: evals/durable.py.

    def _wake_main(self) -> None:
        if self._asleep:
            self._asleep = False
            self.core.do(_MAIN, self._main)

    def _main(self) -> tuple[float, Callable[[], None]]:
        counting = 0.0
        if self._filling and not self._burst:
            at_once = 2 * sum(seat.site.room for seat in self.seats) or 16
            self._burst = max(0, min(at_once - self._running, BURST))
            counting = self._costs.site * len(self.seats)
        wanted = min(_CHUNK, self._burst, len(self._work.seconds) - self._next)
        if self._filling and wanted > 0:
            begun = range(self._next, self._next + wanted)
            self._next += wanted
            self._running += wanted
            self._burst -= wanted
            self._filling = self._burst > 0
            self._figures.memory.add(wanted * (self._costs.pending + self._costs.program))
            packing = self._costs.pack * sum(map(self._packed, begun))
            seconds = counting + wanted * self._costs.start + packing
            return seconds, lambda: self._start(begun)
        self._filling, self._burst = False, 0
        ended = min(_CHUNK, len(self._ended))
        return counting + ended * self._costs.finish, lambda: self._finish(ended)

    def _packed(self, number: int) -> float:
        """Pack a judgement's problem unless it is kept packed; returns the bytes that were."""
        problem = self._work.problem[number]
        if problem in self._kept:
            self._kept.move_to_end(problem)
            return 0.0
        size = self._kept[problem] = self._work.sizes[problem]
        self._size += size
        self._network.put(problem)
        while self._size > KEPT and len(self._kept) > 1:
            self._size -= self._kept.popitem(last=False)[1]
        return size

    def _start(self, begun: range) -> None:
        first = not self._inbox
        now = self._events.now
        for number in begun:
            future: Future[Judgement] = Future()
            future.add_done_callback(self._note_end)
            problem = self._problems[self._work.problem[number]]
            self._inbox.append(PendingJudgement(number, problem, b"", future, queued=now))
            self._started.append(now)
        if first:
            self.core.do(_LOOP, self._queue)
        self.core.do(_MAIN, self._main)

    def _finish(self, ended: int) -> None:
        for _ in range(ended):
            self.outcomes[self._ended.popleft().result().verdict] += 1
        costs = self._costs
        self._figures.memory.add(-ended * (costs.pending + costs.program + costs.made))
        self._running -= ended
        self.left -= ended
        if ended and not self._figures.first:
            self._figures.first = self._events.now
        self._filling = not self._ended
        at_once = 2 * sum(seat.site.room for seat in self.seats) or 16
        if self._ended or (self._next < len(self._work.seconds) and self._running < at_once):
            self.core.do(_MAIN, self._main)
        else:
            self._asleep = True

    def _note_end(self, future: Future[Judgement]) -> None:
        self._ended.append(future)
        self._figures.memory.add(self._costs.made)
        self._wake_main()

    # The event loop: integrations/ray/cluster.py and seat.py.

    def _watch(self) -> None:
        """Look at the nodes, and wake all, every second."""
        if self.left:
            self.core.do(_LOOP, lambda: (self._costs.watch * len(self.seats), self.wake_all))
            self._events.after(1.0, self._watch)

    def _queue(self) -> tuple[float, Callable[[], None]]:
        tasks, self._inbox = self._inbox, []
        for task in tasks:
            self.dispatcher.add(task)
        return 1e-6 * len(tasks), self.wake_all

    def wake_all(self) -> None:
        """Have all seats look for work; those that are about to already do not look twice."""
        if not self._waking:
            self._waking = True
            self.core.do(_LOOP, self._feed_all)

    def _feed_all(self) -> tuple[float, Callable[[], None]]:
        self._waking = False
        seconds, sends = 0.0, []
        for seat in self.seats:
            if not seat.fed:
                cost, send = self._feed(seat)
                seconds += cost
                if send is not None:
                    sends.append(send)
        return seconds, lambda: [send() for send in sends]

    def join(self, seat: Seat) -> None:
        """Use a node whose pool is open."""
        self.seats[seat] = None
        self.dispatcher.sites.add(seat.site)
        self._ask(seat)
        self.core.do(_LOOP, lambda: self._feed(seat))
        self._wake_main()

    def _feed(self, seat: Seat) -> tuple[float, Callable[[], None] | None]:
        if seat.lost or seat.fed:
            return 0.0, None
        tasks = self.dispatcher.take(seat.site)
        if not tasks:
            return self._costs.look, None
        seat.fed = True
        costs = self._costs
        self._figures.ray += costs.ray_call + costs.ray_judgement * len(tasks)
        self._figures.calls += 1
        return costs.look + costs.call / 2 + costs.take * len(tasks), lambda: self._send(
            seat, tasks
        )

    def _send(self, seat: Seat, tasks: Sequence[PendingJudgement]) -> None:
        wanted = {task.problem.digest for task in tasks}
        new = sorted(map(int, wanted - seat.site.problems))
        size = 200 + self._costs.program * len(tasks)

        def accepted(forgotten: list[int]) -> None:
            self._network.send(
                seat.node.machine, self._network.driver, 200.0,
                lambda: self.core.do(_LOOP, lambda: fed(forgotten)),
            )  # fmt: skip

        def fed(forgotten: list[int]) -> tuple[float, Callable[[], None]]:
            seat.site.problems = (seat.site.problems | set(map(str, new))) - set(
                map(str, forgotten)
            )
            seat.fed = False
            seconds, send = self._feed(seat)
            return seconds + self._costs.call / 2, send

        self._network.send(
            self._network.driver, seat.node.machine, size,
            lambda: seat.node.take(tasks, new, accepted),
        )  # fmt: skip

    def _ask(self, seat: Seat) -> None:
        self._figures.calls += 1
        self._figures.ray += self._costs.ray_call

        def answered(answers: list[Answered]) -> None:
            self._network.send(
                seat.node.machine, self._network.driver, 200 + self._costs.judgement * len(answers),
                lambda: self.core.do(_LOOP, lambda: self._take_answers(seat, answers)),
            )  # fmt: skip

        self._network.send(
            self._network.driver, seat.node.machine, 200.0,
            lambda: seat.node.finished(seat.site.room // 2, answered),
        )  # fmt: skip

    def _take_answers(
        self, seat: Seat, answers: list[Answered]
    ) -> tuple[float, Callable[[], None]]:
        def then() -> None:
            if seat.lost:
                return
            for answer in answers:
                self._answered(seat, answer)
            self.core.do(_LOOP, lambda: self._feed(seat))
            self._ask(seat)

        return self._costs.call + self._costs.answer * len(answers), then

    def _answered(self, seat: Seat, answer: Answered) -> None:
        figures, now = self._figures, self._events.now
        task = seat.site.tasks.get(answer.id)
        new = task is not None and not task.future.done()
        self.dispatcher.answered(seat.site, answer.id, ACCEPTED)
        seconds = self._work.seconds[answer.id] * seat.node.slowness
        if new:
            self._answers[answer.id] += 1
            figures.waits.append(answer.begun - self._started[answer.id])
            figures.ends.append(now)
            figures.cells.judged += seconds
        else:
            figures.cells.wasted += seconds

    def lose(self, seat: Seat, blameless: bool) -> None:
        """Note that a node is gone."""
        self.core.do(_LOOP, lambda: self._lose(seat, blameless))

    def _lose(self, seat: Seat, blameless: bool) -> tuple[float, Callable[[], None]]:
        seat.lost = True
        self.seats.pop(seat, None)
        self.dispatcher.sites.discard(seat.site)
        self.dispatcher.lost(seat.site, "it died", blameless=blameless)
        return 100e-6 + 2e-6 * len(self.seats), self.wake_all
