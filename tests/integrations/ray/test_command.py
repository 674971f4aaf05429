"""`proctor judge --ray` and its relatives, as from a shell."""

import json
import os
import random
import signal
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clusters
import pytest

import proctor
from proctor.evals.store import RunStore
from waiting import PATIENCE, until

pytestmark = pytest.mark.ray

COMMAND = str(Path(sysconfig.get_path("scripts"), "proctor"))
BUNDLED = Path(proctor.__file__).parent / "bundled"


@pytest.fixture(scope="module")
def cluster() -> Iterator[clusters.Cluster]:
    with clusters.started(1, 1) as made:
        yield made


def begin(cluster: clusters.Cluster, *arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, *map(str, arguments), "--ray"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"RAY_ADDRESS": cluster.address, "COLUMNS": "200"},
    )  # fmt: skip


def ran(cluster: clusters.Cluster, *arguments: str | Path) -> tuple[int, bytes, bytes]:
    with begin(cluster, *arguments) as process:
        shown, said = process.communicate(timeout=PATIENCE)
    return process.returncode, shown, said


def programs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (BUNDLED / "programs.jsonl").read_text().splitlines()]


def rows_of(out: Path) -> list[dict[str, Any]]:
    lines = out.read_bytes().splitlines(keepends=True) if out.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def judging(out: Path) -> list[str | Path]:
    return [
        "judge", "--problems", BUNDLED / "problems.jsonl", "--programs", BUNDLED / "programs.jsonl",
        "--timeout", "400ms", "--out", out,
    ]  # fmt: skip


def test_a_driver_that_is_killed_goes_on(cluster: clusters.Cluster, tmp_path: Path) -> None:
    out, chance = tmp_path / "results.jsonl", random.Random(3)
    labels = [row["label"] for row in programs()]
    for _ in range(3):
        before = rows_of(out)
        with begin(cluster, *judging(out)) as process:
            wanted = len(before) + chance.randint(1, 8)
            until(lambda: process.poll() is not None or len(rows_of(out)) >= wanted)  # noqa: B023
            process.kill()
        assert rows_of(out)[: len(before)] == before
    code, shown, said = ran(cluster, *judging(out))
    assert (code, said) == (0, b"")
    assert b"45 programs" in shown
    rows = rows_of(out)
    assert sorted(row["row"] for row in rows) == list(range(45))
    assert [labels[row["row"]]["standard"] for row in rows] == [row["verdict"] for row in rows]
    assert all(row["machine"] for row in rows)


def test_an_interrupt_keeps_what_is_made(cluster: clusters.Cluster, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    with begin(cluster, *judging(out)) as process:
        until(lambda: process.poll() is not None or rows_of(out))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"the same command goes on from there" in said


def test_an_evaluation_and_its_rejudging(cluster: clusters.Cluster, tmp_path: Path) -> None:
    run = tmp_path / "run"
    replies = tmp_path / "replies.jsonl"
    replies.write_text("".join(
        json.dumps({"question_id": row["question_id"], "code": row["code"]}) + "\n"
        for row in programs() if row["label"]["standard"] != "TLE"
    ))  # fmt: skip
    arguments = ["eval", "livecodebench", "--model", f"replay:{replies}", "--out", run, "--json"]
    code, shown, said = ran(cluster, *arguments)
    assert code == 0, said
    first = json.loads(shown)
    code, shown, said = ran(cluster, "rejudge", run, "--json")
    assert code == 0, said
    again = json.loads(shown)
    for mode in ("official", "standard"):
        assert again[mode]["verdicts"] == first[mode]["verdicts"]
    with RunStore.open(run) as store:
        made = [each for sample in store.samples() for each in sample.judgements]
    assert made
    assert all(json.loads(each.machine)["id"] for each in made)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--on", "http://127.0.0.1:1"], b"give either --ray or --on"),
        (["--normalise-cpu", "quick"], b"'quick' is not a speed"),
        (["--verify-cache", "1%"], b"--verify-cache is for --cache"),
    ],
)
def test_wrong_use_is_told(
    cluster: clusters.Cluster, tmp_path: Path, wrong: list[str], says: bytes
) -> None:
    code, _, said = ran(cluster, *judging(tmp_path / "results.jsonl"), *wrong)
    assert code == 2
    assert says in said


def test_the_doctor_lists_nodes(cluster: clusters.Cluster) -> None:
    code, shown, _ = ran(cluster, "doctor", "--speed", "--json")
    assert code == 0
    nodes = json.loads(shown)
    assert len(nodes) == 2
    for node in nodes:
        assert node["facts"]["cells"] == 1
        assert "," in node["speed"]
