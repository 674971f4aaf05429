"""`proctor.solve_instances`: one program on many instances of a problem, and its score."""

import itertools
import queue
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from proctor.errors import Cancelled, InfraFault
from proctor.sandbox.stop import Stop
from proctor.solver.envelope import Envelope, SolveRefused
from proctor.solver.host import SolverHost, SolverRun
from proctor.solver.instances import InstanceResult, ProgramScore, SolverInstance, scored, total
from proctor.solver.profile import DEFAULT, Profile
from proctor.solver.request import SolveRequest
from proctor.solver.solve import make_request, shared_host

_LOOK = 0.2
"""Seconds between two checks of whether to stop."""
OnResult = Callable[[InstanceResult], None]


def ignore(_result: InstanceResult) -> None:
    """Do nothing with a result."""


def solve_instances(
    program: str | bytes,
    instances: Iterable[SolverInstance],
    profile: str | Profile = DEFAULT,
    *,
    timeout: float | None = None,
    workers: int = 1,
    stop_below: float | None = None,
    host: SolverHost | None = None,
    on_result: OnResult = ignore,
    known: Mapping[str, InstanceResult] | None = None,
    stop: Stop | None = None,
    **options: Any,
) -> ProgramScore:
    """Run a generated solver on instances, as many at once as the host has cells, and score it.

    The score of an instance is how near the objective of its best accepted solution, even one from
    before a time-out, comes to the best known value (`closeness`); 0 without an accepted one.
    Stages are run in order; after one whose mean is below `stop_below`, no later one is run.
    `timeout`, in wall seconds, is for each instance, `options` are those of `solve`. `on_result` is
    called in this thread with each result as it comes; those in `known`, by id, are reused. Raises
    InputError for values out of range, ValueError without instances, and Cancelled once `stop` is
    set, when the programs under way have ended.
    """
    ordered = sorted(instances, key=lambda each: each.stage)
    if not ordered:
        raise ValueError("there are no instances")
    first = make_request(program, ordered[0].given, profile, timeout=timeout, workers=workers,
                         **options)  # fmt: skip
    batch = _Batch(first, host or shared_host(), on_result, known or {}, stop or Stop())
    found: dict[str, InstanceResult] = {}
    stopped = None
    for stage, group in itertools.groupby(ordered, key=lambda each: each.stage):
        results = list(batch.run(list(group)))
        found |= {each.id: each for each in results}
        mean = total(results, None).score
        is_last = len(found) == len(ordered)
        if stop_below is not None and not is_last and (mean is None or mean < stop_below):
            stopped = stage
            break
    return total([found.get(each.id) or _not_run(each) for each in ordered], stopped)


def _not_run(instance: SolverInstance) -> InstanceResult:
    why = "not run: an earlier stage scored too little"
    return InstanceResult(instance.id, instance.stage, 0.0, None, instance.best, why)


class _Batch:
    """Runs one program on instances, a bounded number at once."""

    def __init__(
        self,
        request: SolveRequest,
        host: SolverHost,
        on_result: OnResult,
        known: Mapping[str, InstanceResult],
        stop: Stop,
    ) -> None:
        self._request, self._host = request, host
        self._on_result, self._known, self._stop = on_result, known, stop
        self._ended: queue.SimpleQueue[Future[Envelope]] = queue.SimpleQueue()
        """Runs that ended. Not concurrent.futures.wait: Ctrl-C during it leaves its locks taken."""

    def run(self, instances: list[SolverInstance]) -> Iterator[InstanceResult]:
        """Yield results as they come. Leaving early ends the programs."""
        waiting = iter([each for each in instances if each.id not in self._known])
        yield from (self._known[each.id] for each in instances if each.id in self._known)
        under_way: dict[Future[Envelope], tuple[SolverInstance, SolverRun]] = {}
        try:
            while True:
                for each in itertools.islice(waiting, 2 * self._host.cells - len(under_way)):
                    run = self._start(each)
                    under_way[run.future] = each, run
                if not under_way:
                    return
                instance, run = under_way.pop(self._next())
                sense, has = self._request.profile.objective.sense, partial(self._has, instance)
                result = scored(instance, run.result(), sense, has)
                self._on_result(result)
                yield result
        finally:
            for _, run in under_way.values():
                run.cancel()
            for _ in under_way:
                self._ended.get()

    def _next(self) -> "Future[Envelope]":
        """Return the next run to end, waiting for it. Raises Cancelled."""
        while not self._stop.wanted:
            try:
                return self._ended.get(timeout=_LOOK)
            except queue.Empty:
                continue
        raise Cancelled("the instances under way were cancelled")

    def _has(self, instance: SolverInstance) -> bool:
        """Return whether results for an instance can have an objective."""
        try:
            return self._host.has_objective(self._asked(instance))
        except (SolveRefused, InfraFault):  # no program's doing
            return False

    def _asked(self, instance: SolverInstance) -> SolveRequest:
        return replace(self._request, given=instance.given, reference=instance.reference)

    def _start(self, instance: SolverInstance) -> SolverRun:
        run = self._host.start(self._asked(instance))
        run.future.add_done_callback(self._ended.put)
        return run
