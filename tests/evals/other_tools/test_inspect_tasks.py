"""`inspect eval proctor/...`, the real command, beside `proctor eval` over the same replies."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import ANSWER, QUESTIONS, write
from known_replies import (
    NOTHING,
    Verdicts,
    answering,
    broken_humaneval,
    proctors_verdicts,
    replies_to,
    run,
    sets_of,
)
from proctor_command import Proctor

from proctor.integrations.prepared_benchmarks import NAMES

INSPECT = os.environ.get("PROCTOR_TEST_INSPECT", "")
SOLVER = """
from inspect_ai.solver import generate, solver
from inspect_ai.util import sandbox

@solver
def looking():
    async def solve(state, generate):
        done = await sandbox().exec(["python3", "-c", "print(6 * 7)"])
        state.metadata["seen"] = done.stdout.strip()
        return await generate(state)
    return solve
"""
WRONG = """
import json, sys
from datetime import date
from inspect_ai import eval

said = []
for task, args in json.loads(sys.argv[1]):
    args = {name: date.today() if value == "a day" else value for name, value in args.items()}
    try:
        eval(f"proctor/{task}", task_args=args, model="mockllm/model", display="none")
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
print(json.dumps(said))
"""
TASKS = {
    "apps": "apps", "bigcodebench": "bigcodebench", "classeval": "classeval",
    "codecontests": "codecontests", "codecontestsplus": "codecontestsplus",
    "cruxeval": "cruxeval/output", "ds1000": "ds1000", "evoeval": "evoeval/difficult",
    "humanevalfix": "humanevalfix", "industryor": "industryor", "livecodebench": "livecodebench",
    "mbpp": "mbpp", "mbppplus": "mbppplus", "multipl-e": "multipl-e", "taco": "taco",
}  # fmt: skip
OTHERS = {
    "livecodebench/codeexecution": ("livecodebench", "scenario=codeexecution"),
    "livecodebench/testoutputprediction": ("livecodebench", "scenario=testoutputprediction"),
    "cruxeval/input": ("cruxeval", "task=input"),
    **{
        f"evoeval/{name}": ("evoeval", f"task={name}")
        for name in ("creative", "subtle", "combine", "tool_use", "verbose", "concise")
    },
    "humaneval": ("humaneval", "mode=both"),
}

pytestmark = [pytest.mark.outside("INSPECT"), pytest.mark.timeout(1200)]


def inspect(place: Path, url: str, *arguments: str | Path, epochs: int = 3) -> list[dict[str, Any]]:
    """Run `inspect eval` against a server, and return its logs, by task."""
    logs = place / f"logs-{len(list(place.iterdir()))}"
    run(
        [INSPECT, "-m", "inspect_ai", "eval", *arguments, "--model", "openai-api/stub/stub",
         "--epochs", str(epochs), "--log-dir", logs, "--log-format", "json", "--display", "plain"],
        place, STUB_API_KEY="none", STUB_BASE_URL=url,
    )  # fmt: skip
    return sorted(
        (json.loads(path.read_text()) for path in logs.glob("*.json")),
        key=lambda log: log["eval"]["task"],
    )


def verdicts_of(log: dict[str, Any]) -> Verdicts:
    assert log["status"] == "success", log.get("error")
    return {
        (sample["id"], sample["output"]["choices"][0]["message"]["content"]): {
            mode: score["metadata"]["verdict"] for mode, score in sample["scores"].items()
        }
        for sample in log["samples"]
    }


def accuracies(log: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {
        (score["name"], score.get("reducer", "mean")): score["metrics"]["accuracy"]["value"]
        for score in log["results"]["scores"]
    }


def check(proctor: Proctor, place: Path, name: str, url: str, log: dict[str, Any]) -> None:
    """Compare verdicts of every sample in both modes, and the mean of all, with proctor's own."""
    ours, rates = proctors_verdicts(proctor, place / name.replace("/", "-"), name, url, 3)
    assert verdicts_of(log) == ours, name
    for mode, found in sets_of(ours, rates).items():
        assert "AC" in found, (name, mode)
        assert found - {"AC"}, (name, mode)
        assert not found & {"TASK_FAULT", "INFRA_FAULT"}, (name, mode)
    assert accuracies(log) == pytest.approx({(mode, "mean"): each for mode, each in rates.items()})


@pytest.mark.language("cpp")
def test_benchmarks_as_proctor_eval(proctor: Proctor, tmp_path: Path) -> None:
    with answering({name: replies_to(name) for name in TASKS.values()}) as stub:
        logs = inspect(tmp_path, stub.url, *(f"proctor/{task}" for task in TASKS))
        assert [log["eval"]["task"] for log in logs] == [f"proctor/{task}" for task in TASKS]
        for log, name in zip(logs, TASKS.values(), strict=True):
            check(proctor, tmp_path, name, stub.url, log)


