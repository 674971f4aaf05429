"""Sources that are tables: each row is an instance."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from proctor.errors import InputError
from proctor.evals.benchmark import InstanceT
from proctor.evals.stored import ProblemInfo
from proctor.formats.hub import HubSource, Progress, fetch
from proctor.formats.livecodebench import did_you_mean, schema_error
from proctor.formats.tables import Row, read_table

FIXTURE = "fixture"
HUB = "huggingface"
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class TableSource(Generic[InstanceT]):
    """Instances in one or more tables."""

    name: str
    files: tuple[Path, ...]
    instance_of: Callable[[Row], InstanceT]
    """Makes the instance of a row. Raises InputError for a row that cannot be used."""
    info_of: Callable[[InstanceT], ProblemInfo]

    def infos(self) -> Iterator[ProblemInfo]:
        """Describe all rows. Raises InputError."""
        return map(self.info_of, self._all())

    def instances(self, only: Collection[str]) -> Iterator[InstanceT]:
        """Load those with these ids, in the tables' order. Raises InputError for an absent one."""
        left = set(only)
        for instance in self._all() if left else ():
            if instance.id in left:
                left.discard(instance.id)
                yield instance
                if not left:
                    return
        if left:
            absent = min(left)
            known = [each.id for each in self._all()]
            raise InputError(f"has no {absent!r}{did_you_mean(absent, known)}", file=self.name)

    def provenance(self) -> list[dict[str, Any]]:
        """Describe each table by name, bytes and SHA-256."""
        return described(self.files)

    def _all(self) -> Iterator[InstanceT]:
        seen: dict[str, str] = {}
        for file in self.files:
            for row in read_table(file):
                instance = self.instance_of(row)
                if instance.id in seen:
                    raise row.error(f"{instance.id!r} is already the id of {seen[instance.id]}; "
                                    "remove one of the two rows", "id")  # fmt: skip
                seen[instance.id] = f"line {row.line} of {row.file}"
                yield instance


def described(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Describe files for a run's record: name, bytes and SHA-256 of each."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append({"file": path.name, "size": path.stat().st_size, "sha256": digest})
    return found


@dataclass(frozen=True, slots=True)
class Places:
    """Places of a benchmark's tables."""

    repo: str
    """Name of a data set of the hub."""
    tables: tuple[str, ...] = ()
    """Paths of its tables; empty where it says itself which they are."""
    config: str | None = None
    fixture: str = ""
    """Name of a bundled file; empty where there is none."""

    def files(self, source: str, progress: Progress | None = None) -> tuple[Path, ...]:
        """Find the files of a source: `fixture`; `huggingface[:REVISION]`; or a path.

        Raises InputError, InfraFault.
        """
        if source == FIXTURE and self.fixture:
            with as_file(files("proctor") / "bundled" / self.fixture) as path:
                return (Path(path),)
        if source == HUB or source.startswith(f"{HUB}:"):
            hub = HubSource(self.repo, source.partition(":")[2] or "main", self.config)
            return tuple(fetch(hub, names=self.tables, progress=progress))
        if not Path(source).is_file():
            known = [*([FIXTURE] if self.fixture else []), f"{HUB}[:REVISION]", "a file"]
            raise InputError(
                f"there is no such file; a source is {' or '.join(known)}", file=source
            )
        return (Path(source),)


def converted(row: Row, kind: type[_Struct]) -> _Struct:
    """Convert the row to a struct. Raises InputError, with file, line and field."""
    try:
        return msgspec.convert(row.content, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        found = schema_error(error)
        raise row.error(found.message, found.field) from error


def day_of(row: Row, field: str) -> date | None:
    """Return a date of a row, if it has one. Raises InputError."""
    value = row.content.get(field)
    if value is None or value == "":
        return None
    try:
        return datetime.fromisoformat(str(value)).date()
    except ValueError as error:
        raise row.error(f"{str(value)[:40]!r} is no date; write YYYY-MM-DD, or leave it out",
                        field) from error  # fmt: skip
