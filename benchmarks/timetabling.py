"""The timetable skeleton on instances of ITC-2007 and made-up schools: first solution, cost, bound.

    PROCTOR_TEST_DATA=... .venv/bin/python benchmarks/timetabling.py [NAME ...] [--seconds 60]

NAME is an instance of PROCTOR_TEST_DATA/timetabling, all unless named, or `school60` for a school
of 60 classes (`schools.py`). Two versions are compared by running both at once, each from its own
checkout. Each program runs in a cell as `proctor solve` runs it; the cost is the validator's.
Prints a table.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from schools import school

from proctor.solver.envelope import Envelope
from proctor.solver.solve import solve
from proctor.timetable import itc2007, profile

BEST_KNOWN = {"comp01": 5, "comp02": 24, "comp03": 64, "comp05": 284, "comp11": 0}
"""Costs of the best solutions that anybody has found, as far as known to us."""


SCHOOL = "school"


def load(name: str, folder: Path) -> dict[str, Any]:
    if name.startswith(SCHOOL):
        return school(int(name.removeprefix(SCHOOL)))
    path = folder / f"{name}.ctt"
    return itc2007.convert(itc2007.read(path.read_text(), str(path)))


def row(name: str, envelope: Envelope) -> str:
    answer, found = envelope.answer, envelope.incumbents
    cost = "-" if answer is None or answer.objective is None else f"{answer.objective:g}"
    bound = (answer.data if answer is not None else {}).get("bound", "-")
    first = f"{found[0].t:.1f} s" if found else "-"
    valid = "yes" if answer is not None and answer.validated else "no"
    best = BEST_KNOWN.get(name, "")
    return f"| {name} | {envelope.status} | {valid} | {first} | {cost} | {bound} | {best} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("PROCTOR_TEST_DATA", "/nowhere"), "timetabling")
    names = arguments.names or sorted(path.stem for path in folder.glob("*.ctt"))
    if not names:
        print("PROCTOR_TEST_DATA names no folder with timetabling/*.ctt", file=sys.stderr)
        return 1
    print(f"{arguments.workers} workers, {arguments.seconds:g} s for each")
    print("| instance | status | valid | first solution | cost | bound | best known |")
    print("|---|---|---|---|---|---|---|")
    valid = True
    for name in names:
        envelope = solve(
            profile.text(),
            load(name, folder),
            timeout=arguments.seconds,
            workers=arguments.workers,
        )
        print(row(name, envelope), flush=True)
        valid = valid and envelope.answer is not None and envelope.answer.validated
    return 0 if valid else 1


if __name__ == "__main__":
    sys.exit(main())
