"""A real `proctor serve` in a process of its own, for tests."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import httpx

from waiting import PATIENCE

PROCTOR = os.path.join(os.path.dirname(sys.executable), "proctor")


@dataclass
class Served:
    url: str
    process: subprocess.Popen[str]
    log: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def client(self, token: str | None = None) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE)


NOTING = r"""
import os, re, sys
from proctor.judging import judge
notes = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
real = judge.start
def start(problem, program, *rest, **named):
    if row := re.search(r"# row (\d+)\n$", program.source):
        os.write(notes, row[1].encode() + b"\n")
    return real(problem, program, *rest, **named)
judge.start = start
from proctor.cli.main import main
main()
"""
"""The command, with a note in a file of every program, with its number, that a cell is to judge."""


def noting(notes: pathlib.Path) -> tuple[str, ...]:
    """The command `proctor` that notes what it judges."""
    return (sys.executable, "-c", NOTING, str(notes))


@contextlib.contextmanager
def serving(
    *args: str, command: Sequence[str] = (PROCTOR,), **environment: str
) -> Iterator[Served]:
    """Start a server on a free port, with further variables, and stop it as Ctrl-C does."""
    with started(*command, "serve", "--port", "0", "--json", *args, **environment) as served:
        yield served


@contextlib.contextmanager
def started(*command: str, **environment: str) -> Iterator[Served]:
    """Start a command that prints its URL as JSON, and stop it as Ctrl-C does."""
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                process.wait(PATIENCE)
                raise RuntimeError(f"no server: {pathlib.Path(log.name).read_text()}")
            yield Served(json.loads(line)["url"], process, log.name)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
            finally:
                process.stdout.close()


OWNERS = {"ann": "0123456789abcdef-ann", "bob": "0123456789abcdef-bob"}
"""Tokens by who has them."""


@contextlib.contextmanager
def serving_two(place: pathlib.Path, *args: str) -> Iterator[Served]:
    """Start a server for the two of OWNERS; `place` is a directory for their tokens."""
    tokens = place / "tokens"
    tokens.write_text("".join(f"{name}:{token}\n" for name, token in OWNERS.items()))
    tokens.chmod(0o600)
    with serving("--token-file", str(tokens), *args) as served:
        yield served
