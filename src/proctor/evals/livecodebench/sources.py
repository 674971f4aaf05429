"""Where LiveCodeBench's problems come from.

    fixture                            four problems that come with proctor
    huggingface[:RELEASE[@REVISION]]   the data set of the hub, release_v3 unless another is named
    PATH                               JSONL or Parquet, in upstream's schema or under the usual
                                       other names

A release is release_v1 to release_v6 or release_latest (all up to it), v1 to v6 (what that one
added), or vA_vB (what A to B added), as upstream names them. It comes from the first of these that
has it whole:

1. upstream's JSONL files,
2. Parquet files of a mirror, which need pyarrow,
3. what the hub made of that mirror's tables, Parquet too,
4. the mirror's rows as the hub's viewer serves them, unless it has cut large ones.

With a revision (a branch, tag or commit of upstream's data set) only the first is tried. The one
that has provided a release is tried first the next time, so that a run goes on with the data that
it began with.
"""

import importlib.util
import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proctor.errors import InfraFault, InputError, MissingExtra, ProctorError
from proctor.evals.benchmark import UNUSABLE
from proctor.evals.livecodebench.rows import upstream_row
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import described
from proctor.formats.hub import HubSource, Progress, fetch, home_of, replace
from proctor.formats.hub_files import HubAway
from proctor.formats.hub_rows import fetch_rows
from proctor.formats.livecodebench import did_you_mean, problem_of
from proctor.formats.tables import Row, read_table
from proctor.problem import Problem

_logger = logging.getLogger(__name__)

FIXTURE = "fixture"
HUB = "huggingface"
REPO = "livecodebench/code_generation_lite"
MIRROR = "lighteval/code_generation_lite"
CONVERTED = "refs/convert/parquet"
"""Branch where the hub puts what it converts."""
SPLIT = "test"
DEFAULT_RELEASE = "release_v3"
FILES = ("test.jsonl", "test2.jsonl", "test3.jsonl", "test4.jsonl", "test5.jsonl", "test6.jsonl")
"""Files that v1, v2 ... v6 added."""
_RELEASE = re.compile(r"release_v([1-9])|release_(latest)|v([1-9])(?:_v([1-9]))?")


@dataclass(frozen=True, slots=True)
class LiveCodeBenchSource:
    """Problems in one or more tables."""

    name: str
    """Name of the source, as the user gave it."""
    files: tuple[Path, ...]
    subset: str | None = None
    """Value of the field `subset` in the rows to take; None for all rows."""
    ways: tuple[str, ...] = ()
    """Sources of the hub by preference, up to the one that the tables are from."""
    whole_programs: bool = False
    """True to leave out problems that ask for a method of a Python class."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Numbers of problems left out, by reason: by `infos`, and UNUSABLE ones by `instances`."""

    def rows(self) -> Iterator[Row]:
        """All rows in upstream's schema, tests undecoded. Raises InputError.

        Ids are strings, unique over all tables.
        """
        seen: dict[str, Row] = {}
        for file in self.files:
            for raw in read_table(file):
                if self.subset is not None and raw.content.get("subset") != self.subset:
                    continue
                row = Row(raw.file, raw.line, upstream_row(raw.content))
                question_id = row.content.get("question_id")
                if not isinstance(question_id, str) or not question_id:
                    raise row.error("must be a string that is not empty", "question_id")
                if question_id in seen:
                    earlier = seen[question_id]
                    raise row.error(
                        f"{question_id!r} is already the id of line {earlier.line} of "
                        f"{earlier.file}; remove one of the two rows",
                        "question_id",
                    )
                seen[question_id] = Row(row.file, row.line, {})
                yield row

    def infos(self) -> Iterator[ProblemInfo]:
        """All problems without their tests. Raises InputError."""
        self.left_out.clear()
        for info in map(problem_info, self.rows()):
            if self.whole_programs and info.starter_code.strip():
                self.left_out["asks for a Python method"] += 1
            else:
                yield info

    def instances(self, only: Collection[str]) -> Iterator[Problem]:
        """Problems with these ids, in the order of the tables, one in memory at a time.

        Rows that cannot be decoded are left out, with a warning about the first; if all are such
        rows, the error of the first is raised. Raises InputError.
        """
        left, empty, odd = set(only), True, list[InputError]()
        for row in self.rows():
            question_id = row.content["question_id"]
            if question_id in left:
                left.discard(question_id)
                try:
                    problem = problem_of(row.content)
                except InputError as error:
                    odd.append(row.error(error.message, error.field))
                    self.left_out[UNUSABLE] += 1
                    if len(odd) == 1:
                        _logger.warning("%s; this row is left out", odd[0])
                    continue
                empty = False
                yield problem
            if not left:
                break
        if odd and empty:
            raise odd[0]
        if left:
            absent = min(left)
            known = [row.content["question_id"] for row in self.rows()]
            raise InputError(
                f"has no problem {absent!r}{did_you_mean(absent, known)}", file=self.name
            )

    def provenance(self) -> list[dict[str, Any]]:
        """Describe the tables for the record: name, bytes and SHA-256 of each."""
        how = {"from": self.ways[-1], "instead_of": list(self.ways[:-1])} if self.ways else {}
        return [entry | how for entry in described(self.files)]


