"""Programs: source text, its language, and the files beside it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from proctor.errors import InputError, must_be

_LANGUAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9+#._-]{0,31}")


ON_COMMAND_LINE = "<string>"
"""Name of a Python program that is text on a command line: tracebacks show no lines of it."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program: source text, its language, and files that lie beside it.

    A compiled language is compiled by whoever runs it. Python with `files` or a `name` starts as a
    new process in a directory that holds them.

    Raises InputError when `source` is not a string, `language` is no name, a file's content is not
    bytes, or its name could lead out of the directory it is put into.
    """

    source: str
    """Source text of the program, or of its main file."""
    language: str = "python"
    """An id or alias of `proctor languages`."""
    name: str = ""
    """File name of `source`; empty for the language's usual one."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files by relative path, put beside it: headers, modules, graders."""

    def __post_init__(self) -> None:
        if not isinstance(self.source, str):
            kind = type(self.source).__name__
            raise InputError(f"a program is a string of source text, not {kind}", field="code")
        if not isinstance(self.language, str) or not _LANGUAGE.fullmatch(self.language):
            raise InputError(f"{self.language!r} is not a language's name", field="language")
        must_be(str, self.name, "name")
        if self.name:
            check_relative(self.name)
        must_be(Mapping, self.files, "files")
        for name, content in self.files.items():
            check_relative(name)
            must_be(bytes, content, f"files.{name}")

    def encoded(self) -> bytes:
        """Return the source as UTF-8, lone surrogates included: JSON can carry them."""
        return self.source.encode("utf-8", "surrogatepass")


def check_relative(name: str) -> str:
    """Return a file's relative path as it is. Raises InputError if it could lead elsewhere."""
    must_be(str, name, "files")
    parts = name.split("/")
    if not name or name.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        raise InputError(f"{name!r} is not a plain relative path", field="files")
    try:
        size = len(name.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError as error:
        raise InputError(f"{name!r} is not a file name", field="files") from error
    if "\0" in name or "\\" in name or size > 1000:
        raise InputError(f"{name!r} is not a file name", field="files")
    return str(PurePosixPath(name))
