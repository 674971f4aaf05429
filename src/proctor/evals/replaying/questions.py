"""Questions of graders: what a grader asks judges for, found by letting it grade with `_Noting`."""

from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass

from proctor.judgement import Judgement
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem
from proctor.program import Program


@dataclass(frozen=True, slots=True)
class _Question:
    """Arguments of Judges.start."""

    problem: Problem
    program: Program
    settings: JudgeSettings
    subtasks: tuple[str, ...] | None


class _QuestionAsked(Exception):
    """A grader has asked for its judgement."""

    def __init__(self, question: _Question) -> None:
        self.question = question


class _Noting:
    """Judges that judge nothing: the first question ends the grading with _QuestionAsked."""

    at_once = 1

    def version_of(self, _language: str) -> str:
        return ""

    def surroundings(self) -> tuple[str, ...]:
        return ()

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        program = program if isinstance(program, Program) else Program(program)
        chosen = None if subtasks is None else tuple(subtasks)
        raise _QuestionAsked(_Question(problem, program, settings, chosen))


def asked_by(grade: Callable[[Judges], object]) -> _Question | None:
    """Return the question for which a grader needs a judgement; None if it needs none."""
    try:
        grade(_Noting())
    except _QuestionAsked as asked:
        return asked.question
    return None
