"""Prompts for one subtask: templates that keep open-r1's contract.

The statement, which subtask is to be solved and what it is worth, time and memory limit, the header
that the program is compiled with and the code to start from; the reply is one C++ program in a
fenced block, which implements the routines and leaves main and input and output to the grader. The
words are proctor's; `dataset` sends the row's own field `problem` as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any

from proctor.errors import InputError
from proctor.evals.models.model import Message
from proctor.formats.ioi_rows import IoiTask
from proctor.problem import Communication

DEFAULT = "plain"
VERSION = 1
"""Goes up with every change of any template: a run is not continued with other prompts."""

_SYSTEM = (
    "You solve tasks of the International Olympiad in Informatics in C++17. Reply with one "
    "complete source file in a fenced cpp block; of several blocks the last one is taken."
)
_ROUTINES = (
    "Implement the routines that the statement describes. A grader that you do not see is compiled "
    "with your file, has main, and calls them: write no main of your own, read nothing from "
    "standard input and write nothing to standard output."
)
_WHOLE = "Write a whole program, with main."


def messages(task: IoiTask, subtask: str, template: str = DEFAULT) -> tuple[Message, ...]:
    """Return the prompt of a subtask. Raises InputError for an unknown template, or no prompt."""
    make = _TEMPLATES.get(template)
    if make is None:
        raise InputError(f"{template!r} is not one of {', '.join(_TEMPLATES)}", field="prompt")
    return make(task, subtask)


def templates() -> tuple[str, ...]:
    """Names of all templates."""
    return tuple(_TEMPLATES)


def _asked(task: IoiTask, subtask: str) -> str:
    row, limits = task.rows[subtask], task.problem.test_limits
    points = next(each.points for each in task.problem.subtasks if each.name == subtask)
    worth = (
        f"Subtask {subtask}, worth {points:g} points. A solution that is right and fast enough "
        "within the constraints of this subtask gets them all."
    )
    parts = [
        f"# {task.problem.title or task.id}",
        str(row.get("statement") or "").strip(),
        f"## What to solve\n\n{worth}",
        "## Limits of each test",
        f"{limits.cpu:g} s of CPU time, {_mib(limits.memory):g} MiB of memory.",
        "## Form of the answer",
        *_form(task, row),
    ]
    return "\n\n".join(part for part in parts if part)


def _form(task: IoiTask, row: Mapping[str, Any]) -> list[str]:
    stub = task.problem.stubs["cpp"]
    headers = {
        name: content.decode("utf-8", "replace")
        for name, content in stub.files.items()
        if name.endswith((".h", ".hpp")) and name != "testlib.h"
    }
    sources = any(name.endswith(".cpp") for name in stub.files)
    found = [_ROUTINES if sources else _WHOLE]
    running = task.problem.running
    if isinstance(running, Communication) and running.processes > 1:
        found.append(f"{running.processes} processes of your program run at once.")
    found += [f"`{name}`:\n\n{_block(text)}" for name, text in headers.items()]
    if (start := str(row.get("starting_code") or "")).strip():
        found.append(f"Start from this:\n\n{_block(start)}")
    return found


def _block(code: str) -> str:
    return f"```cpp\n{code.strip()}\n```"


def _mib(size: int) -> float:
    return round(size / (1 << 20), 1)


def _plain(task: IoiTask, subtask: str) -> tuple[Message, ...]:
    return Message("system", _SYSTEM), Message("user", _asked(task, subtask))


def _user_only(task: IoiTask, subtask: str) -> tuple[Message, ...]:
    """For models that take no system message, as many that reason."""
    return (Message("user", f"{_SYSTEM}\n\n{_asked(task, subtask)}"),)


def _dataset(task: IoiTask, subtask: str) -> tuple[Message, ...]:
    own = task.rows[subtask].get("problem")
    if not isinstance(own, str) or not own.strip():
        raise InputError(
            f"{task.year}-{task.id}-{subtask} has no prompt of its own (field problem): "
            "choose another --prompt",
            field="prompt",
        )
    return (Message("user", own),)


_TEMPLATES: Mapping[str, Callable[[IoiTask, str], tuple[Message, ...]]] = {
    DEFAULT: _plain,
    "user-only": _user_only,
    "dataset": _dataset,
}
