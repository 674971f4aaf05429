"""The pages about solvers say what the code says: every field, every default, every detail."""

import ast
import re
import tomllib
import typing
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal

import msgspec
import pytest

from proctor.execution import LimitHit
from proctor.solver import checking, claim, envelope, gate, profile, report, request, solving
from proctor.solver.profile import Profile

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PROFILES = (REFERENCE / "profiles.md").read_text()
ENVELOPE = (REFERENCE / "solve-envelope.md").read_text()
TABLES = {
    field.name: field.type
    for field in msgspec.structs.fields(Profile)
    if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
}
ROW = re.compile(r"^\| `([a-z_]+)` \| ([^|]+) \|([^|]*)\| (.+) \|$", re.MULTILINE)
TYPES: dict[Any, str] = {
    str: "text",
    int: "integer",
    int | None: "integer",
    bool: "boolean",
    float: "number",
    profile.Status: "status",
    tuple[int, int]: "two integers",
    tuple[str, ...]: "list of texts",
    dict[str, str]: "table of texts",
    dict[str, profile.Status]: "table of status",
}
SET_ON_LOADING = "directory"


def section(page: str, title: str) -> str:
    _, _, rest = page.partition(f"## {title}\n")
    assert rest, title
    return re.split(r"^## ", rest, flags=re.MULTILINE)[0]


def shown_type(field: msgspec.structs.FieldInfo) -> str:
    """As the page says it."""
    kind = field.type
    if field.name in {*profile._DURATIONS, *profile._SIZES} and isinstance(kind, UnionType):
        return "duration" if field.name in profile._DURATIONS else "size"
    if kind not in TYPES and typing.get_origin(kind) is Literal:
        return " or ".join(f'`"{each}"`' for each in typing.get_args(kind))
    return TYPES[kind]


def default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    value = field.default
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", ["", *TABLES])
def test_every_field_of_a_profile(name: str) -> None:
    rows = {
        row[1]: row
        for row in ROW.finditer(section(PROFILES, f"`[{name}]`" if name else "Top level"))
    }
    fields = {
        field.name: field
        for field in msgspec.structs.fields(TABLES.get(name, Profile))
        if name or field.name not in {*TABLES, SET_ON_LOADING}
    }
    assert rows.keys() == fields.keys()
    for each, field in fields.items():
        assert rows[each][2].strip() == shown_type(field), each
        shown = rows[each][3].strip()
        if field.required or field.default is None:  # TOML has no word for None
            assert shown == ""
        elif each == "table":
            assert shown == "see below"
        else:
            assert tomllib.loads(f"value = {shown.strip('`')}")["value"] == default(field), each


def test_words_of_status() -> None:
    (block,) = re.findall(
        r"^```toml\n(.*?)^```", section(PROFILES, "`[status]`"), re.DOTALL | re.MULTILINE
    )
    assert tomllib.loads(block) == {"status": {"table": profile._WORDS}}
    assert all(f'`"{word}"`' in PROFILES for word in typing.get_args(profile.Status))


def test_every_variable() -> None:
    loaded = profile.load("packing")
    asked = request.SolveRequest("pass", b"{}", loaded, deterministic=True)
    given = request.environment(asked, request.time_limits(asked), 1)
    rows = re.findall(
        r"^\| (`[A-Z].*?) \|", section(PROFILES, "What every program finds"), re.MULTILINE
    )
    assert {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)} == set(given)


@pytest.mark.parametrize(
    ("title", "struct"),
    [
        ("Fields", envelope.Envelope),
        ("Answer", envelope.SolveAnswer),
        ("Partial", envelope.Partial),
        ("Incumbents", envelope.Incumbent),
        ("Validation", report.ValidationReport),
        ("Validation", report.Violation),
        ("Validation", report.Unchecked),
        ("Fields", envelope.Usage),
        ("Fields", envelope.Truncated),
        ("Fields", envelope.Artifact),
        ("Fields", envelope.Fault),
    ],
)
def test_every_field_of_the_envelope(title: str, struct: type[msgspec.Struct]) -> None:
    named = set(re.findall(r"`(\w+)`", section(ENVELOPE, title)))
    assert set(struct.__struct_encode_fields__) - named == set()


def test_no_field_of_the_envelope_is_made_up() -> None:
    rows = re.findall(r"^\| (`[^|]*) \|", section(ENVELOPE, "Fields"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == set(envelope.Envelope.__struct_encode_fields__)


def test_limits_in_force() -> None:
    loaded = profile.load("packing")
    asked = request.SolveRequest("pass", b"{}", loaded)
    steps = request.time_limits(asked)
    known = request.in_force(steps, request.limits(asked, steps, 1))
    (row,) = re.findall(r"^\| `limits` \| (.*) \|$", ENVELOPE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == set(known)


def test_every_ending() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", section(ENVELOPE, "Endings"), re.MULTILINE)
    assert rows[0] == "status"
    assert set(rows[1:]) == set(typing.get_args(envelope.Ending))
    phases = set(typing.get_args(envelope.Phase))
    told = set(re.findall(r"^\| `phase` \|.*$", ENVELOPE, re.MULTILINE)[0].split("`")[1::2])
    assert told - {"phase"} == phases


def test_every_detail() -> None:
    """Those that the code can give, by reading it, are those of the page."""
    rows = re.findall(r"^\| (`[^|]*) \|", section(ENVELOPE, "Details"), re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}
    # What hits a limit that has no word of its own is named after it; time-outs are an ending.
    ends_in_time = {LimitHit.WALL, LimitHit.IDLE, LimitHit.CPU, LimitHit.MEMORY}
    limits = {str(each) for each in LimitHit if each not in ends_in_time}
    assert told == details() | limits


def details() -> set[str]:
    """Words at the places where the code puts a detail."""
    found = {gate.GateResult("").detail}
    for module in (solving, checking, gate, claim):
        tree = ast.parse(Path(str(module.__file__)).read_text())
        for node in ast.walk(tree):
            found |= set(_words(node))
    return found


PLACES = {"SolveRefused": 1, "Conclusion": 2, "UnreadableResult": 0}
"""By what is called: which argument is the detail, where that is not named so."""


def _words(node: ast.AST) -> list[str]:
    places: list[ast.expr] = []
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        at = PLACES.get(name)
        places = [each.value for each in node.keywords if each.arg in {"detail", "status_detail"}]
        places += [] if at is None else node.args[at : at + 1]
    elif isinstance(node, ast.FunctionDef) and node.name == "_crash":
        returns = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
        places = [each.elts[0] for each in returns if isinstance(each, ast.Tuple)]
    elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "detail":
        places = [node.value]
    return [
        each.value
        for place in places
        for each in ast.walk(place)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value
    ]


def test_each_field_of_tack_is_ours() -> None:
    names = (
        "phase ok status durationMs resultPath resultSummary errorDigest stdout stderr resultData"
    )
    assert set(names.split()) <= set(envelope.Envelope.__struct_encode_fields__)
    told = section(ENVELOPE, "For users of Tack")
    assert all(f"`{name}`" in told for name in names.split())
    assert NoneType in typing.get_args(typing.get_type_hints(envelope.Envelope)["result_path"])
