"""A benchmark's run: planning it, beginning it, and doing what is missing of it."""

import logging
import re
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, ProctorError, SettingsError
from proctor.evals.benchmark import (
    UNUSABLE,
    Benchmark,
    Grader,
    Instance,
    LeavingOut,
    OfAFile,
    PromptsOfOthers,
    Source,
)
from proctor.evals.models.model import Model, ModelReply, ModelRequest
from proctor.evals.own_agent import agent_of
from proctor.evals.own_runs import NOTHING, Named, obeyed, sign
from proctor.evals.prices import price_of
from proctor.evals.records import current_judges, settings_of
from proctor.evals.registry import other_named
from proctor.evals.rounds import judges_to_use
from proctor.evals.run import Done, RunPlan, evaluate
from proctor.evals.selection import Selection, filters, select
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import ProblemInfo
from proctor.formats.hub import Progress
from proctor.verdict import Verdict
from proctor.version import __version__

_logger = logging.getLogger(__name__)
RUNS = "runs"
"""Default parent directory of runs."""
SAMPLES_PER_CELL = 4
"""Samples under way for each cell besides those that wait for the model."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Problems and samples of a run that is not begun yet."""

    benchmark: Benchmark[Any]
    settings: Settings
    """Settings as given; mode `both` is replaced where the benchmark has only one."""
    source: Source[Any]
    selection: Selection
    counts: tuple[int, ...]
    """Samples of each problem, in the selection's order."""

    @property
    def samples(self) -> int:
        """Samples in all."""
        return sum(self.counts)


def plan(
    benchmark: Benchmark[Any],
    settings: Settings,
    model: Model | None,
    progress: Progress | None = None,
) -> Planned:
    """Find source and problems, and how many samples each gets.

    Problems for which a recording has no replies are left out, and counted. Raises InputError,
    SettingsError, InfraFault.
    """
    if settings.mode == "both" and len(benchmark.modes) == 1:
        settings = msgspec.structs.replace(settings, mode=next(iter(benchmark.modes)))
    if unknown := sorted(set(settings.modes) - set(benchmark.modes)):
        raise SettingsError(
            f"{benchmark.name} is graded {' or '.join(benchmark.modes)}, not {unknown[0]}"
        )
    if settings.agentic_mode and not benchmark.agentic:
        raise SettingsError(f"{benchmark.name} has no tests that an agent may run")
    agent_of(settings)  # raises for a wrong agent before anything is begun
    benchmark.check(settings)
    if isinstance(benchmark, PromptsOfOthers):
        settings = benchmark.pinned(settings)
    wanted = filters(settings)
    source = benchmark.open_source(settings, progress)
    selection = select(source.infos(), wanted)
    taken: list[tuple[ProblemInfo, int]] = []
    unrecorded = 0
    for info in selection.problems:
        recorded = model.recorded(info.id) if model is not None else None
        if recorded == 0:
            unrecorded += 1
        else:
            count = settings.n or recorded or info.samples or 1
            taken.append((info, min(count, info.samples or count)))
    if not taken:
        raise InputError("the recording has nothing for any of the problems", field="--model")
    left_out = selection.left_out | ({"not recorded": unrecorded} if unrecorded else {})
    if isinstance(source, LeavingOut):
        left_out |= source.left_out
    return Planned(
        benchmark,
        settings,
        source,
        Selection(tuple(info for info, _ in taken), left_out),
        tuple(count for _, count in taken),
    )


def begin(directory: Path, planned: Planned) -> RunStore:
    """Begin a run in a directory. Raises InputError, SettingsError."""
    price = price_of(planned.settings)
    benchmark = planned.benchmark
    file = benchmark.benchmark_file if isinstance(benchmark, OfAFile) else None
    other = other_named(benchmark.name) if file is None else None
    store = RunStore.create(directory, msgspec.to_builtins(planned.settings))
    try:
        store.remember({
            "benchmark": benchmark.name,
            "benchmark_file": None if file is None else str(file.absolute()),
            "distribution": other.distribution if other is not None else None,
            "source": planned.source.name,
            "provenance": planned.source.provenance(),
            "left_out": planned.selection.left_out,
            "modes": dict(benchmark.modes),
            "prompt_version": benchmark.version,
            "proctor": __version__,
            "price": price,
        })  # fmt: skip
        sign(store)
        store.plan(zip(planned.selection.problems, planned.counts, strict=True))
    except BaseException:
        store.close()
        raise
    return store


