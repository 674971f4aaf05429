"""Labels of sample solutions by their authors, compared with judgements.

| label | what must be so |
|---|---|
| correct, model_solution, accepted | full points |
| partially_correct | some points, but not all |
| incorrect, wrong_answer | not all points, and a wrong answer somewhere |
| runtime_error | not all points, and a runtime error somewhere; or, with a note, a wrong answer |
| time_limit, time_limit_exceeded | not all points, and too slow (TLE or ILE) somewhere |
| memory_limit, memory_limit_exceeded | not all points, and MLE somewhere |
| time_limit_and_runtime_error | not all points, and one of these somewhere |
| compile_error, compilation_error | it does not compile |
| protocol_violation | not all points, and a wrong answer or a runtime error somewhere |

"Wrong answer" includes partial scores below full: a solution that the authors call incorrect may
get points for the subtasks that it solves. A row may also tell the `points` or `score` that were
recorded, and `subtask_points` by subtask; these must be met within rounding.

A program that reads or writes beyond its arrays crashes with one compiler and gives a wrong answer
with another; no judge can tell. So a wrong answer in the place of a crash is noted, not counted.
"""

from collections.abc import Mapping
from typing import Any

from proctor.errors import InputError
from proctor.formats.ioi_rows import IoiTask
from proctor.judgement import Judgement
from proctor.verdict import Verdict

_WRONG = frozenset({Verdict.WA, Verdict.PE, Verdict.PA, Verdict.OLE})
_SLOW = frozenset({Verdict.TLE, Verdict.ILE})
_CRASH = frozenset({Verdict.RE})
_MEMORY = frozenset({Verdict.MLE})
_FULL = frozenset({"correct", "model_solution", "accepted"})
_SEEN: Mapping[str, frozenset[Verdict]] = {
    "incorrect": _WRONG,
    "wrong_answer": _WRONG,
    "runtime_error": _CRASH | _WRONG,
    "time_limit": _SLOW,
    "time_limit_exceeded": _SLOW,
    "memory_limit": _MEMORY,
    "memory_limit_exceeded": _MEMORY,
    "time_limit_and_runtime_error": _SLOW | _CRASH,
    "protocol_violation": _WRONG | _CRASH,
}
"""Verdicts by label: some test must have one of them."""
_BROKEN = frozenset({"compile_error", "compilation_error"})
KNOWN = frozenset({*_FULL, *_SEEN, *_BROKEN, "partially_correct"})


def label_of(row: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Label, and what was recorded with it; `label` may be a word or a table with `verdict`.

    Raises InputError for an unknown label.
    """
    label = row.get("label")
    recorded = label if isinstance(label, dict) else row
    word = label.get("verdict") if isinstance(label, dict) else label
    plain = str(word or "").strip().lower().replace(" ", "_").replace("-", "_")
    if plain not in KNOWN:
        raise InputError(
            f"{word!r} is not a known label; there are {', '.join(sorted(KNOWN))}", field="label"
        )
    return plain, recorded


def differences(
    label: str, recorded: Mapping[str, Any], task: IoiTask, judgement: Judgement
) -> list[str]:
    """Return how the judgement differs from the label; empty if it does not."""
    if judgement.points is None:
        return [f"a fault has left its points unknown: {_fault(judgement)}"]
    found = _by_label(label, task, judgement, judgement.points)
    return found + _by_record(recorded, task, judgement, judgement.points)


def notes(label: str, judgement: Judgement) -> list[str]:
    """Return remarks worth a look although they contradict no label."""
    seen = {test.verdict for test in judgement.tests}
    if label == "runtime_error" and not seen & _CRASH:
        return ["no test is RE: a crash that depends on the compiler?"]
    return []


def _by_label(label: str, task: IoiTask, judgement: Judgement, points: float) -> list[str]:
    of = task.problem.points
    if label in _BROKEN:
        return ["it compiles"] if judgement.compiled else []
    if not judgement.compiled:
        return [f"it does not compile: {judgement.compiler_output.strip()[:500]}"]
    if (points >= of) != (label in _FULL):
        why = "" if points >= of else f" ({_first_failure(judgement)})"
        return [f"{points:g} of {of:g} points{why}"]
    if label == "partially_correct" and points == 0:
        return [f"no points ({_first_failure(judgement)})"]
    seen = {test.verdict for test in judgement.tests}
    if label in _SEEN and not seen & _SEEN[label]:
        wanted = " or ".join(sorted(_SEEN[label]))
        return [f"no test is {wanted}; there are {', '.join(sorted(seen))}"]
    return []


def _by_record(
    recorded: Mapping[str, Any], task: IoiTask, judgement: Judgement, points: float
) -> list[str]:
    found = []
    slack = 0.5 * 10**-task.problem.precision + 1e-9
    for field in ("points", "score"):
        value = recorded.get(field)
        if isinstance(value, int | float) and abs(value - points) > slack:
            found.append(f"{points:g} points, where {value:g} are on record")
    by_subtask = recorded.get("subtask_points")
    if isinstance(by_subtask, dict):
        mine = {result.name: result.points for result in judgement.subtasks}
        for name, value in by_subtask.items():
            got = mine.get(name)
            if got is None or abs(got - float(value)) > slack:
                found.append(f"subtask {name}: {got} points, where {value} are on record")
    return found


def _first_failure(judgement: Judgement) -> str:
    failed = next((test for test in judgement.tests if not test.verdict.passed), None)
    if failed is None:
        return judgement.message or str(judgement.verdict)
    return f"{failed.verdict} on {failed.name}: {failed.message[:200]}".rstrip(": ")


def _fault(judgement: Judgement) -> str:
    faults = [test for test in judgement.tests if test.verdict.is_fault]
    told = faults[0].message or faults[0].log if faults else ""
    return judgement.message or told or str(judgement.verdict)
