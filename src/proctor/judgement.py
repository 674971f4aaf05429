"""Judgements of programs on problems.

This is where text from programs enters: their output, exceptions, results' reprs. Outputs are
compared as they are, and messages about them are well-formed text, whatever the outputs held.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from proctor.execution import Isolation
from proctor.shown import counted, mebibytes, quoted, score_text, seconds, shown, tallied
from proctor.text import all_well_formed, well_formed
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True, repr=False)
class TestResult:
    """Result of one test that was run: its verdict and what it used."""

    __test__ = False  # not a pytest class

    verdict: Verdict
    """Verdict on this test alone."""
    cpu: float = 0.0
    """CPU time in seconds, of the slowest process of the submission."""
    wall: float = 0.0
    """Wall time in seconds."""
    memory: int = 0
    """Peak memory in bytes."""
    message: str = ""
    """Why, in one sentence, or the checker's words to the author of the submission. Never holds
    the expected output in full in standard mode; in official mode it is upstream's message, which
    may."""
    name: str = ""
    """The test's name; empty if the problem's tests have none."""
    score: float = None  # type: ignore[assignment]  # filled in below: it depends on the verdict
    """From 0 to 1; default 1 for AC, else 0."""
    log: str = ""
    """Words to the author of the problem: of a fault, the failing program's output."""

    def __post_init__(self) -> None:
        if self.message:
            object.__setattr__(self, "message", well_formed(self.message))
        if self.score is None:
            object.__setattr__(self, "score", 1.0 if self.verdict is Verdict.AC else 0.0)

    def __repr__(self) -> str:
        partial = "" if self.score in {0.0, 1.0} else f"score {score_text(self.score)}"
        return shown(
            self,
            self.verdict.value,
            partial,
            f"test {quoted(self.name, 20)}" if self.name else "",
            f"CPU {seconds(self.cpu)}",
            mebibytes(self.memory),
            quoted(self.message) if self.message else "",
        )

    def row(self) -> dict[str, Any]:
        """Return the fields as JSON, as they are stored; without name, score and log if unnamed.

        It is compared with rows stored before: neither names nor their order may change.
        """
        facts = {"cpu": self.cpu, "wall": self.wall, "memory": self.memory, "message": self.message}
        if not self.name:
            return {"verdict": self.verdict.value, **facts}
        graded = {"name": self.name, "verdict": self.verdict.value, "score": self.score}
        return {**graded, **facts, "log": self.log}


def deciding(results: Iterable[TestResult]) -> TestResult | None:
    """Return the result that decides: the first failure, else the first fault; None if all passed.

    A failure stands whatever happened in other tests: no fault takes it back.
    """
    failures = [result for result in results if not result.verdict.passed]
    definite = (result for result in failures if not result.verdict.is_fault)
    return next(definite, next(iter(failures), None))


@dataclass(frozen=True, slots=True, repr=False)
class SubtaskResult:
    """One subtask. A fault leaves its points unknown (None), unless a failure has decided them."""

    name: str
    verdict: Verdict
    score: float | None
    """0 to 1."""
    points: float | None
    """Rounded to the problem's precision."""
    of: float
    """Points of a perfect submission."""
    tests: tuple[str, ...]
    """Tests of it that were run, those of the subtasks it depends on included."""

    def __repr__(self) -> str:
        points = "points unknown" if self.points is None else f"{score_text(self.points)} points"
        return shown(
            self,
            self.verdict.value,
            f"{points} of {score_text(self.of)}",
            f"subtask {quoted(self.name, 20)}",
            counted(len(self.tests), "test"),
        )


