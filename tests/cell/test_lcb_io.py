"""How official mode's programs read and write: each outcome was measured on lcb_runner."""

# a test's name says what it tests

import io
import sys
import time

import pytest
from official_process import ONE, PASS, RE, TLE, WA, Quirk, check, play

from proctor.cell import lcb_io
from proctor.judgement import UpstreamReport

ADD = "print(a + b)"

# fmt: off
STDIN = [
    Quirk("input", f"a = int(input()); b = int(input()); {ADD}", PASS),
    Quirk("read", f"import sys\na, b = map(int, sys.stdin.read().split())\n{ADD}", PASS),
    Quirk("read ignores size", "import sys\nprint(sys.stdin.read(1) == '2\\n3\\n', 5)", [WA], WA),
    Quirk(
        "read never ends", "import sys\nn = 0\nwhile sys.stdin.read(1): n += 1\n", [TLE], TLE
    ),
    Quirk(
        "readline",
        f"import sys\na = int(sys.stdin.readline()); b = int(sys.stdin.readline()); {ADD}",
        PASS,
    ),
    Quirk(
        "readline at the end",
        f"import sys\na, b = int(input()), int(input())\nassert sys.stdin.readline() == ''\n{ADD}",
        PASS,
    ),
    Quirk("input at the end", "input(); input(); input()", [RE], RE, "EOFError", tests=ONE),
    Quirk("blank lines", "input(); print(input())", [True], tests=(("\n7\n", "7"),)),
    Quirk("carriage return", "print(repr(input()))", [True], tests=(("a\r\n", "'a\\r'"),)),
    Quirk(
        "readlines",
        f"import sys\na, b = map(int, sys.stdin.readlines()[:2])\n{ADD}",
        PASS,
    ),
    Quirk(
        "readlines has a last empty line",
        "import sys\nprint(sum(int(x) for x in sys.stdin.readlines()))",
        [RE],
        RE,
        "invalid literal for int() with base 10: ''",
    ),
    Quirk(
        "iteration",
        "import sys\nprint(sum(int(x) for x in sys.stdin))",
        [RE],
        RE,
        "'MockStdinWithBuffer' object is not iterable",
    ),
    Quirk("list", "import sys\na, b = list(sys.stdin)", [RE], RE, "not iterable"),
    Quirk("next", "import sys\na = next(sys.stdin)", [RE], RE, "is not an iterator"),
    Quirk("with", "import sys\nwith sys.stdin as f: pass", [RE], RE, "context manager protocol"),
    Quirk("fileno", "import sys\nsys.stdin.fileno()", [RE], RE, "UnsupportedOperation('fileno')"),
    Quirk("iterated by method", "import sys\nprint(sum(map(int, sys.stdin.__iter__())))", PASS),
    Quirk(
        "fileinput",
        "import fileinput, sys\nsys.argv = ['x']\nprint(sum(int(x) for x in fileinput.input()))",
        PASS,
    ),
    Quirk(
        "input then read",
        f"import sys\na = int(input()); b = int(sys.stdin.read()); {ADD}",
        [RE],
        RE,
        "invalid literal",
    ),
    Quirk(
        "input then readlines",
        "import sys\na = int(input()); print(a + int(sys.stdin.readlines()[0]))",
        [WA],
        WA,
        "4 != 5",
    ),
    Quirk(
        "input then buffer.read",
        "import sys\na = int(input()); print(a + int(sys.stdin.buffer.read().split()[0]))",
        [WA],
        WA,
        "4 != 5",
    ),
    Quirk("buffer.read", "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))", PASS),
    Quirk(
        "buffer.readline",
        "import sys\nread = sys.stdin.buffer.readline\nprint(int(read()) + int(read()))",
        [WA],
        WA,
        "4 != 5",
    ),
    Quirk(
        "buffer.readlines",
        "import sys\nsys.stdin.buffer.readlines()",
        [RE],
        RE,
        "'MockBuffer' object has no attribute 'readlines'",
    ),
    Quirk("buffer iteration", "import sys\nlist(sys.stdin.buffer)", [RE], RE, "not iterable"),
    Quirk(
        "TextIOWrapper", "import io, sys\nio.TextIOWrapper(sys.stdin.buffer)", [RE], RE, "readable"
    ),
    Quirk(
        "from-import readline drops line ends",
        "from sys import stdin\nprint(int(stdin.readline()) + int(stdin.readline()))",
        PASS,
    ),
    Quirk(
        "from-import readline cut",
        "from sys import stdin\nprint(int(stdin.readline()[:-1]))",
        [RE],
        RE,
        "invalid literal for int() with base 10: ''",
    ),
    Quirk(
        "from-import readline to the end",
        "from sys import stdin\nwhile stdin.readline(): pass",
        [WA],
        WA,
    ),
    Quirk(
        "from-import readline past the end",
        "from sys import stdin\nfor _ in range(4): stdin.readline()",
        [RE],
        RE,
        "StopIteration()",
    ),
    Quirk(
        "from-import iter of readline",
        "from sys import stdin\nprint(sum(map(int, iter(stdin.readline, ''))))",
        [True],
        tests=ONE,
    ),
    Quirk(
        "from-import read",
        "from sys import stdin\nprint(sum(map(int, stdin.read().split())))",
        PASS,
    ),
    Quirk(
        "from-import readlines",
        "from sys import stdin\nprint(sum(map(int, stdin.readlines()[:2])))",
        PASS,
    ),
    Quirk(
        "from-import iteration",
        "from sys import stdin\na, b = stdin",
        [RE],
        RE,
        "not enough values",
    ),
    Quirk(
        "from-import buffer",
        "from sys import stdin\nprint(stdin.buffer.read())",
        [WA],
        WA,
        "b'' !=",
    ),
    Quirk("stdin without an import", "print(sum(map(int, stdin.read().split())))", PASS),
    Quirk("open(0)", "print(open(0).read())", [WA], WA, " != 5"),
    Quirk("open /dev/stdin", "print(open('/dev/stdin').read())", [WA], WA),
    Quirk("io.open", "import io\nprint(io.open(0).read())", [WA], WA),
    Quirk("os.read", "import os\nprint(os.read(0, 100))", [WA], WA, "b'' !="),
    Quirk("os.fdopen", "import os\nprint(os.fdopen(0).read())", [WA], WA),
    Quirk(
        "BytesIO over the descriptor",
        "import io, os, sys\n"
        "read = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline\nprint(int(read()))",
        [RE],
        RE,
        "invalid literal",
    ),
    Quirk(
        "builtins.open",
        "import builtins\nwith builtins.open('any') as f: print(sum(map(int, f)))",
        PASS,
    ),
    Quirk(
        "sys.__stdin__",
        "import sys\nsys.__stdin__.read()",
        [RE],
        RE,
        "I/O operation on closed file",
    ),
    Quirk("replaced stdin",
        "import io, sys\nsys.stdin = io.StringIO('5')\nprint(input())", [True, WA], WA),
    Quirk("lone surrogate", "print(len(input()))", [RE], RE, "surrogates",
        tests=(("\ud800", "1"),)),
]

