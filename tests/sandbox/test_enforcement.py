"""Limits that a cell names are tried: figures that are another's, or files that do nothing, show."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor import Execution, Isolation, Program
from proctor.execution import Guarantee, LimitHit, Strength
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.choice import enforcement, policy, proof
from proctor.sandbox.machine import procfs
from proctor.sandbox.machine.cgroup import V1Group, V2Group
from proctor.sandbox.meter import Meter

pytestmark = pytest.mark.user


@pytest.fixture
def way(level: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Backend:
    """The way that is used here. Programs that nobody stops go on for less time than else."""
    backend = policy.choose(level).backend
    shorter = [
        replace(each, program=Program(each.program.source.replace("< 2:", "< 0.4:")))
        for each in enforcement._OVERRUNS
    ]
    monkeypatch.setattr(enforcement, "_OVERRUNS", shorter)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return backend


def proved(way: Backend) -> str | None:
    return proof.failure(way, CellSetup(policy.interpreter_for(way, None)))


def test_limits_that_are_in_force_are_proved(way: Backend) -> None:
    assert proved(way) is None


def test_cpu_time_of_strangers_is_noticed(way: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Meter, "_used", lambda *_: 0.0)
    assert str(proved(way)).startswith("limits on cpu ")


def test_memory_that_nobody_bounds_is_noticed(
    way: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for group in (V1Group, V2Group):
        monkeypatch.setattr(group, "limit", lambda *_: None)
    monkeypatch.setattr(procfs, "resident_bytes", lambda *_: 0)
    assert str(proved(way)).startswith("limits on memory ")


def test_processes_that_nobody_bounds_are_noticed(
    way: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit: Any
    for group in (V1Group, V2Group):
        limit = group.limit
        monkeypatch.setattr(
            group, "limit", lambda self, memory, _, limit=limit: limit(self, memory, 1000)
        )
    monkeypatch.setattr(AgentProcess, "process_limit", lambda *_: 100_000)
    monkeypatch.setattr(procfs, "threads", lambda _: 0)
    assert str(proved(way)).startswith("limits on processes ")


ISOLATION = Isolation(
    "test",
    {
        "cpu": Guarantee(Strength.PARTIAL, "looks", "late"),
        "memory": Guarantee(Strength.NONE, "nothing"),
        "output": Guarantee(Strength.FULL, "RLIMIT_FSIZE"),
    },
)


def test_only_what_is_promised_is_tried() -> None:
    tried = [each.guarantee for each in enforcement.overruns(ISOLATION)]
    assert tried == ["cpu", "output"]


@pytest.mark.parametrize(
    ("limit", "exit_code", "stderr", "held"),
    [
        (LimitHit.CPU, None, b"", True),
        (LimitHit.CPU, 0, b"went on", False),  # seen at its end, but not stopped
        (None, 0, b"went on", False),
        (None, None, b"", False),  # killed by another
        (LimitHit.MEMORY, None, b"", False),
    ],
)
def test_a_program_must_be_stopped_for_its_limit(
    limit: LimitHit | None, exit_code: int | None, stderr: bytes, held: bool
) -> None:
    cpu = next(enforcement.overruns(ISOLATION))
    killed = 9 if exit_code is None else None
    done = Execution(exit_code, killed, b"", stderr, 0.0, 0.0, 0, 0.0, limit, ISOLATION)
    said = enforcement.failure(cpu, done)
    assert (said is None) is held
    assert held or str(said).startswith("limits on cpu (looks; gap: late) are not in force")
