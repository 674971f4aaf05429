"""Agents, end to end against a server on loopback."""

import json
from pathlib import Path
from typing import Any

import pytest
from answers import right_programs
from proctor_command import Proctor
from stub import Call, serving

from proctor.errors import SettingsError
from proctor.evals.agent import Budgets, calls_in
from proctor.evals.store import RunStore

AGENT = ("eval", "livecodebench", "--agentic-mode")


def tool(name: str, number: int, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"{name}-{number}", "type": "function", "function": function}


def program_for(call: Call) -> str:
    prompt = call.body["messages"][1]["content"]
    return next(code for title, code in right_programs().items() if f"# {title}\n" in prompt)


def answered(call: Call) -> bool:
    """Whether every call of the last reply has its answer, as servers demand."""
    messages = call.body["messages"]
    wanted = [each["id"] for message in messages for each in message.get("tool_calls", ())]
    given = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return wanted == given


def work(call: Call) -> None:
    """First a wrong program and a trial in one reply, then the right one, then hands it in."""
    turns = sum(message["role"] == "assistant" for message in call.body["messages"])
    if not answered(call):
        call.send(b'{"error": {"message": "unanswered tool call"}}', status=400)
    elif turns == 0:
        wrong = tool("write_solution", 0, code="x = 1")
        call.reply(None, tool_calls=[wrong, tool("run_tests", 0)])
    elif turns == 1:
        right = tool("write_solution", 1, code=program_for(call))
        call.reply("Now.", tool_calls=[right, tool("run_tests", 1)])
    else:
        call.reply(None, tool_calls=[tool("submit", 2)])


@pytest.mark.slow
def test_all_four_with_tools(proctor: Proctor, tmp_path: Path) -> None:
    """Defect 16: parallel calls broke the conversation, what an agent did was thrown away."""
    with serving(work) as stub:
        done = proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--json")  # fmt: skip
        assert stub.calls.total() == 12
    found = json.loads(done.stdout)
    assert found["standard"]["passed"] == found["official"]["passed"] == 4
    assert found["completion_tokens"] == 4 * 3 * 20
    with RunStore.open(tmp_path / "run") as store:
        for sample in store.samples():
            assert sample.generation is not None
            assert (sample.generation.turns, sample.generation.stop_reason) == (3, "submitted")
            turns = store.turns(sample.problem_id, sample.number)
            assert [turn.name or turn.kind for turn in turns] == [
                "model", "write_solution", "run_tests", "model", "write_solution", "run_tests",
                "model", "submit",
            ]  # fmt: skip
            assert "Test 1: AC" in turns[5].content
            assert "Test 1: AC" not in turns[2].content


def test_hidden_tests_are_not_for_agents(proctor: Proctor, tmp_path: Path) -> None:
    """Defect 16 again: the tests shown were the tests that graded."""
    with serving(work) as stub:
        proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                "--limit", "1")  # fmt: skip
    with RunStore.open(tmp_path / "run") as store:
        sample = next(store.samples())
        ran = [t for t in store.turns(sample.problem_id, 0) if t.name == "run_tests"]
        graded = json.loads(sample.judgements[0].tests)
    assert ran[-1].content.count("Test ") == 2 < len(graded)


def test_without_tool_calls(proctor: Proctor, tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        assert "tools" not in call.body
        turns = sum(message["role"] == "assistant" for message in call.body["messages"])
        if turns == 0:
            call.reply(f"I try.\n```python\n{program_for(call)}```\nRUN_TESTS")
        else:
            assert "run_tests: Test 1: AC" in call.body["messages"][-1]["content"]
            call.reply("Good.\nSUBMIT")

    with serving(answer) as stub:
        done = proctor(*AGENT, "--agentic-protocol", "text", "--model", "stub", "--base-url",
                       stub.url, "--out", tmp_path / "run", "--json")  # fmt: skip
    assert json.loads(done.stdout)["standard"]["passed"] == 4


def test_a_fault_midway_costs_no_turn_twice(proctor: Proctor, tmp_path: Path) -> None:
    """A model's error threw the whole instance away."""
    healed: list[bool] = []

    def answer(call: Call) -> None:
        if len(call.body["messages"]) > 2 and not healed:
            call.send(b"no", status=400)
        else:
            work(call)

    with serving(answer) as stub:
        first = proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out",
                        tmp_path / "run", "--limit", "1", "--json")  # fmt: skip
        assert first.returncode == 125
        assert stub.calls.total() == 2
        healed.append(True)
        again = proctor("retry", tmp_path / "run", "--json")
        assert json.loads(again.stdout)["standard"]["passed"] == 1
        assert stub.calls.total() == 4, "the first reply was in the store"


@pytest.mark.parametrize(
    ("options", "reason", "calls"),
    [
        (["--agentic-turn-budget", "2"], "turn-budget", 2),
        (["--agentic-token-budget", "20"], "token-budget", 1),
        (["--agentic-time-budget", "0.000001ms"], "time-budget", 1),
    ],
)
def test_budgets(
    proctor: Proctor, tmp_path: Path, options: list[str], reason: str, calls: int
) -> None:
    with serving(work) as stub:
        proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                "--limit", "1", *options)  # fmt: skip
        assert stub.calls.total() == calls
    with RunStore.open(tmp_path / "run") as store:
        generation = next(store.samples()).generation
        assert generation is not None
        assert generation.stop_reason == reason
        assert generation.code, "what it had written is judged"


