"""A pool of one cell, driven by lines of JSON: for tests of cells in other circumstances.

Started by cells.py under the interpreter and the user of those circumstances, so: standard library
and proctor only. A request is {"do": name, argument: value, ...}; every request has one answer.
"""

import json
import sys
from concurrent.futures import Future
from typing import Any

import proctor
from proctor import Execution, JudgeSettings, Limits, Problem, Program, Test
from proctor.errors import CellDied
from proctor.languages import run as running
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy
from proctor.sandbox.machine import interpreter, procfs
from proctor.sandbox.pool import Pool


def open_pool(level: str, arrangement: str) -> Pool:
    """A pool of a level, or of one way to get it."""
    if not arrangement:
        return proctor.open_pool(isolation=level or None, cells=1)
    backend = next(each for each in policy.ways(level) if each.arrangement == arrangement)
    chosen = interpreter.choose(None, private_files=backend.private_files)
    return Pool(backend, CellSetup(chosen), 1)


pool = open_pool(sys.argv[1], sys.argv[2])
waiting: list[Future[Execution]] = []


def run(source: str, stdin: str = "", **limits: Any) -> dict[str, Any]:
    start(source, stdin, **limits)
    return finish()


def start(source: str, stdin: str = "", **limits: Any) -> None:
    """Let a program run meanwhile; `finish` waits for it."""
    asked = Limits(**{"cpu": 20.0, **limits})
    request = running.RunRequest(Program(source), stdin.encode(), limits=asked)
    waiting.append(running.start(request, pool))


def finish() -> dict[str, Any]:
    done = waiting.pop().result()
    return {
        "exit_code": done.exit_code,
        "signal": done.signal,
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr.decode("utf-8", "replace"),
        "limit": done.limit,
        "cpu": done.cpu,
        "wall": done.wall,
        "memory": done.memory,
    }


def isolation() -> dict[str, Any]:
    """What holds, by the cell's own account."""
    isolation = proctor.run("", pool=pool).isolation
    held = isolation.guarantees
    return {
        "level": isolation.level,
        "arrangement": pool.backend.arrangement,
        "strengths": {name: held[name].strength for name in held},
        "how": {name: str(held[name]) for name in held},
    }


def judge(
    source: str, tests: list[list[str]], mode: str = "standard", fast: bool = False,
    function: str | None = None, **limits: Any,
) -> list[Any]:  # fmt: skip
    problem = Problem("p", tuple(Test(*each) for each in tests), function)
    settings = JudgeSettings(mode, Limits(**{"cpu": 5.0, **limits}), fast=fast)
    judgement = proctor.judge(problem, source, settings=settings, pool=pool)
    return [judgement.verdict, judgement.message, len(judgement.tests)]


def pids() -> dict[str, Any]:
    """Processes of the one cell, by the host's numbers: parents before children."""
    cell = pool._live.get(0)
    if cell is None:  # starting
        return {"own": [], "job": [], "seen": []}
    first = cell._process.pid
    below = procfs.descendants(first)
    try:
        seen = cell.job_pids()
    except CellDied:  # ending, and not yet replaced
        return {"own": [], "job": [], "seen": []}
    return {
        "own": [pid for pid in [first, *below] if pid in cell._own],
        "job": [pid for pid in below if pid not in cell._own],
        "seen": seen,
    }


def close() -> None:
    pool.close()


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = globals()[request.pop("do")](**request)
    except proctor.ProctorError as error:
        answer = {"error": type(error).__name__, "message": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
