"""Sample records, which all reports and statistics are made from: one per sample, and runs on disk.

A run on disk is JSON Lines. Beside `records.jsonl` may lie `records.jsonl.provenance.json`, one
JSON object: data set, prompts, limits, judge and the like. Comparisons rest on it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from proctor.bounded_lines import bounded_lines
from proctor.errors import InputError
from proctor.sandbox.machine import plain_file
from proctor.shown import counted, quoted, shown
from proctor.verdict import Verdict
from proctor.whole_file import whole_file

PROVENANCE_SUFFIX = ".provenance.json"
LARGEST_NUMBER = 1 << 40
"""Largest number of tokens, seconds, samples and turns: sums of them stay within 64 bits."""
_LONGEST = 32 << 20
"""Bytes of a provenance file that is read."""
_DEEPEST = 64
"""Levels of a value in it: what shows it goes down into each."""
Key = tuple[str, int]
"""Problem and sample."""
_Decoded = TypeVar("_Decoded")


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One generation for one problem, judged."""

    problem_id: str
    sample: int
    """Number among the problem's samples, from 0."""
    title: str = ""
    """Title of the problem; errata may name it by this."""
    cluster: str = ""
    """The contest that the problem shares with others; empty if not known."""
    platform: str = ""
    difficulty: str = ""
    published: date | None = None
    official: Verdict | None = None
    """Verdict by lcb_runner's rules; None if not judged by them."""
    standard: Verdict | None = None
    """Verdict by a contest judge's rules; None if not judged by them."""
    earlier_official: tuple[Verdict, ...] = ()
    """Official verdicts of earlier rounds of judging, the oldest first."""
    earlier_standard: tuple[Verdict, ...] = ()
    """Standard verdicts of earlier rounds of judging, the oldest first."""
    fault: str = ""
    """Reason why there is no verdict, or none that counts: a fault of the model's server, of the
    task or of proctor."""
    program: str = ""
    """Digest of the program, equal for equal programs; empty without a program or if not known."""
    no_program: str = ""
    """Reason why there is no program in the reply, of `no_program.Reason`; empty if there is."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    """US dollars."""
    model_seconds: float = 0.0
    judge_cpu: float = 0.0
    """CPU seconds that its tests took."""
    slowest_share: float | None = None
    """CPU time of its slowest test as a share of the limit."""
    finish_reason: str = ""
    turns: int | None = None
    """Number of an agent's turns; None for a single shot."""
    stop_reason: str = ""
    """Reason why an agent stopped; empty for a single shot."""


class SampleDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """Texts of a sample to look at; no figure rests on them. In a file, the field `detail`."""

    code: str = ""
    """The program."""
    message: str = ""
    """The judge's message."""
    input: str = ""
    """Input of the first failing test, as far as it may be shown; so `expected` and `actual`."""
    expected: str = ""
    actual: str = ""
    reply: str = ""
    """The model's reply, if no program was found in it."""


class _WithDetail(msgspec.Struct):
    detail: SampleDetail = SampleDetail()


_RECORD = msgspec.json.Decoder(SampleRecord)
_DETAIL = msgspec.json.Decoder(_WithDetail)


@dataclass(frozen=True, slots=True, repr=False)
class RunRecords:
    """One run as reports see it. Records and details may stay on disk and be read as needed."""

    name: str
    records: Collection[SampleRecord]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """JSON values; empty if nothing is known."""
    details: Mapping[Key, SampleDetail] = field(default_factory=dict)
    """Details of the samples that have any."""

    def __repr__(self) -> str:
        return shown(self, quoted(self.name), counted(len(self.records), "record"))


class _LineIndex:
    """Offsets of the lines of a file; their content stays on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.begins: dict[Key, int] = {}
        self.detailed: set[Key] = set()

    def content(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, offset in bytes and text of each line that is not blank."""
        begin = 0
        try:
            with self.path.open("rb") as file:
                for number, line in bounded_lines(file, self.path):
                    if line.strip():
                        yield number, begin, line
                    begin += len(line)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=str(self.path)) from error

    def decode(self, decoder: msgspec.json.Decoder[_Decoded], line: bytes, number: int) -> _Decoded:
        try:
            return decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"no sample record: {error}", file=str(self.path), line=number
            ) from error

    def number(self, begin: int) -> int:
        """Return the number of the line at an offset."""
        return next(number for number, there, _ in self.content() if there == begin)


