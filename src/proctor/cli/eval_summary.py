"""The summary of an evaluation, as people read it: one screen, its headline last."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

from proctor.cli import render, terminal
from proctor.cli.screen import Screen, line
from proctor.evals.figures import Figures
from proctor.evals.livecodebench.upstream.leaderboard import comparison, meant_for_it
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.reports.no_program import NoPrograms
from proctor.reports.summary import UNDATED, UNKNOWN, Score, Summary
from proctor.shown import counted as many

SCREEN = 24
"""Lines of the whole summary at most."""
_LONGEST = 156
"""Characters of a line that may be cut short."""
_LEFT_FREE = 1
"""Lines of the screen for the shell's prompt."""

Groups = list[tuple[str, list[tuple[str, dict[str, Score]]]]]
"""Kinds of groups, each with its groups and their scores by mode."""


def show_figures(store: RunStore, settings: Settings, found: Figures) -> None:
    """Write the figures of a run, all but the headline."""
    modes = store.recall("modes") or {}
    console = Screen()
    title = f"{settings.model} on {store.recall('source')}, run {store.directory}"
    lines = [line(title)]
    for mode, summary in found.modes.items():
        # If there are no rules but the publishers', say what those are.
        words = f" ({modes[mode]})" if list(modes) == ["official"] else ""
        verdicts = render.counted((render.coloured(v), n) for v, n in summary.verdicts.items())
        lines.append(line(f"{mode}{words}: {many(summary.total, 'program')}, ", verdicts or "none"))
    notes = list(_notes(store, settings, found))
    for each in lines:
        console.print(each, soft_wrap=True)
    if found.modes:
        texts = [*(each.plain for each in lines), *notes, *headline(found)]
        used = sum(1 + max(len(text) - 1, 0) // console.width for text in texts)
        _show_table(console, found, SCREEN - _LEFT_FREE - used)
    else:
        terminal.write(f"{many(found.samples, 'sample')}, none judged\n")
    for note in notes:
        terminal.write(f"{note}\n")


def show_headline(found: Figures) -> None:
    """Write the score that the run is about, with its interval."""
    for each in headline(found):
        terminal.write(f"{each}\n")


def headline(found: Figures) -> list[str]:
    """Return the lines that end the summary; none where nothing was judged."""
    mode = found.main_mode
    score = None if mode is None else found.intervals[mode]
    if score is None:
        return []
    counted = f"{many(score.problems, 'problem')}, {many(score.clusters, 'cluster')}"
    between = (
        "no interval"
        if score.low is None or score.high is None
        else f"95% CI {score.low:.1%} to {score.high:.1%}"
    )
    return [f"{mode} pass@1: {score.value:.1%} ({between}; {counted})"]


def leaderboard(store: RunStore, settings: Settings) -> dict[str, Any]:
    """Compare a run with the leaderboard's settings, as JSON; empty for benchmarks without one."""
    return comparison(store.recall("benchmark"), settings, store.recall("source"))


def _show_table(console: Screen, found: Figures, room: int) -> None:
    """Write scores by mode, in `room` lines."""
    table = Table(box=None, pad_edge=False)
    for heading in ("pass@1", "problems", "programs", *found.modes):
        table.add_column(heading, justify="left" if heading == "pass@1" else "right")
    overall = {mode: summary.overall for mode, summary in found.modes.items()}
    main = found.modes[found.main_mode or next(iter(found.modes))]
    _row(table, "all", overall, 1)
    for k, value in main.overall.pass_at_k.items():
        if k > 1 and value is not None:
            _row(table, f"all, pass@{k}", overall, k)
    groups = _groups(found.modes)
    # Two more lines are the heading, and the one that says where all rows can be found.
    shown = _fitting([len(rows) for _, rows in groups], room - table.row_count - 2)
    for (name, rows), number in zip(groups, shown, strict=True):
        hidden = len(rows) - number
        for group, scores in rows[hidden:] if name == "month" else rows[:number]:
            _row(table, f"{name} {group}", scores, 1)
        if hidden:
            what = "earlier" if name == "month" else "more"
            table.add_row(f"{name}: {hidden} {what}")
    console.print(table)
    if any(number < len(rows) for (_, rows), number in zip(groups, shown, strict=True)):
        terminal.write("`proctor report` and --json have all rows\n")


def _groups(modes: Mapping[str, Summary]) -> Groups:
    found: Groups = []
    for name in ("platform", "difficulty", "month"):
        by_mode = {mode: getattr(each, f"by_{name}") for mode, each in modes.items()}
        names = dict.fromkeys(group for scores in by_mode.values() for group in scores)
        if not names.keys() <= {UNKNOWN, UNDATED}:
            rows = [
                (
                    group,
                    {mode: scores[group] for mode, scores in by_mode.items() if group in scores},
                )
                for group in names
            ]
            found.append((name, rows))
    return found


def _fitting(sizes: list[int], room: int) -> list[int]:
    """Return how many rows of each kind fit; a kind that is cut short takes a line to say so."""
    shown = list(sizes)
    while True:
        lines = sum(n + (n < size) for n, size in zip(shown, sizes, strict=True))
        longest = max(range(len(shown)), key=shown.__getitem__, default=None)
        if lines <= room or longest is None or not shown[longest]:
            return shown
        shown[longest] -= 1


def _row(table: Table, name: str, scores: Mapping[str, Score], k: int) -> None:
    """Add a row; its counts are the largest of any mode, as faults may differ between modes."""
    problems = max(score.problems for score in scores.values())
    programs = max(score.scored + score.faults for score in scores.values())
    cells = [name, str(problems), str(programs)]
    for column in table.columns[3:]:
        mode = str(column.header)
        value = scores[mode].pass_at_k.get(k) if mode in scores else None
        cells.append("" if value is None else f"{value:.1%}")
    table.add_row(*cells)


def _notes(store: RunStore, settings: Settings, found: Figures) -> Iterable[str]:
    board = leaderboard(store, settings).get("leaderboard")
    if board is not None and meant_for_it(settings):
        yield (
            "comparable with the leaderboard: prompts, extraction, rules, sampling as there"
            if board["comparable"]
            else _listed("not comparable with the leaderboard: ", board["differs"])
        )
    if found.bounds:
        parts = (
            f"{name} {each.faults} ({each.share:.1%}), pass@1 at most {each.high:.1%}"
            for name, each in found.bounds.items()
        )
        yield f"without a verdict, counted as not passed: {', '.join(parts)}"
    if found.task_fault:
        yield f"a problem that cannot be graded: {found.task_fault}"[:_LONGEST]
    if found.faults:
        kinds = ", ".join(f"{name} {count}" for name, count in found.faults.items())
        yield f"without a reply: {kinds}; `proctor retry` asks again"
    if found.no_program.count:
        yield _no_program(found.no_program)
    if found.completion_tokens:
        cost = _cost(store, found)
        yield f"{found.prompt_tokens} tokens in, {found.completion_tokens} out; {cost}"


def _listed(beginning: str, items: list[str]) -> str:
    """Return a line of as many items as fit, at least one, and the number of the others."""
    for number in range(len(items), 0, -1):
        more = f" and {len(items) - number} more (--json)" if number < len(items) else ""
        text = f"{beginning}{', '.join(items[:number])}{more}"
        if len(text) <= _LONGEST:
            break
    return text


def _no_program(found: NoPrograms) -> str:
    without = "" if found.without is None else f"; pass@1 of the others: {found.without.value:.1%}"
    return (
        f"{'warning: ' if found.many else ''}{found.count} of {found.replies} replies hold no "
        f"program and count as failed: {found.words}{without}"
    )


def _cost(store: RunStore, found: Figures) -> str:
    price = store.recall("price")
    if price is None:
        return "cost: not known, no price for this model (--prices)"
    if found.cost is None:
        return "cost: not known, the server counts no tokens"
    of = f"{found.priced} of {many(found.samples, 'sample')}"
    return f"cost: ${found.cost:.4f} for {of}, by a price of {price['date']}"
