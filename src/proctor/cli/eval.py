"""Evaluating a model from the command line."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from proctor.cli import batches, render, terminal
from proctor.cli.eval_spending import Spending
from proctor.cli.eval_summary import leaderboard, show_figures, show_headline
from proctor.cli.ioi import show_points
from proctor.cli.judge import k_list
from proctor.cli.judges import HERE, Where
from proctor.cli.model_access import ModelAccess
from proctor.cli.retries import tell_once
from proctor.cli.stopping import cancelled_by_signals
from proctor.errors import InfraFault, InputError, ModelAbsent, ProctorError, SettingsError
from proctor.evals import evaluation
from proctor.evals.batches.model import BatchedModel
from proctor.evals.benchmark import Benchmark, Grader, takes_judges
from proctor.evals.figures import Figures, figures, to_plain
from proctor.evals.ioi.report import PointsReport, to_json
from proctor.evals.models.model import Model, ModelReply, ModelRequest, plain
from proctor.evals.models.opening import open_model
from proctor.evals.models.scripted import ScriptedModel
from proctor.evals.own_runs import NOTHING, Named, obeyed
from proctor.evals.records import current_judges, records, settings_of
from proctor.evals.rounds import begin_round, judges_to_use
from proctor.evals.run import Done
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.written_settings import values_of
from proctor.judging.missing_modules import MissingModules
from proctor.shown import counted as many
from proctor.verdict import Verdict

INTERRUPTED = 130
"""Exit code of a command that was stopped."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Options for where a run is judged, and for its end."""

    k: tuple[int, ...]
    fail_under: float | None
    as_json: bool
    where: Where = HERE
    named: Named = field(default_factory=dict)
    """Settings of a stored run that are given by name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    code: int
    """Exit code."""
    report: dict[str, Any]
    """Figures of the run, as --json has them."""
    found: Figures


def ending(
    k: str,
    fail_under: float | None,
    as_json: bool,
    where: Where = HERE,
    given: Mapping[str, Any] | None = None,
) -> Ending:
    """Parse what was typed. Raises InputError."""
    if fail_under is not None and not 0 <= fail_under <= 1:
        hint = f"; {fail_under:g}% is {fail_under / 100:g}" if 1 < fail_under <= 100 else ""
        raise InputError(f"is a share from 0 to 1, not {fail_under:g}{hint}", field="--fail-under")
    return Ending(k_list(k), fail_under, as_json, where, values_of(given or {}))


def dry_run(benchmark: Benchmark[Any], settings: Settings, *, as_json: bool) -> int:
    """Say what a run would do; nothing is asked, judged or kept."""
    tell_once()
    model = open_model(settings, os.environ) if settings.model.startswith("replay:") else None
    planned = evaluation.plan(benchmark, settings, model)
    first = planned.selection.problems[0]
    instance = next(planned.source.instances([first.id]))
    asked = benchmark.messages(instance, 0, planned.settings)
    messages = [] if isinstance(asked, ModelReply) else plain(asked)
    found = {
        "source": planned.source.name,
        "problems": len(planned.selection.problems),
        "samples": planned.samples,
        "left_out": planned.selection.left_out,
        "judge": list(planned.settings.modes),
        "first_prompt": messages,
    }
    if as_json:
        terminal.write_json(found)
        return 0
    left_out = ", ".join(f"{name} {n}" for name, n in planned.selection.left_out.items())
    terminal.write(
        f"{many(len(planned.selection.problems), 'problem')} of {planned.source.name}, "
        f"{many(planned.samples, 'sample')}; "
        f"left out: {left_out or 'none'}\n\nThe first prompt, {first.id}:\n"
    )
    for message in messages:
        terminal.write(f"\n[{message['role']}]\n{message['content']}\n")
    return 0


def evaluate(
    benchmark: Benchmark[Any], settings: Settings, out: str | None, ending: Ending,
    access: ModelAccess,
) -> int:  # fmt: skip
    """Begin a run and do it; returns the exit code."""
    tell_once()
    access.check(settings)
    planned = evaluation.plan(benchmark, settings, access.look(settings))
    directory = Path(out) if out is not None else evaluation.new_directory(settings.model)
    return said(begun(planned, directory, ending, access), ending)


def begun(
    planned: evaluation.Planned, directory: Path, ending: Ending, access: ModelAccess
) -> Outcome:
    """Begin a planned run in a directory, and do it."""
    with access.opened(planned.settings) as reached:
        planned = replace(planned, settings=reached.settings)
        with evaluation.begin(directory, planned) as store:
            access.remember(store)
            return _do(store, reached.open(), ending)


def resume(run: str, ending: Ending, access: ModelAccess) -> int:
    """Do the missing part of a run; returns the exit code."""
    with RunStore.open(Path(run), write=True) as store:
        return said(_continue(store, ending, access), ending)


def retry(run: str, verdicts: tuple[str, ...], ending: Ending, access: ModelAccess) -> int:
    """Forget faults, or judgements with certain verdicts, and then do all that is missing."""
    with RunStore.open(Path(run), write=True) as store:
        asks = store.lacks(faults="INFRA_FAULT" in verdicts)
        obeyed(store, _named(store, ending, access), asks=asks)  # before anything is forgotten
        evaluation.unchanged_source(store, ending.named)
        again = evaluation.retry(store, verdicts)
        terminal.note(f"{again} to be done again")
        return said(_continue(store, ending, access), ending)


def rejudge(run: str, ending: Ending) -> int:
    """Judge everything again, in a new round; the old verdicts stay in the store."""
    with RunStore.open(Path(run), write=True) as store:
        evaluation.unchanged_source(store, ending.named)
        return said(_continue(store, ending, ModelAccess(), new_round=True), ending)


def _continue(
    store: RunStore, ending: Ending, access: ModelAccess, *, new_round: bool = False
) -> Outcome:
    tell_once()
    ending = replace(ending, named=_named(store, ending, access))
    if not store.unasked():  # no reply is missing: neither recording nor server is needed
        return _do(store, ScriptedModel(_not_asked), ending, new_round=new_round)
    settings = obeyed(store, ending.named, asks=True).settings
    access.look_again(store, settings)
    with access.opened(settings) as reached:
        return _do(store, reached.open(), ending, new_round=new_round)


def _named(store: RunStore, ending: Ending, access: ModelAccess) -> Named:
    """Return the settings given by name; a server that is started has an address of its own."""
    own = {} if access.start_server is None else {"base_url": store.settings.get("base_url", "")}
    return {**own, **ending.named}


def _not_asked(_request: ModelRequest) -> ModelReply:
    raise ModelAbsent("the run has all replies, and yet another was asked for")


def _do(store: RunStore, model: Model, ending: Ending, *, new_round: bool = False) -> Outcome:
    if isinstance(model, BatchedModel):  # before cells are opened, which would be idle meanwhile
        try:
            batches.ask(store, model, ending.named)
        except (KeyboardInterrupt, asyncio.CancelledError):
            return _finish(store, ending, None, interrupted=True)
        except ProctorError as error:
            return _finish(store, ending, error, interrupted=False)
    run = obeyed(store, ending.named, asks=store.unasked() > 0)
    settings, benchmark = run.settings, run.benchmark
    failure: ProctorError | None = None
    interrupted = False
    grades = bool(settings.modes) or settings.agentic_mode
    with ExitStack() as stack:
        grader = _open_grader(benchmark, settings, ending, stack) if grades else None
        if new_round:  # only now: a round without verdicts hides those of the one before
            begin_round(store, settings)
        spent = Spending(store, model)
        progress = stack.enter_context(
            render.Progress(store.count(), not ending.as_json, note=spent.line)
        )
        progress.advance(store.count() - store.unfinished(judges_to_use(store, settings)))

        def show(done: Done) -> None:
            spent.add(done)
            verdict = done.verdicts.get("standard") or done.verdicts.get("official")
            progress.show([Verdict.INFRA_FAULT if done.fault else verdict or Verdict.SK])

        try:
            asyncio.run(stoppable(store, model, grader, show, ending.named))
        except (KeyboardInterrupt, asyncio.CancelledError):
            interrupted = True
        except ProctorError as error:
            failure = error
    return _finish(store, ending, failure, interrupted)


def _open_grader(
    benchmark: Benchmark[Any], settings: Settings, ending: Ending, stack: ExitStack
) -> Grader[Any]:
    where = ending.where.with_cpu(settings.normalise_cpu or None)
    open_judges = where.opener(settings.pool)
    if open_judges is None:
        return stack.enter_context(benchmark.open_grader(settings))
    if not takes_judges(benchmark):
        raise SettingsError(f"{benchmark.name} can be graded on this machine only")
    return stack.enter_context(benchmark.open_grader(settings, stack.enter_context(open_judges())))


def _judges(store: RunStore) -> dict[str, str]:
    return current_judges(store, settings_of(store))


async def stoppable(
    store: RunStore,
    model: Model,
    grader: Grader[Any] | None,
    show: Callable[[Done], None],
    named: Named = NOTHING,
) -> None:
    """Go on with the run; SIGINT and SIGTERM stop it so that what was made is kept."""
    try:
        with cancelled_by_signals():
            await evaluation.go_on(store, model, grader, show, named)
    finally:
        await model.close()


def _finish(
    store: RunStore, ending: Ending, failure: ProctorError | None, interrupted: bool
) -> Outcome:  # fmt: skip
    """Show the figures of a run, unless they are to be JSON, and why it ended."""
    settings = settings_of(store)
    found = figures(records(store), settings.modes, sorted({1, *ending.k}))
    left = store.unfinished(_judges(store))
    points = _points(store, ending.named)
    added: dict[str, Any] = {} if points is None else {"points": to_json(points)}
    missing = _missing(store, found)
    if missing.counts:
        added["missing_modules"] = missing.counts
        terminal.note(missing.advice)
    report = _report(store, settings, found, left) | added
    if not ending.as_json:
        show_figures(store, settings, found)
        if points is not None:
            show_points(points)
    if failure is not None:
        terminal.note(f"{failure}; `proctor resume {store.directory}` goes on")
        code = failure.exit_code
    elif interrupted:
        terminal.note(
            f"interrupted: {left} of {many(store.count(), 'sample')} are left; "
            f"`proctor resume {store.directory}` goes on"
        )
        code = INTERRUPTED
    else:
        code = _gate(settings, found, ending)
    return Outcome(code, report, found)


def said(outcome: Outcome, ending: Ending) -> int:
    """Write the headline of a run, or its report as JSON; returns the exit code."""
    if ending.as_json:
        terminal.write_json(outcome.report | ending.where.figures())
    else:
        ending.where.say_figures()
        show_headline(outcome.found)
    return outcome.code


def _points(store: RunStore, named: Named) -> PointsReport | None:
    """Points of a run of the IOI; None for other runs, and where nothing is judged."""
    if store.recall("benchmark") != "ioi" or not settings_of(store).modes:
        return None
    from proctor.evals.ioi.rows import points

    try:
        return points(store, obeyed(store, named).settings)
    except (InputError, InfraFault) as error:  # the tables are gone
        terminal.note(f"points are not added up: {error}")
        return None


def _gate(settings: Settings, found: Figures, ending: Ending) -> int:
    code = 125 if found.fault_count else 0
    mode = found.main_mode
    if ending.fail_under is not None and settings.modes and mode is not None:
        rate = found.modes[mode].overall.pass_at_k.get(1) or 0.0
        if rate < ending.fail_under:
            terminal.note(f"{mode} pass@1 is {rate:.1%}, below {ending.fail_under:.1%}")
            code = 1
    return code


def _missing(store: RunStore, found: Figures) -> MissingModules:
    missing, mode = MissingModules(), found.main_mode
    rows = store.rows(
        "SELECT verdict, message, upstream FROM judged "
        "WHERE mode = ? AND judge = ? AND verdict = ?",
        (mode, _judges(store).get(mode or ""), Verdict.RE.value),
    )
    for row in rows:
        missing.add(*row)
    return missing


def _report(store: RunStore, settings: Settings, found: Figures, left: int) -> dict[str, Any]:
    return {
        "run": str(store.directory),
        "benchmark": store.recall("benchmark"),
        "model": settings.model,
        "source": store.recall("source"),
        "left_out": store.recall("left_out"),
        "price": store.recall("price"),
        "unfinished": left,
        **leaderboard(store, settings),
        **to_plain(found),
    }
