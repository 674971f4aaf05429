"""A daemon that says what no daemon says: an error for whoever waits, and no waiting for ever."""

import sys
from pathlib import Path

import pytest

from proctor.clients import connect
from proctor.errors import InfraFault, ReplyBroken

HELLO = b'{"hello": {"protocol": 1, "max_line": 1000000}}\n'


def daemon(place: Path, *lines: bytes) -> str:
    """A command that greets, and says these lines when it is asked for something."""
    script = place / "daemon"
    body = f"""#!{sys.executable}
import sys
first, *lines = {lines!r}
sys.stdout.buffer.write(first)
sys.stdout.flush()
sys.stdin.buffer.readline()
sys.stdout.buffer.write(b"".join(lines))
sys.stdout.flush()
sys.stdin.buffer.read()
"""
    script.write_text(body)
    script.chmod(0o755)
    return f"daemon:{script}"


@pytest.mark.parametrize(
    "hello",
    [
        b'{"hello": {"protocol": 1, "max_line": "x"}}\n', b'{"hello": {"protocol": 1, "max_line": 1e400}}\n',
        b'{"hello": {"protocol": 1, "max_line": null}}\n', b'{"hello": {"protocol": 1, "a": ' + b"[" * 100_000 + b"\n",
        b"hello\n", b"\xff\n", b"[]\n",
    ],
)  # fmt: skip
def test_a_greeting_that_is_none(hello: bytes, tmp_path: Path) -> None:
    with connect(daemon(tmp_path, hello)) as client, pytest.raises(ReplyBroken):
        client.run("print(1)")


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 1, "result": ' + b"[" * 100_000 + b"\n", b'{"id": 1, "result": {"x": 1}}\n', b"\xff\n", b'{"id": 1.5}\n',
        b'{"id": 1, "progress": {"event": "stdout", "output": 5}}\n', b'{"id": 1, "progress": {"event": "stdout"}}\n',
        b'{"id": 1, "progress": ' + b'{"a":' * 100_000 + b"\n", b'{"id": 1, "error": {"status": "x"}}\n',
        b'{"id": 1, "error": {"status": 503, "code": "\\ud800", "title": ""}}\n',
    ],
)  # fmt: skip
def test_an_answer_that_is_none(line: bytes, tmp_path: Path) -> None:
    with (
        connect(daemon(tmp_path, HELLO, line)) as client,
        pytest.raises(InfraFault),
        client.stream("print(1)") as run,
    ):
        list(run)
