"""Bugs that a maintainer could make, planted one at a time, to see whether tests notice.

    .venv/bin/python tools/planted_bugs                        all of bugs.toml, two at once
    .venv/bin/python tools/planted_bugs --only tolerance       those whose name has the word
    .venv/bin/python tools/planted_bugs --share 1/3            every third, from the first on
    .venv/bin/python tools/planted_bugs --jobs 8 --json        for a machine to read

Each is planted in a copy of the tree, where its own tests are run and, if they see nothing, the
rest of the folder that mirrors the module's, as `--quick` does and up to the first failure. The
test that fails must pass without the bug. Exit code 1 if more than one in twenty are missed, 2 if
something else went wrong, such as a text to replace that is no longer there.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from planting import Bug, Found, PlantError, Tree, read_bugs

_SHARE = 0.05
"""Share of the bugs that may be missed."""


def main() -> int:
    """Plant as told; return the exit code."""
    chosen = _arguments()
    try:
        first, every = chosen.share
        bugs = [bug for bug in read_bugs()[first - 1 :: every] if chosen.only in bug.name]
        if not bugs:
            raise PlantError(f"no bug has a name with {chosen.only!r}")
        return _planted(bugs, chosen.jobs, as_json=chosen.json)
    except PlantError as error:
        print(f"planted_bugs: {error}", file=sys.stderr)
        return 2


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="planted_bugs", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="bugs whose name has this word")
    parser.add_argument(
        "--share", type=share, default=(1, 1), metavar="K/N", help="every N-th, from the K-th"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    return parser.parse_args()


def share(text: str) -> tuple[int, int]:
    """Read K/N. Raises ValueError."""
    first, every = map(int, text.split("/"))
    if not 1 <= first <= every:
        raise ValueError
    return first, every


def _planted(bugs: list[Bug], jobs: int, *, as_json: bool) -> int:
    began, done = time.monotonic(), list[Found]()
    for found in _tried(bugs, jobs):
        done.append(found)
        if not as_json:
            how = f"by {found.by}" if found.by else "MISSED"
            print(
                f"[{len(done)}/{len(bugs)}] {found.name}: {how} ({found.seconds:.0f} s)", flush=True
            )
    missed = sorted(each.name for each in done if not each.by)
    if as_json:
        print(json.dumps({
            "planted": len(bugs), "caught": len(bugs) - len(missed), "missed": missed,
            "seconds": round(time.monotonic() - began), "bugs": [asdict(each) for each in done],
        }, indent=1))  # fmt: skip
    else:
        print(f"{len(bugs) - len(missed)} of {len(bugs)} caught")
        print(*(f"missed: {name}" for name in missed), sep="\n", end="\n" if missed else "")
    return 1 if len(missed) > _SHARE * len(bugs) else 0


def _tried(bugs: list[Bug], jobs: int) -> Iterator[Found]:
    """Yield what came of each bug, in order. Raises PlantError."""
    with tempfile.TemporaryDirectory(prefix="planted-") as place, ThreadPoolExecutor(jobs) as pool:
        Path(place).chmod(0o755)  # some tests start programs as somebody else
        trees = SimpleQueue[Tree]()
        for number in range(min(jobs, len(bugs))):
            trees.put(Tree(Path(place) / str(number)))

        def tried(bug: Bug) -> Found:
            tree = trees.get()
            try:
                return tree.tried(bug)
            finally:
                trees.put(tree)

        try:
            yield from pool.map(tried, bugs)
        finally:
            pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    sys.exit(main())