def open_source(name: str, progress: Progress | None = None) -> LiveCodeBenchSource:
    """Find a source, fetching it if need be. Raises InputError, InfraFault."""
    if name == FIXTURE:
        with as_file(files("proctor") / "bundled" / "problems.jsonl") as path:
            return LiveCodeBenchSource(name, (Path(path),), subset=FIXTURE)
    if name == HUB or name.startswith(HUB + ":"):
        return _fetched(name.partition(":")[2] or DEFAULT_RELEASE, progress)
    path = Path(name)
    if not path.is_file():
        raise InputError(
            f"there is no such file; a source is {FIXTURE}, {HUB}[:RELEASE] or a file", file=name
        )
    return LiveCodeBenchSource(name, (path,))


def release_files(release: str) -> tuple[str, ...]:
    """Files of the hub that make a release up. Raises InputError for an unknown one."""
    found = _RELEASE.fullmatch(release)
    if found is not None:
        upto, latest, first, last = found.groups()
        low = int(first or 1)
        high = len(FILES) if latest else int(upto or last or first)
        if low <= high <= len(FILES):
            return FILES[low - 1 : high]
    raise InputError(
        f"{release!r} is not one of release_v1 to release_v{len(FILES)}, release_latest, "
        f"v1 to v{len(FILES)}, vA_vB",
        field="--source",
    )


def _fetched(text: str, progress: Progress | None) -> LiveCodeBenchSource:
    """Fetch RELEASE[@REVISION]."""
    name = f"{HUB}:{text}"
    release, _, revision = text.partition("@")
    ways = _ways(release, revision, progress)
    order = list(ways)
    last = home_of(REPO) / "ways" / quote(text, safe="")
    before = last.read_text("utf-8") if last.exists() else ""
    faults: dict[str, ProctorError] = {}
    for way in sorted(order, key=lambda way: way != before):
        try:
            found = tuple(ways[way]())
        except (InputError, InfraFault, _NoParquet) as error:
            faults[way] = error
        else:
            for tried, fault in faults.items():
                _logger.warning("%s, from %s: %s", name, tried, fault)
            if way != before:
                replace(last, way.encode())
            return LiveCodeBenchSource(name, found, ways=tuple(order[: order.index(way) + 1]))
    if all(isinstance(fault, HubAway) for fault in faults.values()):
        raise HubAway(f"{name} cannot be had: {faults[order[0]]}; --source FILE needs no hub")
    passing = any(isinstance(fault, InfraFault) for fault in faults.values())
    why = "; ".join(f"{way}: {faults[way]}" for way in order)
    raise (InfraFault if passing else InputError)(f"{name} cannot be had. {why}")


def _ways(
    release: str, revision: str, progress: Progress | None
) -> dict[str, Callable[[], list[Path]]]:
    """Return functions that fetch a release, in the order to try, by their names in the record."""
    names = release_files(release)
    raw = HubSource(REPO, revision or "main")
    first = {str(raw): lambda: fetch(raw, names=names, progress=progress)}
    if revision:
        return first
    own, converted = HubSource(MIRROR, config=release), HubSource(MIRROR, CONVERTED, release)
    return first | {
        str(own): lambda: _parquet(own, progress),
        str(converted): lambda: _parquet(converted, progress),
        f"rows of {own}": lambda: [fetch_rows(own, SPLIT)],
    }


class _NoParquet(MissingExtra):
    """Parquet cannot be read; raised before gigabytes of it are fetched."""


def _parquet(source: HubSource, progress: Progress | None) -> list[Path]:
    if importlib.util.find_spec("pyarrow") is None:
        raise _NoParquet("Parquet needs pyarrow: pip install 'proctor[parquet]'")
    return fetch(source, progress=progress)


def problem_info(row: Row) -> ProblemInfo:
    """Describe a problem without decoding its tests. Raises InputError."""
    content = row.content
    text = {
        name: _text(row, content.get(name), name)
        for name in ("question_title", "question_content", "platform", "difficulty",
                     "contest_id", "contest_date", "starter_code")
    }  # fmt: skip
    return ProblemInfo(
        id=content["question_id"],
        title=text["question_title"],
        statement=text["question_content"],
        platform=text["platform"],
        difficulty=text["difficulty"],
        published=_date(row, text["contest_date"]),
        contest=text["contest_id"],
        contest_date=text["contest_date"],
        starter_code=text["starter_code"],
    )


def _text(row: Row, value: Any, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise row.error(f"must be a string, not {type(value).__name__}", field)
    return value


def _date(row: Row, text: str) -> date | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).date()
    except ValueError as error:
        raise row.error(f"{text[:40]!r} is not a date; write YYYY-MM-DD, or leave it out",
                        "contest_date") from error  # fmt: skip
