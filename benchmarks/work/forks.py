"""Yardsticks without isolation: bare forks, fork + exec(code) + capture, a fresh interpreter.

Usage: forks.py c | bare | exec | fresh | bwrap ARGV...
"""

import importlib.util
import io
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import loop
import task


def compiled():
    """Compile a fork in C, which touches nothing of the interpreter. Needs a C compiler."""
    source = Path(__file__).with_name("cfork.c")
    include = sysconfig.get_path("include")
    with tempfile.TemporaryDirectory() as place:
        built = f"{place}/cfork.so"
        command = ["cc", "-O2", "-shared", "-fPIC", f"-I{include}", str(source), "-o", built]
        subprocess.run(command, check=True)
        spec = importlib.util.spec_from_file_location("cfork", built)
        return importlib.util.module_from_spec(spec)


def bare():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def execute():
    """What a service without isolation does: fork, compile, run, read the output back."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        sys.stdin = io.StringIO(task.STDIN)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
        exec(compile(task.PROGRAM, "solution.py", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        output = pipe.read()
    os.waitpid(pid, 0)
    assert output == task.STDOUT.encode(), output


def command(argv):
    done = subprocess.run(argv, input=task.STDIN.encode(), capture_output=True, check=True)
    assert done.stdout == task.STDOUT.encode(), done


if __name__ == "__main__":
    for name in task.WARM_IMPORTS:
        __import__(name)
    kind, *prefix = sys.argv[1:]
    argv = [*prefix, sys.executable, "-I", "-S", "-c", task.PROGRAM]
    jobs = {"bare": bare, "exec": execute}
    loop.serve(compiled().fork_and_wait if kind == "c" else jobs.get(kind, lambda: command(argv)))
