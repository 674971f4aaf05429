"""Rows in the formats of MultiPL-E and HumanEval that come along."""

from collections.abc import Iterator
from typing import Any

import pytest

import needs
from language_here import need
from served import Served, serving

pytest.importorskip("sandbox_fusion.models", reason=needs.package("sandbox-fusion"))

import requests
import sandbox_fusion as client


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "1", "--sessions", "0") as served:
        client.set_endpoint(served.url)
        yield served


pytestmark = [pytest.mark.package("sandbox-fusion"), pytest.mark.usefixtures("server")]
HUMANEVAL = {
    "task_id": "mine/0",
    "prompt": 'def add(a: List[int]) -> int:\n    """Add."""\n',
    "test": "def check(f):\n    assert f([1, 2]) == 3\n",
    "entry_point": "add",
}
LUA = {
    "name": "mine_1",
    "language": "lua",
    "prompt": "local function add(a, b)\n",
    "tests": "assert(add(1, 2) == 3)",
    "stop_tokens": ["\nlocal", "\n\n"],
}
CPP = {
    "name": "mine_2",
    "language": "cpp",
    "prompt": "long add(long a, long b) {\n",
    "tests": "}\nint main() { assert(add(1, 2) == 3); }",
    "stop_tokens": ["\n}"],
}


def submit(dataset: str, row: dict[str, Any], reply: str, **extra: Any) -> client.EvalResult:
    kind = "HumanEvalDataset" if "task_id" in row else "MultiPLEDataset"
    config = client.TestConfig(dataset_type=kind, provided_data=row, extra=extra)
    asked = client.SubmitRequest(dataset=dataset, id=0, completion=reply, config=config)
    return client.submit(asked, max_attempts=1)


def test_humaneval_is_completed_or_written_anew() -> None:
    table = "humaneval_python"
    found = submit(table, HUMANEVAL, "    return sum(a)\n\nprint(add)\n1 / 0")
    assert found.accepted, found
    assert found.extracted_code == "    return sum(a)\n", "what follows the function is cut off"
    assert not submit(table, HUMANEVAL, "    return max(a)").accepted
    reply = f"So:\n```python\n{HUMANEVAL['prompt']}    return sum(a)\n```"
    assert submit(table, HUMANEVAL, reply, is_freeform=True).accepted


@pytest.mark.parametrize(
    ("language", "table", "row", "body"),
    [
        ("lua", "multiple_lua", LUA, "    return a + b\nend"),
        ("cpp17", "multiple_cpp", CPP, "    return a + b;\n}"),
        ("cpp17", "mine", CPP, "    return a + b;\n}"),
    ],
)
def test_multipl_e(language: str, table: str, row: dict[str, Any], body: str) -> None:
    need(language)
    for given in (body, body + "\nlocal x = = 1"):
        cut = given.partition("\n}")[0] if row is CPP else given
        assert submit(table, row, cut).accepted
    whole = f"```{row['language']}\n{row['prompt']}{body}\n```"
    assert submit(table, row, whole, is_freeform=True).accepted
    assert not submit(table, row, whole.replace("+", "-"), is_freeform=True).accepted


def test_prompts() -> None:
    for extra, shown in (
        ({}, LUA["prompt"]),
        ({"is_freeform": True}, f"```lua\n{LUA['prompt']}\n```\n\nPlease complete"),
    ):
        config = client.TestConfig(
            dataset_type="MultiPLEDataset", provided_data=[LUA, LUA], extra=extra
        )
        first, _ = client.get_prompts(client.GetPromptsRequest(dataset="mine", config=config))
        assert first.id == "mine_1"
        assert first.prompt.startswith(shown)
        assert first.labels == {name: LUA[name] for name in LUA if name != "prompt"}


@pytest.mark.parametrize(
    ("table", "row", "said"),
    [
        ("multiple_jl", {**LUA, "language": "jl"}, "julia"),
        ("mine", {**LUA, "stop_tokens": ["re:(a+)+b"]}, "a stop token that is a pattern"),
        ("mine", {"prompt": ""}, "provided_data"),
        ("mine", {**LUA, "tests": ""}, "has no test"),
    ],
)
def test_what_is_not_served_is_said(table: str, row: dict[str, Any], said: str) -> None:
    config = {"dataset_type": "MultiPLEDataset", "provided_data": row}
    asked = {"dataset": table, "id": 0, "completion": "", "config": config}
    answer = requests.post(f"{client.config.SANDBOX_ENDPOINT}/submit", json=asked)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]