class _FileRecords(Collection[SampleRecord]):
    def __init__(self, lines: _LineIndex) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[SampleRecord]:
        for number, _, line in self._lines.content():
            yield self._lines.decode(_RECORD, line, number)

    def __len__(self) -> int:
        return len(self._lines.begins)

    def __contains__(self, record: object) -> bool:
        return any(record == each for each in self)


class _FileDetails(Mapping[Key, SampleDetail]):
    def __init__(self, lines: _LineIndex) -> None:
        self._lines = lines

    def __getitem__(self, key: Key) -> SampleDetail:
        if key not in self._lines.detailed:
            raise KeyError(key)
        with self._lines.path.open("rb") as file:
            file.seek(self._lines.begins[key])
            return _DETAIL.decode(file.readline()).detail

    def __iter__(self) -> Iterator[Key]:
        return (key for key in self._lines.begins if key in self._lines.detailed)

    def __len__(self) -> int:
        return len(self._lines.detailed)


def read_run(path: Path, name: str | None = None) -> RunRecords:
    """Open a JSONL file of records and the provenance beside it; `name` is the file's by default.

    The file is checked now and read again each time the records are: a run may be large. Raises
    InputError with file and line for what cannot be read, is not a record, or comes twice.
    """
    lines = _LineIndex(path)
    for number, begin, line in lines.content():
        record = lines.decode(_RECORD, line, number)
        if (odd := _impossible(record)) is not None:
            raise InputError(f"no sample record: {odd}", file=str(path), line=number)
        key = (record.problem_id, record.sample)
        before = lines.begins.setdefault(key, begin)
        if before != begin:
            raise InputError(
                f"sample {record.sample} of {record.problem_id!r} is there already, in line"
                f" {lines.number(before)}; a file holds one run",
                file=str(path),
                line=number,
            )
        if b'"detail"' in line and lines.decode(_DETAIL, line, number).detail != SampleDetail():
            lines.detailed.add(key)
    if not lines.begins:
        raise InputError("no records in it", file=str(path))
    return RunRecords(
        name or path.stem, _FileRecords(lines), _provenance(path), _FileDetails(lines)
    )


def _impossible(record: SampleRecord) -> str | None:
    """Return the number of a record that no sample has, if there is one: sums of it would fail."""
    for each in fields(record):
        value = getattr(record, each.name)
        if isinstance(value, int | float) and not 0 <= value <= LARGEST_NUMBER:
            return f"its {each.name} is {str(value)[:40]}"
    return None


def write_run(path: Path, run: RunRecords) -> None:
    """Write the records to `path` and their provenance beside it."""
    if run.provenance:
        write_provenance(path, run.provenance)
    with whole_file(path) as file:
        write_records(file, run.records, run.details)


def write_provenance(path: Path, provenance: Mapping[str, Any]) -> None:
    """Write the provenance of the records at `path` beside them. Raises InputError."""
    beside = path.with_name(path.name + PROVENANCE_SUFFIX)
    if beside.is_symlink():  # nobody named it, and it may lead to any file
        raise InputError("is a link, and links are not followed", file=str(beside))
    with whole_file(beside) as file:
        file.write(msgspec.json.format(msgspec.json.encode(provenance), indent=2) + b"\n")


def write_records(
    out: BinaryIO, records: Iterable[SampleRecord], details: Mapping[Key, SampleDetail]
) -> None:
    """Write records as JSON Lines, one at a time."""
    for record in records:
        line = msgspec.json.encode(record)
        detail = details.get((record.problem_id, record.sample))
        if detail is not None and detail != SampleDetail():
            line = line[:-1] + b',"detail":' + msgspec.json.encode(detail) + b"}"
        out.write(line + b"\n")


def _provenance(path: Path) -> dict[str, Any]:
    beside = path.with_name(path.name + PROVENANCE_SUFFIX)
    try:
        text = plain_file.read(str(beside), _LONGEST)
        found = msgspec.json.decode(text, type=dict[str, Any])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"no JSON object: {error}", file=str(beside)) from error
    for name, value in found.items():
        if _is_deeper(value, _DEEPEST):
            raise InputError(f"has more than {_DEEPEST} levels", file=str(beside), field=name[:100])
    return found


def _is_deeper(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not levels or any(_is_deeper(each, levels - 1) for each in inner)
