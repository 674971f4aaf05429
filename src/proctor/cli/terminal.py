"""The one place that writes to stdout and stderr of the command line, beside its screens.

Much of the text is untrusted: output of programs, compilers and models, names in files. None of it
is read as markup, or obeyed by a terminal. Bytes go to pipes and files unchanged where they are the
very output that was requested (`binary`).
"""

import codecs
import io
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO, cast

import msgspec

from proctor.plain_text import plain, plain_json


def write(text: str, *, stderr: bool = False, end: str = "") -> None:
    """Write a text with its control characters replaced, and `end` unchanged."""
    stream = sys.stderr if stderr else sys.stdout
    stream.write(plain(text) + end)
    stream.flush()


def note(text: str) -> None:
    """Write one sentence to stderr."""
    write(f"proctor: {text}", stderr=True, end="\n")


def write_json(value: Any, enc_hook: Callable[[Any], Any] | None = None) -> None:
    """Write one line of JSON on stdout."""
    sys.stdout.write(plain_json(msgspec.json.encode(value, enc_hook=enc_hook).decode()) + "\n")
    sys.stdout.flush()


def binary(*, stderr: bool = False) -> BinaryIO:
    """Return a stream for bytes: they are written unchanged, but to a terminal as text."""
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
