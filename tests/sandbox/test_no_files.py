"""Judging a Python program creates no file: not on the host, not in the cell.

strace watches the host process and everything in its cell while programs are judged in every mode.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import until

CREATES = (
    "open", "openat", "openat2", "creat", "mkdir", "mkdirat", "mknod", "mknodat", "link", "linkat",
    "symlink", "symlinkat", "rename", "renameat", "renameat2", "mount", "fsopen",
)  # fmt: skip

pytestmark = [pytest.mark.command("strace"), pytest.mark.user]

# A host with one warm cell; judges when told to. What it judges is honest: an attacker's own
# attempts are refused elsewhere (test_run_limits) and would only clutter the trace.
HOST = r"""
import sys
from proctor import JudgeSettings, Limits, Problem, Test, judge, open_pool, run
from proctor.judging.judge import judge_many

stdio = Problem("s", tuple(Test(f"{n} 2\n" + "x" * size, f"{n + 2}\n")
                           for n, size in enumerate((1, 10, 200_000))))
call = Problem("c", (Test("1\n2", "3"), Test("3\n4", "7")), "add")
programs = [
    (stdio, "a, b = map(int, input().split())\nprint(a + b)"),
    (stdio, "import sys\nprint(-1)"),
    (stdio, "1 / 0"),
    (stdio, "1 +"),
    (stdio, "while True: pass"),
    (stdio, "import os\nos.kill(os.getpid(), 9)"),
    (stdio, "import collections, colorsys, fractions, wave\nprint(input())"),
    (stdio, "print('x' * 10 ** 6)"),
    (stdio, ""),
    (call, "def add(a, b): return a + b"),
    (call, "class Solution:\n    def add(self, a, b): return a + b"),
    (call, "def add(a, b): return 1 / 0"),
]
limits = Limits(cpu=0.3, memory=128 << 20)
modes = [JudgeSettings(limits=limits, stop="never"), JudgeSettings(limits=limits, fast=True),
         JudgeSettings("official", Limits(cpu=0.3, memory=200 << 20, processes=20))]
bare = [("print(input())", b"5"), ("1 / 0", b""), ("1 +", b""), ("while True: pass", b"")]


def everything(pool):
    made = []
    for settings in modes:
        made += [str(judged.judgement.verdict) for judged in
                 sorted(judge_many(programs, settings=settings, pool=pool), key=lambda j: j.index)]
    for source, stdin in bare:
        made.append(run(source, stdin, limits=limits, pool=pool).limit or "ended")
    return made


with open_pool(cells=1) as pool:
    warm = everything(pool)
    cell = pool._live[0]
    import os
    print(os.getpid(), *cell._all_pids(), flush=True)
    assert sys.stdin.readline() == "go\n"
    assert everything(pool) == warm, "the trace may slow programs down, but changes no verdict"
    assert pool._live[0] is cell
    print(*warm, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Every system call that could make a file, from the host and the cell while they judge."""
    strace = shutil.which("strace")
    assert strace is not None
    output = tmp_path_factory.mktemp("trace") / "calls"
    with subprocess.Popen(
        [sys.executable, "-c", HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        pids = host.stdout.readline().split()
        assert len(pids) > 1
        command = [strace, "-f", "-qq", "-o", str(output), "-e", "trace=" + ",".join(CREATES)]
        command += ["-e", "signal=none", *(f"--attach={pid}" for pid in pids)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
            for pid in pids:
                until(lambda: traced(pid) or tracer.poll() is not None)  # noqa: B023
                assert tracer.poll() is None, tracer.communicate()
            host.stdin.write("go\n")
            host.stdin.flush()
            verdicts = host.stdout.readline().split()
            tracer.terminate()
            tracer.wait()
        host.stdin.close()
        assert host.wait() == 0
    assert {"AC", "WA", "RE", "CE", "TLE", "NC", "cpu", "ended"} <= set(verdicts)
    return output.read_text(errors="replace").splitlines()


def traced(pid: str) -> bool:
    tasks = list(Path("/proc", pid, "task").iterdir())
    return all("TracerPid:\t0\n" not in (task / "status").read_text() for task in tasks)


def test_the_trace_saw_host_and_cell(trace: list[str]) -> None:
    """Both open files for reading, all the time; else nothing below shows anything."""
    text = "\n".join(trace)
    assert "/schedstat" in text or "/proc/self/fd/" in text, "the host reads /proc"
    assert "colorsys" in text, "a program imports"
    assert len({entry.split()[0] for entry in trace}) > 20, "each test is a process"


def test_no_call_creates_a_file(trace: list[str]) -> None:
    makes = re.compile(
        r"O_CREAT|O_TMPFILE|\b(?:creat|mkdir|mkdirat|mknod|mknodat|link|linkat|symlink|symlinkat"
        r"|rename|renameat|renameat2|mount|fsopen)\("
    )
    assert [entry for entry in trace if makes.search(entry)] == []


def test_no_call_opens_for_writing_but_kernel_files(trace: list[str]) -> None:
    """Control groups and a process's own score are the kernel's, and exist already."""
    writes = [entry for entry in trace if re.search(r"O_WRONLY|O_RDWR", entry)]
    allowed = re.compile(r'"/sys/fs/cgroup/|"/proc/self/(?:oom_score_adj|fd/)|"/dev/null"')
    assert [entry for entry in writes if not allowed.search(entry)] == []
