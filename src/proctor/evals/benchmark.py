"""The contract of a benchmark: where instances come from, what is asked, how it is graded.

The run, the store, agents and reports use nothing else of a benchmark. A benchmark of your own can
do without the store: see adapter.py.
"""

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

from proctor.evals.extraction import Extracted
from proctor.evals.models.model import Message, ModelReply
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.formats.hub import Progress
from proctor.judgement import Judgement
from proctor.judging.judges import Judges
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Graded:
    """Grade of one reply, as it is stored."""

    verdict: Verdict
    score: float = 0.0
    """Share of full marks, from 0 to 1."""
    message: str = ""
    cpu: float = 0.0
    """CPU seconds of all tests that were run."""
    slowest_share: float | None = None
    """CPU of the slowest test as a share of the limit."""
    level: str = ""
    """Isolation level; empty where nothing was run."""
    tests: str = "[]"
    """Results of all tests that were run, JSON."""
    upstream: str = ""
    """Output of the published evaluator where that is more than a verdict, JSON."""
    machine: str = ""
    """Machine that judged, if not this one, JSON; see judgement.Machine."""

    @classmethod
    def of(cls, judgement: Judgement, limit: float) -> "Graded":
        """Make the grade of a judgement; `limit` is the CPU limit of each test, in seconds."""
        tests, upstream = judgement.tests, judgement.upstream
        return cls(
            verdict=judgement.verdict,
            score=judgement.score,
            message=judgement.message,
            cpu=sum(test.cpu for test in tests),
            slowest_share=max(test.cpu for test in tests) / limit if tests else None,
            level=judgement.isolation.level if judgement.isolation else "",
            tests=msgspec.json.encode([test.row() for test in tests]).decode(),
            upstream="" if upstream is None else msgspec.json.encode(upstream).decode(),
            machine=machine_json(judgement),
        )


def machine_json(judgement: Judgement) -> str:
    """Return the machine that made a judgement as JSON; empty for this one."""
    machine = judgement.machine
    return "" if machine is None else msgspec.json.encode(machine.row()).decode()


class Instance(Protocol):
    """One task of a benchmark, with its tests."""

    @property
    def id(self) -> str:
        """Unique within its benchmark."""
        ...


InstanceT = TypeVar("InstanceT", bound=Instance)
InstanceT_co = TypeVar("InstanceT_co", bound=Instance, covariant=True)
InstanceT_contra = TypeVar("InstanceT_contra", bound=Instance, contravariant=True)


class Source(Protocol[InstanceT_co]):
    """A benchmark's instances, on the disk."""

    @property
    def name(self) -> str:
        """Name as it was asked for."""
        ...

    def infos(self) -> Iterable[ProblemInfo]:
        """Describe all instances without their tests. Raises InputError."""
        ...

    def instances(self, only: Collection[str]) -> Iterator[InstanceT_co]:
        """Load the instances with these ids, in the source's order, one in memory at a time."""
        ...

    def provenance(self) -> list[dict[str, Any]]:
        """Files with their digests, which a run that goes on must find unchanged."""
        ...


class Grader(Protocol[InstanceT_contra]):
    """Grades programs, or other answers, many at once."""

    @property
    def cells(self) -> int:
        """Number of answers that it grades at once."""
        ...

    async def grade(self, instance: InstanceT_contra, code: str, mode: str) -> Graded:
        """Grade by one mode's rules. A fault of proctor or of the task is a verdict."""
        ...


@runtime_checkable
class Rehearsing(Protocol[InstanceT_contra]):
    """A grader that also runs the tests an agent may see."""

    async def rehearse(self, instance: InstanceT_contra, code: str, /) -> str:
        """Run the tests that an agent may see, and return the report for it."""
        ...


@runtime_checkable
class PromptsOfOthers(Protocol):
    """A benchmark that can ask with prompts which are not part of proctor."""

    def pinned(self, settings: Settings, /) -> Settings:
        """Return the settings as a run keeps them, with the version of the prompts in them.

        Raises SettingsError if the prompts cannot be had, or are no longer those of the settings.
        """
        ...


UNUSABLE = "unusable"
"""Reason for leaving out a row from which no instance can be made."""


@runtime_checkable
class LeavingOut(Protocol):
    """A source that leaves out rows by itself."""

    @property
    def left_out(self) -> Mapping[str, int]:
        """Numbers of rows left out, by reason: by the latest call of `infos`, and since then.

        Rows whose tests turn out to be unusable only when `instances` reads them count as UNUSABLE.
        """
        ...


@runtime_checkable
class OfAFile(Protocol):
    """A benchmark that is a file, which a run must find again."""

    @property
    def benchmark_file(self) -> Path | None:
        """The file; None for one that comes with proctor."""
        ...


class Benchmark(Protocol[InstanceT]):
    """A benchmark. `modes` of a grade are `official`, as its publishers do it, and `standard`."""

    @property
    def name(self) -> str:
        """Name in records, and in `registry`."""
        ...

    @property
    def version(self) -> int:
        """Goes up with every change of any prompt: a run is not continued with other prompts."""
        ...

    @property
    def modes(self) -> Mapping[str, str]:
        """Modes of grading, and what each means in a few words."""
        ...

    @property
    def agentic(self) -> bool:
        """True if agents can work on it: it has tests for them."""
        ...

    def check(self, settings: Settings) -> None:
        """Raise SettingsError for settings that mean nothing here."""
        ...

    def open_source(
        self, settings: Settings, progress: Progress | None = None
    ) -> Source[InstanceT]:
        """Find the instances, fetching them if need be. Raises InputError, InfraFault."""
        ...

    def messages(
        self, instance: InstanceT, sample: int, settings: Settings, /
    ) -> tuple[Message, ...] | ModelReply:
        """Return the prompt of one sample; or the reply itself, where there is nothing to ask."""
        ...

    def extract(self, instance: InstanceT, text: str, settings: Settings, /) -> Extracted:
        """Take from a reply the part that is graded."""
        ...

    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> AbstractContextManager[Grader[InstanceT]]:
        """Open the grader: cells here, unless `judges` judge elsewhere.

        A benchmark of your own may lack the parameter `judges`; it is then graded on this machine
        only.
        Raises SettingsError, NoIsolation.
        """
        ...


def takes_judges(benchmark: Benchmark[Any]) -> bool:
    """Return True if the benchmark's `open_grader` accepts `judges`."""
    return "judges" in inspect.signature(benchmark.open_grader).parameters
