"""A cell with warm modules is like a fresh interpreter that has imported them.

Both run state_probe.py. Docs: docs/explanation/the-cell.md, "Like a fresh interpreter".
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from needs import BOTH_LEVELS
from packing import GIVEN
from proctor import (
    JudgeSettings,
    Limits,
    Pool,
    Problem,
    Program,
    SolverHost,
    Test,
    judge,
    open_pool,
    open_session,
    run,
    solve,
)
from proctor.errors import CellStartFailed
from proctor.execution import Execution
from proctor.sandbox.backend import ENVIRONMENT, PYTHON_FLAGS, WARM_IMPORTS
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Script, Streams
from proctor.sandbox.machine import interpreter
from proctor.solver import gate
from proctor.solver import profile as profiles
from proctor.solver.host import packages_of
from waiting import PATIENCE

PROBE = Path(__file__).with_name("state_probe.py").read_text("utf-8")
SHIPPED = {name: profiles.load(name) for name in profiles.names()}
PACKAGES = {name: packages_of(each) for name, each in SHIPPED.items()}
PRELOADS: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "exit handlers": (
        "concurrent.futures.thread", "concurrent.futures.process", "logging.handlers",
        "multiprocessing.util", "asyncio",
    ),
    **{name: (*each.warm, *gate.MODULES) for name, each in SHIPPED.items()},
}  # fmt: skip
WEEK = {
    "classes": ["6A"], "days": ["Mon"], "periods": [1],
    "assignments": [
        {"id": "m", "class": "6A", "subject": "maths", "teacher": "Ada", "weeklyPeriods": 1}
    ],
}  # fmt: skip
INPUTS: dict[str, Any] = {"packing": GIVEN, "timetable": WEEK}
ALL = ("threads", "exits", "interpreter", "libraries", "process", "program")
INHERITED = ("threads", "exits", "libraries")
"""Parts of the state that official mode and notebooks leave as they are."""

AS_SITE = "import site; site.setquit(); site.setcopyright(); site.sethelper(); del site"
"""Names that Python adds at its start unless it is told to leave site-packages out."""


def probe(name: str, wanted: Sequence[str] = ALL) -> str:
    imports = "".join(f"import {each}\n" for each in (*WARM_IMPORTS, *PRELOADS[name]))
    return f"{imports}WANTED, LEAVES = {list(wanted)}, {wanted == ALL}\n{PROBE}"


@cache
def fresh(name: str, wanted: Sequence[str] = ALL) -> str:
    """Return what an interpreter prints that nobody has warmed up."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(f"{AS_SITE}\n{probe(name, wanted)}")
        file.flush()
        done = subprocess.run(
            [interpreter.current().executable, *PYTHON_FLAGS, file.name],
            env=ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(PACKAGES.get(name, ()))},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


# Profiles that have the same modules have the same cells.
@pytest.fixture(scope="module", params={names: name for name, names in PRELOADS.items()}.values())
def warm(request: pytest.FixtureRequest) -> Iterator[tuple[str, Pool]]:
    name: str = request.param
    with open_pool(preload=PRELOADS[name], packages=PACKAGES.get(name, ()), cells=1) as opened:
        yield name, opened


def told(printed: str) -> list[Any]:
    first, *rest = printed.splitlines()
    return [json.loads(first), *rest]


def run_script(source: str, stdin: bytes, pool: Pool) -> Execution:
    """Run a program as `proctor run FILE` does."""
    script, limits = Script(Program(source), "probe.py"), Limits()
    return pool.submit(
        lambda cell, _: cell.run_script(script, Streams(stdin), limits, ContestClock(limits))
    ).result()


def readable(directory: Path) -> None:
    for each in (directory, *directory.parents[:3]):
        if each.stat().st_uid == os.geteuid():
            each.chmod(each.stat().st_mode | 0o755)  # /tmp stays open to everybody


