"""The search: in one phase or, where rooms permit it, first times, then rooms, then both."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, inf, lcm
from types import FrameType

from ortools.sat.python import cp_model
from ortools.sat.python import cp_model_helper as helper

from .best import Best
from .output import Json
from .rooms import Priced
from .settings import SearchSettings

NAMES = {
    cp_model.OPTIMAL: "OPTIMAL",
    cp_model.FEASIBLE: "FEASIBLE",
    cp_model.INFEASIBLE: "INFEASIBLE",
    cp_model.MODEL_INVALID: "MODEL_INVALID",
}
FINEST = 10**6
"""Largest factor by which fractions of weights are made whole."""
LARGEST = Fraction(2**50)
"""Largest objective that the solver is given; its integers hold more."""
SHARE_OF_MEMORY = 0.9
"""Share of the program's memory that the solver may use; the rest is Python's."""
RESERVE = 0.3
"""Time left at the end for writing, in seconds."""
DETERMINISTIC_PER_SECOND = 0.3
"""Units of the solver's deterministic time that stand for a second: at most as much work."""


def minimize(model: cp_model.CpModel, priced: Sequence[Priced]) -> Fraction:
    """Set a model's objective; return the factor that makes its weights integers.

    Where they cannot all be, they are rounded down: what bounds the objective then bounds the cost.
    """
    if not priced:
        return Fraction(1)
    factor = Fraction(min(lcm(*(weight.denominator for weight, _ in priced)), FINEST))
    size = sum(weight * (each.highest - each.lowest) for weight, each in priced)
    if size * factor > LARGEST:
        factor = LARGEST / size
    expressions = [each.expression for _, each in priced]
    weights = [floor(weight * factor) for weight, _ in priced]
    model.minimize(cp_model.LinearExpr.weighted_sum(expressions, weights))
    return factor


def simplify_little(parameters: helper.SatParameters) -> None:
    """Leave out of presolve what takes longer, in a large model, than it saves a short search."""
    parameters.symmetry_level = 0
    parameters.cp_model_probing_level = 0
    parameters.max_presolve_iterations = 1


class _Incumbents(cp_model.CpSolverSolutionCallback):
    """Offers what the solver finds, and stops it when nothing better can come."""

    def __init__(
        self,
        best: Best,
        offer: Callable[[Sequence[int]], None],
        bound: Callable[[float], Fraction] | None,
    ) -> None:
        super().__init__()
        self._best = best
        self._offer = offer
        self._bound = bound

    def on_solution_callback(self) -> None:
        if self._bound is not None:
            self._best.raise_bound(self._bound(self.best_objective_bound))
        self._offer(tuple(self.response_proto.solution))
        if self._best.done:
            self.stop_search()


@dataclass(slots=True)
class PhasedSearch:
    """A search in phases: its time, its best solution, whether it must end."""

    settings: SearchSettings
    best: Best
    started: float
    """Start, by the monotonic clock."""
    phases: list[Json] = field(default_factory=list)
    spent: float = 0.0
    """Deterministic time used so far, in the solver's units."""
    interrupted: bool = False

    def listen(self) -> None:
        """Let SIGINT end the search. Call it after each phase: the solver replaces the handler."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._pressed)

    def _pressed(self, _number: int, _frame: FrameType | None) -> None:
        self.interrupted = True

    @property
    def left(self) -> float:
        """Time left in seconds, or in what stands for them in a deterministic search."""
        if self.settings.deterministic:
            return self.settings.seconds - self.spent / DETERMINISTIC_PER_SECOND
        return self.settings.seconds - RESERVE - (time.monotonic() - self.started)

    @property
    def over(self) -> bool:
        return self.interrupted or self.best.done or self.left <= 0.05

    def run(
        self,
        name: str,
        model: cp_model.CpModel,
        priced: Sequence[Priced],
        offer: Callable[[Sequence[int]], None],
        *,
        most: float = inf,
        anything: bool = False,
    ) -> str:
        """Minimise for the time left, or for so many seconds at most; return the status.

        `anything`: any solution will do. The model is the problem, or less: what bounds it holds.
        """
        if self.interrupted:
            return "UNKNOWN"
        if anything:
            model.clear_objective()  # type: ignore[no-untyped-call]
        factor = minimize(model, priced)
        own = self.best.penalties.own_at_most

        def whole(bound: float) -> Fraction:
            return ceil(bound - 1e-6) / factor - own

        callback = _Incumbents(self.best, offer, whole if priced else None)
        limit = max(0.05, min(self.left, most))
        solver = cp_model.CpSolver()
        self.limit(solver.parameters, limit)
        solver.parameters.num_workers = self.settings.workers
        solver.parameters.random_seed = self.settings.seed
        solver.parameters.catch_sigint_signal = True
        if anything:
            # The solver's strategies take turns even on one thread: one of them is lucky, mostly.
            simplify_little(solver.parameters)
            solver.parameters.interleave_search = self.settings.workers == 1
        began = time.monotonic()
        status = NAMES.get(solver.solve(model, callback), "UNKNOWN")
        self.listen()
        self.spent += solver.deterministic_time
        if priced and status in {"OPTIMAL", "FEASIBLE", "UNKNOWN"}:
            self.best.raise_bound(whole(solver.best_objective_bound))
        ended_itself = status not in {"FEASIBLE", "UNKNOWN"} or self.best.done
        used = self.seconds(time.monotonic() - began, solver.deterministic_time)
        if not ended_itself and used < 0.9 * limit:
            self.interrupted = True
        self.phases.append(
            {
                "name": name,
                "status": status,
                "seconds": round(time.monotonic() - began, 3),
                "bound": round(float(solver.best_objective_bound / factor), 6) if priced else 0,
                "conflicts": solver.num_conflicts,
                "branches": solver.num_branches,
            }
        )
        return status

    def seconds(self, wall: float, deterministic: float) -> float:
        """Return seconds, or in a deterministic search what stands for them."""
        return deterministic / DETERMINISTIC_PER_SECOND if self.settings.deterministic else wall

    def limit(self, parameters: helper.SatParameters, seconds: float) -> None:
        """Limit a search in time and memory."""
        if self.settings.memory_mb is not None:
            parameters.max_memory_in_mb = int(SHARE_OF_MEMORY * self.settings.memory_mb)
        if self.settings.deterministic:
            parameters.max_deterministic_time = seconds * DETERMINISTIC_PER_SECOND
        else:
            parameters.max_time_in_seconds = seconds
