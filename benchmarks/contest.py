"""A+B with a grader, a checker and 17 tests, beside compiling everything for each test."""

import os
import statistics
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
COLD, CACHED = "proctor, nothing cached", "proctor, submission judged before"
BASE = "compiled for each test, no isolation"
ANOTHER = "proctor, third submission"
MANY = f"the same with {MORE} tests"


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


def once(argv: list[str], cache: Path) -> dict[str, float]:
    """Run a command in a control group of its own; returns its CPU and wall seconds."""
    group = Group()
    environment = {**os.environ, "PROCTOR_CACHE_DIR": str(cache)}
    try:
        began = time.perf_counter()
        subprocess.run(
            argv, check=True, env=environment, preexec_fn=group.join,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return {"wall_s": time.perf_counter() - began, "cpu_s": group.cpu()}
    finally:
        group.remove()


def measure(quick: bool) -> dict[str, Any]:
    """Return what each way of judging took. Needs control groups: their CPU is the whole tree's."""
    rounds: list[dict[str, dict[str, float]]] = []
    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        small, large = make(place / "small", TESTS), make(place / "large", MORE)
        for number in range(1 if quick else 3):
            rounds.append(_round(small, large, place / f"cache-{number}"))
            rounds[-1]["bare"] = _bare(large, place)
        if not quick:  # once: it takes longer than all others together
            script = str(WORK / "compile_per_test.py")
            rounds[0][BASE] = once(
                [sys.executable, script, str(small), f"{small}/first.cpp"], place
            )
    return {"ways": list(rounds[0]), "rounds": rounds}


def _round(small: Path, large: Path, cache: Path) -> dict[str, dict[str, float]]:
    """Judge in every way once, with nothing cached at first."""
    judge = [str(Path(sys.executable).with_name("proctor")), "judge"]
    first, second, third = (str(small / f"{name}.cpp") for name in ("first", "second", "third"))
    ways = {
        COLD: [*judge, str(small), first],
        "proctor, second submission: the header is made": [*judge, str(small), second],
        ANOTHER: [*judge, str(small), third],
        CACHED: [*judge, str(small), first],
        MANY: [*judge, str(large), first],
    }
    return {name: once(argv, cache) for name, argv in ways.items()}


def _bare(package: Path, place: Path) -> dict[str, float]:
    """CPU and wall time of the program and its checker, started by nothing but a shell."""
    subprocess.run(
        ["g++", "-O2", "-s", "-I", package, package / "first.cpp", package / "grader.cpp",
         "-o", place / "program"], check=True,
    )  # fmt: skip
    subprocess.run(["g++", "-O2", "-s", package / "checker.cpp", "-o", place / "check"], check=True)
    loop = f"""cd {package}/tests; for i in *.in; do
        {place}/program < $i > {place}/out; {place}/check $i {place}/out ${{i%.in}}.ans; done"""
    return once(["bash", "-c", loop], place)


def _values(found: dict[str, Any], way: str, figure: str) -> list[float]:
    return [each[way][figure] for each in found["rounds"] if way in each]


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    cpu = {way: statistics.median(_values(found, way, "cpu_s")) for way in found["ways"]}
    wall = {way: statistics.median(_values(found, way, "wall_s")) for way in found["ways"]}
    overhead = (cpu[MANY] - cpu[CACHED]) / (MORE - TESTS) - cpu["bare"] / MORE
    return [
        at_most("17 tests, nothing cached, wall", wall[COLD], 2.5, seconds),
        at_most("17 tests, all compiled before, wall", wall[CACHED], 0.5, seconds),
        at_most("another submission, header there, CPU beyond a cached one",
                cpu[ANOTHER] - cpu[CACHED], 0.45, seconds),
        at_most("judge's CPU a test, beyond program and checker", overhead * 1e3, 5, milliseconds),
    ]  # fmt: skip


def table(found: dict[str, Any]) -> list[list[str]]:
    """All ways, a header first."""
    rows = [["way", "CPU", "least–most", "wall"]]
    for way in found["ways"]:
        cpu = _values(found, way, "cpu_s")
        wall = statistics.median(_values(found, way, "wall_s"))
        extremes = f"{min(cpu):.2f}–{max(cpu):.2f}"
        rows.append([way, f"{statistics.median(cpu):.2f} s", extremes, f"{wall:.2f} s"])
    return rows


def notes(found: dict[str, Any]) -> list[str]:
    return [
        f"Medians of {len(found['rounds'])} rounds, each from an empty cache; {BASE}: once.",
        "Proctor's are whole commands: interpreter, imports, cells, checker and submission.",
        f"{BASE}: what the published pipeline's scripts do, without a sandbox.",
        f"bare: a shell that runs program and checker of {MORE} tests, both compiled before.",
    ]


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
