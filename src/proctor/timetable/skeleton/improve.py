"""Large-neighbourhood search: part of the best timetable is freed and searched again, and again."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from .neighbourhoods import Lesson, Neighbourhood, Neighbourhoods
from .search import LARGEST, PhasedSearch, simplify_little

if TYPE_CHECKING:
    from .model import Timetable

LIMIT, LONGER = 2.0, 0.04
"""Longest search in one neighbourhood, in seconds, or in what stands for them, after a gain; what
is added to it for each second without one."""
OVERHEAD = 1e-6
"""Deterministic time that a try is charged for each variable and constraint that is only read."""
HOPE = 2
"""How often the bound a cost may be, for it to be likely that the whole can be searched to the end.
"""
PATIENCE, LEAST = 0.4, 0.1
"""Time without a gain after which it is then left to that: a share of this search's time so far,
but no less than a share of all."""
EARLY = 0.5
"""Share of its limit before which a try gives up only because memory is short, or all must end."""
POLL = 0.05
"""Time between two looks at whether the search is over, in seconds."""
FOUND = {cp_model.OPTIMAL, cp_model.FEASIBLE}
PROVED = {cp_model.OPTIMAL, cp_model.INFEASIBLE}


@dataclass(slots=True)
class Improver:
    """Threads that search neighbourhoods of one solution, which all of them replace."""

    search: PhasedSearch
    model: cp_model.CpModel
    """The model with its objective; it is not changed."""
    variables: dict[Lesson, list[int]]
    """Indices of what says whether and where a lesson is."""
    choices: Neighbourhoods
    offer: Callable[[Sequence[int]], None]
    """Called with each solution that is as good as the one before."""
    values: Sequence[int]
    cost: int = 0
    """Value of the model's objective for `values`."""
    ends_at: float = 0.0
    """Time left, by the search's clock, at which to end."""
    gained_at: float = 0.0
    started_at: float = 0.0
    _terms: list[tuple[int, int]] = field(default_factory=list)
    _solvers: list[cp_model.CpSolver] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _completed: int = 0
    """Number of threads that came to their end without an exception."""
    _ended: bool = False
    _exhausted: bool = False
    """True once all lessons were free, and no lower cost was possible."""

    def __post_init__(self) -> None:
        objective = self.model.proto.objective
        self._terms = list(zip(objective.vars, objective.coeffs, strict=True))
        self.cost = self._cost(self.values)
        self.started_at = self.gained_at = self.search.left

    def _cost(self, values: Sequence[int]) -> int:
        return sum(coefficient * values[index] for index, coefficient in self._terms)

    def run(self) -> None:
        """Search until the time is up, nothing better can be, or nothing has come for long."""
        # Not an executor, whose threads are waited for: these may be dropped when the time is up.
        threads = [
            threading.Thread(target=self._work, args=(number,), daemon=True)
            for number in range(self.search.settings.workers)
        ]
        for thread in threads:
            thread.start()
        while all(thread.is_alive() for thread in threads) and not self.search.over:
            threads[0].join(POLL)
        self._ended = True
        while any(thread.is_alive() for thread in threads):
            with self._lock:
                for solver in self._solvers:
                    solver.stop_search()
            threads[0].join(POLL)
            threads[-1].join(POLL)
        if self._completed < len(threads):
            raise RuntimeError("a search of neighbourhoods failed, as told above")

    @property
    def _stale(self) -> bool:
        if self._exhausted:
            return True
        best, left = self.search.best, self.search.left
        if best.solution is None or best.solution.objective > HOPE * best.bound:
            return False
        least = LEAST * self.search.settings.seconds
        return self.gained_at - left > max(least, PATIENCE * (self.started_at - left))

    def _work(self, number: int) -> None:
        rng = random.Random(self.search.settings.seed * 64 + number)
        solver = cp_model.CpSolver()
        with self._lock:
            self._solvers.append(solver)
        while not (self._ended or self.search.over or self._stale):
            if self.search.left - self.ends_at < POLL:
                break
            self._try(rng, solver)
        with self._lock:
            self._completed += 1

    def _try(self, rng: random.Random, solver: cp_model.CpSolver) -> None:
        with self._lock:
            values, cost = self.values, self.cost
            choice = self.choices.pick(rng)
            share = choice.share
        freed = choice.choose(rng, share, values)
        model = self._part(freed, values, cost)
        left = self.search.left
        limit = max(POLL, min(LIMIT + LONGER * (self.gained_at - left), left - self.ends_at))
        self._set(solver, limit, rng.randrange(2**31))
        status = solver.solve(model)
        wall, deterministic = solver.wall_time, solver.deterministic_time
        used = self.search.seconds(wall, deterministic) / limit
        if status == cp_model.UNKNOWN and used < EARLY:
            self._ended = True
        if status in PROVED and len(freed) == len(self.variables):
            self._exhausted = True
        read = len(model.proto.variables) + len(model.proto.constraints)
        self._learn(solver, status, choice, deterministic + OVERHEAD * read, used)

    def _part(self, freed: set[Lesson], values: Sequence[int], cost: int) -> cp_model.CpModel:
        """Return the model with all lessons where they are but these, and no higher cost."""
        model = self.model.clone()
        proto = model.proto
        for lesson, indices in self.variables.items():
            if lesson not in freed:
                for index in indices:
                    domain = proto.variables[index].domain
                    domain.clear()
                    domain.extend([values[index]] * 2)
        proto.objective.domain.extend([-int(LARGEST), cost])
        return model

    def _set(self, solver: cp_model.CpSolver, seconds: float, seed: int) -> None:
        parameters = solver.parameters
        self.search.limit(parameters, seconds)
        parameters.num_workers = 1
        parameters.catch_sigint_signal = False  # Its end is the main thread's to see.
        parameters.random_seed = seed
        parameters.randomize_search = True
        parameters.linearization_level = 2  # Relaxations are what helps most here.
        simplify_little(parameters)

    def _learn(
        self,
        solver: cp_model.CpSolver,
        status: object,
        choice: Neighbourhood,
        effort: float,
        used: float,
    ) -> None:
        values = tuple(solver.response_proto.solution) if status in FOUND else ()
        with self._lock:
            self.search.spent += effort
            cost = self._cost(values) if values else self.cost
            gained = cost < self.cost
            choice.learn(effort, used, gained=gained, proved=status in PROVED)
            if gained:
                self.gained_at = self.search.left
            if values and cost <= self.cost:
                self.values, self.cost = values, cost
                self.offer(values)


def improve(
    timetable: "Timetable",
    search: PhasedSearch,
    offer: Callable[[Sequence[int]], None],
    later: float,
) -> None:
    """Search neighbourhoods of the best solution; `later`: seconds to be left."""
    found = search.best.solution
    assert found is not None
    variables = {(id_, (day, at)): [var.index] for (id_, day, at), var in timetable.x.items()}
    for (id_, day, at, _), var in timetable.rooms.y.items():
        variables[id_, (day, at)].append(var.index)
    began, choices = time.monotonic(), Neighbourhoods(timetable)
    improver = Improver(
        search,
        timetable.model,
        variables,
        choices,
        offer,
        timetable.rooms.extended(found.values, found.rooms),
        ends_at=later,
    )
    improver.run()
    search.phases.append(
        {
            "name": "neighbourhoods",
            "status": "FEASIBLE",
            "seconds": round(time.monotonic() - began, 3),
            "cost": improver.cost,
            "neighbourhoods": {
                each.name: {
                    "tries": each.tries,
                    "gains": each.gains,
                    "effort": round(each.effort, 3),
                    "share": round(each.share, 3),
                }
                for each in choices.all
            },
        }
    )
