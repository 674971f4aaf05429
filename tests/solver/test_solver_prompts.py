"""What models are told of a profile is what holds: schemas, profile, code and prompt agree.

The prompt's own examples are run: its input and result are checked, its programs solve its input.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proctor.limits import MIB
from proctor.solver import profile as profiles
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile, modules, prompt
from proctor.solver.request import SolveRequest, environment, time_limits
from proctor.timetable.validate import validate
from waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
TIMETABLE = profiles.load("timetable")
FENCE = re.compile(r"^```(\w+) (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")


def text(profile: Profile) -> str:
    return prompt(profile)


def block(name: str) -> Any:
    (found,) = [each[3] for each in FENCE.finditer(text(TIMETABLE)) if each[2] == name]
    return json.loads(found)


def programs() -> list[str]:
    return [each[3] for each in FENCE.finditer(text(TIMETABLE)) if each[2] == "program"]


def schema(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TIMETABLE.path(file).read_text())
    return found


def section(title: str) -> str:
    _, _, rest = text(TIMETABLE).partition(f"## {title}\n")
    assert rest, title
    return re.split(r"^## ", rest, flags=re.MULTILINE)[0]


def words(of: str) -> set[str]:
    return set(CODE.findall(of))


def request(**changes: Any) -> SolveRequest:
    return SolveRequest("pass", b"{}", TIMETABLE, **changes)


def test_variables() -> None:
    """Those that the host sets, and no others."""
    asked = request(deterministic=True)
    given = environment(asked, time_limits(asked), 2)
    assert words(section("What the program gets")) >= given.keys()
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", text(TIMETABLE)))
    others = {TIMETABLE.marker.text, *TIMETABLE.status.table}
    assert named - others - given.keys() == set()


def test_the_skeleton_reads_no_other_variables() -> None:
    asked = request(deterministic=True)
    given = environment(asked, time_limits(asked), 2)
    source = b"\n".join(modules(TIMETABLE).values()).decode()
    read = set(re.findall(r'"((?:SOLVER|TT|EXECUTOR)_[A-Z_]+)"', source))
    assert "SOLVER_MAX_SECONDS" in read
    assert read - given.keys() == set()


@pytest.mark.parametrize("name", profiles.names())
def test_files(name: str) -> None:
    """Their names, and every name of a file is one of theirs."""
    profile = profiles.load(name)
    told = text(profile)
    assert f"`{profile.input.file}`" in told
    assert f"`{profile.result.file}`" in told
    named = set(re.findall(r"[\w./]+\.(?:json|py)\b", told))
    incumbents = {each for each in named if re.fullmatch(profile.incumbents.files, each)}
    assert incumbents
    assert named - incumbents <= {profile.input.file, profile.result.file, profile.entry}


@pytest.mark.parametrize("name", profiles.names())
def test_what_is_set_for_all_profiles_is_told_in_each(name: str) -> None:
    profile, told = profiles.load(name), text(profiles.load(name))
    for variable in ("SOLVER_MAX_SECONDS", "SOLVER_WORKERS", "SOLVER_RANDOM_SEED"):
        assert f"`{variable}`" in told
    assert f'"{profile.status.solution}"' in told
    assert f"`{profile.status.field}`" in told
    assert f"`{profile.objective.field}`" in told
    assert f"`{profile.objective.bound}`" in told
    for module in profile.warm:
        assert f"`{module}`" in told
    assert not profile.marker.text or f"`{profile.marker.text}`" in told


def test_imports() -> None:
    paragraph = next(each for each in text(TIMETABLE).split("\n\n") if "You may import" in each)
    modules_named = {each.split(".")[0] for each in words(paragraph)}
    assert modules_named == set(TIMETABLE.gate.imports)


def test_status_words() -> None:
    row = next(line for line in text(TIMETABLE).splitlines() if line.startswith("| `status` |"))
    assert words(row) - {"status"} == set(TIMETABLE.status.table)


def test_fields_of_the_result() -> None:
    rows = re.findall(r"^\| (`[^|]*) \|", section("What it must leave"), re.MULTILINE)
    fields = {name for row in rows for name in CODE.findall(row)}
    known = schema(TIMETABLE.result.schema)
    assert fields == set(known["properties"])
    assert set(known["required"]) | {TIMETABLE.status.solution} <= fields


def test_fields_of_the_input() -> None:
    told = words(section("What the program gets"))
    known = schema(TIMETABLE.input.schema)
    given = block("input")
    properties = set(known["properties"])
    assert properties - told - given.keys() == set()
    for name, parts in (("assignment", "assignments"), ("constraint", "constraints")):
        required = set(known["$defs"][name]["required"])
        assert all(required <= each.keys() for each in given[parts])


def test_numbers() -> None:
    told = text(TIMETABLE)
    limits, rules = TIMETABLE.limits, TIMETABLE.result
    assert f"{float(limits.wall):g} seconds and {int(limits.memory) // MIB} MiB" in told
    assert f"at most {rules.max_bytes // MIB} MiB of strict JSON" in told
    assert f"at most {rules.max_depth} levels" in told
    assert f"at most {TIMETABLE.input.max_bytes // MIB} MiB" in told
    assert f"{float(limits.grace):g} seconds later everything is killed" in told
    assert f"at most {TIMETABLE.artifacts.max_files} of them" in told
    assert re.fullmatch(TIMETABLE.artifacts.files, "artifacts/plot.svg")


def test_its_example() -> None:
    given, result = block("input"), block("result")
    jsonschema.validate(given, schema(TIMETABLE.input.schema))
    jsonschema.validate(result, schema(TIMETABLE.result.schema))
    found = validate(given, result)
    assert found.ok, found.violations
    assert found.objective == result["objective"]


@pytest.mark.namespaces
@pytest.mark.parametrize("number", range(len(programs())))
def test_its_programs(number: int, host: SolverHost) -> None:
    given = json.dumps(block("input")).encode()
    asked = SolveRequest(programs()[number], given, TIMETABLE, timeout=30, workers=1)
    found = host.solve(asked)
    assert found.accepted, found
    assert found.status == "optimal", found
    assert found.warnings == ()
    assert found.marker_count == 1
    assert set(found.result_data) >= set(schema(TIMETABLE.result.schema)["required"])


def test_kinds_are_those_of_the_registry() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build_timetable_kinds.py"), "--check"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", profiles.names())
def test_the_command_prints_it(name: str) -> None:
    command = Path(sys.executable).with_name("proctor")
    done = subprocess.run(
        [command, "profiles", name], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout == text(profiles.load(name))
