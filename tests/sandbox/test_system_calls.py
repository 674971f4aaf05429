"""System calls that the host makes for one run, and for one test: a budget that no load changes."""

import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

UNITS = 200
BUDGETS = {"run": 26, "fork": 24, "official": 14}
"""System calls a run or test, with control groups of version 1, which take the most readings."""

pytestmark = pytest.mark.command("strace")

HOST = r"""
import sys
from proctor import JudgeSettings, Problem, Test, judge, open_pool, run

what, units = sys.argv[1], int(sys.argv[2])
tests = tuple(Test(f"{n}\n", f"{n + 1}\n") for n in range(units))

def work(pool, units):
    if what == "run":
        return all(run("print(1)", pool=pool).ok for _ in range(units))
    settings = JudgeSettings("official" if what == "official" else "standard")
    return judge(Problem("p", tests[:units]), "print(int(input()) + 1)", settings=settings, pool=pool).passed

with open_pool(cells=1) as pool:
    assert work(pool, 20)
    print("ready", flush=True)
    sys.stdin.readline()
    assert work(pool, units)
    print("done", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("what", BUDGETS)
def test_the_host_makes_few_system_calls(what: str, tmp_path: Path) -> None:
    strace, output = shutil.which("strace"), tmp_path / "trace"
    assert strace is not None
    command = [sys.executable, "-c", HOST, what, str(UNITS)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        assert host.stdout.readline() == "ready\n"
        # Its threads, but not the cell's processes.
        tasks = [task.name for task in Path("/proc", str(host.pid), "task").iterdir()]
        tracing = [strace, "-qq", "-o", str(output), "-e", "signal=none"]
        tracing += [f"--attach={task}" for task in tasks]
        with subprocess.Popen(tracing, stderr=subprocess.PIPE, text=True) as tracer:
            while not all(traced(host.pid, task) for task in tasks):
                assert tracer.poll() is None, tracer.communicate()
            for answer in ("done\n", ""):
                host.stdin.write("go\n")
                host.stdin.flush()
                assert host.stdout.readline() == answer
                tracer.terminate()
        assert host.wait() == 0
    calls = [entry.split()[1].partition("(")[0] for entry in output.read_text().splitlines()]
    # Waking other threads is left out: how often that is needed depends on who is quicker.
    units = "\n".join(call for call in calls if call != "futex").split("sendmsg")[1:]
    assert len(units) >= UNITS, "it was seen"
    # The median: on a busy machine a program may take so long that the host looks after it.
    assert statistics.median(len(unit.split()) + 1 for unit in units) <= BUDGETS[what], units[1]


def traced(pid: int, task: str) -> bool:
    return "TracerPid:\t0\n" not in Path("/proc", str(pid), "task", task, "status").read_text()