STDOUT = [
    Quirk("write", "import sys\nsys.stdout.write('5\\n')", [True], tests=ONE),
    Quirk("from-import write", "from sys import stdout\nstdout.write('5')", [WA], WA, " != 5"),
    Quirk("print to from-import", "from sys import stdout\nprint(5, file=stdout)", [WA], WA),
    Quirk("buffer", "import sys\nsys.stdout.buffer.write(b'5')", [RE], RE, "no attribute 'buffer'"),
    Quirk("os.write", "import os\nos.write(1, b'5')", [WA], WA),
    Quirk("open(1)", "print(5, file=open(1, 'w'))", [WA], WA),
    Quirk("atexit", "import atexit\natexit.register(print, 5)", [WA], WA),
    Quirk("reconfigure", "import sys\nsys.stdout.reconfigure()", [RE], RE, "reconfigure"),
    Quirk("fileno", "import sys\nsys.stdout.fileno()", [RE], RE, "fileno"),
    Quirk(
        "close",
        "import sys\nprint(5)\nsys.stdout.close()",
        [RE],
        RE,
        "Capturing.__enter__.<locals>.<lambda>() missing 1 required positional argument: 'x'",
    ),
    Quirk("stderr is not heard", "import sys\nprint(5, file=sys.stderr)", [WA], WA),
    Quirk(
        "replaced stdout",
        "import io, sys\nprint(5)\nsys.stdout = io.StringIO()\nprint(6)",
        [True],
        tests=ONE,
    ),
    Quirk(
        "closed for good",
        "import io, sys\nprint(5)\nio.StringIO.close(sys.stdout)",
        [RE],
        RE,
        "Error during testing: I/O operation on closed file",
    ),
    Quirk(
        "stderr without descriptor",
        "import io, sys\nsys.stderr = io.StringIO()\nprint(5)",
        [RE],
        RE,
        "Error during testing: fileno",
        tests=ONE * 2,
    ),
    Quirk("surrogates out", "print('\\ud800')", [WA], WA, r"\ud800 != 5"),
    Quirk("line ends out", "import sys\nsys.stdout.write('5\\r\\n')", [True], tests=ONE),
]
# fmt: on

QUIRKS = [*STDIN, *STDOUT]
REPORTS: dict[int, UpstreamReport] = {}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(QUIRKS)), ids=[one.name for one in QUIRKS])
def test_outcome_is_what_lcb_runner_says(number: int) -> None:
    if not REPORTS:
        REPORTS.update(enumerate(play(QUIRKS)))
    check(QUIRKS[number], REPORTS[number])


@pytest.fixture
def real_stdin(monkeypatch: pytest.MonkeyPatch) -> io.TextIOWrapper:
    stream = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdin", stream)
    # The real one has a descriptor, which faulthandler asks for.
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    return stream


def test_streams_are_put_back(real_stdin: io.TextIOWrapper) -> None:
    before = (sys.stdin, sys.stdout, open)
    program = lcb_io.StdioProgram(lambda: print(input()))  # captured
    assert program.run("a\nb") == b"a\n"
    assert (sys.stdin, sys.stdout, open) == before
    assert not vars(real_stdin).keys() & {"read", "readline", "readlines"}


def test_streams_are_put_back_after_a_failure(real_stdin: io.TextIOWrapper) -> None:
    before = (sys.stdin, sys.stdout, open)
    with pytest.raises(ZeroDivisionError):
        lcb_io.StdioProgram(lambda: 1 / 0).run("")
    assert (sys.stdin, sys.stdout, open) == before
    assert real_stdin.read() == ""


def test_error_text_tells_of_a_repr_that_fails() -> None:
    class Odd(Exception):
        def __repr__(self) -> str:
            raise OSError("no")

    assert lcb_io.error_text(KeyError("a")) == "KeyError('a')"
    with pytest.raises(lcb_io.HarnessFailure, match="no"):
        lcb_io.error_text(Odd())


@pytest.mark.usefixtures("real_stdin")
def test_arming_a_test_is_cheap() -> None:
    program = lcb_io.StdioProgram(lambda: None)
    best = min(_seconds(program) for _ in range(50))
    assert best < 0.0005  # measured: 0.03 ms; unittest.mock takes 0.9


def _seconds(program: lcb_io.StdioProgram) -> float:
    start = time.perf_counter()
    program.run("1 2 3\n" * 10)
    return time.perf_counter() - start
