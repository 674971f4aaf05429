"""Communication where processes are told the names of their pipes, and the manager its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from proctor.judging.judge import judge
from proctor.limits import Limits
from proctor.problem import Communication, Problem, Stub, Subtask, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

TESTS = Path(__file__).parents[1]
MANAGER = """
#include <cstdio>
#include <cstdlib>
#include <string>
int main(int argc, char **argv) {
    int processes = (argc - 2) / 2, ok = std::string(argv[argc - 1]) == "extra";
    long long value;
    if (scanf("%lld", &value) != 1) return 1;
    for (int i = 0; i < processes; i++) {
        FILE *from = fopen(argv[1 + 2 * i], "r"), *to = fopen(argv[2 + 2 * i], "w");
        if (!from || !to) return 2;
        fprintf(to, "%lld\\n", value);
        fflush(to);
        long long got;
        ok = ok && fscanf(from, "%lld", &got) == 1 && got == value + 1 + i;
        value = got;
    }
    printf("%s\\n", ok ? "1.0" : "0.0");
    fprintf(stderr, "%s\\n", ok ? "all right" : "not right");
}
"""
STUB = """
#include <cstdio>
#include <cstdlib>
long long next(long long value, int who);
int main(int argc, char **argv) {
    if (argc < 3) return 3;
    FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
    long long value;
    if (!in || !out || fscanf(in, "%lld", &value) != 1) return 4;
    fprintf(out, "%lld\\n", next(value, argc > 3 ? atoi(argv[3]) : 0));
    fclose(out);
}
"""


def problem(processes: int) -> Problem:
    return Problem(
        "pipes",
        (Test(b"41\n", name="one"),),
        subtasks=(Subtask("all", 100.0, ("one",)),),
        limits=Limits(cpu=1.0),
        running=Communication(Program(MANAGER, "cpp17"), processes, True, ("extra",)),
        stubs={"cpp": Stub({"stub.cpp": STUB.encode()}, "solution.cpp")},
    )


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("value + 1 + who", Verdict.AC),
        ("value", Verdict.WA),
        ("*(volatile long long *)0", Verdict.RE),
    ],
)
def test_named_pipes(contest_pool: Pool, processes: int, code: str, verdict: Verdict) -> None:
    source = f"long long next(long long value, int who) {{ return {code}; }}\n"
    got = judge(problem(processes), Program(source, "cpp17"), pool=contest_pool)
    assert got.verdict is verdict, got


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.parametrize(("level", "code"), [("namespaces", 125), ("landlock", 0)])
def test_where_proc_is_masked(cache_directory: Path, level: str, code: int) -> None:
    """Pipes have no names in a container with namespaces: that is not a fault of the task."""
    command = [
        sys.executable, TESTS / "sandbox" / "circumstances.py", "masked-proc",
        Path(sys.executable).with_name("proctor"), "judge", "--isolation", level,
        TESTS / "packages" / "relay", TESTS / "packages" / "relay" / "solution" / "binary.cpp",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert ("need /proc in cells" in done.stderr) == (code != 0)
