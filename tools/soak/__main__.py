"""Thousands of honest and hostile jobs, while what they run in is killed, stopped, cut and starved.

    make soak                                    three minutes, namespaces and landlock
    make soak SOAK_SECONDS=30 SOAK_ISOLATION=landlock SOAK_SEED=7
    .venv/bin/python tools/soak --json           the same, for a machine to read

Every job must end in the verdict it is known for, or in INFRA_FAULT after a second try, and then
in that verdict when it is begun again. Nothing may be left behind, and the host must not grow.
Exit code 1 if any of that was not so. The seed decides which jobs and which faults come when, not
what else the machine does meanwhile.
"""

import argparse
import os
import sys
import time

import census
import summary
from supervise import Done, Soak

from proctor.errors import PlatformError
from proctor.sandbox.choice import policy

_LEVELS = ("namespaces", "landlock")
"""What is soaked unless another is asked for: a container engine is shared with others."""


def main() -> int:
    """Soak as told; return the exit code."""
    chosen = _arguments()
    census.adopt_orphans()
    started = time.monotonic()
    report = summary.Report(chosen.seed)
    levels = _levels(chosen.isolation, report)
    for level in levels:
        soak = Soak(level, chosen.seed)
        soak.work(chosen.seconds / len(levels), _quiet if chosen.json else summary.tell)
        report.add(soak.done, soak.left)
    report.seconds = time.monotonic() - started
    print(report.as_json() if chosen.json else report.as_text())
    return 0 if report.clean else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.splitlines()[0])
    get = os.environ.get
    parser.add_argument("--seconds", type=float, default=float(get("SOAK_SECONDS") or 180))
    parser.add_argument("--isolation", default=get("SOAK_ISOLATION") or "")
    parser.add_argument("--seed", type=int, default=int(get("SOAK_SEED") or 1))
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _levels(wanted: str, report: summary.Report) -> list[str]:
    """Those asked for, which must work, or those that work here but for none."""
    if "none" in wanted.split(","):
        raise SystemExit("the soak runs fork bombs: not at level none")
    levels = []
    for level in wanted.split(",") if wanted else _LEVELS:
        try:
            policy.choose(level)
        except PlatformError as error:
            if wanted:
                raise SystemExit(str(error)) from error
            report.skipped[level] = str(error).splitlines()[0]
        else:
            levels.append(level)
    if not levels:
        raise SystemExit(f"no level works here: {report.skipped}")
    return levels


def _quiet(_done: Done) -> None:
    """Say nothing: only JSON shall be on the output."""


if __name__ == "__main__":
    sys.exit(main())
