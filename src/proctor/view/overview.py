"""The list of runs, with the state and figures of each."""

import time

import msgspec

from proctor.evals.figures import Figures
from proctor.evals.records import settings_of
from proctor.evals.store_file import is_locked
from proctor.text import well_formed
from proctor.view.library import UNREADABLE, RunLibrary, WatchedRun

_BUDGET = 1.0
"""Seconds for figures of one answer; those of further runs come with the next."""


class ModeOverview(msgspec.Struct, frozen=True):
    """Figures of a run by one set of rules."""

    pass_at_1: float | None
    """0 to 1; None if nothing is scored."""
    verdicts: dict[str, int]


class RunOverview(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the list."""

    name: str
    state: str
    """`running`, `stopped`, `done`, `broken`; `uncounted` until it is known which."""
    error: str = ""
    """Reason why it cannot be read."""
    benchmark: str = ""
    model: str = ""
    source: str = ""
    begun: str = ""
    changed: str = ""
    """ISO times, UTC."""
    total: int = 0
    done: int | None = None
    """Samples made and judged; None, as `modes`, until they are counted."""
    modes: dict[str, ModeOverview] | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars."""
    no_program: int = 0
    faults: int = 0
    """Samples without a reply, or without a verdict, for no reason of the model's."""
    version: str = ""
    """Value that changes when the figures do."""


def overviews(library: RunLibrary) -> list[RunOverview]:
    """Describe all runs. Figures that take long to count come with one of the next answers."""
    until = time.monotonic() + _BUDGET
    return [overview(each, max(0.0, until - time.monotonic())) for each in library.runs()]


def overview(run: WatchedRun, wait: float = _BUDGET) -> RunOverview:
    """Describe a run; figures that take more than `wait` seconds come with a later answer."""
    try:
        with run.open() as store:
            settings = settings_of(store)
            total, begun, changed = store.count(), store.begun, store.changed
            benchmark, source = store.recall("benchmark"), store.recall("source")
        loaded = run.load_within(wait)
    except UNREADABLE as error:
        begins = is_locked(run.directory)  # its plan is not stored yet
        said = well_formed(str(error))
        return RunOverview(name=run.name, state="uncounted" if begins else "broken", error=said)
    found = None if loaded is None else loaded.figures
    running, done = is_locked(run.directory), None if found is None else found.samples
    return RunOverview(
        name=run.name,
        state="running" if running else _state(done, total),
        benchmark=str(benchmark), model=settings.model, source=str(source or settings.source),
        begun=begun, changed=changed, total=total, done=done,
        modes=None if found is None else _modes(found),
        prompt_tokens=found.prompt_tokens if found else 0,
        completion_tokens=found.completion_tokens if found else 0,
        cost=found.cost if found else None,
        no_program=found.no_program.count if found else 0,
        faults=found.fault_count if found else 0,
        version="" if loaded is None else "-".join(map(str, loaded.stamp)),
    )  # fmt: skip


def _state(done: int | None, total: int) -> str:
    if done is None:
        return "uncounted"
    return "stopped" if done < total else "done"


def _modes(found: Figures) -> dict[str, ModeOverview]:
    return {
        mode: ModeOverview(
            summary.overall.pass_at_k[1],
            {verdict.value: count for verdict, count in summary.verdicts.items()},
        )
        for mode, summary in found.modes.items()
    }
