"""The example agent over its recorded replies: what it tells the model, and when it stops."""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.evals.models.model import ModelRequest
from proctor.evals.models.scripted import ScriptedModel
from proctor.solver.host import SolverHost

pytestmark = pytest.mark.namespaces

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "solver_agent.py"
REPLIES = {
    row["question_id"]: row["output_list"]
    for row in map(json.loads, EXAMPLE.with_suffix(".jsonl").read_text().splitlines())
}


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("solver_agent", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["solver_agent"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


agent = loaded()


class Recorded(ScriptedModel):
    """Replays, and keeps what it was asked."""

    def __init__(self, **changes: list[str]) -> None:
        self.asked: list[ModelRequest] = []
        replies = REPLIES | changes

        def script(request: ModelRequest) -> str:
            self.asked.append(request)
            return str(replies[request.problem_id][request.sample])

        super().__init__(script)

    def last(self, step: str, sample: int) -> str:
        (found,) = [each for each in self.asked if (each.problem_id, each.sample) == (step, sample)]
        return found.messages[-1].content


def solved(model: Any, host: SolverHost) -> Any:
    return asyncio.run(agent.Agent(model, host).solve(agent.SCHOOL, agent.WISHES))


def test_from_wishes_to_an_accepted_timetable(
    host: SolverHost, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Recorded()
    found = solved(model, host)
    assert found.accepted
    assert found.status == "optimal"
    assert found.validation.objective == 0
    assert not [
        each for each in found.result_data["schedule"]
        if each["teacher"] == "Clara" and each["day"] == "Mon"
    ]  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        "wishes: teacher_block_day, subject_not_last_period",
        "program 1: crashed, exit_code, no",
        "program 2: feasible, invalid, no",
        "program 3: optimal, accepted",
    ]
    # A kind that there is none of is told of before any program is written ...
    assert "w1 (teacher_free_day): no such kind is known" in model.last("translate", 1)
    # ... then what a traceback says, then what is broken and by which entries, and what it claimed.
    assert "KeyError: 'lessonsPerWeek'" in model.last("code", 1)
    repair = model.last("code", 2)
    assert "Broken: w1 (teacher_block_day)" in repair
    assert '"assignmentId": "a1", "day": "Mon"' in repair
    assert "it claims objective 0, which is" in repair


def test_it_is_bounded(host: SolverHost) -> None:
    model = Recorded(code=["```python\n1 / 0\n```"] * 10)
    with pytest.raises(agent.GaveUp, match="in 4 attempts"):
        solved(model, host)
    assert [each.problem_id for each in model.asked].count("code") == agent.PROGRAMS
    assert max(len(each.messages) for each in model.asked) == 5


def test_wishes_that_stay_unknown(host: SolverHost) -> None:
    model = Recorded(translate=[REPLIES["translate"][0], "Sorry, I cannot."])
    with pytest.raises(agent.GaveUp, match="could not be translated"):
        solved(model, host)
    assert {each.problem_id for each in model.asked} == {"translate"}


def test_a_fault_is_not_held_against_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CONTAINER_ENGINE", "/nowhere/docker")
    model = Recorded()
    with (
        SolverHost(isolation="container", cells=1) as nothing,
        pytest.raises(agent.GaveUp, match="could not run it"),
    ):
        solved(model, nothing)
    assert [each.problem_id for each in model.asked].count("code") == 1