def test_broken_and_unknown_calls_are_answered(proctor: Proctor, tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        turns = sum(message["role"] == "assistant" for message in call.body["messages"])
        if turns == 0:
            broken = {"id": "b", "type": "function",
                      "function": {"name": "write_solution", "arguments": "{code"}}  # fmt: skip
            call.reply(None, tool_calls=[broken, tool("shell", 0), tool("submit", 0)])
        else:
            call.reply(f"```python\n{program_for(call)}```")

    with serving(answer) as stub:
        done = proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--limit", "1", "--json")  # fmt: skip
    assert json.loads(done.stdout)["standard"]["passed"] == 1
    with RunStore.open(tmp_path / "run") as store:
        turns = store.turns("proctor-01-lantern-rows", 0)
    assert "not JSON" in turns[1].content
    assert "no tool 'shell'" in turns[2].content
    assert "write_solution first" in turns[3].content


def test_the_problem_can_be_read_at_any_time(proctor: Proctor, tmp_path: Path) -> None:
    """Read later, it was the last tool's answer."""

    def answer(call: Call) -> None:
        turns = sum(message["role"] == "assistant" for message in call.body["messages"])
        if turns == 0:
            call.reply(None, tool_calls=[tool("write_solution", 0, code="x = 1")])
        elif turns == 1:
            call.reply(None, tool_calls=[tool("read_problem", 1)])
        else:
            call.reply("I give up.", reasoning_content="Too hard.")

    with serving(answer) as stub:
        proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                "--limit", "1")  # fmt: skip
        prompt = stub.bodies[0]["messages"][1]["content"]
    with RunStore.open(tmp_path / "run") as store:
        turns = store.turns("proctor-01-lantern-rows", 0)
        generation = next(store.samples()).generation
    (read,) = [turn for turn in turns if turn.name == "read_problem"]
    assert read.content == prompt
    asked = [turn for turn in turns if turn.kind == "model"]
    assert [turn.finish_reason for turn in asked] == ["tool_calls", "tool_calls", "stop"]
    assert [turn.reasoning for turn in asked] == ["", "", "Too hard."]
    assert generation is not None
    assert (generation.finish_reason, generation.reasoning) == ("stop", "Too hard.")


def test_what_is_submitted_is_final(proctor: Proctor, tmp_path: Path) -> None:
    """A write behind `submit` in the same reply replaced what had been handed in."""

    def answer(call: Call) -> None:
        right = tool("write_solution", 0, code=program_for(call))
        wrong = tool("write_solution", 1, code="x = 1")
        call.reply(None, tool_calls=[right, tool("submit", 0), wrong, tool("run_tests", 0)])

    with serving(answer) as stub:
        done = proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--limit", "1", "--json")  # fmt: skip
        assert stub.calls.total() == 1
    assert json.loads(done.stdout)["standard"]["passed"] == 1
    with RunStore.open(tmp_path / "run") as store:
        turns = store.turns("proctor-01-lantern-rows", 0)
    assert [turn.content for turn in turns[1:3]] == ["Written.", "Handed in."]
    assert all("has been handed in" in turn.content for turn in turns[3:])


def test_submitting_nothing_ends_nothing(proctor: Proctor, tmp_path: Path) -> None:
    """Written behind a `submit` that had nothing to hand in, a program counted as submitted."""

    def answer(call: Call) -> None:
        if len(call.body["messages"]) == 2:
            early = tool("write_solution", 0, code="x = 1")
            call.reply(None, tool_calls=[tool("submit", 0), early])
        else:
            right = tool("write_solution", 1, code=program_for(call))
            call.reply(None, tool_calls=[right, tool("submit", 1)])

    with serving(answer) as stub:
        done = proctor(*AGENT, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--limit", "1", "--json")  # fmt: skip
        assert stub.calls.total() == 2
    assert json.loads(done.stdout)["standard"]["passed"] == 1


def test_nothing_behind_the_word_submit_is_read() -> None:
    two = "```python\nfirst\n```\nSUBMIT\n```python\nsecond\n```\nRUN_TESTS\n"
    written, submitted = calls_in(two)
    assert json.loads(written.arguments) == {"code": "first\n"}
    assert submitted.name == "submit"
    (alone,) = calls_in("SUBMIT\n```python\nx\n```\n")
    assert alone.name == "submit"
    inside, _ = calls_in("```python\nx = '''\nSUBMIT\n'''\n```\n")
    assert "SUBMIT" in json.loads(inside.arguments)["code"]


def test_words_of_the_text_protocol() -> None:
    found = [call.name for call in calls_in("RUN_TESTS \n```python\nx\n```\n SUBMIT \n")]
    assert found == ["write_solution", "run_tests", "submit"]
    assert list(calls_in("I would SUBMIT this")) == []
    with pytest.raises(SettingsError):
        Budgets(channel="smoke")  # type: ignore[arg-type]
