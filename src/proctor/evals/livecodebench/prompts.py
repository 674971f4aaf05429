"""Prompts: named templates that keep lcb_runner's contract.

The statement, the starter code if there is any, every public test, and a reply with one program in
a fenced block. The words are proctor's; each sample's record has the messages' hash.
"""

from collections.abc import Callable, Mapping

from proctor.errors import InputError
from proctor.evals.models.model import Message
from proctor.languages import registry
from proctor.problem import Problem

DEFAULT = "plain"
VERSION = 1
"""Goes up with every change of any template: a run is not continued with other prompts."""

_SYSTEM = (
    "You solve programming contest problems in {language}. Your program is run on hidden tests with"
    " a time limit for each. Reply with one complete program in a fenced {fence} block."
)
_STDIN = "Read the input from standard input and write the answer to standard output, nothing else."
_FUNCTION = "Complete the class below. Keep its name and the method's signature; do not read input."


def messages(
    problem: Problem, template: str = DEFAULT, language: str = "python"
) -> tuple[Message, ...]:
    """Return the prompt for one problem; `language` is an id.

    Raises InputError for an unknown template.
    """
    make = _TEMPLATES.get(template)
    if make is None:
        raise InputError(f"{template!r} is not one of {', '.join(_TEMPLATES)}", field="prompt")
    asked = registry.get(language)
    return make(problem, _SYSTEM.format(language=asked.name, fence=asked.family))


def templates() -> tuple[str, ...]:
    """Names of all templates."""
    return tuple(_TEMPLATES)


def task(problem: Problem) -> str:
    """The problem in words: statement, what form the answer has, public tests."""
    title = f"# {problem.title}\n\n" if problem.title else ""
    form = _STDIN if problem.function is None else _FUNCTION
    if problem.starter_code.strip():
        form += f"\n\n```python\n{problem.starter_code.rstrip()}\n```"
    return f"{title}{problem.statement.strip()}\n\n## Form of the answer\n\n{form}{_tests(problem)}"


def _tests(problem: Problem) -> str:
    shown = [
        f"\n\n## Test {number}\n\nInput:\n```text\n{test.input_text().rstrip()}\n```\n"
        f"Expected output:\n```text\n{test.output_text().rstrip()}\n```"
        for number, test in enumerate((test for test in problem.tests if test.public), 1)
    ]
    return "".join(shown)


def _plain(problem: Problem, system: str) -> tuple[Message, ...]:
    return Message("system", system), Message("user", task(problem))


def _user_only(problem: Problem, system: str) -> tuple[Message, ...]:
    """For models that take no system message, as many that reason."""
    return (Message("user", f"{system}\n\n{task(problem)}"),)


def _step_by_step(problem: Problem, system: str) -> tuple[Message, ...]:
    ask = (
        "First think aloud: what is asked, which method fits the limits, which cases are special. "
        "Then give the program, once, in the last fenced block of your reply."
    )
    return Message("system", system), Message("user", f"{task(problem)}\n\n{ask}")


_TEMPLATES: Mapping[str, Callable[[Problem, str], tuple[Message, ...]]] = {
    DEFAULT: _plain,
    "user-only": _user_only,
    "step-by-step": _step_by_step,
}
