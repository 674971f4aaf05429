"""Programs that draw lots or look at clocks are told from those that do not, by their source."""

import json
from pathlib import Path

import pytest

from proctor.judging.cache.repeatable import is_repeatable
from proctor.judging.unit_tests.judge import beside
from proctor.problem import OutputOnly, Problem, Test
from proctor.program import Program

PROBLEM = Problem("any", (Test(""),))
REPEATABLE = {
    "python": [
        "print(int(input()) * 2)",
        "import sys\nfrom collections import defaultdict as d\nprint(d(int), sys.stdin.read())",
        "import os, io\ninput = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline",
        "import numpy as np\nprint(np.array([1]).sum())",
        "import sys, threading\ndef main():\n    pass\nthreading.stack_size(1 << 27)\n"
        "threading.Thread(target=main).start()",
        "data = open(0).read().split()\nprint(data)",
        "# the time is random\nprint('import random')",
        "time = int(input())\nfor id in range(time):\n    print(id)",
        "def hash(x):\n    return x\nprint(hash(1))",
        "class Solution:\n    def date(self, random):\n        return random",
        "try:\n    pass\nexcept ValueError as time:\n    print(time)",
        "match [1]:\n    case [*random]:\n        print(random)",
        "print({'a', 'b'})",
    ],
    "cpp": [
        "#include <bits/stdc++.h>\nint main() { int time = 1, now = time; return now; }",
        "#include <map>\nstd::map<int, int> dates;",
    ],
    "java": ["class Main { static int time; }"],
    "rust": ["fn main() { let now = 1; println!(\"{}\", now); }"],
    "perl": ["print 1;"],
}  # fmt: skip
NOT_REPEATABLE = {
    "python": [
        "import random\nprint(random.random())",
        "from random import randint",
        "from random import *",
        "import numpy as np\nnp.random.rand()",
        "from numpy import random as r",
        "import numpy.random",
        "import statistics\nstatistics.NormalDist().samples(1)",
        "def f():\n    import time",
        "import datetime", "import uuid", "import secrets", "import socket", "import ctypes",
        "import os\nprint(os.urandom(1))",
        "from os import urandom as read",
        "import os as sys\nsys.getpid()",
        "import sys\nsys._getframe()",
        "import sys\nprint(sys.modules['random'])",
        "print(id(1))", "print(hash('a'))", "print(randint(1, 2))", "print(datetime.datetime.now())",
        "exec(input())", "eval('1')", "__import__('random')", "open('/dev/urandom')",
        "getattr(__builtins__, 'id')",
        "import threading\nfor i in range(2):\n    threading.Thread(target=print).start()",
        "from threading import Thread\nThread(target=print).start()\nThread(target=print).start()",
        "[threading.Thread() for _ in 'ab']\nimport threading",
        "import asyncio", "from concurrent.futures import ThreadPoolExecutor",
        "import solution\n", "from . import a",
        "this is no Python",
        "x = " + "(" * 400 + ")" * 400,
        "1\n" * (1 << 18),
    ],
    "pypy": ["import random"],
    "c": ["int main() { srand(time(0)); return rand() % 2; }"],
    "cpp": [
        "#include <chrono>\nint main() { std::mt19937 rng(std::chrono::steady_clock::now()"
        ".time_since_epoch().count()); }",
        "#include <cstdlib>\nint main() { return rand ( ); }",
        "#include <thread>\nint main() { std::thread t; }",
        "int main() { return clock() % 2; }",
        "int main() { std::random_device d; }",
    ],
    "java": ["System.nanoTime()", "new Random()", "Math.random()", "new Thread(r)"],
    "javascript": ["Math.random()", "Date.now()", "new Date()"],
    "go": ["for k := range map[string]int{}", "go f()", "rand.Intn(2)"],
    "rust": ["use std::collections::HashMap;", "Instant::now()"],
    "csharp": ["new Random().Next()", "DateTime.Now", "Environment.TickCount"],
    "lua": ["for k in pairs(t) do end", "math.random()", "os.time()"],
    "perl": ["print rand", "print time", "for (keys %h) {}"],
    "ruby": ["puts rand", "puts Time.now", "a.shuffle"],
    "php": ["mt_rand(1, 2)", "microtime(true)", "time()"],
    "bash": ["echo $RANDOM", "date +%s", "echo $$", "a & b"],
    "pascal": ["randomize; writeln(random(2))"],
}  # fmt: skip


def cases(known: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, source) for language, sources in known.items() for source in sources]


@pytest.mark.parametrize(("language", "source"), cases(REPEATABLE))
def test_repeatable(language: str, source: str) -> None:
    assert is_repeatable(PROBLEM, Program(source, language))


@pytest.mark.parametrize(("language", "source"), cases(NOT_REPEATABLE))
def test_not_repeatable(language: str, source: str) -> None:
    assert not is_repeatable(PROBLEM, Program(source, language))


def test_files_beside_it_are_looked_at() -> None:
    def beside(text: bytes) -> Program:
        return Program("print(1)", files={"more.py": text})

    assert is_repeatable(PROBLEM, beside(b"print(2)"))
    assert not is_repeatable(PROBLEM, beside(b"import random"))
    assert not is_repeatable(PROBLEM, beside(b"\xff"))


def test_what_proctor_puts_beside_a_module_is_not_looked_at() -> None:
    assert is_repeatable(PROBLEM, beside("def f(x):\n    return x"))
    assert not is_repeatable(PROBLEM, beside("import random"))


def test_output_is_no_program() -> None:
    problem = Problem("output", (Test(""),), running=OutputOnly())
    assert is_repeatable(problem, Program("import random"))


@pytest.mark.data("livecodebench")
def test_real_programs(test_data: Path) -> None:
    """Nearly all of them, and none that imports random."""
    lines = (test_data / "livecodebench/programs.jsonl").read_text().splitlines()
    sources = [json.loads(line)["code"] for line in lines]
    repeatable = [each for each in sources if is_repeatable(PROBLEM, Program(each))]
    assert len(repeatable) > 0.98 * len(sources)
    assert not any("import random" in each for each in repeatable)
