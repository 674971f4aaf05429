"""Benchmarks of calls whose code is shown: what one returns, or one that returns a value."""

from collections.abc import Callable
from typing import Literal

from proctor.evals.predictions import THINKING, PredictionBenchmark, Question, sides, tagged
from proctor.evals.settings import Settings
from proctor.evals.tables import Places
from proctor.formats.tables import Row
from proctor.judging.predictions import CallTask

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


def call_prediction(
    name: str,
    places: Places,
    question_of: Callable[[Row], Question],
    upstream: Callable[[str, bool], str],
    wanted: Wanted = "output",
) -> PredictionBenchmark:
    """Make such a benchmark, of questions about a CallTask.

    `upstream` is how the publishers take the prediction from a reply, which may hold thoughts or
    not.
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
            return upstream(text, settings.prompt == THINKING)
        left, right = sides(tagged(text, settings.extraction))
        return left if wanted == "input" or right is None else right

    return PredictionBenchmark(name, places, question_of, ask, taken)


def _shown(task: CallTask, wanted: Wanted) -> str:
    gap = f"{task.call} == ??" if wanted == "output" else f"{task.function}(??) == {task.output}"
    return f"[PYTHON]\n{task.code.strip()}\nassert {gap}\n[/PYTHON]"
