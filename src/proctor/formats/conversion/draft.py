"""A package that is being written: its files, and what its format cannot hold."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import InputError
from proctor.formats.conversion.same import Difference, output_name
from proctor.formats.packages.files import extension, stem
from proctor.formats.packages.model import Labelled
from proctor.formats.packages.programs import DATA, by_extension, family
from proctor.languages import registry
from proctor.problem import Content, content_bytes
from proctor.program import Program, check_relative

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_LONGEST = 100
"""Limit on the characters of a name that becomes the name of a file."""


@dataclass(slots=True)
class Draft:
    """Files by name, and the losses that its writer knows of."""

    files: dict[str, Content] = field(default_factory=dict)
    losses: list[Difference] = field(default_factory=list)

    def add(self, name: str, content: Content) -> str:
        """Add a file, and return its name. Raises InputError for a name that no file can have."""
        check_relative(name)
        if self.files.setdefault(name, content) is not content and self.files[name] != content:
            raise InputError(f"two different files would be {name!r}")
        return name

    def add_all(self, directory: str, files: Mapping[str, bytes]) -> None:
        """Add files below a directory."""
        for name, content in files.items():
            self.add(f"{directory}/{name}", content)

    def add_program(self, directory: str, program: Program, name: str = "") -> str:
        """Add a program with the files beside it, and return the name of its main file."""
        self.add_all(directory, program.files)
        return self.add(f"{directory}/{name or main_file(program)}", program.encoded())

    def refuse(self, what: str, why: str) -> None:
        """Record something that the format cannot hold and that may change a verdict."""
        self.losses.append(Difference(what, why))

    def leave_out(self, submission: Labelled, why: str) -> None:
        """Record that a submission is left out, and why."""
        self.losses.append(Difference(f"submissions[{submission.name}]", f"left out: {why}", True))

    def write(self, root: Path, *, hollow: bool = False) -> None:
        """Write all files below `root`; if `hollow`, those copied from a path are left empty.

        Raises InputError if one cannot be written.
        """
        for name, content in self.files.items():
            path = root / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                if not isinstance(content, Path):
                    path.write_bytes(content_bytes(content))
                elif hollow:
                    path.touch()
                else:
                    shutil.copyfile(content, path)
            except OSError as error:
                raise InputError(f"cannot be written: {error}", file=name) from error


def main_file(program: Program) -> str:
    """Name of a program's main file, with an extension that tells its language if possible."""
    name = program.name or "main"
    found = by_extension(name, program.source)
    if found is not None and family(found) == family(program.language):
        return name
    return f"{name}{_ending(program.language)}"


def tells_language(program: Program, name: str) -> bool:
    """Return True if a file of this name is taken for a program in the same family."""
    found = by_extension(name, program.source)
    return found is not None and family(found) == family(program.language)


def _ending(language: str) -> str:
    known = registry.languages().get(language)
    return known.extensions[0] if known is not None and known.extensions else ""


def file_names(names: Sequence[str], *, folders: bool = False) -> dict[str, str]:
    """Names for files which, when sorted, are in the order of `names`.

    They are the given names if these will do, else numbers. `folders` allows slashes in them.
    """
    parts = [part for name in names for part in (name.split("/") if folders else [name])]
    plain = all(_PLAIN.fullmatch(part) and len(part) < _LONGEST for part in parts)
    if plain and sorted(names) == list(names) and len({n.lower() for n in names}) == len(names):
        return {name: name for name in names}
    width = len(str(len(names)))
    return {name: f"{number:0{width}d}" for number, name in enumerate(names, 1)}


def plain_name(text: str) -> str:
    """A text as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", text).strip("-.")[:_LONGEST] or "x"


def add_submission(
    draft: Draft, directory: str, submission: Labelled, *, outputs: Mapping[str, str] | None = None
) -> str:
    """Add a submission below a directory, and return the name of its file or directory.

    `outputs`: new names of tests, for submissions that are files of output.
    """
    program = submission.program
    last = submission.name.rstrip("/").rpartition("/")[2]
    if program.language == DATA:
        name = unused(draft, f"{directory}/{plain_name(last)}")
        for file, content in program.files.items():
            draft.add(f"{name}/{output_name(file, outputs or {})}", content)
        return name
    if program.files:
        name = unused(draft, f"{directory}/{plain_name(stem(last))}")
        draft.add_program(name, program)
        return name
    base = plain_name(main_file(program))
    name = unused(draft, f"{directory}/{base}")
    return draft.add(name, program.encoded())


def unused(draft: Draft, name: str) -> str:
    """The name, with a number added if the draft has a file or a directory of this name."""
    head, _, base = name.rpartition("/")
    for number in range(1, len(draft.files) + 2):
        tried = name if number == 1 else f"{head}/{stem(base)}-{number}{extension(base)}"
        if not any(each == tried or each.startswith(f"{tried}/") for each in draft.files):
            return tried
    raise AssertionError("more names than files")
