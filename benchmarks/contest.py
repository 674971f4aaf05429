"""A+B with a grader, a checker and 17 tests, beside compiling everything for each test."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from budgets import Line, at_most, milliseconds, seconds
from measure import WORK, Group

TESTS, MORE = 17, 317
HEADER = "int sum(int A, int B);\n"
GRADER = """#include "aplusb.h"
#include <cstdio>
int main() { int a, b; if (scanf("%d %d", &a, &b) != 2) return 1; printf("%d\\n", sum(a, b)); }
"""
CHECKER = """#include <bits/stdc++.h>
using namespace std;
int main(int, char **argv) {
    ifstream output(argv[2]), answer(argv[3]);
    long long got, wanted;
    if (!(answer >> wanted)) return 3;
    return output >> got && got == wanted ? 0 : 1;
}
"""
SOLUTIONS = [
    '#include <bits/stdc++.h>\n#include "aplusb.h"\nint sum(int A, int B) { return A + B; }\n',
    '#include <bits/stdc++.h>\n#include "aplusb.h"\nint sum(int A, int B) { return B + A; }\n',
    '#include <bits/stdc++.h>\n#include "aplusb.h"\nint sum(int A, int B) { return A - -B; }\n',
]
PACKAGE = """id = "aplusb"
[limits]
cpu = "1s"
memory = "256M"
[grading]
checker = "checker.cpp"
[tests]
inputs = "tests/*.in"
answers = "tests/*.ans"
[stubs.cpp]
files = ["grader.cpp", "aplusb.h"]
name = "aplusb.cpp"
flags = ["-DEVAL"]
"""
BASE = "compiled for each test, no isolation"
ANOTHER = "proctor, third submission"


def make(place: Path, tests: int) -> Path:
    """Write the package with so many tests; returns its directory."""
    (place / "tests").mkdir(parents=True)
    for number in range(tests):
        (place / f"tests/{number:03}.in").write_text(f"{number} {7 * number}\n")
        (place / f"tests/{number:03}.ans").write_text(f"{8 * number}\n")
    for name, text in (
        ("problem.toml", PACKAGE), ("grader.cpp", GRADER), ("checker.cpp", CHECKER),
        ("aplusb.h", HEADER), ("first.cpp", SOLUTIONS[0]), ("second.cpp", SOLUTIONS[1]),
        ("third.cpp", SOLUTIONS[2]),
    ):  # fmt: skip
        (place / name).write_text(text)
    return place


def once(name: str, argv: list[str], cache: Path) -> dict[str, Any]:
    """Run a command in a control group of its own; returns its CPU and wall seconds."""
    group = Group(f"proctor-bench-contest-{os.getpid()}")
    environment = {**os.environ, "PROCTOR_CACHE_DIR": str(cache)}
    try:
        began = time.perf_counter()
        subprocess.run(
            argv, check=True, env=environment, preexec_fn=group.join,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return {"name": name, "wall_s": time.perf_counter() - began, "cpu_s": group.cpu()}
    finally:
        group.remove()


def measure(quick: bool) -> dict[str, Any]:
    """Return what each way of judging took. Needs control groups: their CPU is the whole tree's."""
    judge = [str(Path(sys.executable).with_name("proctor")), "judge"]
    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        small, large = make(place / "small", TESTS), make(place / "large", MORE)
        first, second, third = (str(small / f"{name}.cpp") for name in ("first", "second", "third"))
        cache = place / "cache"
        found = [
            once("proctor, nothing cached", [*judge, str(small), first], cache),
            once(
                "proctor, second submission: the header is made",
                [*judge, str(small), second],
                cache,
            ),
            once(ANOTHER, [*judge, str(small), third], cache),
            once("proctor, submission judged before", [*judge, str(small), first], cache),
            once(f"the same with {MORE} tests", [*judge, str(large), first], cache),
        ]
        if not quick:
            script = [sys.executable, str(WORK / "compile_per_test.py"), str(small), first]
            found.append(once(BASE, script, cache))
        bare = _bare(large, place)
    return {"ways": found, "bare_ms": bare * 1000}


def _bare(package: Path, place: Path) -> float:
    """CPU seconds of the program and its checker, started by nothing but a shell, per test."""
    subprocess.run(
        ["g++", "-O2", "-s", "-I", package, package / "first.cpp", package / "grader.cpp",
         "-o", place / "program"], check=True,
    )  # fmt: skip
    subprocess.run(["g++", "-O2", "-s", package / "checker.cpp", "-o", place / "check"], check=True)
    loop = f"""cd {package}/tests; for i in *.in; do
        {place}/program < $i > {place}/out; {place}/check $i {place}/out ${{i%.in}}.ans; done"""
    return float(once("bare", ["bash", "-c", loop], place)["cpu_s"]) / MORE


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    ways = {each["name"]: each for each in found["ways"]}
    many, few = ways[f"the same with {MORE} tests"], ways["proctor, submission judged before"]
    overhead = (many["cpu_s"] - few["cpu_s"]) / (MORE - TESTS) * 1000 - found["bare_ms"]
    cold, another = ways["proctor, nothing cached"], ways[ANOTHER]
    return [
        at_most("17 tests, nothing cached, wall", cold["wall_s"], 2.5, seconds),
        at_most("17 tests, all compiled before, wall", few["wall_s"], 0.5, seconds),
        at_most("another submission, header there, CPU beyond a cached one",
                another["cpu_s"] - few["cpu_s"], 0.45, seconds),
        at_most("judge's CPU a test, beyond program and checker", overhead, 5, milliseconds),
    ]  # fmt: skip


def table(found: dict[str, Any]) -> list[list[str]]:
    """All ways, a header first."""
    head = ["way", "CPU", "wall"]
    return [head] + [
        [one["name"], f"{one['cpu_s']:.2f} s", f"{one['wall_s']:.2f} s"] for one in found["ways"]
    ]


def notes(found: dict[str, Any]) -> list[str]:
    return [
        "The first five are whole commands: interpreter, imports, cells, checker and submission.",
        f"A shell that runs program and checker takes {found['bare_ms']:.2f} CPU-ms a test.",
        "The last does what the published pipeline's scripts do, without a sandbox.",
    ]


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