@dataclass(frozen=True, slots=True, repr=False)
class UpstreamReport:
    """The results lcb_runner would have written for this program. Only in official mode."""

    results: tuple[bool | int, ...]
    """True per passed test; then, if the program failed, one code (False, -2, -3, -4)."""
    error_code: int | None
    error_message: str | None
    metadata: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.error_message:
            object.__setattr__(self, "error_message", well_formed(self.error_message))
        object.__setattr__(self, "metadata", all_well_formed(self.metadata))

    def __repr__(self) -> str:
        passed = sum(each is True for each in self.results)
        return shown(
            self,
            f"{passed} of {counted(len(self.results), 'result')} True",
            "" if self.error_code is None else f"code {self.error_code}",
            quoted(self.error_message) if self.error_message else "",
        )


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that judges."""

    id: str
    """Its name among the machines that judge together: a node's id, a server's address."""
    cpu: str = ""
    """CPU model; empty if it is not known."""
    factor: float | None = None
    """Number that CPU limits were multiplied by for this machine's speed (judging/speed.py); None
    if they hold as stated."""
    decisive: bool = False
    """True if the verdict could differ without the factor."""

    def row(self) -> dict[str, Any]:
        """Return the fields as JSON, as they are stored."""
        named = {"id": self.id, "cpu": self.cpu}
        if self.factor is None:
            return named
        return {**named, "factor": self.factor, "decisive": self.decisive}


@dataclass(frozen=True, slots=True, repr=False)
class Judgement:
    """Judgement of one program on one problem: AC only if every test passed.

    A verdict that is a fault (`verdict.is_fault`) says nothing about the program: its score is 0.0
    and must not be counted. In standard mode no text in it quotes an expected output; in official
    mode `message`, `upstream` and the messages of tests may, as lcb_runner's do.
    """

    verdict: Verdict
    """The first failed test's, else that of a fault, else AC; PA for part of the points."""
    score: float
    """From 0 to 1: the share of the points; without subtasks, the mean of the tests' scores."""
    tests: tuple[TestResult, ...]
    """The tests that were run, in order; shorter than the problem's if judging stopped early."""
    message: str = ""
    """Reason for the verdict in a sentence; empty for AC."""
    isolation: Isolation | None = None
    """None where nothing was run (no code, no tests)."""
    upstream: UpstreamReport | None = None
    """Results in lcb_runner's form, in official mode; else None."""
    points: float | None = None
    """Points that it got; None without subtasks, or if a fault left those of any unknown."""
    of: float = 0.0
    """Points of a perfect submission, over the subtasks that were judged."""
    subtasks: tuple[SubtaskResult, ...] = ()
    """Results of the subtasks, in the problem's order; empty if it has none."""
    compiled: bool = True
    """True if it compiled, or needed no compiling."""
    compiler_output: str = ""
    """Words of the compiler, if the program was compiled."""
    integrity: str = ""
    """The author of the grading, and how far to trust it; empty if it is proctor's own."""
    machine: Machine | None = None
    """Machine that made it; None: this one."""
    remembered: bool = False
    """True if it was made before, for an equal program, and comes from a cache: with its times."""

    def __post_init__(self) -> None:
        if self.message:
            object.__setattr__(self, "message", well_formed(self.message))

    @classmethod
    def of_tests(
        cls, results: Sequence[TestResult], total: int, isolation: Isolation | None
    ) -> Self:
        """Sum up the tests that were run, of `total`; those with a fault count 0."""
        failed = deciding(results)
        return cls(
            verdict=Verdict.AC if failed is None else failed.verdict,
            score=sum(result.score for result in results) / total,
            tests=tuple(results),
            message="" if failed is None else failed.message,
            isolation=isolation,
        )

    @property
    def passed(self) -> bool:
        """True if every test passed."""
        return self.verdict.passed

    @property
    def score_known(self) -> bool:
        """True if no test ended in a fault, which counts 0 in `score` though it has none."""
        return not self.verdict.is_fault and not any(test.verdict.is_fault for test in self.tests)

    @property
    def _worth(self) -> str:
        if not self.of:
            return f"score {score_text(self.score)}"
        points = "unknown" if self.points is None else score_text(self.points)
        return f"{points} of {score_text(self.of)} points"

    def __repr__(self) -> str:
        return shown(
            self,
            self.verdict.value,
            "" if self.verdict.is_fault else self._worth,
            f"tests: {tallied(each.verdict.value for each in self.tests) or 'none run'}",
            "from a cache" if self.remembered else "",
            quoted(self.message) if self.message else "",
        )

    def _repr_html_(self) -> str:
        from proctor import html_tables as html

        facts = html.paragraph(
            html.coloured(self.verdict.value),
            "no score" if self.verdict.is_fault else self._worth,
            "" if self.isolation is None else f"isolation {html.safe(self.isolation.level)}",
            "from a cache" if self.remembered else "",
            html.safe(self.message),
        )
        rows = (
            (
                html.safe(test.name or number),
                html.coloured(test.verdict.value),
                html.unbroken(seconds(test.cpu)),
                html.unbroken(mebibytes(test.memory)),
                html.safe(test.message),
            )
            for number, test in enumerate(self.tests)
        )
        headings = ("test", "verdict", "CPU", "memory", "message")
        tests = html.table(headings, rows, len(self.tests), "tests") if self.tests else ""
        return facts + tests + html.output("compiler", self.compiler_output)
