"""A real `proctor daemon`, spoken to by lines, and what of its cells can be seen from outside."""

import contextlib
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from waiting import PATIENCE, until

PROCTOR = os.path.join(os.path.dirname(sys.executable), "proctor")

FOREVER = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        break
while True:
    time.sleep(1000)
"""


def tree(marker: str) -> dict[str, Any]:
    """Params of a run of three processes that never end, and that carry a marker."""
    # With arguments it is executed anew, so that they are in its command line, seen from outside.
    return {"program": {"source": FOREVER}, "args": [marker], "limits": {"wall": 3000.0}}


def marker() -> str:
    return f"marked-{uuid.uuid4().hex}"


def carriers(mark: str) -> list[int]:
    """Processes that carry the marker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def until_carried(mark: str, by: int | None = None) -> None:
    """Return when so many processes carry it, no more and no fewer; None: some do."""
    until(lambda: carriers(mark) if by is None else len(carriers(mark)) == by)


class Spoken:
    """A daemon to speak with."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def send(self, *messages: Any) -> None:
        assert self.process.stdin is not None
        for each in messages:
            line = each if isinstance(each, bytes) else json.dumps(each).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        """The next line; every one must be JSON."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def answer(self, name: str | float | None) -> Any:
        """The answer to this request; others before it are dropped."""
        while True:
            message = self.read()
            if "progress" not in message and message.get("id", "") == name:
                return message

    def ask(self, method: str, name: str = "ask", **params: Any) -> Any:
        self.send({"id": name, "method": method, "params": params})
        return self.answer(name)

    def rest(self) -> list[Any]:
        """Close stdin; return all that still comes, once the daemon has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        told = [json.loads(line) for line in self.process.stdout]
        self.process.wait(PATIENCE)
        return told


@contextlib.contextmanager
def speaking(*options: str, command: list[str] | None = None) -> Iterator[Spoken]:
    """Start a daemon; whatever becomes of the test, it does not outlive it."""
    spoken = Spoken([*(command or [PROCTOR, "daemon"]), *options])
    try:
        yield spoken
    finally:
        process = spoken.process
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
