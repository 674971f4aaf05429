"""Results that are printed or returned, for programs that know nothing of proctor's files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import InputError
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope
from proctor.solver.host import SolverHost

pytestmark = pytest.mark.namespaces

VALIDATOR = """
from proctor.solver.report import Violation, report

def validate(given, result, custom_checks=()):
    found = result.get("solution")
    right = isinstance(found, list) and sum(found) == given["sum"]
    return report([] if right else [Violation("sum", "sum", "hard", f"comes to {found}")], [])
"""
GIVEN = {"sum": 10}


def profile(place: Path, source: str, more: str = "") -> profiles.Profile:
    (place / "check.py").write_text(VALIDATOR)
    (place / "sums.toml").write_text(
        f'id = "sums"\n[result]\nsource = "{source}"\nmax_bytes = 1000\n{more}\n'
        '[validator]\nfunction = "check.py:validate"\n'
    )
    return profiles.load(str(place / "sums.toml"))


@pytest.fixture(scope="module")
def host() -> Iterator[SolverHost]:
    with SolverHost(cells=1) as opened:
        yield opened


def solved(host: SolverHost, place: Path, source: str, code: str, more: str = "") -> Envelope:
    return proctor.solve(code, GIVEN, profile=profile(place, source, more), host=host)


PRINTS = "import json\ngiven = json.load(open('input.json'))\n"


@pytest.mark.parametrize(
    ("source", "code", "ending"),
    [
        ("function", "def solve(given): return [given['sum'] - 1, 1]", ("feasible", True, True)),
        ("function", "def solve(given): return {'status': 'OPTIMAL', 'solution': [given['sum']]}",
         ("optimal", True, True)),
        ("function", "def solve(given): return [1, 2]", ("feasible", True, False)),
        ("function", "def solve(given): return None", ("unknown", False, False)),
        ("function", "def solve(given): return []", ("infeasible", False, False)),
        ("function", "def solve(given): return {1, 2}", ("crashed", False, False)),
        ("function", "def solve(given): return [given['sum']]\nif __name__ == '__main__':\n    print('x')",
         ("feasible", True, True)),
        ("stdout", PRINTS + "print('looking')\nprint([given['sum']])\nprint()", ("feasible", True, True)),
        ("stdout", PRINTS + "print(json.dumps({'status': 'OPTIMAL', 'solution': [10]}))",
         ("optimal", True, True)),
        ("stdout", "print('[10]', end='')", ("feasible", True, True)),
        ("stdout", "print('[1]')", ("feasible", True, False)),
        ("stdout", "print('null')", ("unknown", False, False)),
        ("stdout", "print('I have found 10')", ("crashed", False, False)),
        ("stdout", "print('[' + '0,' * 600 + '10]')", ("crashed", False, False)),
        ("stdout", "", ("crashed", False, False)),
    ],
)  # fmt: skip
def test_a_value_is_a_solution(
    host: SolverHost, tmp_path: Path, source: str, code: str, ending: tuple[Any, ...]
) -> None:
    found = solved(host, tmp_path, source, code)
    assert (found.status, found.ok, found.accepted) == ending, found.error_digest


@pytest.mark.parametrize(
    ("source", "code", "detail", "says"),
    [
        ("function", "def solves(given): return [10]", "exit_code", "'solve' is not defined"),
        ("function", "def solve(given): raise ValueError('no way')", "exit_code", "no way"),
        ("stdout", "pass", "result_missing", "the last line of stdout was not generated"),
        ("stdout", "print('ten')", "result_invalid", "Invalid the last line of stdout format"),
        ("stdout", "print('1' * 2000)", "result_refused", "has 2000 bytes, more than 1000"),
    ],
)
def test_what_is_wrong_is_told(
    host: SolverHost, tmp_path: Path, source: str, code: str, detail: str, says: str
) -> None:
    found = solved(host, tmp_path, source, code)
    assert found.status_detail == detail
    assert says in found.error_digest


def test_the_marker_is_no_result(host: SolverHost, tmp_path: Path) -> None:
    code = "print('[10]')\nprint('Found')"
    found = solved(host, tmp_path, "stdout", code, '[marker]\ntext = "FOUND"')
    assert (found.ok, found.marker_count) == (True, 1)


@pytest.mark.slow
def test_what_is_printed_before_the_marker_takes_no_time_of_ours(
    host: SolverHost, tmp_path: Path
) -> None:
    """A copy of the rest for each line was an hour for these, with nothing to end it."""
    code = "print('[10]' + ' \\n' * (1 << 24) + 'found')"
    found = solved(host, tmp_path, "stdout", code, '[marker]\ntext = "FOUND"')
    assert (found.accepted, found.marker_count) == (True, 1)
    many = "print('[10]\\n' + 'found\\n' * (1 << 22))"
    found = solved(host, tmp_path, "stdout", many, '[marker]\ntext = "FOUND"')
    assert (found.status_detail, found.marker_count) == ("marker_count", 1 << 22)


def test_another_function(host: SolverHost, tmp_path: Path) -> None:
    code = "def pack(given): return [10]\ndef solve(given): return [1]"
    assert solved(host, tmp_path, "function", code, 'function = "pack"').accepted
    for wrong in ('function = "a b"', 'function = ""'):
        with pytest.raises(InputError, match="must be the name of a function"):
            profile(tmp_path, "function", wrong)
