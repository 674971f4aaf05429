"""Standard input of a program that is run: proctor's own, as it comes."""

import contextlib
import os
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass

_PIECE = 1 << 16


@dataclass(slots=True)
class Input:
    """The input of a program: bytes, or the end of a pipe that they come through."""

    stdin: bytes | int = b""
    over: bool = True
    """False while more may come."""

    def ended(self) -> bool:
        """Return whether all has come."""
        return self.over


@contextlib.contextmanager
def own_input() -> Iterator[Input]:
    """Yield proctor's standard input for a program.

    A file is read at once. From pipes and terminals a thread passes on what comes: the program
    never gets the terminal itself, into which it could put input for the shell.
    """
    if sys.stdin is None or not _for_us(source := sys.stdin.fileno()):
        yield Input()
        return
    if stat.S_ISREG(os.fstat(source).st_mode):
        yield Input(sys.stdin.buffer.read())
        return
    reader, writer = os.pipe()
    os.fchmod(reader, 0o444)  # a cell has a user of its own, which may open /dev/stdin
    given = Input(reader, over=False)
    threading.Thread(target=_pass_on, args=(source, writer, given), daemon=True).start()
    try:
        yield given
    finally:
        os.close(reader)


def _for_us(source: int) -> bool:
    """Return False for the terminal of a shell that has put this process into the background."""
    try:
        return not os.isatty(source) or os.tcgetpgrp(source) == os.getpgrp()
    except OSError:  # no shell shares this terminal with proctor
        return True


def _pass_on(source: int, writer: int, given: Input) -> None:
    try:
        # The program may have ended, or closed its input.
        with contextlib.suppress(OSError):
            while piece := os.read(source, _PIECE):
                while piece:
                    piece = piece[os.write(writer, piece) :]
    finally:
        given.over = True
        os.close(writer)
