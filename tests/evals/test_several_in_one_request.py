"""`n` of chat completions: several samples for one prompt that is read, and paid, once."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from command import COMMAND, environment
from proctor_command import Proctor
from stub import Call, completion, serving

from proctor.errors import SettingsError
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from waiting import PATIENCE


def several(call: Call, texts: list[str], tokens: int = 20) -> None:
    """Send choices, the last first: their `index` says which is which."""
    body: dict[str, Any] = completion("")
    body["choices"] = [
        {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for index, text in reversed(list(enumerate(texts)))
    ]
    body["usage"]["completion_tokens"] = tokens
    call.send(json.dumps(body).encode())


def right(call: Call) -> str:
    return right_reply(call.body["messages"][-1]["content"])


def usages(run: Path) -> list[tuple[int | None, int | None, int | None]]:
    with RunStore.open(run) as store:
        made = [sample.generation for sample in store.samples()]
    return [(g.prompt_tokens, g.completion_tokens, g.reasoning_tokens) for g in made if g]


def test_groups_and_their_tokens(proctor: Proctor, tmp_path: Path) -> None:
    """Five samples, at most three in a request."""

    def answer(call: Call) -> None:
        n = call.body.get("n", 1)
        texts = [right(call), "no", right(call)][:n]
        several(call, texts, tokens=n * 20 + 1)

    with serving(answer) as stub:
        done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url, "--n",
                       "5", "--request-n", "3", "--seed", "70", "--limit", "1", "--json",
                       "--max-connections", "1", "--out", tmp_path / "run")  # fmt: skip
        assert sorted((body["n"], body["seed"]) for body in stub.bodies) == [(2, 73), (3, 70)]
        assert set(stub.calls.values()) == {1}
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["standard"]["passed"] == 3
    assert (found["prompt_tokens"], found["completion_tokens"]) == (200, 61 + 41)
    assert usages(tmp_path / "run") == [
        (100, 21, 3), (0, 20, 1), (0, 20, 1), (100, 21, 3), (0, 20, 2),
    ]  # fmt: skip
    with RunStore.open(tmp_path / "run") as store:
        verdicts = [sample.judgements[0].verdict for sample in store.samples()]
    assert [verdict == "AC" for verdict in verdicts] == [True, False, True, True, False]


@pytest.mark.parametrize("sent", [1, 2, 7])
def test_a_server_that_sends_another_number(proctor: Proctor, tmp_path: Path, sent: int) -> None:
    """Fewer: it is asked for the others singly. More: they are not ours."""

    def answer(call: Call) -> None:
        several(call, [right(call)] * (sent if "n" in call.body else 1))

    with serving(answer) as stub:
        proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url, "--n", "4",
                "--request-n", "4", "--seed", "0", "--limit", "1", "--json", "--out",
                tmp_path / "run")  # fmt: skip
        asked = [(body.get("n", 1), body["seed"]) for body in stub.bodies]
    assert asked == [(4, 0), *((1, number) for number in range(sent, 4))]
    assert len(usages(tmp_path / "run")) == 4


def test_a_refusal_is_the_fault_of_all(proctor: Proctor, tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        call.send(b'{"error": {"message": "n must be 1"}}', status=400)

    with serving(answer) as stub:
        done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url, "--n",
                       "3", "--request-n", "3", "--limit", "1", "--json", "--out",
                       tmp_path / "run")  # fmt: skip
        assert stub.calls.total() == 1
    assert done.returncode == 125
    assert json.loads(done.stdout)["model_faults"] == {"model-refused": 3}


@pytest.mark.slow
def test_prompts_that_differ_are_asked_singly(proctor: Proctor, tmp_path: Path) -> None:
    """Self-repair: each sample shows its own program, and one that passed is carried over."""
    run, repaired = tmp_path / "run", tmp_path / "repaired"
    with serving(
        lambda call: several(call, ["```python\n1\n```", "```python\n2\n```", right(call)])
    ) as stub:
        proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url, "--n", "3",
                "--request-n", "3", "--limit", "1", "--out", run)  # fmt: skip
    with serving(lambda call: call.reply("```python\n3\n```")) as stub:
        done = proctor("eval", "livecodebench", "--scenario", "selfrepair", "--from", run,
                       "--model", "stub", "--base-url", stub.url, "--request-n", "3", "--n", "3",
                       "--limit", "1", "--json", "--out", repaired)  # fmt: skip
        assert [body.get("n") for body in stub.bodies] == [None, None], done.stderr
    assert json.loads(done.stdout)["standard"]["passed"] == 1


@pytest.mark.slow
def test_killed_before_a_verdict_pays_nothing_twice(tmp_path: Path) -> None:
    """The replies of a request are on the disk together or not at all."""
    run = tmp_path / "run"
    child: list[subprocess.Popen[bytes]] = []
    killed: list[bool] = []

    def answer(call: Call) -> None:
        if len(stub.bodies) == 2 and not killed:
            killed.append(True)
            child[0].send_signal(signal.SIGKILL)
            child[0].wait(PATIENCE)
        several(call, [right(call)] * 3)

    with serving(answer) as stub:
        begin = [COMMAND, "eval", "livecodebench", "--model", "stub", "--base-url", stub.url,
                 "--n", "9", "--request-n", "3", "--limit", "1", "--concurrency", "1", "--json",
                 "--out", str(run)]  # fmt: skip
        child.append(subprocess.Popen(begin, env=environment(), stderr=subprocess.PIPE))
        child[0].communicate(timeout=PATIENCE)
        assert child[0].returncode == -signal.SIGKILL
        with RunStore.open(run) as store:
            assert store.unasked() == 6
        last = subprocess.run([COMMAND, "resume", str(run), "--json"], env=environment(),
                              capture_output=True, timeout=PATIENCE)  # fmt: skip
        assert last.returncode == 0, last.stderr
        assert json.loads(last.stdout)["standard"]["passed"] == 9
        assert sorted(stub.calls.values()) == [1, 1, 2], "only what was under way is asked again"


def test_what_it_does_not_go_with() -> None:
    with pytest.raises(SettingsError, match="--request-n"):
        Settings(request_n=0)
    with pytest.raises(SettingsError, match="one reply at a time"):
        Settings(request_n=2, agentic_mode=True)
