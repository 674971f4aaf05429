"""Frameworks' own reward code in front of proctor, on real Ray.

PROCTOR_TEST_RL names a Python with torch, verl, trl, ray and proctor; PROCTOR_TEST_OPENRLHF and
PROCTOR_TEST_NEMO_RL folders with the sources of these.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "in_rl"
RL = os.environ.get("PROCTOR_TEST_RL", "")
pytestmark = pytest.mark.outside("RL")

FOUR = [1.0, 0.5, 0.0, -1.0]
"""Shares of tests passed by a right program, a half right one, none, and one without tests."""


def found_by(script: str, *arguments: object) -> Any:
    done = subprocess.run(
        [RL, str(HERE / script), *map(str, arguments)], capture_output=True, text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return next(
        json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')
    )  # fmt: skip


def test_verl_with_its_reward_loop(tmp_path: Path) -> None:
    told = found_by("verl_loop.py", tmp_path / "tokenizer")
    assert len(told["found"]) == 5
    for found in told["found"].values():
        assert found["rewards"] == [1.0, 0.5, -1.0, 0.0] * 4
        assert found["verdict"] == ["AC", "WA", "TASK_FAULT", "NC"] * 4
        assert found["masked"] == [0.0, 0.0, 1.0, 0.0] * 4
        assert found["acc"] == [True, False, False, False] * 4
    assert told["raised"] == "InputError"


def test_trl_awaits_rewards(tmp_path: Path) -> None:
    told = found_by("trl_trainer.py", tmp_path)
    (rewards,) = told["seen"]
    assert sorted(rewards, key=str) == [0.0, 0.0, 1.0, 1.0, None, None, None, None]
    assert told["log"]["rewards/code_reward/mean"] == 0.5
    assert told["log"]["code_reward/masked"] == 0.5
    assert told["log"]["grad_norm"] > 0


@pytest.mark.outside("OPENRLHF")
def test_openrlhf_with_its_executor() -> None:
    told = found_by("openrlhf_agent.py", os.environ["PROCTOR_TEST_OPENRLHF"])
    assert [each["rewards"] for each in told["on ray"]] == [[each] for each in FOUR * 4]
    assert [each["scores"] for each in told["on ray"]] == [[max(each, 0)] for each in FOUR * 4]
    assert [each["masked"] for each in told["on ray"]] == [[0.0], [0.0], [0.0], [1.0]] * 4
    # All or nothing; what raises is logged, and there is no reward.
    assert [each["rewards"] for each in told["here"]] == [[1.0], [0.0], [0.0], None]


@pytest.mark.outside("NEMO_RL")
def test_nemo_rl_with_its_rollouts() -> None:
    told = found_by("nemo_environment.py", os.environ["PROCTOR_TEST_NEMO_RL"])
    for found in told["found"].values():
        assert found["rewards"] == FOUR * 4
        assert found["ended"] == [1.0] * 16
        assert found["masked"] == [False, False, False, True] * 4
        assert found["observed"][:2] == ["Environment: AC", "Environment: WA"]
        assert found["answers"] == ["print(2 * int(input()))\n"]
        assert found["metrics"] == {"accuracy": 0.25}
    assert told["raised"] == "InputError"
