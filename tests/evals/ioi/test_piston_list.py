"""Where Pistons are: what is typed, what files hold, what squeue prints."""

import os
from pathlib import Path

import pytest

from proctor.errors import InfraFault, InputError, PlatformError
from proctor.evals.ioi.piston_list import ASK_SLURM_EVERY, PistonList

A, B, C = (f"http://{host}:2000/api/v2" for host in ("a", "b", "127.0.0.1"))


def test_urls_in_their_order_each_once() -> None:
    found = PistonList(f" {A}/ ,{B},,{A}, https://c/p/api/v2", "--runner")
    assert found.read(0.0) == (A, B, "https://c/p/api/v2")
    assert not found.may_change
    assert PistonList(" , ", "--runner").read(0.0) == ()


@pytest.mark.parametrize(
    "text", ["ftp://a/api/v2", "a:2000", "http://", "http://a:port/", "http://a/?q=1", "http://a/#f", "sl urm",
     "http://a:65536/api/v2", "http://xn--/", "http://" + 64 * "a"]
)  # fmt: skip
def test_what_is_no_url_is_named(text: str) -> None:
    with pytest.raises(InputError, match="--runner: .* is not a URL"):
        PistonList(f"{A},{text}", "--runner")


@pytest.mark.parametrize("text", ["http://me:secret@a:2000/api/v2", "http://me:secret@a:port/"])
def test_a_password_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(InputError, match="use PISTON_KEY") as caught:
        PistonList(text, "--runner")
    assert "secret" not in str(caught.value)


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "pistons"
    file.write_text(f"# first\n{A}/\n\n  {B}\n{A}\n")
    found = PistonList(f"@{file},{C}", "--runner")
    assert found.may_change
    assert found.read(0.0) == (A, B, C)
    file.write_text(f"{B}\n")
    assert found.read(0.0) == (B, C)
    file.write_text(f"{B}\nnot one\n")
    with pytest.raises(InputError, match=r"pistons, line 2: 'not one' is not a URL"):
        found.read(0.0)
    assert found.read(0.0) == (B, C), "an error once, and what was known before"
    file.unlink()
    with pytest.raises(InputError, match="No such file"):
        found.read(0.0)
    file.write_text("")
    assert found.read(0.0) == (C,)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "pistons"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match="pistons: cannot be read"):
        PistonList(f"@{file}", "--runner").read(0.0)


@pytest.fixture
def squeue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose file `jobs` squeue prints, and `calls` that has its arguments."""
    command = tmp_path / "bin" / "squeue"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat {tmp_path}/jobs || exit 3\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    return tmp_path


def test_workers_that_run_in_slurm(squeue: Path) -> None:
    jobs = squeue / "jobs"
    jobs.write_text(
        "piston-worker-2000 node1 RUNNING\n"
        "train the model node2 RUNNING\n"
        "piston-worker-3111 ip-10-0-0-7.cluster RUNNING\n"
        "piston-worker-x node3 RUNNING\n"
        "my piston-worker-2000 node4 RUNNING\n"
        "piston-worker-2000 node[5-6] RUNNING\n"
        "\n"
    )
    found = PistonList("slurm", "PISTON_ENDPOINTS")
    assert found.may_change
    first = found.read(5.0)
    assert first == ("http://node1:2000/api/v2", "http://ip-10-0-0-7.cluster:3111/api/v2")
    jobs.write_text("piston-worker-2000 node9 RUNNING\n")
    assert found.read(4.9 + ASK_SLURM_EVERY) == first
    assert found.read(5.0 + ASK_SLURM_EVERY) == ("http://node9:2000/api/v2",)
    asked = (squeue / "calls").read_text().splitlines()
    assert asked == ["--noheader --states=RUNNING --format=%j %N %T"] * 2
    jobs.unlink()
    with pytest.raises(InfraFault, match="exit code 3: .*No such file"):
        found.read(5.0 + 2 * ASK_SLURM_EVERY)
    assert found.read(6.0 + 2 * ASK_SLURM_EVERY) == ("http://node9:2000/api/v2",)


def test_a_machine_without_slurm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PlatformError, match="squeue is not on PATH"):
        PistonList("slurm", "PISTON_ENDPOINTS").read(0.0)
