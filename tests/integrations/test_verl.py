"""verl's contract; its own code, where PROCTOR_TEST_VERL names a directory with verl unpacked."""

import asyncio
import importlib.util
import inspect
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from proctor import open_pool
from proctor.errors import InfraFault, InputError, SettingsError
from proctor.integrations.verl import compute_score, sandbox_fusion

VERL = os.environ.get("PROCTOR_TEST_VERL", "")
TESTS = {"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]}
RIGHT = "```python\nprint(2 * int(input()))\n```"
SQUARE = "```python\nprint(int(input()) ** 2)\n```"


def test_a_score() -> None:
    assert compute_score("taco", RIGHT, TESTS, {"split": "train"}) == {
        "score": 1.0, "acc": True, "verdict": "AC", "masked": 0.0,
    }  # fmt: skip
    assert compute_score("taco", SQUARE, TESTS, scoring="fraction")["score"] == 0.5
    assert (
        compute_score("taco", "```python\nwhile True: pass\n```", TESTS, cpu=0.2)["verdict"]
        == "TLE"
    )
    bash = '```bash\nread n; echo "$((2 * n))"\n```'
    assert compute_score("taco", bash, TESTS, {"language": "bash"})["acc"]
    call = {"fn_name": "f", "inputs": [[1, 2]], "outputs": [3]}
    assert compute_score("apps", "```python\ndef f(a, b): return a + b\n```", call)["acc"]


def test_faults_raise_unless_told_otherwise() -> None:
    with pytest.raises(InputError, match="TASK_FAULT"):
        compute_score("taco", RIGHT, "{}")
    scored = compute_score("taco", RIGHT, "{}", on_fault=-1.0)
    assert (scored["score"], scored["masked"]) == (-1.0, 1.0)
    with open_pool(cells=1) as closed:
        pass
    with pytest.raises(InfraFault):
        compute_score("taco", RIGHT, TESTS, pool=closed)
    with pytest.raises(SettingsError, match="tolerence"):
        compute_score("taco", RIGHT, TESTS, tolerence=0.1)


def test_from_many_threads() -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = [RIGHT, SQUARE] * 8
        scores = threads.map(lambda text: compute_score("taco", text, TESTS)["score"], answers)
        assert list(scores) == [1.0, 0.0] * 8


@pytest.mark.parametrize("server", ["http://h:80", "http://h:80/", "http://h:80/run_code"])
def test_the_configuration_names_the_endpoint(server: str) -> None:
    config = sandbox_fusion(server, memory=256 << 20)
    assert config == {
        "url": "http://h:80/run_code", "max_concurrent": 64, "memory_limit_mb": 256,
    }  # fmt: skip


def test_an_address_without_scheme() -> None:
    with pytest.raises(SettingsError):
        sandbox_fusion("localhost:8000")


def verl(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("verl_" + Path(path).stem, Path(VERL) / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stand_in_for_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide all that reward.py takes from verl at its top, for annotations and a default."""
    stand_in: Any = ModuleType("verl")
    stand_in.DataProto = object
    defaults: Any = ModuleType("verl.utils.reward_score")
    defaults.get_default_compute_score = None
    monkeypatch.setitem(sys.modules, "verl", stand_in)
    monkeypatch.setitem(sys.modules, "verl.utils", ModuleType("verl.utils"))
    monkeypatch.setitem(sys.modules, "verl.utils.reward_score", defaults)


@pytest.mark.outside("VERL")
def test_verl_finds_the_function_and_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own loader and wrapper: the rest of verl takes torch and ray."""
    load = verl("verl/utils/import_utils.py").load_extern_object
    function = load("pkg://proctor.integrations.verl", "compute_score")
    assert function is compute_score
    stand_in_for_torch(monkeypatch)
    call = verl("verl/trainer/ppo/reward.py")._call_with_kwargs

    async def as_the_manager_does() -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            None,
            lambda: call(
                function, {"scoring": "fraction"}, data_source="taco", solution_str=SQUARE,
                ground_truth=TESTS, extra_info={"num_turns": 1}, reward_router_address="a",
                reward_model_tokenizer=None,
            ),
        )  # fmt: skip

    assert asyncio.run(as_the_manager_does())["score"] == 0.5


@pytest.mark.outside("VERL")
def test_verl_awaits_the_function_on_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its managers await what they take for a coroutine function, wrapped by verl itself."""
    stand_in_for_torch(monkeypatch)
    tools = verl("verl/utils/import_utils.py")
    monkeypatch.setitem(sys.modules, "verl.utils.import_utils", tools)
    chosen = {
        "path": "pkg://proctor.integrations.verl",
        "name": "compute_score_on_ray",
        "reward_kwargs": {"tolerence": 0.1},
    }
    config = SimpleNamespace(reward={"custom_reward_function": chosen})
    function = verl("verl/trainer/ppo/reward.py").get_custom_reward_fn(config)
    assert inspect.iscoroutinefunction(function)
    with pytest.raises(SettingsError, match="tolerence"):
        asyncio.run(
            function(data_source="taco", solution_str=RIGHT, ground_truth=TESTS, extra_info={})
        )
