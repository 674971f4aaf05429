"""The rows of a run's store."""

from datetime import date
from typing import Any, ClassVar, TypeVar, get_args, get_type_hints

import msgspec

from proctor.text import well_formed


class ProblemInfo(msgspec.Struct, frozen=True):
    """A problem without its tests: what reports and exports show."""

    id: str
    title: str = ""
    statement: str = ""
    platform: str = ""
    difficulty: str = ""
    published: date | None = None
    contest: str = ""
    contest_date: str = ""
    """Date of the contest as the source has it."""
    starter_code: str = ""
    samples: int = 0
    """Number of samples that there can be; 0 for any number."""


class Prompt(msgspec.Struct, frozen=True):
    """A prompt as it was sent; many samples share one."""

    hash: str
    messages: str
    """Messages as JSON."""


class Generation(msgspec.Struct, frozen=True):
    """One reply, or the fault in its place."""

    TABLE: ClassVar[str] = "generation"
    KEY: ClassVar[tuple[str, ...]] = ("problem_id", "sample")

    problem_id: str
    sample: int
    prompt_hash: str = ""
    text: str = ""
    reasoning: str = ""
    code: str = ""
    """Program taken from the reply; "" for none."""
    policy: str = ""
    """Policy by which the program was taken; `given` where the recording held it."""
    rule: str = ""
    """Rule of the policy that found the program; see extraction."""
    no_program: str = ""
    """Reason why there is no program in the reply, of those in `no_program`; empty if there is."""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """Tokens of the prompt that were read from the server's cache."""
    seconds: float = 0.0
    fault: str = ""
    """Code of the ModelFault instead of a reply, such as `model-stalled`."""
    fault_message: str = ""
    turns: int | None = None
    """Replies of an agent; None for a single shot."""
    stop_reason: str = ""
    """Reason why an agent stopped."""


class Turn(msgspec.Struct, frozen=True):
    """One step of an agent: a reply of the model, or a tool's result."""

    TABLE: ClassVar[str] = "turn"
    KEY: ClassVar[tuple[str, ...]] = ("problem_id", "sample", "number")

    problem_id: str
    sample: int
    number: int
    kind: str
    """`model` or `tool`."""
    name: str = ""
    """Name of the tool."""
    call_id: str = ""
    content: str = ""
    """The reply's text or the tool's result."""
    arguments: str = ""
    """JSON: arguments of the tool, or all calls of a reply."""
    seconds: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning: str = ""
    finish_reason: str = ""


class SampleJudgement(msgspec.Struct, frozen=True):
    """One judgement of a generation."""

    TABLE: ClassVar[str] = "judged"
    KEY: ClassVar[tuple[str, ...]] = ("problem_id", "sample", "mode", "judge")

    problem_id: str
    sample: int
    mode: str
    judge: str
    """Key of judge version and settings: a newer judge's verdicts stand beside the old ones."""
    verdict: str
    score: float = 0.0
    message: str = ""
    cpu: float = 0.0
    """CPU seconds of all tests that were run."""
    slowest_share: float | None = None
    """CPU of the slowest test as a share of the limit."""
    level: str = ""
    """Isolation level."""
    tests: str = "[]"
    """JSON: verdict, cpu, wall, memory and message of every test that was run."""
    upstream: str = ""
    """JSON, official mode: lcb_runner's results and metadata."""
    machine: str = ""
    """JSON: machine that judged, if not the one that the run is on."""


Change = Generation | Turn | SampleJudgement | Prompt
_Row = TypeVar("_Row", Generation, Turn, SampleJudgement)


class Sample(msgspec.Struct, frozen=True):
    """A sample, its reply and its judgements."""

    problem_id: str
    number: int
    generation: Generation | None
    judgements: tuple[SampleJudgement, ...]


def columns(kind: Any) -> tuple[str, ...]:
    """Return the names of a row's columns, in order."""
    names: tuple[str, ...] = kind.__struct_fields__
    return names


def declared(kind: type[Generation] | type[Turn] | type[SampleJudgement]) -> str:
    """Return the columns of a row's table, for CREATE TABLE.

    Types matter: SQLite does not use an index to compare columns of different affinity.
    """
    found = [f"{column} {_affinity(kind, column)}" for column in columns(kind)]
    return f"{', '.join(found)}, PRIMARY KEY ({', '.join(kind.KEY)})"


def _affinity(kind: type[Generation] | type[Turn] | type[SampleJudgement], column: str) -> str:
    names = {str: "TEXT", int: "INTEGER", float: "REAL"}
    hint = get_type_hints(kind)[column]
    return next(names[each] for each in (*get_args(hint), hint) if each in names)


def to_row(value: Generation | Turn | SampleJudgement) -> tuple[Any, ...]:
    """Return values in the order of `columns`. Texts are well-formed, as SQLite takes no others.

    A program's text is kept exactly, if need be as bytes, to judge the same now and later.
    """
    row = tuple(
        well_formed(each) if isinstance(each, str) else each
        for each in msgspec.structs.astuple(value)
    )
    if isinstance(value, Generation) and row[_CODE] != value.code:
        return (*row[:_CODE], value.code.encode("utf-8", "surrogatepass"), *row[_CODE + 1 :])
    return row


def from_row(kind: type[_Row], row: tuple[Any, ...], *, exact: bool = False) -> _Row:
    """Return the value of a row; its program exactly as it was if `exact`, else well-formed."""
    if kind is Generation and isinstance(row[_CODE], bytes):
        code = row[_CODE].decode("utf-8", "surrogatepass")
        row = (*row[:_CODE], code if exact else well_formed(code), *row[_CODE + 1 :])
    return kind(*row)


_CODE = Generation.__struct_fields__.index("code")
