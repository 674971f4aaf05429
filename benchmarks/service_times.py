"""CPU seconds of a judgement: writes the table that the simulation draws service times from.

The recorded LiveCodeBench programs are judged one by one in standard mode; what all processes use
for it is counted, those that run to their limit included. Needs PROCTOR_TEST_DATA, a quarter of an
hour, and control groups. The table holds numbers only: shares of programs, and seconds.
"""

import json
import os
import sys

from measure import WORK, Worker, data_directory
from simulation.workload import TABLE

ABOUT = (
    "CPU seconds of one judgement, host and cell together: share of programs, seconds. "
    "942 recorded LiveCodeBench programs, standard mode."
)
TAIL = 0.98
"""Share from which on each program is in the table."""


def measured() -> list[float]:
    """CPU seconds of all programs, in order."""
    data = data_directory()
    if data is None or not (home := data / "livecodebench").is_dir():
        sys.exit("PROCTOR_TEST_DATA names no folder with livecodebench")
    files = [str(home / "problems.jsonl"), str(home / "programs.jsonl")]
    count = len((home / "programs.jsonl").read_bytes().splitlines())
    argv = [sys.executable, str(WORK / "livecodebench_proctor.py"), *files, "standard"]
    with Worker(argv, dict(os.environ)) as worker:
        if worker.group is None:
            sys.exit("no control groups: the CPU of all processes cannot be told")
        worker.ask(1, argument=None)
        worker.ask(1, argument=[0, 1, 2, 3])  # cells are warm then
        return sorted(worker.ask(1, argument=[number]).cpu for number in range(count))


def quantiles(values: list[float]) -> list[tuple[float, float]]:
    """Shares and values, each hundredth and all of the tail."""
    count = len(values)
    rows = [(share / 100, values[share * count // 100]) for share in range(round(100 * TAIL))]
    rows += [(number / count, values[number]) for number in range(int(TAIL * count), count)]
    return [(round(share, 5), round(value, 5)) for share, value in [*rows, (1.0, values[-1])]]


def main() -> None:
    rows = [json.dumps(row) for row in quantiles(measured())]
    lines = ",\n".join("  " + ", ".join(rows[n : n + 6]) for n in range(0, len(rows), 6))
    TABLE.write_text(f'{{\n "about": "{ABOUT}",\n "quantiles": [\n{lines}\n ]\n}}\n')


if __name__ == "__main__":
    main()
