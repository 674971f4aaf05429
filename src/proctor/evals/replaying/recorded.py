"""A judgement of the past with all that it takes to make it again, wherever it is recorded."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import NoLanguage, UsageError
from proctor.evals.rounds import host
from proctor.execution import Isolation
from proctor.judgement import Judgement
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.judging.unjudged import is_plain
from proctor.languages import registry
from proctor.limits import Limits
from proctor.problem import Problem
from proctor.program import Program
from proctor.version import __version__


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
    """Model of the CPU."""
    machine: str = ""
    """Name among machines that judge together; empty for the one that was asked."""
    isolation: str = ""
    """Isolation level."""

    @classmethod
    def now(cls, judges: Judges, recorded: "RecordedJudgement", made: Judgement) -> "Surroundings":
        """Describe what has just made a judgement."""
        here, known = host(), ("", "")
        if made.machine is not None:  # the kernel of that machine is not known
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
    """One judgement as it was requested, and its recorded outcome."""

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
    """Arguments of `open_pool` that it was judged with, and that apply on this machine too."""
    notes: tuple[str, ...] = ()
    """Sentences for whoever replays it."""

    @property
    def limits(self) -> Limits:
        """Limits of each test."""
        return self.problem.limits or self.settings.limits


@dataclass(frozen=True, slots=True)
class InputFiles:
    """Input files that the user named, for records that do not name theirs or whose files moved."""

    problems: str | None = None
    programs: str | None = None
    tasks: tuple[str, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the user gave by name, as for `own_runs.obeyed`."""

    def check(self, wanted: str, *names: str) -> None:
        """Raise UsageError if files were named that are not among `names`, those for `wanted`."""
        for name in ("problems", "programs", "tasks"):
            if getattr(self, name) and name not in names:
                raise UsageError(f"--{name} is not for {wanted}")


def isolation_of(row: Any) -> Isolation | None:
    """Return the isolation of a row, without guarantees; None if the row has none."""
    level = row.get("level") if isinstance(row, Mapping) else row
    return Isolation(level, {}) if isinstance(level, str) and level else None


def level_of(judgement: Judgement) -> str:
    """Return the isolation level of a judgement; empty where nothing was run."""
    return judgement.isolation.level if judgement.isolation is not None else ""


def _version(judges: Judges, language: str) -> str:
    with suppress(NoLanguage):
        return judges.version_of(language)
    return ""
