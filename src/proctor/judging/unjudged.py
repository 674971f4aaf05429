"""Problems and programs that are refused or decided before anything runs."""

import json
from collections.abc import Collection

from proctor.cell.wire import LONGEST_NAME
from proctor.errors import InputError
from proctor.grading import STANDARD_COMPARISON
from proctor.judgement import Judgement
from proctor.judging.per_problem import PerProblem
from proctor.judging.settings import JudgeSettings
from proctor.judging.values import expected_values
from proctor.languages import registry
from proctor.problem import Batch, Problem, Test, content_bytes
from proctor.program import Program
from proctor.verdict import Verdict


def is_plain(problem: Problem) -> bool:
    """Return whether single cells can judge it: stdin and stdout or calls, compared as usual."""
    if problem.function is not None:
        return True
    special = (
        problem.grading != STANDARD_COMPARISON
        or problem.running != Batch()
        or problem.subtasks
        or problem.stubs
        or problem.languages
        or problem.integrity
    )
    return not special and not any(
        test.args or test.files or test.flags or test.output is None for test in problem.tests
    )


def without_running(  # noqa: PLR0911 - one for each reason
    problem: Problem, program: Program, settings: JudgeSettings, *, plain: bool
) -> Judgement | None:
    """Return the judgement on a broken problem or absent program; None if a cell is needed."""
    if not problem.tests:
        message = "the problem has no tests; a program without tests cannot be judged"
        return Judgement(Verdict.TASK_FAULT, 0.0, (), message)
    if not plain:
        return None
    if problem.function is not None and len(content_bytes(problem.function)) > LONGEST_NAME:
        message = f"the name of the function is longer than {LONGEST_NAME} bytes"
        return Judgement(Verdict.TASK_FAULT, 0.0, (), message)
    if settings.mode == "official":
        return None  # upstream has rules of its own for the rest
    if problem.function is not None and (fault := _task_fault.of(problem)) is not None:
        return Judgement(Verdict.TASK_FAULT, 0.0, (), fault)
    if not program.source.strip():
        return Judgement(Verdict.NC, 0.0, (), "there is no code")
    return None


def check_standard(problem: Problem, settings: JudgeSettings) -> None:
    """Raise InputError in official mode, for a problem that lcb_runner could not have."""
    if settings.mode == "official":
        raise InputError(
            f"official mode reproduces lcb_runner, which knows no checker, interactor or subtasks"
            f" (problem {problem.id})",
            field="mode",
        )


def check_subtasks(problem: Problem, wanted: Collection[str]) -> None:
    """Raise InputError for a subtask that the problem does not have."""
    known = [each.name for each in problem.subtasks]
    for name in wanted:
        if name not in known:
            what = f"there is no subtask {name!r} (there are: {', '.join(known)})"
            raise InputError(what, field="subtasks")


def check_language(problem: Problem, program: Program, settings: JudgeSettings) -> None:
    """Raise InputError for a language that is not known, or not for this problem or mode."""
    language = registry.get(program.language)
    name = language.name
    if language.compile is not None and language.compile.own_code:
        raise InputError(
            f"a submission may not be in {name}: no limit of its own would count what it computes"
            " while it is built",
            field="language",
        )
    if settings.mode == "official":
        raise InputError(f"official mode is for Python, not {name}", field="language")
    if problem.function is not None:
        raise InputError(
            f"problem {problem.id} calls a Python function, which {name} cannot have",
            field="language",
        )


def _find_task_fault(problem: Problem) -> str | None:
    """Return what makes a function-call problem unjudgeable; None if nothing does."""
    faults = (_call_fault(number, test) for number, test in enumerate(problem.tests))
    return next((fault for fault in faults if fault is not None), None)


_task_fault = PerProblem(_find_task_fault)


def _call_fault(number: int, test: Test) -> str | None:
    for name, lines in (
        ("input", test.input_text().strip().split("\n")),
        ("output", [test.output_text()]),
    ):
        try:
            for line in lines:
                json.loads(line) if name == "input" else expected_values(line)
        except (ValueError, RecursionError):
            return f"test {number}: its {name} is not JSON, one value a line"
    return None
