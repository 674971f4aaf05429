"""Everything a change must pass, on a clean checkout of a fresh machine.

    .ci/run              what a landing runs: checks, the core's tests, those of whatever depends on
                         what changed since the last landing, and a third of the far parts
    .ci/run all          everything, as for a release
    .ci/run tests user   these parts, as a landing would run them; `far`: the far parts of it
    .ci/run --plan       says what would be run and what not, and why

The last landing is the last line of .ci/landings. What fails is run once more, alone: if it fails
again, so does this; if not, it is listed at the end as `flaky:`.
"""

import argparse
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ci import changes, machine, plan
from ci.changes import ROOT
from ci.items import Part, Place
from ci.running import Outcome, Runner


def main() -> int:
    """Plan, prepare, run, and say what came of it."""
    chosen = _arguments()
    what = _plan(chosen.parts)
    names = ", ".join(part.name for part in what.parts)
    print(*what.reasons, f"runs: {names}", sep="\n", flush=True)
    if chosen.plan:
        return 0
    _set_environment()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    with ExitStack() as stack:
        scratch = stack.enter_context(_scratch())
        machine.install({key: value for part in what.parts for key, value in part.needs.items()})
        machine.run("make", *sorted({target for part in what.parts for target in part.targets}))
        as_user: tuple[str, ...] = ()
        if os.geteuid() == 0 and {"install", "user"} & {part.name for part in what.parts}:
            as_user = stack.enter_context(machine.ordinary_user(scratch))
        place = Place(
            scratch, what.files, what.affected, what.changed, what.whole, what.at_once, as_user,
            turn=changes.turn(),
        )  # fmt: skip
        runner = Runner(scratch)
        stack.callback(runner.stop)
        print(f"\n== prepared: {time.monotonic() - began:.0f} s", flush=True)
        if _run(what.parts, place, runner):
            for outcome in [each for each in runner.outcomes if each.status != 0]:
                runner.run_again(outcome)
        return _report(runner.outcomes, what, time.monotonic() - began)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=".ci/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="parts to run, or `all`")
    parser.add_argument("--plan", action="store_true", help="say what would be run")
    return parser.parse_args()


def _plan(names: list[str]) -> plan.Plan:
    if names == ["all"]:
        return plan.everything()
    return plan.named(names) if names else plan.landing()


def _set_environment() -> None:
    """Give all that is started the same: real data, one seed, bytecode, and uv's settings."""
    data = ROOT.parent / "shared" / "data"
    if data.is_dir():  # beside the repository, where it may not be part of it
        os.environ.setdefault("PROCTOR_TEST_DATA", str(data))
    # Property tests try other examples each time; a test that is run once more, the same ones.
    seed = os.environ.setdefault("PROCTOR_TEST_SEED", str(secrets.randbits(32)))
    print(f"PROCTOR_TEST_SEED={seed}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.update(machine.UV)


@contextmanager
def _scratch() -> Iterator[Path]:
    """Make a folder for this run, which an ordinary user may pass through but not list."""
    place = Path(tempfile.mkdtemp(prefix="proctor-ci-"))
    place.chmod(0o711)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _run(parts: list[Part], place: Place, runner: Runner) -> bool:
    """Run parts in lanes beside one another; return False, without the rest, if checks fail."""
    waiting = {part.name: part for part in parts}

    def lane(*names: str) -> None:
        for name in names:
            if part := waiting.pop(name, None):
                outcome = runner.run(part.prepared(place))
                if name == "check" and outcome.status != 0:
                    runner.stop()  # what is not even well-formed is not worth minutes of tests

    with ThreadPoolExecutor() as pool:
        try:
            # An emulator's work takes longest and asks nothing of the others: beside all, niced.
            kernel = pool.submit(lane, "kernel")
            checks = pool.submit(lane, "check", "demo", "site", "install")
            _together(checks, pool.submit(lane, "unboxed"))
            if runner.stopped:
                return False
            names = [part.name for part in parts]  # each lane takes what the other has not begun
            _together(pool.submit(lane, *names), pool.submit(lane, *names), kernel)
            return True
        except BaseException:  # Ctrl-C, or SIGTERM: the pool would wait for what is running
            runner.stop()
            raise


def _together(*lanes: Future[None]) -> None:
    for each in lanes:
        each.result()


def _report(outcomes: list[Outcome], what: plan.Plan, seconds: float) -> int:
    """Print what came of each part; return the exit code."""
    print("\n== summary")
    for each in outcomes:
        again = "" if each.again is None else f", alone {_said(each.again)}"
        print(f"{each.item.name:12} {each.seconds:5.0f} s  {_said(each.status)}{again}")
    print(f"{'in all':12} {seconds:5.0f} s")
    print(*(line for line in what.reasons if line.startswith("left out: ")), sep="\n")
    for each in outcomes:
        print(*(f"flaky: {test}\n" for test in each.flaky), sep="", end="")
    failed = [each for each in outcomes if each.failed]
    for each in failed:
        print(f"{each.how_it_failed}: {each.item.name}", flush=True)
    return 1 if failed else 0


def _said(status: int) -> str:
    return "passed" if status == 0 else f"failed ({status})"


if __name__ == "__main__":
    sys.exit(main())
