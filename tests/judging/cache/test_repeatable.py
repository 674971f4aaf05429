"""Chance by a program's source: out of reach, openly used, or not decided."""

import json
from pathlib import Path

import pytest

from proctor.judging.cache.repeatable import Chance, chance_in
from proctor.judging.unit_tests.judge import beside
from proctor.problem import OutputOnly, Problem, Test
from proctor.program import Program

PROBLEM = Problem("any", (Test(""),))
OUT_OF_REACH = [
    "print(int(input()) * 2)",
    "import sys\nfrom collections import defaultdict as d\nprint(d(int), sys.stdin.read())",
    "import os, io\ninput = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline",
    "data = open(0).read().split()\nprint(data)",
    "# the time is random\nprint('import random')",
    "time = int(input())\nfor id in range(time):\n    print(id)",
    "def hash(x):\n    return x\nprint(hash(1))",
    "class Solution:\n    def date(self, random: List[int]):\n        return sqrt(random[0])",
    "try:\n    pass\nexcept ValueError as time:\n    print(time)",
    "match [1]:\n    case [*random]:\n        print(random)",
    "print({'a', 'b'})",
    "class Node:\n    __slots__ = ('x',)\n    def __init__(self):\n        self._x = 1",
    "import collections\nx = collections.deque()",
]
UNKNOWN = {
    "python": [
        "import heapq\nprint(heapq.__builtins__)",
        "import collections\nprint(collections._tuplegetter)",
        "import heapq\nh = heapq\nprint(h.__builtins__)",
        "from heapq import *\nprint(heapify)",
        "import io\nprint(io.open('/proc/uptime').read())",
        "import io\nprint(io.FileIO('/dev/urandom').read(1))",
        "from io import open_code as o\no('/dev/urandom')",
        "print(str(object())[-3:-1])",
        "().__class__.__base__.__subclasses__()",
        "def f():\n    yield g.gi_frame.f_back\ng = f()",
        "match print:\n    case A(__globals__=g):\n        pass",
        "class A:\n    __match_args__ = ('__globals__',)",
        "class A:\n    __globals__: int",
        "import os\nprint(os.fstat(0).st_mtime_ns)",
        "import os\nprint(os.path.getmtime('/proc'))",
        "import array\nprint(array.array('b').buffer_info())",
        "from operator import attrgetter\nattrgetter('__globals__')(f)",
        "import string\nstring.Formatter().get_field('0.__class__', (1,), {})",
        "import typing\ntyping.get_type_hints(f)",
        "import types\ntypes.FunctionType",
        "from dataclasses import make_dataclass",
        "A = type('A', (), {'__match_args__': ('__globals__',)})",
        "import numpy as np\nprint(np.empty(3))",
        "import numpy as np\nprint(np.array([1]).sum())",
        "import sys, threading\nthreading.Thread(target=print).start()",
    ],
    "cpp": [
        "#include <bits/stdc++.h>\nint main() { int time = 1, now = time; return now; }",
        "int main() { int a[9], s = 0; for (int x : a) s += x; return s; }",
        "#include <cstdio>\nint main() { return fgetc(fopen(\"/dev/ura\" \"ndom\", \"r\")); }",
    ],
    "java": ["class Main { static int time; }"],
    "rust": ["fn main() { let now = 1; println!(\"{}\", now); }"],
    "perl": ["print 1;"],
}  # fmt: skip
OPEN = {
    "python": [
        "import random\nprint(random.random())",
        "from random import randint",
        "from random import *",
        "import numpy as np\nnp.random.rand()",
        "from numpy import random as r",
        "import numpy.random",
        "import statistics\nstatistics.NormalDist().samples(1)",
        "import statistics\nstatistics.random.random()", "from statistics import random as r",
        "import os.path\nos.path.genericpath.os.times()", "from os import path\npath.os.times()",
        "import json\njson.codecs.sys", "import contextlib\ncontextlib.os.urandom(1)",
        "from queue import time", "import typing\ntyping.sys.modules",
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
        "int main() { unsigned a; asm volatile(\"rd\" \"tsc\" : \"=a\"(a)); return a; }",
        "int main() { return __builtin_ia32_rdtsc() & 1; }",
        "int main() { char b; syscall(318, &b, 1, 0); return b; }",
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


@pytest.mark.parametrize("source", OUT_OF_REACH)
def test_out_of_reach(source: str) -> None:
    assert chance_in(PROBLEM, Program(source)) is Chance.NONE


@pytest.mark.parametrize(("language", "source"), cases(UNKNOWN))
def test_unknown(language: str, source: str) -> None:
    assert chance_in(PROBLEM, Program(source, language)) is Chance.UNKNOWN


@pytest.mark.parametrize(("language", "source"), cases(OPEN))
def test_open(language: str, source: str) -> None:
    assert chance_in(PROBLEM, Program(source, language)) is Chance.OPEN


def test_files_beside_it_are_looked_at() -> None:
    def beside(text: bytes) -> Chance:
        return chance_in(PROBLEM, Program("print(1)", files={"more.py": text}))

    assert beside(b"print(2)") is Chance.NONE
    assert beside(b"print(object())") is Chance.UNKNOWN
    assert beside(b"import random") is Chance.OPEN
    assert beside(b"\xff") is Chance.OPEN


def test_what_proctor_puts_beside_a_module_is_not_looked_at() -> None:
    assert chance_in(PROBLEM, beside("def f(x):\n    return x")) is Chance.NONE
    assert chance_in(PROBLEM, beside("import random")) is Chance.OPEN


def test_output_is_no_program() -> None:
    problem = Problem("output", (Test(""),), running=OutputOnly())
    assert chance_in(problem, Program("import random")) is Chance.NONE


@pytest.mark.data("livecodebench")
def test_real_programs(test_data: Path) -> None:
    """Of most of them one judgement is enough; of none that imports random."""
    lines = (test_data / "livecodebench/programs.jsonl").read_text().splitlines()
    said = {
        code: chance_in(PROBLEM, Program(code)) for code in (json.loads(x)["code"] for x in lines)
    }
    assert sum(each is Chance.NONE for each in said.values()) > 0.8 * len(said)
    assert sum(each is Chance.OPEN for each in said.values()) < 0.02 * len(said)
    assert all(each is Chance.OPEN for code, each in said.items() if "import random" in code)
