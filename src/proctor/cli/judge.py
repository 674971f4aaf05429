"""`proctor judge --programs`."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import msgspec

from proctor.cli import terminal
from proctor.cli.judges import HERE, Where
from proctor.cli.options import typed_limits
from proctor.errors import InputError, SettingsError
from proctor.evals.durable import RunTally
from proctor.evals.programs import ProgramsRun, judge_programs
from proctor.judging.missing_modules import MissingModules
from proctor.judging.settings import JudgeSettings, default_limits
from proctor.reports.speed_share import speed_share
from proctor.reports.summary import summarise, to_json
from proctor.shown import counted as many


def settings(
    mode: str | None,
    timeout: str | None,
    memory: str | None,
    stop: str | None,
    fast: bool,
    tolerance: float | None,
    codes: str | None,
) -> JudgeSettings:
    """Build settings from options; None stands for one not given. Raises UsageError."""
    if codes is not None and mode != "official":
        raise SettingsError("--codes: error codes exist in official mode only")
    limits = typed_limits(default_limits(mode or "standard"), timeout, memory)
    typed: dict[str, Any] = {"mode": mode, "stop": stop, "tolerance": tolerance, "codes": codes}
    given = {name: value for name, value in typed.items() if value is not None}
    return JudgeSettings(limits=limits, fast=fast, **given)


def k_list(text: str) -> tuple[int, ...]:
    """Parse `1,5,10`. Raises InputError."""
    try:
        values = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{text!r} is not a list of numbers such as 1,5,10", field="--k") from None
    if min(values) < 1:
        raise InputError("k must be at least 1", field="--k")
    return values


def run(wanted: ProgramsRun, k: tuple[int, ...], *, as_json: bool, where: Where = HERE) -> int:
    """Judge, keep results, print the summary and the figures of `where`; returns the exit code."""
    total = 0
    with ExitStack() as stack:

        def begin(programs: int, judged: int) -> Any:
            nonlocal total
            total = programs
            if as_json:
                return lambda _verdicts: None
            from proctor.cli import render

            progress = stack.enter_context(render.Progress(programs, True))
            progress.advance(judged)
            return progress.show

        found = judge_programs(wanted, begin, stack)
    missing = _missing(found.rows)
    summary, share = summarise(found.rows, found.problems, k), speed_share(found.rows)
    say_refused(found.tally)
    if as_json:
        normalised = {} if share is None else {"normalised": msgspec.to_builtins(share)}
        lacked = {"missing_modules": missing.counts} if missing.counts else {}
        terminal.write_json(to_json(summary) | normalised | lacked | where.figures())
    else:
        from proctor.cli import render

        render.summary(summary)
        if share is not None:
            terminal.write(f"{share}\n")
        where.say_figures()
    out = None if wanted.out is None else str(wanted.out)
    if missing.counts:
        terminal.note(missing.advice)
    closing_words(found.tally, len(found.rows), total, out)
    return found.tally.exit_code


def _missing(rows: Iterable[Mapping[str, Any]]) -> MissingModules:
    found = MissingModules()
    for row in rows:
        error = (row.get("metadata") or {}).get("error")
        found.add(str(row.get("verdict")), str(row.get("message") or ""), str(error or ""))
    return found


def say_refused(tally: RunTally) -> None:
    """Say on stderr which entries cannot be judged as they are."""
    if tally.refused:
        others = len(tally.refused) - 1
        more = f" (and {many(others, 'more row')} like it)" if others else ""
        terminal.note(f"{tally.refused[0]}{more}")


def closing_words(tally: RunTally, done: int, total: int, out: str | None) -> None:
    """Report on stderr what is missing of a run; `out` is where results are kept, if anywhere."""
    if tally.faults:
        again = " Run the same command again to judge them." if out else ""
        terminal.note(
            f"{many(len(tally.faults), 'program')} could not be judged: {tally.faults[0]}.{again}"
        )
    if tally.interrupted:
        kept = f"; they are in {out}, and the same command goes on from there" if out else ""
        terminal.note(f"interrupted: {done} of {total} judged{kept}")
