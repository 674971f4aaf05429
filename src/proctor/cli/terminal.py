"""The one place that writes to stdout and stderr of the command line.

Much of what is written is foreign: what programs, compilers and models said, names in files. None
of it is markup, and none is obeyed by a terminal. To pipes and files bytes go as they are where
they are the very thing that was asked for (`binary`).
"""

import codecs
import io
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO, cast

import msgspec
from rich.console import Console
from rich.text import Text

from proctor.plain_text import plain, plain_json

_WIDE = 1000


class Screen(Console):
    """Where people read. Strings are shown as they are, in tables too; colours come as Text."""

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, wide: bool = False
    ) -> None:
        """`wide`: piped, lines are as long as they are, in tables too."""
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, markup=False, highlight=False, emoji=False
        )
        if wide and not self.is_terminal:
            self.width = _WIDE

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a string as it is shown; rich asks for all of them here."""
        return super().render_str(plain(text), **options)


def line(*parts: str | Text) -> Text:
    """Return one text of strings, which are foreign, and coloured parts."""
    return Text.assemble(*(plain(part) if isinstance(part, str) else part for part in parts))


def coloured(text: str, colour: str) -> Text:
    """Return a text in a colour."""
    return Text(plain(text), colour)


def write(text: str, *, stderr: bool = False, end: str = "") -> None:
    """Write a text, and `end` as it is."""
    stream = sys.stderr if stderr else sys.stdout
    stream.write(plain(text) + end)
    stream.flush()


def write_json(value: Any, enc_hook: Callable[[Any], Any] | None = None) -> None:
    """Write one line of JSON on stdout."""
    sys.stdout.write(plain_json(msgspec.json.encode(value, enc_hook=enc_hook).decode()) + "\n")
    sys.stdout.flush()


def usage_error(error: Exception) -> int | None:
    """Write one of Typer's own errors (it may bring its click along privately); return its code.

    None for other errors.
    """
    show = getattr(error, "show", None)
    if show is None:
        return None
    shown = io.StringIO()
    show(shown)
    write(shown.getvalue(), stderr=True)
    return int(getattr(error, "exit_code", 2))


def binary(*, stderr: bool = False) -> BinaryIO:
    """Return what takes bytes: they go out as they are, but to a terminal as text."""
    stream = sys.stderr if stderr else sys.stdout
    return cast("BinaryIO", _Shown(stream)) if stream.isatty() else stream.buffer


class _Shown(io.BufferedIOBase):
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(plain(self._decoder.decode(bytes(data))))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()
