"""The summary of an evaluation, as people read it."""

from typing import Any

from proctor.cli import render, terminal
from proctor.evals.figures import Figures
from proctor.evals.livecodebench.upstream.leaderboard import comparison, meant_for_it
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.reports.no_program import NoPrograms


def show_figures(store: RunStore, settings: Settings, found: Figures) -> None:
    """Write the figures of a run."""
    terminal.write(f"{settings.model} on {store.recall('source')}, run {store.directory}\n")
    modes = store.recall("modes") or {}
    for mode, summary in found.modes.items():
        # Where there are no rules of ours beside the publishers', what those are is to be known.
        words = f": {modes[mode]}" if list(modes) == ["official"] else ""
        terminal.write(f"\n{mode}{words}\n")
        render.summary(summary)
        if (bounds := found.bounds.get(mode)) is not None:
            terminal.write(
                f"pass@1 is from {bounds.low:.1%} to {bounds.high:.1%}, "
                "whatever those without a score would have been\n"
            )
    if not found.modes:
        terminal.write(f"{found.samples} samples, none judged\n")
    board = leaderboard(store, settings).get("leaderboard")
    if board is not None and meant_for_it(settings):
        terminal.write(
            "comparable with the leaderboard: prompts, extraction, rules, sampling as there\n"
            if board["comparable"]
            else f"not comparable with the leaderboard: {', '.join(board['differs'])}\n"
        )
    if found.task_fault:
        terminal.write(f"a problem that cannot be graded: {found.task_fault}\n")
    if found.faults:
        kinds = ", ".join(f"{name} {count}" for name, count in found.faults.items())
        terminal.write(f"without a reply: {kinds}; `proctor retry` asks again\n")
    if found.no_program.count:
        terminal.write(_no_program(found.no_program))
    if found.completion_tokens:
        terminal.write(f"tokens: {found.prompt_tokens} in, {found.completion_tokens} out\n")
        terminal.write(_cost(store, found))


def leaderboard(store: RunStore, settings: Settings) -> dict[str, Any]:
    """Compare a run with what the leaderboard measures, as JSON; empty for other benchmarks."""
    return comparison(store.recall("benchmark"), settings, store.recall("source"))


def _no_program(found: NoPrograms) -> str:
    without = "" if found.without is None else f"; pass@1 of the others: {found.without.value:.1%}"
    return (
        f"{'warning: ' if found.many else ''}{found.count} of {found.replies} replies hold no "
        f"program and count as failed: {found.words}{without}\n"
    )


def _cost(store: RunStore, found: Figures) -> str:
    price = store.recall("price")
    if price is None:
        return "cost: not known, no price for this model (--prices)\n"
    if found.cost is None:
        return "cost: not known, the server counts no tokens\n"
    of = f"{found.priced} of {found.samples} samples"
    return f"cost: ${found.cost:.4f} for {of}, by a price of {price['date']}\n"
