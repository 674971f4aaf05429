"""A cell is no dialect: programs end in it as they do under the plain interpreter.

Each program is run by both, and exit code, stdout and the last line of stderr must be the same.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from proctor import Pool, run
from waiting import PATIENCE

pytestmark = pytest.mark.user

STDIN = b"5 7\nhello w\xc3\xb6rld\nlast line without an end"

PROGRAMS = {
    "sums": "a, b = map(int, input().split())\nprint(a + b)",
    "reads lines": "import sys\nfor n, line in enumerate(sys.stdin): print(n, repr(line))",
    "reads too much": "while True: print(input())",
    "prompts": "input('give: '); input('more: ')",
    "exits with 3": "import sys\nprint('x'); sys.exit(3)",
    "exits with text": "import sys\nprint('x'); sys.exit('that is all')",
    "exits with a list": "import sys\nsys.exit([1, 'a'])",
    "exits with None": "import sys\nsys.exit(None)",
    "exits with True": "import sys\nsys.exit(True)",
    "exits with a float": "import sys\nsys.exit(2.0)",
    "exits with too much": "import sys\nsys.exit(2 ** 70)",
    "exits with too little": "import sys\nsys.exit(-2 ** 70)",
    "exits with what fits a long": "import sys\nsys.exit(2 ** 40 + 5)",
    "exits with a tuple of two": "raise SystemExit(1, 2)",
    "exits with an object that raises": (
        "import sys\nclass A:\n    def __str__(self): raise ValueError('no')\nsys.exit(A())"
    ),
    "exits twice": "import atexit, sys\natexit.register(sys.exit, 5)\nsys.exit(4)",
    "exits without stderr": "import sys\nsys.stderr = None\nsys.exit('bye')",
    "quits": "print(1)\nquit(7)",
    "exits in a thread": (
        "import sys, threading\nt = threading.Thread(target=sys.exit, args=(9,))\nt.start()\n"
        "t.join()\nprint('main')"
    ),
    "raises": "def f(n):\n    return g(n)\ndef g(n):\n    return 1 / n\nprint(f(1))\nf(0)",
    "raises from": (
        "try:\n    int('x')\nexcept ValueError as e:\n    raise KeyError('k') from e"
    ),
    "raises during": "try:\n    int('x')\nexcept ValueError:\n    [][1]",
    "raises a group": "raise ExceptionGroup('several', [ValueError(1), TypeError('t')])",
    "raises with notes": "e = ValueError('v')\ne.add_note('and this')\nraise e",
    "raises an exception without a text": "class E(Exception): pass\nraise E",
    "raises an exception whose text raises": (
        "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E"
    ),
    "raises a base exception": "class E(BaseException): pass\nraise E('deep')",
    "raises without stderr": "import sys\nprint('x')\nsys.stderr = None\n1 / 0",
    "raises far down": "def f(n): return f(n + 1)\nf(0)",
    "is interrupted": "print('x')\nraise KeyboardInterrupt",
    "catches an interruption": (
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    while True: pass\n"
        "except KeyboardInterrupt: print('caught')"
    ),
    "kills itself": "import os\nprint('lost')\nos.kill(os.getpid(), 15)",
    "aborts": "import os, sys\nprint('kept', flush=True)\nos.abort()",
    "ends at once": "import os\nprint('lost')\nos._exit(5)",
    "is no python": "def f(:\n    pass",
    "is indented wrongly": "if True:\nprint(1)",
    "returns at top level": "print(1)\nreturn 5",
    "mixes tabs": "if True:\n        x = 1\n\ty = 2",
    "has an atexit handler": (
        "import atexit\natexit.register(print, 'second')\natexit.register(print, 'first')\n"
        "print('body')"
    ),
    "has an atexit handler that raises": (
        "import atexit\n@atexit.register\ndef f(): print('in'); 1 / 0\nprint('body')"
    ),
    "has an atexit handler and raises": "import atexit\natexit.register(print, 'still')\n1 / 0",
    "leaves a thread running": (
        "import threading, time\ndef f():\n    time.sleep(0.1)\n    print('thread')\n"
        "threading.Thread(target=f).start()\nprint('main')"
    ),
    "leaves a daemon thread running": (
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "print('main')"
    ),
    "raises in a thread": (
        "import threading\nt = threading.Thread(target=lambda: [][1], name='worker')\nt.start()\n"
        "t.join()\nprint('main')"
    ),
    "leaves an executor": (
        "from concurrent.futures import ThreadPoolExecutor\nex = ThreadPoolExecutor(2)\n"
        "ex.submit(print, 'pooled')"
    ),
    "breaks a pipe": (
        "import os\nr, w = os.pipe()\nos.close(r)\nos.write(w, b'x')"
    ),
    "catches a broken pipe": (
        "import os\nr, w = os.pipe()\nos.close(r)\n"
        "try: os.write(w, b'x')\nexcept BrokenPipeError as e: print(e)"
    ),
    "has its own excepthook": (
        "import sys\nsys.excepthook = lambda kind, e, tb: print('hook', kind.__name__, e)\n1 / 0"
    ),
    "has an excepthook that raises": (
        "import sys\ndef hook(*a): raise ValueError('in the hook')\nsys.excepthook = hook\n1 / 0"
    ),
    "has no excepthook": "import sys\ndel sys.excepthook\nprint('x')\n1 / 0",
    "closes stdout": "import sys\nprint('before')\nsys.stdout.close()",
    "closes stdin and stderr": "import sys\nsys.stdin.close()\nsys.stderr.close()\nprint('x')",
    "closes stdout and prints": "import sys\nsys.stdout.close()\nprint('x')",
    "closes descriptor 1": "import os\nprint('x')\nos.close(1)",
    "has no stdout": "import sys\nprint('before')\nsys.stdout = None\nprint('after')",
    "deletes stdout": "import sys\nprint('before')\ndel sys.stdout",
    "replaces stdout and forgets it": (
        "import io, sys\nprint('real')\nsys.stdout = io.StringIO()\nprint('lost')"
    ),
    "replaces stdout with a file of its own": (
        "import io, sys\nsys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, 'w')))\n"
        "print('own')"
    ),
    "writes through a file of its own": "out = open(1, 'w')\nout.write('never closed')",
    "writes through a file in a list": "keep = [open(1, 'w')]\nkeep[0].write('never closed')",
    "writes through a file in a function": (
        "import os\ndef main():\n    out = os.fdopen(1, 'w')\n    out.write('of a function')\nmain()"
    ),
    "writes in binary": "import sys\nsys.stdout.buffer.write(b'\\xff\\x00')\nprint('text')",
    "reconfigures": "import sys\nsys.stdout.reconfigure(newline='\\r\\n')\nprint('a')\nprint('b')",
    "is the fast io template": (
        "import os, sys\nfrom io import BytesIO, IOBase\n"
        "class FastIO(IOBase):\n"
        "    newlines = 0\n"
        "    def __init__(self, file):\n"
        "        self._fd = file.fileno(); self.buffer = BytesIO()\n"
        "        self.write = self.buffer.write\n"
        "    def read(self):\n"
        "        return os.read(self._fd, 100000)\n"
        "    def flush(self):\n"
        "        os.write(self._fd, self.buffer.getvalue())\n"
        "        self.buffer.truncate(0), self.buffer.seek(0)\n"
        "class Wrapper(IOBase):\n"
        "    def __init__(self, file):\n"
        "        self.buffer = FastIO(file)\n"
        "        self.flush = self.buffer.flush\n"
        "        self.write = lambda s: self.buffer.write(s.encode('ascii'))\n"
        "sys.stdin, sys.stdout = Wrapper(sys.stdin), Wrapper(sys.stdout)\n"
        "print(len(sys.stdin.buffer.read()))\n"
    ),
    "prints in a destructor at the end": (
        "class A:\n    def __del__(self): print('gone')\na = A()\nprint('end')"
    ),
    "prints in a destructor of a cycle at the end": (
        "class A:\n    def __del__(self): print('gone')\na = A()\na.me = a\nprint('end')"
    ),
    "prints in a destructor": "class A:\n    def __del__(self): print('gone')\nA()\nprint('end')",
    "raises in a destructor": "class A:\n    def __del__(self): 1 / 0\nA()\nprint('end')",
    "forks": (
        "import os\nif os.fork() == 0:\n    print('child')\nelse:\n    os.wait()\n    print('parent')"
    ),
    "forks and the child exits": (
        "import os, sys\nif os.fork() == 0: sys.exit(3)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))"
    ),
    "warns": "import warnings\nwarnings.warn('careful')\nprint(1)",
    "shows a syntax warning": "x = 1\nif x is 1: print('is')",
    "asks who it is": (
        "import sys\nprint(__name__, sys.argv[1:], __doc__, __spec__, __package__)\n"
        "print(sys.modules['__main__'].__dict__ is globals(), __builtins__)"
    ),
    "has annotations": "x: int = 5\nprint(__annotations__)",
    "has a docstring": "'''About it.'''\nprint(__doc__)",
    "has a future": "from __future__ import annotations\nx: Undefined = 1\nprint(__annotations__)",
    "has a cookie": "# -*- coding: latin-1 -*-\nprint('\xe9' == chr(233), len('\xe9'))",
    "has a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))"
    ),
    "pickles its own class": (
        "import pickle\nclass P: pass\nprint(type(pickle.loads(pickle.dumps(P()))) is P)"
    ),
    "recurses after asking": (
        "import sys\nsys.setrecursionlimit(20000)\ndef f(n): return n and 1 + f(n - 1)\nprint(f(15000))"
    ),
    "counts its threads": "import threading\nprint(threading.active_count(), threading.current_thread().name)",
    "prints a lone surrogate": "print('x')\nprint('\\ud800')",
    "prints to stderr": "import sys\nprint('a', file=sys.stderr)\nsys.stderr.write('\\ud800 ü\\n')",
    "prints a big integer": "print(10 ** 5000)",
    "uses set order": "print({'b', 'a', 'c'}, sorted({3, 1}))",
    "runs asyncio": "import asyncio\nasync def f(): return 5\nprint(asyncio.run(f()))",
}  # fmt: skip


def plain(source: str, directory: Path) -> tuple[int, bytes, bytes]:
    """Exit code (-n for signal n), stdout and stderr of the interpreter run on a file."""
    path = directory / "solution.py"
    path.write_bytes(source.encode())
    done = subprocess.run(
        [sys.executable, "-s", "-P", "solution.py"],
        cwd=directory, input=STDIN, capture_output=True, timeout=PATIENCE,
        env={"PYTHONUTF8": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def last_line(stderr: bytes) -> bytes:
    return (stderr.splitlines() or [b""])[-1]


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_same_as_cpython(source: str, pool: Pool, tmp_path: Path) -> None:
    done = run(source, STDIN, pool=pool)
    code = done.exit_code if done.exit_code is not None else -(done.signal or 0)
    assert done.limit is None
    wanted_code, wanted_stdout, wanted_stderr = plain(source, tmp_path)
    assert (code, done.stdout) == (wanted_code, wanted_stdout), done.stderr
    # From 3.13 on CPython says more of what goes wrong when it takes itself apart; a cell does not.
    if sys.version_info < (3, 13) or not wanted_stderr.startswith(b"Exception ignored"):
        assert last_line(done.stderr) == last_line(wanted_stderr)
