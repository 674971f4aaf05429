"""Base models: texts to go on with, solved examples in them, and where a reply ends."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from proctor_command import Proctor, report
from stub import Call, Stub, serving

BUNDLED = files("proctor") / "bundled"


def rows(name: str) -> list[dict[str, Any]]:
    text = (BUNDLED / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def complete(call: Call, text: str) -> None:
    choice = {"index": 0, "text": text, "finish_reason": "length", "logprobs": None}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    call.send(
        json.dumps({"object": "text_completion", "choices": [choice], "usage": usage}).encode()
    )


def go_on_with_a_function(call: Call) -> None:
    """The rest of the function, and then what base models go on with."""
    (row,) = (row for row in rows("humaneval") if row["prompt"].strip() == call.body["prompt"])
    complete(call, "\n" + row["canonical_solution"] + "\n\ndef another(:\n    Then I")


def solve_the_last_task(call: Call) -> None:
    asked = call.body["prompt"].rpartition("# Task: ")[2].partition("\n")[0]
    (row,) = (row for row in rows("mbpp") if (row.get("text") or row.get("prompt")) == asked)
    complete(call, row["code"] + "\n# End\n\n# Task: Write nothing.\nI")


def prompts(stub: Stub) -> list[str]:
    assert all("messages" not in body for body in stub.bodies)
    return [body["prompt"] for body in stub.bodies]


def test_humaneval_goes_on(proctor: Proctor, tmp_path: Path) -> None:
    """The reply, up to where the function ends, goes below the prompt's beginning of it."""
    with serving(go_on_with_a_function) as stub:
        found = report(proctor("eval", "humaneval", "--prompt", "completion", "--model", "stub",
                               "--base-url", stub.url, "--out", tmp_path / "run", "--json"))  # fmt: skip
        assert prompts(stub)
        assert all(len(body["stop"]) == 4 for body in stub.bodies), "OpenAI takes four at most"
    assert found["standard"]["pass_at_k"]["1"] == 1.0


@pytest.mark.slow
def test_mbpp_shows_three_solved_tasks(proctor: Proctor, tmp_path: Path) -> None:
    """Never the one that is asked, whose solution it would be."""
    with serving(solve_the_last_task) as stub:
        found = report(proctor("eval", "mbpp", "--prompt", "completion", "--model", "stub",
                               "--base-url", stub.url, "--out", tmp_path / "run", "--json"))  # fmt: skip
        texts = prompts(stub)
    assert found["standard"]["pass_at_k"]["1"] == 1.0
    for text in texts:
        tasks = [part.partition("\n")[0] for part in text.split("# Task: ")[1:]]
        assert len(set(tasks)) == len(tasks)
        own = tasks[-1] in {row["text"] for row in rows("mbpp")[1:4]}
        assert len(tasks) == (3 if own else 4)


@pytest.mark.slow
@pytest.mark.parametrize("shots", [0, 1])
def test_fewer_examples(proctor: Proctor, tmp_path: Path, shots: int) -> None:
    with serving(solve_the_last_task) as stub:
        report(proctor("eval", "mbpp", "--prompt", "completion", "--few-shot", str(shots), "--model",
                       "stub", "--base-url", stub.url, "--out", tmp_path / "run", "--json"))  # fmt: skip
        assert {text.count("# Task: ") for text in prompts(stub)} == {shots + 1}


@pytest.mark.slow
def test_a_stop_of_ones_own_goes_first(proctor: Proctor, tmp_path: Path) -> None:
    with serving(go_on_with_a_function) as stub:
        proctor("eval", "humaneval", "--prompt", "completion", "--stop", "###", "--model", "stub",
                "--base-url", stub.url, "--out", tmp_path / "run")  # fmt: skip
        assert {tuple(body["stop"]) for body in stub.bodies} == {("###",)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mbpp", "--few-shot", "90"), "rows to be examples, and 90 are wanted"),
        (("mbpp", "--few-shot", "-1"), "--few-shot must not be negative"),
        (("humaneval", "--few-shot", "1"), "No such option"),
        (("mbpp", "--few-shot", "1", "--prompt", "plain"), "--prompt plain shows no examples"),
    ],
)
def test_examples_that_cannot_be(
    proctor: Proctor, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    asked = () if "--prompt" in arguments else ("--prompt", "completion")
    done = proctor("eval", *arguments, *asked, "--model", "stub", "--dry-run")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not list(tmp_path.iterdir())


FILE = """
[rows]
file = "rows.jsonl"
[prompt]
examples = 2
text = "{% for each in examples %}{{ each.id }}={{ each.answer }};{% endfor %}{{ id }}="
[examples]
file = "shots.jsonl"
[grading]
kind = "answer"
output = "answer"
"""


def test_examples_of_a_file_of_their_own(proctor: Proctor, tmp_path: Path) -> None:
    """They are part of what a run must find unchanged."""
    (tmp_path / "sums.toml").write_text(FILE)
    (tmp_path / "rows.jsonl").write_text('{"id": "1+1", "answer": 2}\n{"id": "1+2", "answer": 3}\n')
    shots = tmp_path / "shots.jsonl"
    shots.write_text(
        '{"id": "0+1", "answer": 1}\n{"id": "1+1", "answer": 2}\n{"id": "2+2", "answer": 4}\n'
    )

    def answer(call: Call) -> None:
        complete(call, str(eval(call.body["prompt"].rpartition(";")[2].removesuffix("="))))

    run = tmp_path / "run"
    with serving(answer) as stub:
        arguments = ("--model", "stub", "--base-url", stub.url)
        found = report(proctor("eval", tmp_path / "sums.toml", *arguments, "--out", run, "--json"))
        assert sorted(prompts(stub)) == ["0+1=1;1+1=2;1+2=", "0+1=1;2+2=4;1+1="]
        assert found["standard"]["pass_at_k"]["1"] == 1.0
        shots.write_text(shots.read_text().replace("4", "5"))
        changed = proctor("rejudge", run)
    assert changed.returncode == 2
    assert "shots.jsonl is not what it was" in changed.stderr
