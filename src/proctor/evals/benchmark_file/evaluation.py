"""Evaluation of a benchmark file's texts in a helper process, with bounds on what they take.

A file's author may be a stranger: `9 ** 9 ** 8` is an expression, too. One row may take CPU seconds
and bytes of memory; what takes more ends the process and is told by field and row.
"""

import atexit
import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from proctor.limits import MIB
from proctor.per_process import PerProcess
from proctor.sandbox.helper import Helper, HelperTimeout

CPU = 1.0
"""CPU seconds for all texts of one row."""
FUNCTIONS_CPU = 3.0
"""CPU seconds more for what functions parse or match for one row, in a process of their own."""
MEMORY = 512 * MIB
"""Bytes of address space."""
GROWTH = 24
"""Bytes more of memory for each byte that is asked about: a row may be long."""
_PER_SECOND = 8 * MIB
"""Bytes of a row that bring a CPU second more."""
_PATIENCE = 120.0
"""How long to wait for the process, which bounds its own CPU time, in seconds."""
_WORKER = "proctor.evals.benchmark_file.template_process"
BOUND = (
    f"takes more than {CPU:g} s of CPU time or {MEMORY // MIB} MiB of memory, or gives too much;"
    " make it smaller"
)


def allowed(size: int) -> float:
    """Return the CPU seconds for one row of a request of so many bytes."""
    return CPU + size / _PER_SECOND


def most_answer(size: int) -> int:
    """Return how many bytes the values of one row may have; `size` is the request's."""
    return 32 * MIB + 8 * size


class RunValues(dict[str, str]):
    """Facts of a run: language, tag, fence, prompt; in `grading` the mode."""


class EvaluationStep(msgspec.Struct, frozen=True, array_like=True):
    """A text to evaluate."""

    key: str
    """Name of its value in the answer."""
    text: str
    is_template: bool = False
    mode: str = ""
    """Mode that it sees as `run.mode`, if there is one."""
    bind: str = ""
    """Name by which later steps see the value; they are left out if there is none."""
    keep: bool = True
    """False if only an error is of interest."""
    ends: bool = False
    """True if a false value ends the row's evaluation."""


class CompiledText(msgspec.Struct, frozen=True, omit_defaults=True):
    """Names that a compiled text uses, or an error."""

    names: list[str] = []
    """Names that it uses."""
    includes: list[str] = []
    """Files that it includes."""
    error: str = ""
    """Mistake that it has, if any."""


Answers = Mapping[str, dict[str, Any]]
"""Results of steps for one row: values as plain_values writes them, or errors, by key."""
NOTHING: Answers = MappingProxyType({})


def compiled(text: str, *, is_template: bool, included: Mapping[str, str]) -> CompiledText:
    """Compile a text. Raises InfraFault."""
    request = {"included": included, "text": text, "is_template": is_template}
    try:
        return msgspec.convert(_workers.get().ask(request, _PATIENCE), CompiledText)
    except HelperTimeout:  # constants are calculated when a text is compiled
        return CompiledText(error=BOUND)


def evaluate(
    steps: Sequence[EvaluationStep], rows: Sequence[str], included: Mapping[str, str]
) -> Iterator[Answers]:
    """Evaluate steps for rows: names with values of plain_values, as JSON. Raises InfraFault.

    A step that exceeds the bounds is the last of its row. Rows are evaluated when they are asked
    for, those together that can be.
    """
    done = 0
    while done < len(rows):
        try:
            found = _asked(steps, rows[done:], included)
        except (HelperTimeout, RecursionError):
            left = rows[done:]
            yield from (_alone(steps, row, included, tried=len(left) == 1) for row in left)
            return
        yield from found
        done += len(found)


def _asked(
    steps: Sequence[EvaluationStep], rows: Sequence[str], included: Mapping[str, str]
) -> list[Answers]:
    told = json.dumps({"included": included, "steps": msgspec.to_builtins(steps)})
    request = f'{told[:-1]},"rows":[{",".join(rows)}]}}'.encode()
    found: list[Answers] = _workers.get().ask(request, _PATIENCE)
    return found


def _alone(
    steps: Sequence[EvaluationStep], row: str, included: Mapping[str, str], *, tried: bool
) -> Answers:
    """Evaluate one row; if it exceeds the bounds, as one `tried` did, find the step that does."""
    if not tried:
        with contextlib.suppress(HelperTimeout, RecursionError):
            return _asked(steps, [row], included)[0]
    answers: Answers = {}
    fitting, exceeding = 0, len(steps)  # numbers of first steps that do, and that do not
    while exceeding - fitting > 1:
        count = (fitting + exceeding) // 2
        try:
            (answers,) = _asked(steps[:count], [row], included)
            fitting = count
        except (HelperTimeout, RecursionError):
            exceeding = count
    return {**answers, steps[fitting].key: {"error": "", "bound": True}}


_workers = PerProcess(lambda: Helper(_WORKER))


@atexit.register
def _close() -> None:
    _workers.get().close()
