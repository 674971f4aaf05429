"""`proctor verify PACKAGE`."""

from typing import Any

import msgspec

from proctor.cli import render, terminal
from proctor.cli.contest import show_log, to_json
from proctor.cli.screen import Screen, coloured, line
from proctor.errors import Cancelled, InputError
from proctor.formats.packages.package import load
from proctor.judging.environment import said_of_graders
from proctor.judging.total_time import TotalTime
from proctor.judging.verify import Checked, Timed, left_out, verify
from proctor.problem import Problem
from proctor.sandbox.pool import Pool
from proctor.shown import counted as many
from proctor.verdict import Verdict


def verify_package(
    path: str, problem_id: str | None, pool: Pool, seconds: float, *, as_json: bool
) -> int:
    """Compare the verdict of every labelled submission with its label; returns the exit code.

    Raises Cancelled if that takes more than these seconds.
    """
    package = load(path, problem_id)
    if not package.submissions:
        raise InputError("the package has no labelled submissions to verify", file=path)
    console = Screen(stderr=as_json, wide=True)
    lacking = [f"{name}: its language is not here, so it is left out" for name in left_out(package)]
    for note in (*package.notes, *lacking):
        console.print(f"note: {note}")

    def show(checked: Checked) -> None:
        progress.show([checked.judgement.verdict])
        if not as_json:
            _show_checked(console, checked)

    progress = render.Progress(
        len(package.submissions), not as_json, note=lambda: said_of_graders(pool)
    )
    with progress, TotalTime(seconds) as time:
        try:
            checked, timed = verify(package, pool, show, time)
        except Cancelled as error:
            raise Cancelled(time.said()) from error
    wrong = [each for each in checked if each.differences]
    if as_json:
        terminal.write_json(_verified(package.problem, checked, timed))
    else:
        _show_timing(console, timed)
        right = len(checked) - len(wrong)
        console.print(f"{right} of {many(len(checked), 'submission')} as labelled")
    verdicts = {each.judgement.verdict for each in wrong}
    if Verdict.INFRA_FAULT in verdicts:
        return 125
    if Verdict.TASK_FAULT in verdicts:
        return InputError.exit_code
    return 1 if wrong else 0


def _show_checked(console: Screen, checked: Checked) -> None:
    judgement = checked.judgement
    mark = coloured("DIFFERS", "red") if checked.differences else coloured("ok", "green")
    points = "" if judgement.points is None else f", {judgement.points:g} points"
    verdict = render.coloured(judgement.verdict)
    name, took = checked.submission.name, f"{points}, {checked.slowest:.2f} s"
    console.print(line(mark, f"  {name}: ", verdict, took))
    for text in (*checked.differences, *checked.warnings):
        console.print(f"    {text}")
    if checked.differences:
        if judgement.compiler_output:
            console.print(judgement.compiler_output[:2000])
        show_log(console, judgement)


def _show_timing(console: Screen, timed: Timed) -> None:
    how = "as stated" if timed.given else "worked out"
    parts = [f"time limit {timed.limit:g} s ({how})"]
    if timed.slowest_right is not None:
        parts.append(f"slowest right {timed.slowest_right:.2f} s")
    if timed.fastest_slow is not None:
        parts.append(f"fastest too slow {timed.fastest_slow:.2f} s")
    console.print("; ".join(parts))


def _verified(problem: Problem, checked: list[Checked], timed: Timed) -> dict[str, Any]:
    return {
        "problem": problem.id,
        "timing": msgspec.to_builtins(timed),
        "submissions": [
            {
                "name": each.submission.name,
                "as_labelled": not each.differences,
                "differences": each.differences,
                "warnings": each.warnings,
                "slowest": each.slowest,
                **to_json(each.judgement),
            }
            for each in checked
        ],
    }
