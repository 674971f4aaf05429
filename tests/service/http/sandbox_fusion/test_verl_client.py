"""verl's own client of SandboxFusion, unmodified, against us; see PROCTOR_TEST_VERL in .ci/run."""

import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from served import Served, serving

VERL = os.environ.get("PROCTOR_TEST_VERL", "")
pytestmark = pytest.mark.outside("VERL")

TESTS = {"inputs": ["1 2\n", "20 22\n"], "outputs": ["3\n", "42\n"]}
SUM = "```python\nprint(sum(map(int, input().split())))\n```"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "2", "--no-access-log") as served:
        yield served


@pytest.fixture(scope="module")
def score(server: Served) -> Iterator[Callable[..., Any]]:
    place = Path(VERL) / "verl/utils/reward_score/sandbox_fusion"
    spec = importlib.util.spec_from_file_location(
        "verl_sandbox_fusion", place / "__init__.py", submodule_search_locations=[str(place)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def compute(completion: str, tests: dict[str, Any], **more: Any) -> Any:
        gate = threading.Semaphore(8)
        url = server.url + "/run_code"
        return module.compute_score(url, gate, 1024, completion, json.dumps(tests), **more)

    yield compute
    del sys.modules[spec.name]


def test_right_and_wrong(score: Callable[..., Any]) -> None:
    assert score(SUM, TESTS)[0] == 1.0
    value, cases = score("```python\nprint(3)\n```", TESTS)
    assert value == 0.5
    assert [each["status"] for each in cases] == ["success", "wrong_answer"]


@pytest.mark.parametrize(
    ("code", "status", "timeout"),
    [
        ("while True: pass", "timeout", 1),
        ("raise SystemExit(1)", "runtime_error", 30),
        ("x = b'x' * (1 << 33)", "runtime_error", 30),
    ],
)
def test_programs_that_end_badly(
    score: Callable[..., Any], code: str, status: str, timeout: int
) -> None:
    value, cases = score(f"```python\n{code}\n```", TESTS, timeout=timeout)
    assert value == 0.0
    assert {each["status"] for each in cases} == {status}


def test_functions_called_by_its_wrapper(score: Callable[..., Any]) -> None:
    tests = {"fn_name": "add", "inputs": ["1\n2", "20\n22"], "outputs": ["3", "42"]}
    assert score("```python\ndef add(a, b): return a + b\n```", tests)[0] == 1.0


def test_a_crowd_under_its_own_concurrency(score: Callable[..., Any]) -> None:
    """0.28 CPU-seconds a case against 3: its threads ask for all at once, and all pass."""
    code = (
        "```python\nimport time\nwhile time.process_time() < 0.28: pass\n"
        "print(sum(map(int, input().split())))\n```"
    )
    many = {name: texts * 8 for name, texts in TESTS.items()}
    assert score(code, many, timeout=3)[0] == 1.0
