"""The kinds of constraints as the reference and the prompt list them, from the registry."""

import msgspec

from proctor.timetable import kinds
from proctor.timetable.checking import KINDS, ConstraintKind, Params

__all__ = ["FAMILIES", "kinds", "listing", "parameters", "table"]

FAMILIES = {
    "teachers": "Teachers",
    "subjects": "Subjects",
    "classes": "Classes and groups of subjects",
    "assignments": "Assignments",
    "relations": "Pairs, groups, conditions",
    "rooms": "Rooms",
}

_LISTED = """`?` marks parameters that may be left out. A constraint of kind `custom_dsl` is checked
by its own `pythonPredicate`, Python over the finished schedule, which is run elsewhere.

"""


def parameters(params: type[Params]) -> str:
    """Return the names of a kind's parameters, with `?` and the default where one is optional."""
    named = []
    for field in msgspec.structs.fields(params):
        text = field.encode_name
        if not field.required:
            text += "?" if field.default in {None, msgspec.NODEFAULT} else f"?={field.default}"
        named.append(f"`{text}`")
    return ", ".join(named) or "none"


def table() -> str:
    """Return all kinds, by family, as Markdown."""
    parts = []
    for family, title in FAMILIES.items():
        rows = [_row(each) for each in KINDS.values() if each.family == family]
        head = "| kind | params | holds if | unit of penalty: each |\n|---|---|---|---|\n"
        parts.append(f"## {title}\n\n{head}" + "".join(rows))
    return "\n".join(parts)


def listing() -> str:
    """Return all kinds, one a line, for the prompt."""
    return _LISTED + "".join(
        f"- `{each.name}` ({parameters(each.params)}): {each.meaning}"
        + ("" if each.unit == "none" else f" Penalty for each: {each.unit}.")
        + "\n"
        for family in FAMILIES
        for each in KINDS.values()
        if each.family == family
    )


def _row(kind: ConstraintKind) -> str:
    cells = (f"`{kind.name}`", parameters(kind.params), kind.meaning, kind.unit)
    return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |\n"
