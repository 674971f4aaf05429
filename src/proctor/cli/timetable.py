"""`proctor timetable skeleton`, `convert` and `solution`."""

import sys
from pathlib import Path
from typing import Any

import msgspec

from proctor.cli import terminal
from proctor.errors import InputError
from proctor.timetable import itc2007, serving

PROGRAM = "solver.py"
STDIN = "-"


def skeleton(out: str | None) -> None:
    """Print the program, or write it and what it imports into a directory."""
    if out is None:
        terminal.binary().write(serving.text().encode())
        return
    files = {**serving.files(), PROGRAM: serving.text().encode()}
    try:
        for name, data in files.items():
            path = Path(out, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=out) from error
    terminal.write(f"{Path(out, PROGRAM)} and {len(files) - 1} files that it imports\n")


def convert(file: str) -> None:
    """Print an instance as input."""
    given = itc2007.read(_text(file), file)
    terminal.write_json(itc2007.convert(given))


def solution(file: str) -> None:
    """Print a result's schedule as lines."""
    try:
        result: Any = msgspec.json.decode(_text(file))
    except msgspec.DecodeError as error:
        raise InputError(f"no JSON: {error}", file=file) from error
    terminal.binary().write(itc2007.solution(result).encode())


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return data.decode()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", file=file) from error
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8: {error}", file=file) from error
