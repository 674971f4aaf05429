"""What isolation must hold under stress: ends of hostile programs, cost of the layers, verdicts."""

import os
import sys
from typing import Any

import ends
import flips
import level_costs
from budgets import Line, at_most, milliseconds, spread_times, times

from proctor.errors import PlatformError
from proctor.sandbox.choice import policy

_LAYERS = 1.15  # of CPU a job with the same agent and no namespaces


def measure(quick: bool) -> dict[str, Any]:
    """Return ends by level, CPU by level, and flips by oversubscription."""
    chosen = levels()
    return {
        "load_before": os.getloadavg()[0],
        "levels": chosen,
        "ends": ends.measure(chosen, rounds=2 if quick else 20),
        "costs": level_costs.measure(chosen, rounds=4 if quick else 40, jobs=20),
        "flips": flips.measure({16: 40} if quick else flips.JUDGEMENTS),
    }


def levels() -> list[str]:
    """Return those of the levels without a container that work here."""
    return [level for level in ("namespaces", "landlock") if _works(level)]


def _works(level: str) -> bool:
    try:
        policy.choose(level)
    except PlatformError:
        return False
    return True


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    rows, made = found["ends"], []
    for level in found["levels"]:
        for within, what in ((ends.SOON, "limit to fully reaped"), (ends.BOMB, "fork bombs")):
            worst = max(
                row["max_s"] for row in rows if (row["level"], row["within_s"]) == (level, within)
            )
            name = f"{level}: {what}, slowest"
            made.append(at_most(name, worst * 1e3, within * 1e3, milliseconds))
    wrong = sum(row["next_job_wrong"] for row in rows)
    made.append(at_most("jobs that went wrong after a hostile one", wrong, 0, str))
    costs = found["costs"]
    if costs is not None:
        for level, (_, ratio, _) in costs["ratio"].items():
            made.append(at_most(f"{level}: CPU a job against level none", ratio, _LAYERS, times))
        if costs["landlock_ratio"] is not None:
            _, ratio, _ = costs["landlock_ratio"]
            made.append(at_most("landlock against namespaces, CPU a job", ratio, 1.0, times))
    rows = found["flips"]["rows"]
    total = sum(row["judgements"] for row in rows)
    flipped = sum(row["flips"] for row in rows)
    made.append(at_most(f"verdicts that flipped, of {total:,}", flipped, 0, str))
    return made


def notes(found: dict[str, Any]) -> list[str]:
    ends_are = (
        "Ends: from the moment the host decides that a limit is hit to the moment the result is"
        " there and no process of the job is left, on the host's clock; a busy machine shows."
    )
    made = [ends_are, f"Load was {found['load_before']:.1f} when this began."]
    if found["costs"] is None:
        made.append("No control groups here: the cost of the layers cannot be told.")
    else:
        cpu = ", ".join(
            f"{name} {1e3 * cost:.3f}" for name, cost in found["costs"]["cpu_s"].items()
        )
        made.append(f"CPU ms a job, host and cell, {found['costs']['jobs']} jobs each: {cpu}.")
        ratios = ", ".join(
            f"{level} {spread_times(ratio)}" for level, ratio in found["costs"]["ratio"].items()
        )
        made.append(f"Against level none, in turn (p10–p90): {ratios}.")
    runs = ", ".join(
        f"{row['factor']} × {row['flips']} of {row['judgements']} in {row['seconds']:.0f} s"
        for row in found["flips"]["rows"]
    )
    made.append(
        f"Verdicts with that many jobs per CPU, limit {found['flips']['limit_s']} s, programs that"
        " use 0.5, 0.9, 1.1 and 1.5 of it in threads, children and pipelines, Python and C++, in"
        f" standard, fast and official mode: {runs}."
    )
    return made


def table(found: dict[str, Any]) -> list[list[str]]:
    """How long each hostile program took to be gone, a header first."""
    head = ["hostile program", "level", "p50 ms", "p90 ms", "slowest ms", "times"]
    return [head] + [
        [
            row["what"], row["level"], f"{1e3 * row['p50_s']:.1f}", f"{1e3 * row['p90_s']:.1f}",
            f"{1e3 * row['max_s']:.1f}", str(row["rounds"]),
        ]
        for row in found["ends"]
    ]  # fmt: skip


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
