"""`proctor run` at a terminal: it is typed to, seen at once, interrupted and hung up on."""

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from command import COMMAND, environment

from waiting import PATIENCE

END_OF_INPUT, INTERRUPT = b"\x04", b"\x03"


class Terminal:
    """A command in the foreground of a terminal of its own."""

    def __init__(self, *arguments: str | Path, before: Sequence[str] = ()) -> None:
        self._ours, its = os.openpty()
        self.shown = b""
        self.process = subprocess.Popen(
            # A session leader that opens a terminal gets it as its own.
            ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(its),
             *before, COMMAND, *arguments],
            start_new_session=True, env=environment(TERM="xterm"), stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self._its = its

    def see(self, text: bytes) -> None:
        """Wait until this is on the screen."""
        while text not in self.shown:
            assert select.select([self._ours], [], [], PATIENCE)[0], self.shown
            self.shown += os.read(self._ours, 4096)

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def end(self) -> int:
        """Return the exit code, with all that is shown seen."""
        code = self.process.wait(PATIENCE)
        os.close(self._its)
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while part := os.read(self._ours, 65536):
                self.shown += part
        return code

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for fd in (self._ours, self._its):
            with contextlib.suppress(OSError):
                os.close(fd)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


@contextlib.contextmanager
def terminal(*arguments: str | Path, before: Sequence[str] = ()) -> Iterator[Terminal]:
    opened = Terminal(*arguments, before=before)
    try:
        yield opened
    finally:
        opened.close()


def test_a_program_is_typed_to(program: Path) -> None:
    program.write_text(
        "import os, sys\nname = input('Name? ')\nprint('Hello', name, os.isatty(0))\n"
        "print('rest', [line.strip() for line in sys.stdin])\n"
    )
    with terminal("run", program) as seen:
        seen.see(b"Name? ")
        seen.type(b"Ada\n")
        seen.see(b"Hello Ada False")
        seen.type(b"one\ntwo\n" + END_OF_INPUT)
        assert seen.end() == 0
        assert b"rest ['one', 'two']" in seen.shown


@pytest.mark.slow
def test_waiting_for_somebody_to_type_is_not_idle(program: Path) -> None:
    """Five seconds at rest would end it, if no more input could come."""
    program.write_text("print('ready')\nprint('got', input())")
    with terminal("run", program, "--cpu", "0.2") as seen:
        seen.see(b"ready")
        with contextlib.suppress(subprocess.TimeoutExpired):
            seen.process.wait(6.0)
        seen.type(b"late\n")
        assert seen.end() == 0
        assert b"got late" in seen.shown


@pytest.mark.parametrize("how", ["key", "SIGTERM", "SIGHUP"])
def test_lines_are_seen_at_once_and_an_interruption_ends_it(how: str, program: Path) -> None:
    program.write_text("import time\nprint('working')\ntime.sleep(10000)")
    with terminal("run", program) as seen:
        seen.see(b"working")
        if how == "key":
            seen.type(INTERRUPT)
        else:
            seen.process.send_signal(signal.Signals[how])
        assert seen.end() == 130
        assert seen.shown.count(b"proctor: interrupted") == 1
        assert b"Traceback" not in seen.shown


def test_in_the_background_it_leaves_the_terminal_alone(program: Path) -> None:
    """To read there would stop it, until somebody calls it to the foreground."""
    program.write_text("import sys; print('read', repr(sys.stdin.read()))")
    script = 'set -m; "$@" & wait $!; echo ended with $?'
    with terminal("run", program, before=("bash", "-c", script, "bash")) as seen:
        assert seen.end() == 0
        assert b"read ''" in seen.shown
        assert b"ended with 0" in seen.shown
