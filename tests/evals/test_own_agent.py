"""Agents of the user's own, end to end against a server on loopback."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from answers import right_programs
from command import COMMAND, environment
from proctor_command import Proctor
from stub import Call, serving

from proctor.errors import SettingsError
from proctor.evals.provenance import provenance
from proctor.evals.store import RunStore
from waiting import PATIENCE

AGENT = """
from pathlib import Path
from proctor.evals.extraction import extract
from proctor.evals.models.model import Message

class Tries:
    def __init__(self, budgets):
        self.budgets = budgets

    def messages(self, prompt):
        return (Message("system", "Try."), *prompt[1:])

    async def solve(self, prompt, journal):
        for number in range(self.budgets.turns):
            reply = await journal.ask(prompt)
            code = extract(reply.text).code
            said = await journal.run_tests(code)
            if Path("off").exists() and "Lantern" in prompt[1].content:
                raise LookupError("lost my way")
            if all(": AC" in line for line in said.splitlines()):
                return journal.solved(code, "public tests pass")
            prompt = (*prompt, Message("assistant", reply.text), Message("user", said))
        return journal.solved(code, "tried enough")
"""
BAD = """
import asyncio
from proctor.evals.models.model import ToolCall

class Bad:
    def __init__(self, budgets): pass
    def messages(self, prompt): return prompt
    async def solve(self, prompt, journal): return journal.solved("x = 1", "lazy")

class NoMessages(Bad):
    def messages(self, prompt): return "prompt"

class NoSolution(Bad):
    async def solve(self, prompt, journal): return "print()"

class NoReason(Bad):
    async def solve(self, prompt, journal): return journal.solved("print()", None)

class NoText(Bad):
    async def solve(self, prompt, journal):
        async def number(): return 5
        await journal.tool(ToolCall("a", "look", "{}"), number)

class HandsInTwice(Bad):
    async def solve(self, prompt, journal):
        journal.solved("x = 1", "done")
        return journal.solved("x = 2", "better")

class GoesOn(Bad):
    async def solve(self, prompt, journal):
        solved = journal.solved("x = 1", "done")
        await journal.ask(prompt)
        return solved

class SwapsIt(Bad):
    async def solve(self, prompt, journal):
        from dataclasses import replace
        solved = journal.solved("x = 1", "done")
        return replace(solved, reply=replace(solved.reply, code="x = 2"))

class TwoAtOnce(Bad):
    async def solve(self, prompt, journal):
        await asyncio.gather(journal.ask(prompt), journal.ask(prompt))
"""
Place = Callable[[str, str], Path]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Write a module into the current directory, where --agent finds it."""

    def put(name: str, source: str) -> Path:
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        monkeypatch.syspath_prepend(tmp_path)  # and takes it off the path again
        monkeypatch.chdir(tmp_path)
        return path

    return put


def second_time_right(call: Call) -> None:
    prompt = call.body["messages"][1]["content"]
    if len(call.body["messages"]) == 2:
        call.reply("```python\nprint('no')\n```")
    else:
        assert call.body["messages"][-1]["content"].startswith(("Test 1: WA", "Test 1: RE"))
        code = next(code for title, code in right_programs().items() if f"# {title}\n" in prompt)
        call.reply(f"```python\n{code}```")


def test_all_four_with_an_agent_of_one_s_own(proctor: Proctor, place: Place) -> None:
    place("own_tries", AGENT)
    with serving(second_time_right) as stub:
        done = proctor("eval", "livecodebench", "--agent", "own_tries:Tries", "--model", "stub",
                       "--base-url", stub.url, "--out", "run", "--json")  # fmt: skip
        assert stub.calls.total() == 8
        assert stub.bodies[0]["messages"][0] == {"role": "system", "content": "Try."}
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["standard"]["passed"] == found["official"]["passed"] == 4
    assert found["completion_tokens"] == 4 * 2 * 20
    with RunStore.open(Path("run")) as store:
        assert provenance(store)["prompt_agentic"] == "own_tries:Tries"
        for sample in store.samples():
            assert sample.generation is not None
            assert sample.generation.turns == 2
            assert sample.generation.stop_reason == "public tests pass"
            turns = store.turns(sample.problem_id, sample.number)
            assert [turn.name or turn.kind for turn in turns] == ["model", "run_tests"] * 2
    # A run that lacks no reply needs no agent.
    Path("own_tries.py").unlink()
    assert proctor("rejudge", "run", "--json").returncode == 0


def test_budgets_reach_it(proctor: Proctor, place: Place) -> None:
    place("own_budgets", AGENT)
    Path("eval.toml").write_text('agent = "own_budgets:Tries"\nagentic-turn-budget = 1\n')
    with serving(second_time_right) as stub:
        proctor("eval", "livecodebench", "--config", "eval.toml", "--model", "stub", "--base-url",
                stub.url, "--out", "run", "--limit", "1")  # fmt: skip
        assert stub.calls.total() == 1
    with RunStore.open(Path("run")) as store:
        generation = next(store.samples()).generation
    assert generation is not None
    assert generation.stop_reason == "tried enough"


