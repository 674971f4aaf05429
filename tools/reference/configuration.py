"""The keys of the configuration file, and the environment variables."""

from collections.abc import Iterator
from typing import Any

import msgspec
from markdown import code, prose, table
from structs import fields

from proctor.config import Config
from proctor.variables import VARIABLES


def keys() -> str:
    """Return a table of the file's keys."""
    return table(("key", "type", "meaning"), _keys())


def _keys() -> Iterator[tuple[str, str, str]]:
    for part in msgspec.structs.fields(Config):
        struct: Any = part.type
        for each in fields(struct):
            yield code(f"{part.name}.{each.name}"), _kind(each.type), prose(each.meaning)


def _kind(text: str) -> str:
    """Describe a type of the file, in whose page links to structs lead nowhere."""
    return text.replace("[PackageSetConfig](#packagesetconfig)", "table")


def variables() -> str:
    """Return a table of the environment variables."""
    rows = []
    for each in VARIABLES:
        names = ", ".join(map(code, each.names.split(", ")))
        rows.append((names, prose(each.meaning)))
    return table(("variable", "meaning"), rows)
