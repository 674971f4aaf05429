"""Programs other than the cell's own Python: commands, their streams and their outcomes."""

import json
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proctor.cell.native_job import ENTRY, LENGTH
from proctor.errors import InputError
from proctor.execution import Execution
from proctor.limits import MIB, Limits
from proctor.program import Program, check_relative
from proctor.sandbox.output import OnOutput

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_SMALLEST_DISK = 1 * MIB
_WORDS = struct.Struct("=IIIIII")
_WORD_FILES_SHARE = 4  # divides the memory limit: larger files could end the agent, see execute.h
_ENTRY = 2048  # bytes: more than a file or directory costs the kernel
_MOST_WORDS, _MOST_WORD_FILES, _MOST_WORD_BYTES = 1000, 64, 65536


@dataclass(frozen=True, slots=True)
class Command:
    """A program to execute, with the files of its working directory."""

    argv: tuple[str, ...]
    """The arguments, after a path in the cell or, with `executable`, any name."""
    executable: bytes | None = None
    """The program's own content; None for a program of the cell's."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Contents of files by relative path; they count towards the disk limit."""
    directories: tuple[str, ...] = ()
    """Further directories to make in it."""
    environment: Mapping[str, str] = field(default_factory=dict)
    collect: tuple[str, ...] = ()
    """Patterns of the files to bring back when it has ended."""
    most: int = 64 * MIB
    """Largest total size of files brought back, in bytes; files beyond it are left out."""
    judged: bool = False
    """True if a verdict will be passed on it: limits that would let it pass notes are refused."""
    only_cpu: int = -1
    """Number of the one CPU that it runs on; -1 for any."""
    merged: bool = False
    """True if what it writes to stderr goes to stdout, in the order in which it writes."""

    @property
    def needs_disk(self) -> bool:
        """True if it needs a working directory of its own."""
        return bool(self.files or self.directories or self.collect)

    def words(self, limits: Limits) -> bytes | None:
        """Return the words of cell/execute.h; None if it takes more than words and small files."""
        values = {**ENVIRONMENT, **self.environment}
        if not limits.disk:
            values = {"HOME": "/tmp", **values}  # noqa: S108 - no program may write there
        variables = [f"{name}={value}" for name, value in values.items()]
        if self.collect or any("{work}" in each for each in variables):
            return None
        entries = sum(
            check_relative(name).count("/") + 1 for name in (*self.directories, *self.files)
        )
        lists = [self.argv, variables, self.directories, self.files]
        sizes = [len(data) for data in self.files.values()]
        texts = [each.encode("utf-8", "surrogateescape") for part in lists for each in part]
        table = struct.pack(f"={len(sizes)}Q", *sizes)
        text = table + b"".join(each + b"\0" for each in texts)
        head = _WORDS.pack(_WORDS.size + len(text), *map(len, lists), self.executable is not None)
        if (
            len(head) + len(text) > _MOST_WORD_BYTES
            or max(map(len, lists[:2])) > _MOST_WORDS
            or max(map(len, lists[2:])) > _MOST_WORD_FILES
            or sum(sizes) + _ENTRY * entries > limits.memory // _WORD_FILES_SHARE
            or any(b"\0" in each for each in texts)
        ):
            return None
        return b"".join((head, text, *self.files.values()))

    def bundle(self) -> bytes:
        """Return the bundle of cell/native_job.py."""
        head = {
            "argv": self.argv,
            "environment": {**ENVIRONMENT, **self.environment},
            "program": self.executable is not None,
            "collect": self.collect,
            "most": self.most,
            "directories": [check_relative(name) for name in self.directories],
            "files": [[check_relative(name), len(data)] for name, data in self.files.items()],
        }
        encoded = json.dumps(head).encode()
        return b"".join((LENGTH.pack(len(encoded)), encoded, *self.files.values()))


@dataclass(frozen=True, slots=True)
class Script:
    """A Python program as a shell starts one, for a warm interpreter."""

    program: Program
    name: str
    """The file's name in tracebacks, and its first argument."""
    args: tuple[str, ...] = ()
    line_buffered: bool = False
    """True if each line that it prints is to come at once, as at a terminal."""

    def encoded(self) -> bytes:
        """Return the head and source of cell/script_job.py."""
        head = {"argv": [self.name, *self.args], "line_buffered": self.line_buffered}
        encoded = json.dumps(head).encode()
        return b"".join((LENGTH.pack(len(encoded)), encoded, self.program.encoded()))


@dataclass(frozen=True, slots=True)
class Streams:
    """Where a program reads and writes. Descriptors given here are closed once it has them.

    With `keep` they are ends of pipes, and stay open until the program closes its own or has ended
    and its end has been recorded: see sandbox/pipe_ends.py.
    """

    stdin: bytes | int = b""
    stdout: int | None = None
    """Descriptor to write to; None to capture the output."""
    inherit: tuple[int, ...] = ()
    """Further descriptors; see `first_inherited`."""
    keep: bool = False
    partner_ending: Callable[[], bool] | None = None
    """With `keep`: returns whether the program at the other ends is about to close them."""
    on_output: OnOutput | None = None
    """Called, while the program runs, with what it writes to the streams that are captured."""

    def close(self) -> None:
        """Close the descriptors."""
        for fd in self.descriptors():
            os.close(fd)

    def descriptors(self) -> list[int]:
        """Return those that were given."""
        return [fd for fd in (self.stdin, self.stdout, *self.inherit) if isinstance(fd, int)]


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that has ended."""

    execution: Execution
    files: Mapping[str, bytes]
    """Collected files by relative path."""
    hung_up: bool = False
    """With Streams.keep: True if whoever reads its output had stopped to before it ended."""
    let_go: bool = False
    """With Streams.keep: True if it had closed its output before, while somebody still read."""


def first_inherited(command: Command) -> int:
    """Return the number under which the program finds the first of the inherited descriptors."""
    return 4 + (command.executable is not None) + bool(command.collect)


def harvested(data: bytes) -> dict[str, bytes]:
    """Take collected files apart. They come from a cell: malformed entries are left out."""
    files: dict[str, bytes] = {}
    view, at = memoryview(data), 0
    while at + ENTRY.size <= len(data):
        length, size = ENTRY.unpack_from(data, at)
        start = at + ENTRY.size
        at = start + length + size
        if at > len(data):
            break
        try:
            name = check_relative(bytes(view[start : start + length]).decode())
        except (UnicodeDecodeError, InputError):
            continue
        files[name] = bytes(view[start + length : at])
    return files


def disk_for(command: Command, extra: int = 0) -> int:
    """Return the bytes of disk for the command's own files, and `extra` for those it writes."""
    if not command.needs_disk and not extra:
        return 0
    pages = sum(-(-len(data) // 4096) * 4096 + 4096 for data in command.files.values())
    return pages + max(extra, _SMALLEST_DISK)