def test_runs_scripts_and_sessions(warm: tuple[str, Pool]) -> None:
    name, pool = warm
    wanted = told(fresh(name))
    for _ in range(2):
        done = run(probe(name), pool=pool)
        assert told(done.stdout.decode()) == wanted, done.stderr
    assert told(run_script(probe(name), b"", pool).stdout.decode()) == wanted
    with open_session(pool=pool) as session:
        assert told(session.run(probe(name)).stdout.decode()) == wanted
        cell = session.run_cell(probe(name, INHERITED))
        assert told(cell.stdout.decode()) == told(fresh(name, INHERITED)), cell.error


def with_descriptor(printed: str, number: str, inheritable: bool) -> str:
    state, *rest = told(printed)
    state["process"]["descriptors"][number] = inheritable
    return "\n".join((json.dumps(state, sort_keys=True), *rest))


def test_judged_programs(warm: tuple[str, Pool]) -> None:
    """On the fast path the first test is the last of its process, since it has exit handlers."""
    name, pool = warm
    test = Test("", fresh(name))
    standard = judge(Problem("probe", (test, test)), probe(name), pool=pool)
    assert standard.verdict == "AC", standard
    first = Test("", with_descriptor(fresh(name), "4", True))  # the way to the host
    fast = JudgeSettings(fast=True)
    # The same name to Python, but not to the look for programs that share memory between processes,
    # which are not judged so.
    hidden = probe(name).replace("multiprocessing", "\uff4dultiprocessing")
    judged = judge(Problem("probe", (first, test, test)), hidden, settings=fast, pool=pool)
    assert judged.verdict == "AC", judged


def test_programs_in_official_mode(warm: tuple[str, Pool]) -> None:
    name, pool = warm
    problem = Problem("probe", (Test("", fresh(name, INHERITED)),))
    judged = judge(problem, probe(name, INHERITED), settings=JudgeSettings("official"), pool=pool)
    assert judged.verdict == "AC", judged


@pytest.mark.namespaces
@pytest.mark.parametrize("name", SHIPPED)
def test_solvers(name: str) -> None:
    with SolverHost(cells=1) as host:
        envelope = solve(probe(name), INPUTS[name], name, host=host)
    wanted = with_descriptor(fresh(name), "3", True)  # for lines of progress
    assert told(envelope.stdout) == told(wanted), envelope.stderr


def test_random_numbers_are_those_of_no_other_run(warm: tuple[str, Pool]) -> None:
    name, pool = warm
    draw = "import random, sys\nprint(random.random())\n"
    draw += "if 'numpy' in sys.modules: print(sys.modules['numpy'].random.random())"
    drawn = [run(draw, pool=pool).stdout.split() for _ in range(2)]
    assert len(drawn[0]) == (2 if name in SHIPPED else 1)
    assert not set(drawn[0]) & set(drawn[1])


@pytest.mark.parametrize("level", BOTH_LEVELS)
def test_modules_may_keep_the_streams_that_they_found(level: str, tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text(
        "import sys\ndef show(text, out=sys.stdout): out.write(text)\nraw = sys.stdout.buffer\n"
        "lines = sys.stdin\n"
    )
    readable(tmp_path)
    source = (
        "import kept, sys\nprint(kept.lines.readline(), kept.lines is sys.stdin)\n"
        "kept.show('shown\\n')\nprint('end', flush=True)\nkept.raw.write(b'raw\\n')\n"
    )
    wanted = "in True\nshown\nend\nraw\n"
    given = {"isolation": level, "packages": (str(tmp_path),), "preload": ("kept",), "cells": 1}
    with open_pool(**given) as pool:
        assert run(source, "in", pool=pool).stdout.decode() == wanted
        assert run_script(source, b"in", pool).stdout.decode() == wanted
        problem = Problem("kept", (Test("in", wanted),) * 3)
        for settings in (JudgeSettings(), JudgeSettings(fast=True)):
            assert judge(problem, source, settings=settings, pool=pool).verdict == "AC"


def test_a_module_that_leaves_a_thread_for_good_is_named(tmp_path: Path) -> None:
    (tmp_path / "threaded.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(1000,), name='of a module').start()\n"
    )
    readable(tmp_path)
    with (
        open_pool(packages=(str(tmp_path),), preload=("threaded",), cells=1) as pool,
        pytest.raises(CellStartFailed, match="started a thread: of a module"),
    ):
        run("print(1)", pool=pool)
