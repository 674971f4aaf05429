"""Files of a DMOJ problem: beside init.yml, or in its zip archive."""

from dataclasses import dataclass, field
from pathlib import Path
from zipfile import ZipFile

from proctor.errors import InputError
from proctor.formats.packages.files import LARGEST_SOURCE, Tree
from proctor.formats.zip_files import open_zip, zip_faults
from proctor.problem import Content
from proctor.program import check_relative

LARGEST = 512 << 20
"""Bytes of an archive, and of its files together, unpacked: they are kept in memory."""
_DIRECTORY = 8 << 20
"""Most bytes of an archive's list of files, enough for some hundred thousand."""


@dataclass(slots=True)
class Files:
    """Files by their names in init.yml. Nothing of an archive is written anywhere."""

    tree: Tree
    said_by: str
    archive: Path | None = None
    _zip: ZipFile | None = None
    _sizes: dict[str, int] = field(default_factory=dict)
    _read: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def at(cls, tree: Tree, archive: str | None, *, said_by: str) -> "Files":
        """Files of a directory. Raises InputError for an archive that cannot be read."""
        if archive is None:
            return cls(tree, said_by)
        path = tree.file(archive, said_by=said_by, field="archive")
        try:
            with zip_faults(), path.open("rb") as file:
                data = file.read(LARGEST + 1)
            if len(data) > LARGEST:
                raise InputError(f"has more than {LARGEST >> 20} MiB; unpack it into the package")
            opened = open_zip(data, _DIRECTORY)
        except InputError as error:
            raise InputError(error.message, file=str(path)) from error
        sizes = {each.filename: each.file_size for each in opened.infolist()}
        return cls(tree, said_by, path, opened, sizes)

    def test_content(self, name: str, field: str) -> Content:
        """A test's file, read when it is needed if it is in no archive. Raises InputError."""
        if self._in_archive(name, field):
            return self._unpacked(name)
        return self.tree.file(name, said_by=self.said_by, field=field)

    def content(self, name: str, field: str) -> bytes:
        """Bytes of a source. Raises InputError."""
        if not self._in_archive(name, field):
            return self.tree.content(name, said_by=self.said_by, field=field)
        if self._sizes[name] > LARGEST_SOURCE:
            raise self._error(f"{name!r} is too large for a source", field)
        return self._unpacked(name)

    def _in_archive(self, name: str, field: str) -> bool:
        """Return True to read a file from the archive; one in the directory takes precedence."""
        try:
            check_relative(name)
        except InputError as error:
            raise self._error(error.message, field) from error
        return name in self._sizes and not self.tree.is_file(name)

    def _error(self, message: str, field: str) -> InputError:
        return InputError(message, file=self.tree.shown(self.said_by), field=field)

    def _unpacked(self, name: str) -> bytes:
        if name in self._read:
            return self._read[name]
        left = LARGEST - sum(map(len, self._read.values()))
        assert self._zip is not None
        try:
            # Read one byte more than is allowed: a stated size may be untrue.
            with zip_faults(), self._zip.open(name) as file:
                data = file.read(left + 1)
        except InputError as error:
            what = f"{name!r}: {error.message}"
            raise InputError(what, file=str(self.archive)) from error
        if len(data) > left:
            what = f"holds more than {LARGEST >> 20} MiB of tests; unpack it into the package"
            raise InputError(what, file=str(self.archive))
        self._read[name] = data
        return data