@pytest.mark.slow
def test_an_error_is_one_sample_s_fault(proctor: Proctor, place: Place) -> None:
    place("own_lost", AGENT)
    Path("off").touch()
    with serving(second_time_right) as stub:
        first = proctor("eval", "livecodebench", "--agent", "own_lost:Tries", "--model", "stub",
                        "--base-url", stub.url, "--out", "run", "--json")  # fmt: skip
        assert first.returncode == 125
        found = json.loads(first.stdout)
        assert found["model_faults"] == {"agent-error": 1}
        assert found["completion_tokens"] == 7 * 20, "the reply of the sample that failed, too"
        assert found["standard"]["passed"] == 3
        assert stub.calls.total() == 7
        with RunStore.open(Path("run")) as store:
            generation = next(store.samples()).generation
            assert generation is not None
            assert generation.fault_message == "LookupError: lost my way"
            assert len(store.turns(generation.problem_id, 0)) == 2
        Path("off").unlink()
        again = proctor("retry", "run", "--json")
        assert json.loads(again.stdout)["standard"]["passed"] == 4
        assert json.loads(again.stdout)["completion_tokens"] == 8 * 20
        assert stub.calls.total() == 8, "the first reply was in the store"


def test_an_agent_that_takes_other_steps_cannot_go_on(proctor: Proctor, place: Place) -> None:
    place("own_steps", AGENT)
    Path("off").touch()
    with serving(second_time_right) as stub:
        begin = ["eval", "livecodebench", "--agent", "own_steps:Tries", "--model", "stub",
                 "--base-url", stub.url, "--out", "run", "--limit", "1"]  # fmt: skip
        proctor(*begin)
        with RunStore.open(Path("run"), write=True) as store:
            (first, tried) = store.turns("proctor-01-lantern-rows", 0)
            store.write([type(tried)(tried.problem_id, 0, 1, "tool", "look"), first])
        proctor("retry", "run")
    with RunStore.open(Path("run")) as store:
        generation = next(store.samples()).generation
    assert generation is not None
    assert "step 1 is not the one that was recorded" in generation.fault_message


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("NoMessages", "Expected `array`"),
        ("NoSolution", "Expected `object`"),
        ("NoReason", "Expected `str`"),
        ("NoText", "step 0 cannot be kept: Expected `str`"),
        ("HandsInTwice", "went on after it had handed in"),
        ("GoesOn", "went on after it had handed in"),
        ("SwapsIt", "another solution than it had handed in"),
        ("TwoAtOnce", "began a step before the one before it had ended"),
    ],
)
def test_what_an_agent_must_not_do(proctor: Proctor, place: Place, name: str, why: str) -> None:
    place("own_bad", BAD)
    with serving(lambda call: call.reply("hm")) as stub:
        done = proctor("eval", "livecodebench", "--agent", f"own_bad:{name}", "--model", "stub",
                       "--base-url", stub.url, "--out", "run", "--limit", "1")  # fmt: skip
    assert done.returncode == 125
    assert "Traceback" not in done.stderr
    with RunStore.open(Path("run")) as store:
        generation = next(store.samples()).generation
    assert generation is not None
    assert generation.fault == "agent-error"
    assert why in generation.fault_message


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("own_none", "MODULE:CALLABLE"),
        ("own_none:Agent", "ModuleNotFoundError: No module named 'own_none'"),
        ("own_wrong:Absent", "AttributeError"),
        ("own_wrong:five", "TypeError"),
        ("own_wrong:fails", "RuntimeError: no"),
        ("own_wrong:text", "has no `messages`"),
    ],
)
def test_what_is_no_agent(proctor: Proctor, place: Place, name: str, why: str) -> None:
    place("own_wrong", "five = 5\ntext = str\ndef fails(budgets): raise RuntimeError('no')\n")
    with serving(lambda call: call.reply("hm")) as stub:
        done = proctor("eval", "livecodebench", "--agent", name, "--model", "stub",
                       "--base-url", stub.url, "--out", "run")  # fmt: skip
    assert done.returncode == 2
    assert f"--agent {name}: " in done.stderr or "--agent is" in done.stderr
    assert why in done.stderr
    assert not Path("run").exists()


@pytest.mark.slow
def test_killed_between_turns(place: Place) -> None:
    """Nothing is paid twice: the turn that was under way is asked for, and no other."""
    place("own_killed", AGENT)
    child: list[subprocess.Popen[bytes]] = []

    def answer(call: Call) -> None:
        if len(call.body["messages"]) > 2 and len(child) == 1:
            child[0].send_signal(signal.SIGKILL)
            child[0].wait(PATIENCE)
            child.append(child[0])
        second_time_right(call)

    with serving(answer) as stub:
        begin = [COMMAND, "eval", "livecodebench", "--agent", "own_killed:Tries", "--model", "stub",
                 "--base-url", stub.url, "--out", "run", "--limit", "1", "--json"]  # fmt: skip
        child.append(subprocess.Popen(begin, env=environment(), stderr=subprocess.PIPE))
        child[0].communicate(timeout=PATIENCE)
        assert child[0].returncode == -signal.SIGKILL
        assert stub.calls.total() == 2
        last = subprocess.run([COMMAND, "resume", "run", "--json"], env=environment(),
                              capture_output=True, timeout=PATIENCE)  # fmt: skip
        assert last.returncode == 0, last.stderr
        assert json.loads(last.stdout)["standard"]["passed"] == 1
        assert sorted(stub.calls.values()) == [1, 2]
        assert len(stub.bodies[0]["messages"]) == 2
        assert [len(body["messages"]) for body in stub.bodies[1:]] == [4, 4]


def test_an_agent_without_agentic_mode_means_nothing() -> None:
    from proctor.evals.settings import Settings

    with pytest.raises(SettingsError, match="agentic"):
        Settings(agent="own:Agent")
