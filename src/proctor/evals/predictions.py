"""Benchmarks that ask for a value: their instance, grader and extraction."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from proctor.errors import SettingsError
from proctor.evals.benchmark import Graded
from proctor.evals.extraction import Extracted
from proctor.evals.judging import cells_of, judged, open_judges
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import Places, TableSource
from proctor.formats.hub import Progress
from proctor.formats.replies import code_blocks
from proctor.formats.tables import Row
from proctor.formats.thoughts import answer
from proctor.judging.judges import Judges
from proctor.judging.predictions import OFFICIAL_SECONDS, Task
from proctor.prediction import CallTask
from proctor.problem import Problem

THINKING = "step-by-step"
TEMPLATES = ("plain", THINKING)
MODES = MappingProxyType({
    "official": "the published check, executed",
    "standard": "a literal, compared as a value",
})  # fmt: skip
LONGEST_SPLIT = 1 << 16
"""Longest answer that is split, in characters; longer ones are left as they are."""
_OPEN, _CLOSE = "[ANSWER]", "[/ANSWER]"
_TOKEN = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|[()\[\]{}]|[=!<>]?==?")

Wanted = Literal["output", "input"]

_TASKS = {
    "output": "Below is Python code that ends with an assertion whose right side is missing. Work "
    "out what the call returns, and complete the assertion with a literal: no expression, no "
    "call.",
    "input": "Below is Python code that ends with an assertion in which the arguments of the call "
    "are missing. Find arguments, all of them literals, for which the assertion holds; where "
    "several do, any of them will do.",
}
_FORMS = {
    "plain": "Reply with the complete assertion between [ANSWER] and [/ANSWER], and nothing else.",
    THINKING: "First follow the code step by step, aloud. Then end your reply with the complete "
    "assertion between [ANSWER] and [/ANSWER].",
}
_EXAMPLE = CallTask(
    "def f(words, n):\n    return [word[:n] for word in words if word]",
    "f",
    "f(['lamp', '', 'sea'], 2)",
    "['la', 'se']",
)
_THOUGHT = (
    "f keeps the words that are not empty, 'lamp' and 'sea', and of each the first n = 2 letters: "
    "'la' and 'se'.\n"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question for one value, or one call."""

    info: ProblemInfo
    task: Task

    @property
    def id(self) -> str:
        return self.info.id


@dataclass(frozen=True, slots=True)
class PredictionGrader:
    """Grades predictions."""

    judges: Judges
    settings: Settings

    @property
    def cells(self) -> int:
        return cells_of(self.judges)

    async def grade(self, instance: Question, code: str, mode: str) -> Graded:
        settings = self.settings.judge_settings(mode)
        problem = Problem(instance.id, (), running=instance.task)
        judgement = await judged(self.judges, problem, code, settings)
        cpu = settings.limits.cpu
        return Graded.of(judgement, min(cpu, OFFICIAL_SECONDS) if mode == "official" else cpu)


@contextmanager
def open_grader(settings: Settings, judges: Judges | None = None) -> Iterator[PredictionGrader]:
    """Open the cells to grade in, unless `judges` does it. Raises SettingsError, NoIsolation."""
    with open_judges(settings, judges) as opened:
        yield PredictionGrader(opened, settings)


@dataclass(frozen=True, slots=True)
class PublishedPrompts:
    """Prompts of a benchmark's publishers, which are not part of proctor."""

    named: Callable[[str], bool]
    """Tells whether the name of a prompt is of these."""
    ask: Callable[[Question, Settings], tuple[Message, ...]]
    pinned: Callable[[Settings], Settings]
    """See PromptsOfOthers."""


