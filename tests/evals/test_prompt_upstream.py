"""`--prompt upstream` and `--preset leaderboard`: prompts of a checkout, from asking to the report."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from answers import right_programs, right_reply
from command import proctor as in_own_process
from little_checkout import GENERATION, written
from proctor_command import Proctor, report
from stub import Call, serving

from proctor.evals.livecodebench.upstream.leaderboard import differences, preset
from proctor.evals.provenance import provenance
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore

EVAL = ("eval", "livecodebench", "--model", "stub")
TITLES = right_programs()


def whole(call: Call) -> str:
    """The text that was asked, of either API."""
    body = call.body
    return body["prompt"] if "prompt" in body else body["messages"][-1]["content"]


def answer(call: Call) -> None:
    call.reply("```python\npass\n```")


def complete(call: Call) -> None:
    """Answer as a server of the completions API."""
    assert call.path == "/v1/completions"
    choices = [{"index": 0, "text": "\nprint(input())\n", "finish_reason": "stop"}]
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    call.send(
        json.dumps({"object": "text_completion", "choices": choices, "usage": usage}).encode()
    )


def stored(run: Path) -> tuple[dict[str, Any], list[Any]]:
    with RunStore.open(run) as store:
        return provenance(store), [each.generation for each in store.samples()]


def test_the_prompt_is_the_checkouts(proctor: Proctor, tmp_path: Path) -> None:
    there = written(tmp_path / "there")
    with serving(answer) as stub:
        proctor(*EVAL, "--base-url", stub.url, "--prompt", "upstream", "--upstream", there,
                "--out", tmp_path / "run", "--no-run-tests")  # fmt: skip
        bodies = stub.bodies
    assert len(bodies) == 4
    for body in bodies:
        system, user = body["messages"]
        assert (system["role"], system["content"], user["role"]) == ("system", "Code!", "user")
    assert sum(body["messages"][1]["content"].endswith("\nstdin") for body in bodies) == 2
    made, _ = stored(tmp_path / "run")
    name, _, digest = made["prompt"]["style"].partition("@")
    assert name == "upstream:OpenAIChat"
    assert len(digest) == 12
    assert made["leaderboard"]["comparable"] is False
    differ, *_ = made["leaderboard"]["differs"]
    assert differ == f"prompts of an unknown version of lcb_runner, {digest}"


def test_a_base_model_completes_a_text(proctor: Proctor, tmp_path: Path) -> None:
    there = written(tmp_path / "there")
    with serving(complete) as stub:
        found = report(proctor(
            *EVAL, "--base-url", stub.url, "--prompt", "upstream:GenericBase", "--upstream", there,
            "--preset", "leaderboard", "--source", "fixture", "--out", tmp_path / "run",
            "--request-n", "2", "--n", "2", "--limit", "1", "--json",
        ))  # fmt: skip
        bodies = stub.bodies
    assert found["completion_tokens"] == 6
    first = bodies[0]
    assert first["prompt"].startswith("One shot. # ")
    wanted = {"temperature": 0.2, "top_p": 0.95, "max_tokens": 2000, "stop": ["###"], "n": 2}
    assert {name: first[name] for name in wanted} == wanted
    assert "messages" not in first
    _, (made, _) = stored(tmp_path / "run")
    assert (made.code, made.rule) == ("print(input())", "whole")
    # Other programs read the run: a text to be completed is a user's message there.
    log = tmp_path / "log.json"
    assert proctor("export", tmp_path / "run", "--format", "inspect", "--out", log).returncode == 0
    assert json.loads(log.read_text())["samples"][0]["input"][0]["role"] == "user"


@pytest.mark.slow
def test_resumed_only_with_the_same_prompts(proctor: Proctor, tmp_path: Path) -> None:
    there = written(tmp_path / "there")

    def refuse(call: Call) -> None:
        call.send(b"{}", 400)

    run = tmp_path / "run"
    with serving(refuse) as stub:
        done = proctor(*EVAL, "--base-url", stub.url, "--prompt", "upstream", "--upstream", there,
                       "--out", run)  # fmt: skip
        assert done.returncode == 125
        # Relative to where it was begun, or not: the record has the whole path.
        stub.answer = lambda call: call.reply("```python\nprint(1)\n```")
        written(there, code_generation=GENERATION.replace("Code!", "Code well!"))
        # In a process of its own: one that has built the templates goes on with them.
        again = in_own_process("retry", run)
        assert again.returncode == 2
        assert b"are not those of upstream:OpenAIChat@" in again.stderr
        written(there)
        assert proctor("retry", run).returncode == 0
    _, made = stored(run)
    assert all(each.text for each in made)


@pytest.mark.slow
def test_self_repair(proctor: Proctor, tmp_path: Path) -> None:
    there = written(tmp_path / "there")
    for mode in ("official", "standard"):
        run = tmp_path / mode
        with serving(lambda call: call.reply("```python\nprint(-1)\n```")) as stub:
            report(proctor(*EVAL, "--base-url", stub.url, "--out", run, "--limit", "1",
                           "--mode", mode, "--json"))  # fmt: skip
    repair = (*EVAL, "--scenario", "selfrepair", "--prompt", "upstream", "--upstream", there)
    with serving(lambda call: call.reply("```python\nprint(2)\n```")) as stub:
        report(proctor(*repair, "--base-url", stub.url, "--from", tmp_path / "official",
                       "--out", tmp_path / "repaired", "--json"))  # fmt: skip
        done = proctor(*repair, "--base-url", stub.url, "--from", tmp_path / "standard",
                       "--out", tmp_path / "not")  # fmt: skip
        (body,) = stub.bodies
    assert done.returncode == 2
    assert "has no verdicts of mode official" in done.stderr
    assert not (tmp_path / "not").exists()
    text = body["messages"][0]["content"]
    assert "\nprint(-1)\n" in text
    assert "error -2 in " in text
    assert " out -1\n not " in text


@pytest.mark.parametrize(
    ("scenario", "style", "text"),
    [
        ("testoutputprediction", ":Claude3", "|assert fewestBoats([60, 80, 40, 20], 100)"),
        ("codeexecution", "", "def "),
        ("codeexecution", "-cot", "think: "),
    ],
)
def test_predictions(
    proctor: Proctor, tmp_path: Path, scenario: str, style: str, text: str
) -> None:
    there = written(tmp_path / "there")
    done = proctor(*EVAL, "--scenario", scenario, "--limit", "1", "--prompt", f"upstream{style}",
                   "--upstream", there, "--dry-run", "--json")  # fmt: skip
    messages = report(done)["first_prompt"]
    assert text in messages[-1]["content"]
    assert [each["role"] for each in messages] == ["system", "user"][-len(messages) :]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--prompt", "upstream"), "--prompt upstream needs --upstream DIR"),
        (("--prompt", "upstream", "--upstream", "nowhere"), "is not a checkout of LiveCodeBench"),
        (("--prompt", "upstream:", "--upstream", "there"), "--prompt is upstream or upstream:STYLE"),
        (("--prompt", "upstream:Nobody", "--upstream", "there"),
         "has no prompt Nobody for codegeneration; it has Gemini, GenericBase, OpenAIChat"),
        (("--prompt", "upstream-cot", "--upstream", "there"), "is for --scenario codeexecution"),
        (("--prompt", "upstream@0123456789ab", "--upstream", "there"), "their digest is"),
        (("--prompt", "upstream", "--upstream", "there", "--agentic-mode"), "agents have prompts"),
        (("--prompt", "upstream", "--upstream", "broken"), "cannot be built: ZeroDivisionError"),
        (("--prompt", "upstream", "--upstream", "endless"), "cannot be built: "),
        (("--preset", "leader"), "--preset is leaderboard, not 'leader'"),
        (("--preset", "leaderboard"), "--prompt upstream needs --upstream DIR"),
        (("--prompt", "nice"), "step-by-step, upstream"),
    ],
)  # fmt: skip
def test_wrong_ones_are_one_sentence(
    proctor: Proctor, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    written(tmp_path / "there")
    written(tmp_path / "broken", code_generation="1 // 0")
    written(tmp_path / "endless", code_generation="import os\nos._exit(3)")
    placed = [tmp_path / each if (tmp_path / each).exists() else each for each in options]
    done = proctor(*EVAL, "--base-url", "http://127.0.0.1:9/v1", "--dry-run", *placed)
    assert done.returncode == 2, done.stderr
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_checkout_cannot_reach_the_host(proctor: Proctor, tmp_path: Path) -> None:
    """Its code runs in a cell."""
    mark = tmp_path / "mark"
    evil = f"open({str(mark)!r}, 'w').write('here')\n" + GENERATION
    there = written(tmp_path / "there", code_generation=evil)
    done = proctor(*EVAL, "--prompt", "upstream", "--upstream", there, "--dry-run")
    assert done.returncode == 2
    assert "cannot be built" in done.stderr
    assert not mark.exists()


def test_what_keeps_scores_from_being_comparable() -> None:
    known = "upstream:OpenAIChat@af7b992f0afc"
    made = Settings(
        preset="leaderboard", upstream="there", **preset("leaderboard", {}) | {"prompt": known}
    )
    assert differences(made, "huggingface:release_v5") == []
    assert differences(made, "problems.jsonl") == ["problems from problems.jsonl"]
    other = Settings(temperature=0.0, mode="standard", limit="5")
    assert differences(other, "huggingface") == [
        "prompt plain", "not judged in mode official", "n not set instead of 10",
        "temperature 0.0 instead of 0.2", "top_p not set instead of 0.95",
        "max_tokens not set instead of 2000", "extraction auto instead of upstream",
        "not all problems",
    ]  # fmt: skip
    recorded = msgspec.structs.replace(made, model="replay:x.jsonl", prompt="plain")
    (reason,) = differences(recorded, "huggingface")
    assert reason.startswith("replies of a recording")
    # Dates and both modes make no difference.
    both = Settings(
        **preset("leaderboard", {"prompt": known})
        | {"mode": "both", "min_release_date": "2024-08-01"}
    )
    assert differences(both, "huggingface") == []


@pytest.mark.parametrize(
    ("style", "sampling"),
    [
        ("OpenAIChat", {"temperature": 0.2, "top_p": 0.95, "max_tokens": 2000}),
        ("LLaMa3", {"temperature": 0.2, "top_p": 0.95, "max_tokens": 2000, "stop": ["###"]}),
        ("OpenAIReason", {}),
        ("Claude3Thinking", {"max_tokens": 32000, "extra_body": {
            "thinking": {"type": "enabled", "budget_tokens": 24000}}}),
    ],
)  # fmt: skip
def test_each_style_is_sampled_as_upstream_does(style: str, sampling: dict[str, Any]) -> None:
    found = preset("leaderboard", {"prompt": f"upstream:{style}"})
    rest = {"prompt", "extraction", "mode", "source", "n"}
    assert {name: value for name, value in found.items() if name not in rest} == sampling
    assert "n" not in preset("leaderboard", {"prompt": "upstream", "earlier": "run"})


def test_the_summary_says_so(proctor: Proctor, tmp_path: Path) -> None:
    def reply(call: Call) -> None:
        call.reply(right_reply(whole(call)))

    with serving(reply) as stub:
        done = proctor(*EVAL, "--base-url", stub.url, "--limit", "1", "--out", tmp_path / "run",
                       "--preset", "leaderboard", "--prompt", "plain", "--source", "fixture")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not comparable with the leaderboard: prompt plain, problems from fixture" in done.stdout
    page = tmp_path / "page.html"
    assert proctor("report", tmp_path / "run", "--out", page).returncode == 0
    assert "prompt plain" in page.read_text()
