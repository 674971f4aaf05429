"""What limits do to programs here, and what this says of its control groups, as JSON."""

import contextlib
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor import Limits, Pool, open_pool, run
from proctor.sandbox.machine import cgroup
from proctor.sandbox.machine.cgroup import homes
from proctor.sandbox.machine.cgroup.group import members

MIB = 1 << 20
TOUCH = """
def touch(size):
    data = bytearray(size)
    for at in range(0, size, 4096): data[at] = 1
    return data
"""
ONE = TOUCH + "touch(300 << 20)\nimport time\ntime.sleep(60)\n"
TREE = (
    TOUCH
    + """
import os, time
for _ in range(6):
    if os.fork() == 0:
        kept = touch(40 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""
)
SURVIVOR = (
    TOUCH
    + """
import os
if os.fork() == 0:
    touch(300 << 20)
    os._exit(0)
print(os.wait()[1])
"""
)
REFUSED = "bytearray(1 << 46)\n"
CAUGHT = "try: bytearray(1 << 46)\nexcept MemoryError: print('caught')\n"
FORKS = """
import os, time
n = 1
try:
    while n < 100:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        n += 1
except BlockingIOError: pass
print(n)
"""
ORPHAN = """
import os, time
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        while time.process_time() < 1.0: pass
        os.write(w, b'.')
    os._exit(0)
os.wait()
os.read(r, 1)
print(time.process_time())
"""
PEAK = (
    TOUCH
    + """
import os, time
r, w = os.pipe()
done, over = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        os.close(over)
        kept = touch(30 << 20)
        os.write(w, b'.')
        os.read(done, 1)
        os._exit(0)
for _ in range(3): os.read(r, 1)
time.sleep(1)
os.close(over)
"""
)


def kind() -> dict[str, Any]:
    group = cgroup.create()
    if group is None:
        return {"kind": None, "controls": []}
    try:
        return {"kind": group.kind, "controls": sorted(group.controls)}
    finally:
        group.remove()


def weight(group: Any) -> int | None:
    """Return the share of the CPU that the cell's group has, or the scope around it."""
    for home in (group._home, group._home.parent) if group is not None else ():
        if (home / "cpu.weight").exists() and home.name.startswith("proctor-"):
            return int((home / "cpu.weight").read_text())
    return None


def go(pool: Pool, source: str, stdin: bytes = b"", **limits: Any) -> dict[str, Any]:
    done = run(source, stdin, limits=Limits(**({"cpu": 60.0} | limits)), pool=pool)
    return {
        "exit": done.exit_code, "signal": done.signal, "out": done.stdout.decode(),
        "limit": done.limit and str(done.limit), "memory": done.memory, "cpu": done.cpu,
    }  # fmt: skip


def limits_hold(pool: Pool) -> dict[str, Any]:
    out: dict[str, Any] = {"hello": go(pool, "print(input())", b"hi")}
    first = pool._live[0]
    out["guarantees"] = {
        name: [str(found.strength), found.how] for name, found in first.isolation.guarantees.items()
    }
    out["weight"] = weight(first.group)
    out["one"] = go(pool, ONE, memory=100 * MIB)
    out["tree"] = go(pool, TREE, memory=100 * MIB)
    out["forks"] = go(pool, FORKS, processes=20)
    out["same cell"] = pool._live[0] is first
    return out


def more_limits_hold(pool: Pool) -> dict[str, Any]:
    first = pool._live[0]
    out: dict[str, Any] = {}
    out["survivor"] = go(pool, SURVIVOR, memory=100 * MIB)
    out["refused"] = go(pool, REFUSED, memory=100 * MIB)
    out["caught"] = go(pool, CAUGHT, memory=100 * MIB)
    out["orphan"] = go(pool, ORPHAN)
    out["peak"] = go(pool, PEAK, memory=400 * MIB)
    out["small after peak"] = go(pool, "pass", memory=400 * MIB)
    out["late"] = go(pool, "while True: pass", cpu=0.5)
    out["same cell"] = pool._live[0] is first
    return out


def group_taken_away(pool: Pool) -> dict[str, Any]:
    """Somebody moves the cell out of its group and deletes that, with a job in it."""
    first = pool._live[0]
    home = Path(first.group._home)
    outside = homes.own_groups()[""]
    if home.parent.name.endswith(".scope"):  # what is in there cannot move to our own group
        outside = home.parent / "outside"
        outside.mkdir()
    result: list[dict[str, Any]] = []
    program = "import time\ntime.sleep(3)\nprint('right')"
    waiter = threading.Thread(target=lambda: result.append(go(pool, program)))
    waiter.start()
    while not first.job_pids():
        pass
    while home.exists():
        for pid in members(home):
            with contextlib.suppress(ProcessLookupError):
                (outside / "cgroup.procs").write_text(str(pid))
        with contextlib.suppress(OSError):
            home.rmdir()
    waiter.join()
    return {"result": result[0], "replaced": pool._live[0] is not first}


def controller_taken_away(pool: Pool) -> dict[str, Any]:
    """Somebody takes the memory controller from the cell's group between two jobs."""
    second = pool._live[0]
    (Path(second.group._home).parent / "cgroup.subtree_control").write_text("-memory")
    result = go(pool, ONE, memory=100 * MIB)
    return {"result": result, "replaced": pool._live[0] is not second}


PARTS: dict[str, Callable[[Pool], dict[str, Any]]] = {
    "limits": limits_hold,
    "more": more_limits_hold,
    "group": group_taken_away,
    "controller": controller_taken_away,
}
facts: dict[str, Any] = {"found": kind()}
with open_pool(cells=1) as pool:
    pool.submit(lambda cell, waited: None).result()  # the first cell is up
    for name in sys.argv[1:]:
        facts[name] = PARTS[name](pool)
print(json.dumps(facts))
