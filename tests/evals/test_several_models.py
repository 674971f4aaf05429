"""Several models in one command: runs of their own, one table, and each other's misfortunes."""

import json
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from answers import right_reply
from command import COMMAND, environment
from proctor_command import Proctor
from stub import Call, serving

from proctor.cli.several_models import places
from proctor.evals.records import settings_of
from proctor.evals.store import RunStore
from waiting import PATIENCE

EVAL = ("eval", "livecodebench")


def by_model(call: Call) -> None:
    """`right` is right, `down` refuses, others write nothing that works."""
    model = call.body["model"]
    if model == "down":
        call.send(b'{"error":{"message":"no"}}', 400)
    elif model == "right":
        call.reply(right_reply(call.body["messages"][-1]["content"]))
    else:
        call.reply("```python\nprint(1)\n```")


def test_each_has_a_run_and_the_table_has_all(proctor: Proctor, tmp_path: Path) -> None:
    with serving(by_model) as stub:
        done = proctor(*EVAL, "--model", "wrong", "--model", "right", "--base-url", stub.url,
                       "--out", tmp_path / "all")  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = done.stdout.rpartition("\n\n")[2].splitlines()
    assert table[0].split()[:3] == ["pass@1", "official", "standard"]
    assert [line.split()[:3] for line in table[1:3]] == [
        ["right", "100.0%", "100.0%"], ["wrong", "0.0%", "0.0%"],
    ]  # fmt: skip
    for name in ("wrong", "right"):
        with RunStore.open(tmp_path / "all" / name) as store:
            assert settings_of(store).model == name


def test_one_that_fails_keeps_none_from_running(proctor: Proctor, tmp_path: Path) -> None:
    with serving(by_model) as stub:
        done = proctor(*EVAL, "--model", "down", "--model", "right", "--base-url", stub.url,
                       "--max-retries", "0", "--out", tmp_path / "all", "--json")  # fmt: skip
    down, right = json.loads(done.stdout)["runs"]
    assert done.returncode == 125
    assert (sum(down["model_faults"].values()), right["standard"]["passed"]) == (4, 4)


@pytest.mark.slow
def test_a_directory_that_is_taken_keeps_none_from_running(
    proctor: Proctor, tmp_path: Path
) -> None:
    with serving(by_model) as stub:
        server = ("--base-url", stub.url)
        assert (
            proctor(*EVAL, "--model", "wrong", *server, "--out", tmp_path / "wrong").returncode == 0
        )
        done = proctor(*EVAL, "--model", "wrong", "--model", "right", *server, "--out", tmp_path,
                       "--json")  # fmt: skip
    found = json.loads(done.stdout)
    (right,), (wrong,) = found["runs"], found["failed"]
    assert (done.returncode, right["model"]) == (2, "right")
    assert "already holds a run" in wrong["error"]
    assert "wrong: " in done.stderr


def test_nothing_is_begun_if_one_cannot_be(proctor: Proctor, tmp_path: Path) -> None:
    """A recording that is not there is said before the first model is asked."""
    with serving(by_model) as stub:
        for other, said in ((f"replay:{tmp_path}/none", "none"), ("right", "is given twice")):
            done = proctor(*EVAL, "--model", "right", "--model", other, "--base-url", stub.url,
                           "--out", tmp_path / "all")  # fmt: skip
            assert done.returncode == 2
            assert said in done.stderr
        assert not stub.bodies
    assert not (tmp_path / "all").exists()


@pytest.mark.slow
def test_the_worst_is_the_exit_code(proctor: Proctor, tmp_path: Path) -> None:
    with serving(by_model) as stub:
        done = proctor(*EVAL, "--model", "wrong", "--model", "right", "--base-url", stub.url,
                       "--out", tmp_path / "all", "--fail-under", "0.5", "--k", "5")  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("below 50.0%") == 1, "pass@1 is known whatever --k shows"


@pytest.mark.slow
def test_ctrl_c_ends_all(tmp_path: Path) -> None:
    """The run under way can be resumed; what was not begun is named."""
    children: list[subprocess.Popen[str]] = []

    once = threading.Lock()

    def interrupt(call: Call) -> None:
        if once.acquire(blocking=False):  # a second Ctrl-C ends it without a word
            children[0].send_signal(signal.SIGINT)
        call.rfile.read(1)  # until the client goes

    with serving(interrupt) as stub:
        command = [COMMAND, *EVAL, "--model", "one", "--model", "two", "--base-url", stub.url,
                   "--out", str(tmp_path / "all")]  # fmt: skip
        pipe = subprocess.PIPE
        children.append(
            subprocess.Popen(command, env=environment(), text=True, stdout=pipe, stderr=pipe)
        )
        _, said = children[0].communicate(timeout=PATIENCE)
    assert children[0].returncode == 130
    assert f"proctor resume {tmp_path}/all/one" in said
    assert "not begun: two" in said
    assert not (tmp_path / "all" / "two").exists()


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (["a/x", "b/y"], ["x", "y"]),
        (["a/x", "b/x"], ["a-x", "b-x"]),
        (["x!", "x?", "/"], ["x", "x-1", "model"]),
        (["replay:f.jsonl", "qwen:7b"], ["replay-f.jsonl", "qwen-7b"]),
    ],
)
def test_names_of_runs(models: list[str], names: list[str]) -> None:
    assert [place.name for place in places(models, "all")] == names
