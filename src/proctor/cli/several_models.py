"""Several models on one benchmark, one after the other, and a table of all."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from proctor.cli import terminal
from proctor.cli.eval import INTERRUPTED, Ending, Outcome, begun
from proctor.cli.eval_summary import show_headline
from proctor.cli.model_access import ModelAccess
from proctor.cli.retries import tell_once
from proctor.cli.screen import Screen
from proctor.errors import ProctorError, SettingsError
from proctor.evals import evaluation
from proctor.evals.benchmark import Benchmark
from proctor.evals.figures import Figures
from proctor.evals.settings import Settings


def evaluate_each(
    benchmark: Benchmark[Any], wanted: Sequence[Settings], out: str | None, ending: Ending,
    access: ModelAccess,
) -> int:  # fmt: skip
    """Run the benchmark with each model; returns the worst exit code.

    All models are looked for before the first is asked. Later errors of one of them do not keep
    the others from being run.
    """
    tell_once()
    twice = [name for name, n in Counter(each.model for each in wanted).items() if n > 1]
    if twice:
        raise SettingsError(f"--model {twice[0]} is given twice")
    for each in wanted:
        access.check(each)
    plans = [evaluation.plan(benchmark, each, access.look(each)) for each in wanted]
    outcomes: list[Outcome] = []
    failed: list[dict[str, str]] = []
    code, begun_count = 0, 0
    for planned, place in zip(plans, places([each.model for each in wanted], out), strict=True):
        begun_count += 1
        ended = _one(planned, place, ending, access)
        if isinstance(ended, Outcome):
            outcomes.append(ended)
        else:
            failed.append({"model": planned.settings.model, "error": str(ended)})
        code = max(code, ended.code if isinstance(ended, Outcome) else ended.exit_code)
        if code == INTERRUPTED:
            break
    if ending.as_json:
        runs = [each.report for each in outcomes]
        terminal.write_json({"runs": runs, "failed": failed} | ending.where.figures())
    else:
        ending.where.say_figures()
        _show(outcomes)
    if left := wanted[begun_count:]:
        terminal.note(f"not begun: {', '.join(each.model for each in left)}")
    return code


def places(models: Sequence[str], out: str | None) -> list[Path]:
    """Name a directory for the run of each model: in `out`, or where runs usually are."""
    short = [evaluation.directory_name(Path(model).name) for model in models]
    whole = [evaluation.directory_name(model) for model in models]
    found: list[str] = []
    for number, (name, longer) in enumerate(zip(short, whole, strict=True)):
        chosen = name if short.count(name) == 1 else longer
        found.append(chosen if chosen not in found else f"{chosen}-{number}")
    if out is not None:
        return [Path(out) / name for name in found]
    return [evaluation.new_directory(name) for name in found]


def _one(
    planned: evaluation.Planned, place: Path, ending: Ending, access: ModelAccess
) -> Outcome | ProctorError:
    """Run one model; return how it ended, or why it could not be begun."""
    if not ending.as_json:
        terminal.write("\n")
    try:
        ended = begun(planned, place, ending, access)
        if not ending.as_json:
            show_headline(ended.found)
        return ended
    except ProctorError as error:
        terminal.note(f"{planned.settings.model}: {error}")
        return error


def _show(outcomes: Sequence[Outcome]) -> None:
    """Write the table, the best first."""
    modes = list(dict.fromkeys(mode for each in outcomes for mode in each.found.modes))
    table = Table(box=None, pad_edge=False)
    table.add_column("pass@1", overflow="fold")
    for heading in (*modes, "95% CI", "samples", "no score", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in sorted(outcomes, key=lambda each: -(_rate(each, each.found.main_mode) or 0.0)):
        rates = [_rate(each, mode) for mode in modes]
        table.add_row(
            each.report["model"],
            *("" if rate is None else f"{rate:.1%}" for rate in rates),
            _interval(each.found),
            str(each.found.samples),
            str(each.found.fault_count),
            "" if each.found.cost is None else f"${each.found.cost:.2f}",
        )
    terminal.write("\n")
    Screen().print(table)
    if len(outcomes) > 1:
        runs = " ".join(each.report["run"] for each in outcomes)
        terminal.write(f"`proctor report {runs} --rank -o report.html` compares them\n")


def _interval(found: Figures) -> str:
    """Return the interval of the score that each run's summary ends with."""
    score = found.intervals.get(found.main_mode or "")
    if score is None or score.low is None or score.high is None:
        return ""
    return f"{score.low:.1%} to {score.high:.1%}"


def _rate(outcome: Outcome, mode: str | None) -> float | None:
    """Return pass@1 in a mode; None where nothing was judged."""
    summary = outcome.found.modes.get(mode or "")
    return None if summary is None else summary.overall.pass_at_k.get(1)