@dataclass(frozen=True, slots=True)
class PredictionBenchmark:
    """A benchmark whose rows each ask for a value, or a call."""

    name: str
    places: Places
    question_of: Callable[[Row], Question]
    """Makes the question of a row. Raises InputError for a row that cannot be used."""
    ask: Callable[[Question, str], str]
    """Writes the prompt of a question, by a template."""
    taken: Callable[[str, Settings], str]
    """Takes from a reply the part that is graded, but for the policy `whole`."""
    version: int = 1
    """Goes up with every change of any text that a model is shown."""
    agentic: bool = False
    published: PublishedPrompts | None = None

    @property
    def modes(self) -> Mapping[str, str]:
        return MODES

    def check(self, settings: Settings) -> None:
        if settings.earlier:
            raise SettingsError("--from is for --scenario selfrepair")
        published = self.published is not None and self.published.named(settings.prompt)
        if not published and settings.prompt not in TEMPLATES:
            names = TEMPLATES if self.published is None else (*TEMPLATES, "upstream")
            raise SettingsError(f"--prompt is one of {', '.join(names)}")

    def pinned(self, settings: Settings) -> Settings:
        return settings if self.published is None else self.published.pinned(settings)

    def open_source(
        self, settings: Settings, progress: Progress | None = None
    ) -> TableSource[Question]:
        paths = self.places.files(settings.source, progress)
        return TableSource(settings.source, paths, self.question_of, lambda each: each.info)

    def messages(
        self, instance: Question, _sample: int, settings: Settings
    ) -> tuple[Message, ...]:  # fmt: skip
        if self.published is not None and self.published.named(settings.prompt):
            return self.published.ask(instance, settings)
        return (Message("user", self.ask(instance, settings.prompt)),)

    def extract(self, _instance: Question, text: str, settings: Settings) -> Extracted:
        policy = settings.extraction
        value = text if policy == "whole" else self.taken(text, settings)
        return Extracted(value, policy if value.strip() else "")

    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> AbstractContextManager[PredictionGrader]:
        return open_grader(settings, judges)


def tagged(reply: str, policy: str) -> str:
    """Return the text between [ANSWER] and [/ANSWER], the last one or the first, by policy.

    Where there are no such tags, the last fenced block, else the last line.
    """
    text = answer(reply)
    _, *parts = text.split(_OPEN)
    if not parts and _CLOSE in text:
        parts = [text]  # the prompt, or a server, had the opening one
    found = [part.split(_CLOSE)[0].strip() for part in parts]
    found = [part for part in found if part] or [text]
    said = found[0 if policy == "first-block" else -1]
    blocks = [code for _, code in code_blocks(said, "python") if code.strip()]
    if blocks:
        said = blocks[-1]
    elif not parts:
        said = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    said = said.strip()
    return said.strip("`").strip() if said.startswith("`") else said


def sides(text: str) -> tuple[str, str | None]:
    """Split at the first == that is in no bracket and no string, without `assert`."""
    depth = 0
    for token in _TOKEN.finditer(text) if len(text) <= LONGEST_SPLIT else ():
        if token[0] in {"(", "[", "{"}:
            depth += 1
        elif token[0] in {")", "]", "}"}:
            depth -= 1
        elif token[0] == "==" and depth == 0:
            return _stated(text[: token.start()]), text[token.end() :].strip()
    return _stated(text), None


def _stated(text: str) -> str:
    return re.sub(r"^\s*assert\b", "", text).strip()


def call_prediction(
    name: str,
    places: Places,
    question_of: Callable[[Row], Question],
    upstream: Callable[[str, str], str],
    wanted: Wanted = "output",
    published: PublishedPrompts | None = None,
) -> PredictionBenchmark:
    """Make a benchmark of calls whose code is shown, each a question about a CallTask.

    `upstream` is how the publishers take the prediction from a reply to a prompt with that name.
    """

    def ask(question: Question, template: str) -> str:
        assert isinstance(question.task, CallTask)
        example, task = (_shown(each, wanted) for each in (_EXAMPLE, question.task))
        thought = _THOUGHT if template == THINKING else ""
        answer = f"[ANSWER]\nassert {_EXAMPLE.call} == {_EXAMPLE.output}\n[/ANSWER]"
        return (
            f"{_TASKS[wanted]} {_FORMS[template]}\n\nAn example:\n\n{example}\n\n"
            f"{thought}{answer}\n\nYours:\n\n{task}"
        )

    def taken(text: str, settings: Settings) -> str:
        if settings.extraction == "upstream":
            return upstream(text, settings.prompt)
        left, right = sides(tagged(text, settings.extraction))
        return left if wanted == "input" or right is None else right

    return PredictionBenchmark(name, places, question_of, ask, taken, published=published)


def _shown(task: CallTask, wanted: Wanted) -> str:
    gap = f"{task.call} == ??" if wanted == "output" else f"{task.function}(??) == {task.output}"
    return f"[PYTHON]\n{task.code.strip()}\nassert {gap}\n[/PYTHON]"
