"""The files of a package, none of which may lie outside it."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import InputError
from proctor.program import check_relative

_LONGEST_NAME = 255
"""Bytes of one part of a path, on any usual file system."""
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that no name of a file, test or subtask has: line breaks and the like."""
LARGEST_SOURCE = 32 << 20
"""Bytes of a program, a grader or a settings file: what is read here is kept in memory."""
LARGEST_EXPORT = 512 << 20
"""Bytes of a main file that holds tests."""
LARGEST_FILE = 512 << 20
"""Bytes of any other file, such as a test's input."""


_MOST_NOTES = 1000


@dataclass(slots=True)
class Notes:
    """Collects what a loader leaves out, and why."""

    found: list[str] = field(default_factory=list)

    def __call__(self, note: str) -> None:
        """Add a note, unless it is there already."""
        if len(self.found) < _MOST_NOTES and note not in self.found:
            self.found.append(note)


@dataclass(frozen=True, slots=True)
class Tree:
    """A package's directory.

    Names are relative to it, with slashes. A name with `..`, and a symbolic link that leads out,
    is an InputError: a package must not make the judge read, or a message show, files of the host.
    """

    root: Path
    notes: Notes = field(default_factory=Notes, compare=False)
    """Collects what the package's loader leaves out."""

    @classmethod
    def at(cls, path: Path) -> "Tree":
        """Tree of an existing directory. Raises InputError."""
        try:
            root = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot be read: {why}", file=str(path)) from error
        if not root.is_dir():
            raise InputError("not a directory; unpack an archive first", file=str(path))
        return cls(root)

    def shown(self, name: str) -> str:
        """A file's name as messages give it."""
        return str(self.root / name)

    @contextmanager
    def noting(self, what: str) -> Iterator[None]:
        """Turn an InputError into a note on what is left out for it: a submission, a label."""
        try:
            yield
        except InputError as error:
            where = f"{error.field}: " if error.field else ""
            self.notes(f"{what}: {where}{error.message}")

    def resolved(self, name: str, *, said_by: str | None = None, field: str | None = None) -> Path:
        """Absolute path with links followed; the file need not exist.

        `said_by` and `field` say where the package names the file, for the message.
        """
        place = self.shown(said_by) if said_by else self.shown(name)
        if not name:
            return self.root
        try:
            if not _is_text(name):
                place = said_by or name.rpartition("/")[0]
                raise InputError(f"the name {name!r} is not UTF-8", file=self.shown(place))
            check_relative(name)
            if CONTROL.search(name):  # a line break would end the line of a message
                raise InputError(f"the name {name!r} has control characters")
            if max(map(len, os.fsencode(name).split(b"/"))) > _LONGEST_NAME:
                raise InputError(f"{name[:40]!r}... is too long for a file name")
            path = (self.root / name).resolve()
        except InputError as error:
            raise InputError(error.message, file=error.file or place, field=field) from error
        except (OSError, RuntimeError) as error:  # a loop of links
            raise InputError(f"{name!r}: {error}", file=place, field=field) from error
        if not path.is_relative_to(self.root):
            raise InputError(f"{name!r} leads out of the package", file=place, field=field)
        return path

    def is_file(self, name: str) -> bool:
        """Return True for a regular file."""
        return self.resolved(name).is_file()

    def is_dir(self, name: str) -> bool:
        """Return True for a directory."""
        return self.resolved(name).is_dir()

    def file(self, name: str, *, said_by: str | None = None, field: str | None = None) -> Path:
        """Absolute path of a regular file. Raises InputError if there is none, or it is too large.

        What is in it will be held in memory, and a file of no blocks can have any size.
        """
        path = self.resolved(name, said_by=said_by, field=field)
        place = self.shown(said_by) if said_by else self.shown(name)
        try:
            about = path.stat()
        except OSError as error:
            what = f"{name!r}: {error.strerror}" if said_by else f"{error.strerror}"
            raise InputError(what, file=place, field=field) from error
        if not stat.S_ISREG(about.st_mode):
            # Reading a pipe or a device would never end.
            raise InputError(f"{name!r} is not a regular file", file=place, field=field)
        if about.st_size > LARGEST_FILE:
            what = f"{name!r} has more than {LARGEST_FILE >> 20} MiB, which is too large"
            raise InputError(what, file=place, field=field)
        return path

    def content(
        self,
        name: str,
        *,
        said_by: str | None = None,
        field: str | None = None,
        largest: int = LARGEST_SOURCE,
    ) -> bytes:
        """Bytes of a source or settings file. Raises InputError if it is too large or missing."""
        path = self.file(name, said_by=said_by, field=field)
        try:
            with path.open("rb") as file:
                fits = os.fstat(file.fileno()).st_size <= largest
                data = file.read(largest + 1) if fits else b""
        except OSError as error:
            raise InputError(str(error.strerror), file=self.shown(name)) from error
        if not fits or len(data) > largest:
            what = f"more than {largest >> 20} MiB, which is too large to be read"
            raise InputError(what, file=self.shown(name))
        return data

    def text(self, name: str, *, said_by: str | None = None, field: str | None = None) -> str:
        """Text of a source or settings file, a byte order mark left out. Raises InputError."""
        data = self.content(name, said_by=said_by, field=field)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError("not UTF-8 text", file=self.shown(name), line=line) from error

    def source(self, name: str, *, said_by: str | None = None, field: str | None = None) -> str:
        """Text of a program; one that is not UTF-8 is taken for Latin-1, as old comments are."""
        data = self.content(name, said_by=said_by, field=field)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def entries(self, directory: str, *, lenient: bool = False) -> list[str]:
        """Names in a directory, sorted, hidden ones left out; none if there is no directory.

        A name that no file of a package may have is an InputError; if `lenient`, it is left out and
        noted.
        """
        path = self.resolved(directory) if directory else self.root
        try:
            found = sorted(each.name for each in path.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise InputError(str(error.strerror), file=self.shown(directory)) from error
        # Hidden files are what editors and file managers leave; `~` is an editor's backup.
        found = [name for name in found if not name.startswith(".") and not name.endswith("~")]
        usable = []
        for name in found:
            try:
                self.resolved(join(directory, name))
                usable.append(name)
            except InputError as error:
                if not lenient:
                    raise
                self.notes(f"{join(directory, name)!r}: {error.message}")
        return usable

    def walk(self, directory: str, *, lenient: bool = False) -> list[str]:
        """Every file below a directory, by its name in the package, sorted.

        `lenient`: as for entries().
        """
        found: list[str] = []
        todo, seen = [directory], {self.resolved(directory)}
        while todo:
            here = todo.pop()
            for entry in self.entries(here, lenient=lenient):
                name = join(here, entry)
                path = self.resolved(name)
                if not path.is_dir():
                    found.append(name)
                elif path not in seen:  # a link to a directory above would never end
                    seen.add(path)
                    todo.append(name)
        return sorted(found)


def join(*parts: str) -> str:
    """Names put together; empty ones left out."""
    return "/".join(part for part in parts if part)


def stem(name: str) -> str:
    """A file's name without directory and extension."""
    base = name.rpartition("/")[2]
    return base.rpartition(".")[0] or base


def extension(name: str) -> str:
    """`.cpp` of `dir/a.cpp`; empty if there is none."""
    base = name.rpartition("/")[2]
    head, dot, tail = base.rpartition(".")
    return dot + tail if head else ""


def first(names: Iterable[str], tree: Tree) -> str | None:
    """The first of some files that is there."""
    return next((name for name in names if tree.is_file(name)), None)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