async def go_on(
    store: RunStore,
    model: Model,
    grader: Grader[Any] | None,
    on_done: Callable[[Done], None],
    named: Named = NOTHING,
) -> None:
    """Complete a run: generate and judge all that is missing; `named` is as for `obeyed`.

    Raises what `evaluate` and `obeyed` raise, and SettingsError if problems or prompts are no
    longer those it was begun with.
    """
    settings, benchmark, source = _unchanged(store, named)

    def in_flight() -> int:
        cells = grader.cells if grader is not None else 0  # their number may change
        return settings.concurrency or settings.max_connections + cells * SAMPLES_PER_CELL

    wanted = RunPlan(
        benchmark=benchmark,
        settings=settings,
        model=model,
        agent=agent_of(settings) if store.unasked() else None,
        grader=grader,
        judges=judges_to_use(store, settings),
        in_flight=in_flight,
        on_done=on_done,
    )
    ids = [info.id for info in store.problems()]
    unread = set(ids)

    def instances() -> Iterator[Instance]:
        for instance in source.instances(ids):
            unread.discard(instance.id)
            yield instance

    await evaluate(store, instances(), wanted)
    if unread and isinstance(source, LeavingOut) and source.left_out.get(UNUSABLE):
        store.leave_out(unread, UNUSABLE)


def missing_requests(store: RunStore, named: Named = NOTHING) -> Iterator[ModelRequest]:
    """Yield the requests for all replies that a run lacks, as single shots ask for them.

    Raises SettingsError as `go_on`.
    """
    settings, benchmark, source = _unchanged(store, named)
    for instance in source.instances([info.id for info in store.problems()]):
        for missing in store.missing(instance.id, {}):
            try:
                asked = benchmark.messages(instance, missing.sample, settings)
            except ProctorError:
                raise
            except Exception:  # the run fails here again, and makes it a fault of this sample
                _logger.exception("no prompt for sample %s of %s", missing.sample, instance.id)
                continue
            if not isinstance(asked, ModelReply):
                yield ModelRequest(asked, instance.id, missing.sample, settings.sampling)


def _unchanged(store: RunStore, named: Named) -> tuple[Settings, Benchmark[Any], Source[Any]]:
    """Return settings, benchmark, source. Raises SettingsError if problems or prompts changed."""
    found = obeyed(store, named, asks=store.unasked() > 0)
    settings, benchmark = found.settings, found.benchmark
    source = unchanged_source(store, named)
    if store.recall("prompt_version") != benchmark.version:
        raise SettingsError("prompts have changed since this run was begun: begin another run")
    if isinstance(benchmark, PromptsOfOthers) and store.unasked():
        benchmark.pinned(settings)
    return settings, benchmark, source


def unchanged_source(store: RunStore, named: Named = NOTHING) -> Source[Any]:
    """Return the source of a run.

    Raises SettingsError if it has changed, InputError, and what `obeyed` raises.
    """
    found = obeyed(store, named)
    source: Source[Any] = found.benchmark.open_source(found.settings)
    if changed := _changed(source.provenance(), store.recall("provenance")):
        raise SettingsError(
            f"{changed} is not what it was when {store.directory} was begun: "
            "begin another run, or put it back"
        )
    return source


def _changed(found: list[dict[str, Any]], recorded: list[dict[str, Any]]) -> str:
    """Return the name of the first file that differs from the record; empty if none does."""
    nothing: dict[str, Any] = {}
    for now, then in zip_longest(found, recorded, fillvalue=nothing):
        if now != then:
            return str(now.get("file") or then.get("file") or "the source")
    return ""


def retry(store: RunStore, verdicts: Collection[str]) -> int:
    """Discard judgements with these verdicts, so that they are made again; return how many.

    With INFRA_FAULT, replies that failed are forgotten too. Raises InputError for a name that is
    no verdict.
    """
    if unknown := [name for name in verdicts if name not in Verdict.__members__]:
        raise InputError(f"{unknown[0]!r} is not a verdict; see the reference", field="--verdict")
    again = store.set_aside(verdicts, current_judges(store, settings_of(store)).values())
    if Verdict.INFRA_FAULT.value in verdicts:
        again += store.forget_faults()
    return again


def new_directory(model: str) -> Path:
    """Name a directory for a run of this model: runs/TIME-MODEL."""
    return Path(RUNS) / f"{time.strftime('%Y%m%d-%H%M%S')}-{directory_name(Path(model).name)}"


def directory_name(model: str) -> str:
    """Return a model's name with nothing in it but letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", model).strip("-.") or "model"