@pytest.mark.parametrize("name", OTHERS)
def test_choices_as_proctor_eval(proctor: Proctor, tmp_path: Path, name: str) -> None:
    task, option = OTHERS[name]
    with answering({name: replies_to(name)}) as stub:
        [log] = inspect(tmp_path, stub.url, f"proctor/{task}", "-T", option)
        check(proctor, tmp_path, name, stub.url, log)


def test_every_benchmark_is_tried() -> None:
    assert {*TASKS.values(), *OTHERS} == set(NAMES)


def test_options_groups_and_an_agent_in_a_sandbox(proctor: Proctor, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(SOLVER)
    name, options = "livecodebench", {"prompt": "user-only"}
    with answering({name: replies_to(name)}, **options) as stub:
        [log] = inspect(
            tmp_path, stub.url, f"proctor/{name}", "-T", "platforms=leetcode,atcoder",
            "-T", "min_release_date='2024-01-01'", "-T", "test_timeout=10s",
            "-T", "prompt=user-only", "--solver", "agent.py@looking", "--sandbox", "proctor",
            "--epochs-reducer", "pass_at_1,pass_at_3",
        )  # fmt: skip
        ours, _ = proctors_verdicts(
            proctor, tmp_path / "run", name, stub.url, 3, "--platforms", "leetcode,atcoder",
            "--prompt", "user-only",
        )  # fmt: skip
    assert verdicts_of(log) == ours
    assert {sample["metadata"]["seen"] for sample in log["samples"]} == {"42"}
    assert accuracies(log) == {
        (mode, f"pass_at_{k}"): pytest.approx(rate)
        for mode in ("official", "standard")
        for k, rate in ((1, 1 / 3), (3, 1))
    }
    metrics = log["results"]["scores"][0]["metrics"]
    assert {"platform: leetcode", "difficulty: easy"} <= set(metrics)
    # Judged again from the log alone.
    [path] = tmp_path.glob("logs-*/*.json")
    run(
        [INSPECT, "-m", "inspect_ai", "score", path, "--scorer", "proctor/standard", "-S",
         f"benchmark={name}", "--action", "append", "--output-file", tmp_path / "again.json",
         "--display", "plain"],
        tmp_path, STUB_API_KEY="none", STUB_BASE_URL="http://127.0.0.1:9/v1",
    )  # fmt: skip
    for sample in json.loads((tmp_path / "again.json").read_text())["samples"]:
        assert sample["scores"]["standard1"]["value"] == sample["scores"]["standard"]["value"]


def test_a_broken_problem_is_not_scored(proctor: Proctor, tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    broken, replies = broken_humaneval(source)
    with answering({"humaneval": replies}) as stub:
        [log] = inspect(tmp_path, stub.url, "proctor/humaneval", "-T", f"source={source}")
        ours, rates = proctors_verdicts(
            proctor, tmp_path / "run", "humaneval", stub.url, 3, "--source", str(source)
        )
    assert verdicts_of(log) == ours
    faulty = [sample for sample in log["samples"] if sample["id"] == broken]
    assert len(faulty) == 3
    assert {
        (score["metadata"]["verdict"], score.get("reason"))
        for sample in faulty
        for score in sample["scores"].values()
    } == {("TASK_FAULT", "task_fault"), ("NC", "invalid_response_format")}
    assert accuracies(log) == pytest.approx({(mode, "mean"): each for mode, each in rates.items()})


def test_a_benchmark_file(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path / "own", ANSWER, QUESTIONS)
    replies = {"1": ["[ANSWER]4[/ANSWER]", "5"], "2": ["3.333", NOTHING]}
    with answering({str(path): replies}) as stub:
        [log] = inspect(
            tmp_path, stub.url, "proctor/benchmark_file", "-T", "file=own/sums.toml", epochs=2
        )
        ours, rates = proctors_verdicts(proctor, tmp_path / "run", str(path), stub.url, 2)
    assert verdicts_of(log) == ours
    assert accuracies(log) == pytest.approx({("standard", "mean"): rates["standard"]})


def test_what_cannot_be(tmp_path: Path) -> None:
    """Errors before a model is asked, all in one process, which takes seconds to start."""
    wrong: list[tuple[str, dict[str, str], str]] = [
        ("livecodebench", {"plattform": "leetcode"}, "'plattform' is not one of the options"),
        ("cruxeval", {"task": "both"}, "task is one of output, input, not 'both'"),
        ("bigcodebench", {"prompt": "completion"}, "inspect_ai asks in chats"),
        ("benchmark_file", {"file": "none.toml"}, "none.toml: cannot be read"),
        ("livecodebench", {"min_release_date": "a day"}, "logs no dates"),
    ]
    (tmp_path / "wrong.py").write_text(WRONG)
    cases = json.dumps([each[:2] for each in wrong])
    said = json.loads(run([INSPECT, "wrong.py", cases], tmp_path).splitlines()[-1])
    for message, (_, _, says) in zip(said, wrong, strict=True):
        assert says in message
