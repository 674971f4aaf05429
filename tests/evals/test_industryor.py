"""Optimisation problems in words: programs print the optimum."""

import json
import sys
from pathlib import Path

import pytest
from proctor_command import Proctor, report

from proctor.evals.registry import benchmark_named
from proctor.evals.settings import Settings

# Each row's problem, solved by trying everything.
SOLVERS = {
    "0": "print(max(5 * l + 7 * t for l in range(11) for t in range(11) if 2 * l + t <= 20 and l + 3 * t <= 30))",
    "1": """from itertools import product
weights, most, costs = [3, 3, 4, 2, 3], [4, 5, 6], [40, 45, 50]
best = 999
for of in product(range(3), repeat=5):
    loads = [sum(w for w, lorry in zip(weights, of) if lorry == each) for each in range(3)]
    if all(load <= limit for load, limit in zip(loads, most)):
        best = min(best, sum(cost for load, cost in zip(loads, costs) if load))
print("the cheapest way costs")
print(best)
""",
    "2": "print(0.3 / 3 + 0.25 * 2 / 3)",
    "3": "print('No Best Solution' if not any(a > 5 and 9 - a > 5 for a in range(10)) else 9)",
}


def judged(proctor: Proctor, place: Path, programs: dict[str, str], *more: str) -> dict[str, int]:
    recorded = place / "replies.jsonl"
    recorded.write_text(
        "\n".join(
            json.dumps({"id": id_, "generation": f"```python\n{code}\n```"})
            for id_, code in programs.items()
        )
    )
    done = report(
        proctor(
            "eval",
            "industryor",
            "--model",
            f"replay:{recorded}",
            "--out",
            place / "run",
            "--json",
            *more,
        )
    )
    found: dict[str, int] = done["standard"]["verdicts"]
    return found


def test_solved_problems_pass(proctor: Proctor, tmp_path: Path) -> None:
    assert judged(proctor, tmp_path, SOLVERS) == {"AC": 4}


@pytest.mark.parametrize(
    ("id_", "code", "verdict"),
    [
        ("0", "print(85)", "WA"), ("0", "print(86.004)", "AC"), ("0", "print(86)\nprint('done')", "WA"),
        ("0", "print('optimum: 86')", "WA"), ("0", "print('No Best Solution')", "WA"), ("0", "pass", "WA"),
        ("2", "print(0.3)", "WA"), ("3", "print(9)", "WA"), ("3", "print(None)", "WA"), ("0", "import ortools", "RE"),
    ],
)  # fmt: skip
def test_answers(proctor: Proctor, tmp_path: Path, id_: str, code: str, verdict: str) -> None:
    assert judged(proctor, tmp_path, {id_: code}) == {verdict: 1}


@pytest.mark.slow
def test_or_tools_by_a_directory_of_packages(proctor: Proctor, tmp_path: Path) -> None:
    code = """from ortools.sat.python import cp_model
model = cp_model.CpModel()
loaves, tarts = model.new_int_var(0, 10, "l"), model.new_int_var(0, 10, "t")
model.add(2 * loaves + tarts <= 20)
model.add(loaves + 3 * tarts <= 30)
model.maximize(5 * loaves + 7 * tarts)
solver = cp_model.CpSolver()
solver.parameters.num_workers = 1
solver.solve(model)
print(solver.objective_value)
"""
    pytest.importorskip("ortools")
    packages = next(each for each in sys.path if each.endswith("site-packages"))
    assert judged(proctor, tmp_path, {"0": code}, "--packages", packages) == {"AC": 1}


def test_unknown_answers_are_left_out() -> None:
    opened = benchmark_named("industryor").open_source(Settings(source="fixture"))
    assert [each.id for each in opened.infos()] == ["0", "1", "2", "3"]
