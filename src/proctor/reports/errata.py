"""Known errors of a benchmark as data: a score without the problems that cannot be judged.

A list is a TOML file::

    name = "our errata"
    date = 2026-11-01
    benchmark = "livecodebench"

    [[erratum]]
    problem = "abc999_z"
    kind = "wrong-tests"
    reason = "a test contradicts the statement"
    source = "https://example.org/where-it-was-found"

With `benchmark`, it is for runs of that one; without, for all. `problem` is an id, or a title where
ids are mere numbers. Lists that proctor knows come with it: `bundled_errata`.
"""

import datetime as dt
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.errors import InputError
from proctor.reports.tallies import Tally


class Erratum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A problem whose verdicts mean nothing, with the reason and the source."""

    problem: str
    reason: str
    source: str
    kind: Literal["several-answers", "interactive", "wrong-tests", "other"] = "other"


class ErrataList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dated list of errata."""

    name: str
    erratum: tuple[Erratum, ...] = ()
    date: dt.date | None = None
    """Date of the list."""
    benchmark: str = ""
    """Benchmark that the list is for; empty for any."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """Tallies without the problems that errata name."""

    tallies: tuple[Tally, ...]
    left_out: tuple[Erratum, ...]
    """Errata whose problems are in the run."""


def bundled_errata() -> tuple[ErrataList, ...]:
    """Return the lists that come with proctor."""
    home = files("proctor") / "bundled" / "errata"
    found = sorted((each for each in home.iterdir()), key=lambda each: each.name)
    return tuple(_parsed(each.read_text("utf-8"), each.name) for each in found)


def read_errata(path: Path) -> ErrataList:
    """Read a list. Raises InputError with file and field for anything else."""
    try:
        return _parsed(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"no list of errata: {error}", file=str(path)) from error


def applicable(lists: Iterable[ErrataList], benchmark: Any) -> tuple[ErrataList, ...]:
    """Return the lists for a benchmark, as a run's provenance names it; None if it names none."""
    return tuple(each for each in lists if each.benchmark in ("", benchmark))


def correct(tallies: Iterable[Tally], errata: Sequence[ErrataList]) -> Corrected:
    """Leave out the problems that the lists name."""
    tallies = tuple(tallies)
    listed = {each.problem: each for one in errata for each in one.erratum}
    found = {each.problem_id: listed.get(each.problem_id) or listed.get(each.title)
             for each in tallies}  # fmt: skip
    return Corrected(
        tuple(each for each in tallies if found[each.problem_id] is None),
        tuple(named for each in tallies if (named := found[each.problem_id]) is not None),
    )


def _parsed(text: str, name: str) -> ErrataList:
    try:
        return msgspec.convert(tomllib.loads(text), ErrataList)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no list of errata: {error}", file=name) from error
