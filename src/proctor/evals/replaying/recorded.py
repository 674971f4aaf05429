"""A judgement of the past with all that it takes to make it again, wherever it is recorded."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from proctor.errors import InputError, NoLanguage, UsageError
from proctor.evals.rounds import host
from proctor.execution import Isolation
from proctor.formats.livecodebench import schema_error
from proctor.judgement import Judgement, Machine, TestResult, UpstreamReport
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.judging.unjudged import is_plain
from proctor.languages import registry
from proctor.limits import Limits
from proctor.problem import Problem
from proctor.program import Program
from proctor.verdict import Verdict
from proctor.version import __version__

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Versions and machine behind a judgement; empty where they are not known."""

    proctor: str = ""
    python: str = ""
    """Version of the Python that programs run under."""
    tools: str = ""
    """Version of the tools of the program's language, if it does not run in a warm interpreter."""
    system: str = ""
    """Kernel and architecture."""
    cpu: str = ""
    """Model."""
    machine: str = ""
    """Name among those that judge together; empty for the one that was asked."""
    isolation: str = ""
    """Level."""

    @classmethod
    def now(cls, judges: Judges, recorded: "RecordedJudgement", made: Judgement) -> "Surroundings":
        """Describe what has just made a judgement."""
        here, known = host(), ("", "")
        if made.machine is not None:  # of its kernel nothing is known
            here, known = {}, (made.machine.cpu, made.machine.id)
        language, tools = recorded.program.language, ""
        if language != "python":
            tools = _version(judges, language)
        elif not is_plain(recorded.problem) and made.machine is None:
            with suppress(NoLanguage):
                tools = registry.find(registry.get(language)).version
        return cls(
            __version__, _version(judges, "python"), tools, here.get("system", ""),
            here.get("cpu", known[0]), known[1], level_of(made),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordedJudgement:
    """One judgement as it was asked for, and the outcome of then."""

    name: str
    """Place where it is recorded, as it was named."""
    problem: Problem
    program: Program
    settings: JudgeSettings
    outcome: Judgement
    """Recorded outcome, as far as the record tells."""
    subtasks: tuple[str, ...] | None = None
    """Subtasks that were judged; None for all."""
    then: Surroundings = Surroundings()
    pool: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `open_pool` that it was judged with, and that hold here."""
    notes: tuple[str, ...] = ()
    """Sentences for whoever replays it."""

    @property
    def limits(self) -> Limits:
        """Limits of each test."""
        return self.problem.limits or self.settings.limits


@dataclass(frozen=True, slots=True)
class InputFiles:
    """Input files that were named, for records that do not tell theirs, or whose files moved."""

    problems: str | None = None
    programs: str | None = None
    tasks: tuple[str, ...] = ()

    def check(self, wanted: str, *names: str) -> None:
        """Raise UsageError if any was named but those that `wanted` has."""
        for name in ("problems", "programs", "tasks"):
            if getattr(self, name) and name not in names:
                raise UsageError(f"--{name} is not for {wanted}")


@dataclass(frozen=True, slots=True)
class _Question:
    """Arguments of Judges.start."""

    problem: Problem
    program: Program
    settings: JudgeSettings
    subtasks: tuple[str, ...] | None


class _Asked(Exception):
    """A grader has asked for its judgement."""

    def __init__(self, question: _Question) -> None:
        self.question = question


class _Noting:
    """Judges that judge nothing: they note what they are asked first."""

    at_once = 1

    def version_of(self, _language: str) -> str:
        return ""

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        program = program if isinstance(program, Program) else Program(program)
        chosen = None if subtasks is None else tuple(subtasks)
        raise _Asked(_Question(problem, program, settings, chosen))


def asked_by(grade: Callable[[Judges], object]) -> _Question | None:
    """Return the judgement that a grader asks for; None if it needs none."""
    try:
        grade(_Noting())
    except _Asked as asked:
        return asked.question
    return None


class _JudgedRow(msgspec.Struct):
    verdict: Verdict
    score: float
    tests: tuple[TestResult, ...]
    message: str = ""
    isolation: Any = None
    machine: Machine | None = None
    results: tuple[bool | int, ...] | None = None
    error_code: int | None = None
    error_message: str | None = None
    metadata: dict[str, Any] = {}


def judgement_of_row(row: Mapping[str, Any]) -> Judgement:
    """Return the outcome in a row of `proctor judge`. Raises InputError."""
    found = known_fields(row, _JudgedRow)
    upstream = None
    if found.results is not None:
        upstream = UpstreamReport(
            found.results, found.error_code, found.error_message, found.metadata
        )
    return Judgement(
        found.verdict, found.score, found.tests, found.message, isolation_of(found.isolation),
        upstream, machine=found.machine,
    )  # fmt: skip


def known_fields(row: Mapping[str, Any], kind: type[T]) -> T:
    """Return those fields of a row that a struct has; others are the user's. Raises InputError."""
    names: tuple[str, ...] = kind.__struct_fields__
    try:
        return msgspec.convert({name: row[name] for name in names if name in row}, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        found = schema_error(error)
        raise InputError(
            f"is no row of results that can be read: {found.message}", field=found.field
        ) from error


def tests_of(rows: Any) -> tuple[TestResult, ...]:
    """Return results of tests that were stored as rows. Raises ValueError."""
    return msgspec.convert(rows, tuple[TestResult, ...])


def isolation_of(row: Any) -> Isolation | None:
    """Return the isolation of a row, whose guarantees are not needed; None if there is none."""
    level = row.get("level") if isinstance(row, Mapping) else row
    return Isolation(level, {}) if isinstance(level, str) and level else None


def level_of(judgement: Judgement) -> str:
    """Return the isolation level of a judgement; empty where nothing was run."""
    return judgement.isolation.level if judgement.isolation is not None else ""


def _version(judges: Judges, language: str) -> str:
    with suppress(NoLanguage):
        return judges.version_of(language)
    return ""
