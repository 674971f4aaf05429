"""Sources that are tables: each row is an instance."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from proctor.errors import InputError
from proctor.evals.benchmark import InstanceT
from proctor.evals.stored import ProblemInfo
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.tables import Row, read_table

FIXTURE = "fixture"
HUB = "huggingface"


@dataclass(frozen=True, slots=True)
class TableSource(Generic[InstanceT]):
    """Instances in one or more tables."""

    name: str
    files: tuple[Path, ...]
    instance_of: Callable[[Row], InstanceT | None]
    """Makes the instance of a row; None for one that is left out. Raises InputError for a row that
    cannot be used."""
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
                if instance is None:
                    continue
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
