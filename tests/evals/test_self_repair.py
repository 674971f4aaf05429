"""Self-repair: what is asked of which sample, from runs that were really judged."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from answers import right_programs, right_reply
from command import problem, write_rows
from proctor_command import Proctor, report
from stub import Call, serving

from proctor.evals.livecodebench.feedback import feedback
from proctor.evals.livecodebench.repair import BENCHMARK, open_run
from proctor.evals.models.model import ModelReply
from proctor.evals.records import current_judges, settings_of
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import SampleJudgement
from proctor.problem import Problem, Test
from proctor.verdict import Verdict

EVAL = ("eval", "livecodebench")
REPAIR = (*EVAL, "--scenario", "selfrepair")
RIGHT = "print(int(input()) + 1)"
FAILING = {
    "wrong": "print(input())",
    "late": "while True: pass",
    "broken": "print(1 // 0)",
    "no python": "print(",
    "gone": "import os\nos._exit(3)",
}


def earlier(proctor: Proctor, place: Path, programs: list[str], *options: str) -> Path:
    """A judged run with these programs as samples of one problem: test 1 is public, 2 is not."""
    hidden = json.dumps([{"input": "77777\n", "output": "77778\n", "testtype": "stdin"}])
    row = problem("plus-one", [("3\n", "4\n")], private_test_cases=hidden,
                  question_title="Plus One", question_content="Print n + 1.")  # fmt: skip
    problems = write_rows(place / "problems.jsonl", [row])
    recording = write_rows(
        place / "programs.jsonl", [{"question_id": "plus-one", "code_list": programs}]
    )
    run = place / "earlier"
    report(proctor(*EVAL, "--source", problems, "--model", f"replay:{recording}", "--out", run,
                   "--test-timeout", "1s", "--json", *options))  # fmt: skip
    return run


def asked(run: Path, sample: int) -> str | ModelReply:
    """What self-repair asks for a sample: the last message."""
    source = open_run(run, "fixture")
    (instance,) = source.instances(["plus-one"])
    found = BENCHMARK.messages(instance, sample, Settings(earlier=str(run)))
    return found if isinstance(found, ModelReply) else found[-1].content


@pytest.mark.slow
def test_failures_are_repaired_and_the_rest_carried_over(proctor: Proctor, tmp_path: Path) -> None:
    run = earlier(proctor, tmp_path, [RIGHT, *FAILING.values(), ""])
    prompts: list[str] = []

    def answer(call: Call) -> None:
        prompts.append(call.body["messages"][-1]["content"])
        call.reply(f"It was wrong.\n```python\n{RIGHT}\n```")

    out = tmp_path / "repaired"
    with serving(answer) as stub:
        command = (*REPAIR, "--from", run, "--model", "stub", "--base-url", stub.url)
        found = report(proctor(*command, "--out", out, "--json"))
        assert stub.calls.total() == 6
        report(proctor("resume", out, "--json"))
        assert stub.calls.total() == 6
        again = report(proctor(*REPAIR, "--from", out, "--model", "stub", "--base-url", stub.url,
                               "--out", tmp_path / "twice", "--n", "3", "--json"))  # fmt: skip
        assert stub.calls.total() == 6  # nothing is left to repair
    assert found["benchmark"] == "livecodebench/selfrepair"
    assert found["samples"] == found["standard"]["passed"] == found["official"]["passed"] == 7
    assert again["samples"] == 3
    anew = [prompt for prompt in prompts if "does not pass" not in prompt]
    assert len(anew) == 1
    assert "Print n + 1." in anew[0]
    with RunStore.open(out) as store:
        policies = [each.generation.policy for each in store.samples() if each.generation]
    assert policies == ["given"] + ["auto"] * 6
    assert proctor("report", out, "--out", tmp_path / "page.html").returncode == 0
    for format_ in ("jsonl", "json", "csv", "lcb"):
        assert proctor("export", out, "--format", format_).returncode == 0


@pytest.mark.slow("late-official1-standard1")
@pytest.mark.parametrize(
    ("which", "official", "standard"),
    [
        ("wrong", ["wrong answer", "Input:", "3", "Its output:", "Expected output:", "4"],
         ["wrong answer on test 1 of 2, which is public", "Input:", "Expected output:", "4"]),
        ("late", ["out of time", "TimeoutException", "Expected output:"],
         ["out of CPU time on test 1 of 2, which is public"]),
        ("broken", ["fails with an error", "ZeroDivisionError", "Input:"],
         ["fails with an error on test 1 of 2, which is public", "ZeroDivisionError"]),
        ("no python", ["fails with an error", "Error during testing", "was never closed"],
         ["does not compile", "was never closed"]),
        ("gone", ["ended in the middle of the tests"],
         ["fails with an error on test 1 of 2", "exit code 3"]),
    ],
)  # fmt: skip
def test_every_failure_is_explained(
    proctor: Proctor, tmp_path: Path, which: str, official: list[str], standard: list[str]
) -> None:
    """Upstream fails on -4 without inputs (LiveCodeBench #72), and on -5."""
    for mode, expected in (("official", official), ("standard", standard)):
        place = tmp_path / mode
        place.mkdir()
        run = earlier(proctor, place, [FAILING[which]], "--mode", mode)
        told = asked(run, 0)
        assert isinstance(told, str)
        assert [part for part in expected if part not in told] == [], told


def test_hidden_tests_stay_hidden_in_standard_mode(proctor: Proctor, tmp_path: Path) -> None:
    program = "n = int(input())\nprint(n + 1 if n < 9 else n)"
    run = earlier(proctor, tmp_path, [program], "--mode", "standard")
    told = asked(run, 0)
    assert isinstance(told, str)
    assert "wrong answer on test 2 of 2, which is hidden." in told
    assert "7777" not in told


def test_official_counts_where_there_are_both(proctor: Proctor, tmp_path: Path) -> None:
    """A reader of stdin that lcb_runner cannot serve: a pass in standard mode only."""
    run = earlier(proctor, tmp_path, ["import sys\nfor line in sys.stdin: print(int(line) + 1)"])
    assert isinstance(asked(run, 0), str)


CODES = (-1, -2, -3, -4, -5, -9, None, "x")


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("keys", [(), ("inputs",), ("error",), ("error_message",),
                                  ("inputs", "output", "expected", "error", "error_message")])  # fmt: skip
def test_metadata_may_lack_anything(code: object, keys: tuple[str, ...]) -> None:
    metadata = {key: f"<{key}>" for key in keys} | ({} if code is None else {"error_code": code})
    upstream = json.dumps({"results": [], "metadata": metadata})
    judged = SampleJudgement("a", 0, "official", "key", "RE", upstream=upstream)
    told = feedback(Problem("a", ()), judged)
    assert told.startswith("It")
    shown = set() if code == -5 else {key for key in keys if key != "error_message"}
    if keys == ("error_message",) and code != -5:
        shown = {"error_message"}
    assert {key for key in keys if f"<{key}>" in told} == shown
    for empty in ("", "{}", '{"metadata": null}'):
        assert feedback(Problem("a", ()), msgspec.structs.replace(judged, upstream=empty))


@pytest.mark.parametrize("verdict", [each for each in Verdict if not each.passed])
def test_every_verdict_has_its_words(verdict: Verdict) -> None:
    task = Problem("a", (Test("in", "out", public=True),))
    tests = json.dumps([{"verdict": verdict.value, "message": "why"}])
    judged = SampleJudgement("a", 0, "standard", "key", verdict.value, message="why", tests=tests)
    told = feedback(task, judged)
    assert "which is public" in told
    assert "why" in told
    secret = replace(task, tests=(Test("in", "out"),))
    assert "why" not in feedback(secret, judged)
    assert "out\n" not in feedback(secret, judged)
    assert feedback(task, msgspec.structs.replace(judged, tests="[]"))


def test_fences_within_programs(proctor: Proctor, tmp_path: Path) -> None:
    run = earlier(proctor, tmp_path, ['print("""\n```\n""")'])
    (instance,) = open_run(run, "fixture").instances(["plus-one"])
    messages = BENCHMARK.messages(instance, 0, Settings(earlier=str(run)))
    assert not isinstance(messages, ModelReply)
    assert [each.role for each in messages] == ["system", "user", "assistant", "user"]
    assert messages[2].content.startswith("````python\n")


def test_an_earlier_run_that_changes_is_noticed(proctor: Proctor, tmp_path: Path) -> None:
    run = earlier(proctor, tmp_path, [FAILING["wrong"], RIGHT])
    repaired = write_rows(tmp_path / "repaired.jsonl", [
        {"question_id": "plus-one", "code_list": [RIGHT, RIGHT]},
    ])  # fmt: skip
    out = tmp_path / "out"
    report(proctor(*REPAIR, "--from", run, "--model", f"replay:{repaired}", "--out", out, "--json"))
    with RunStore.open(run, write=True) as store:
        (sample, _) = store.samples()
        assert sample.generation is not None
        store.write([msgspec.structs.replace(sample.generation, code="print(5)")])
    done = proctor("resume", out)
    assert done.returncode == 2
    assert "is not what it was" in done.stderr


@pytest.mark.slow
def test_runs_that_cannot_be_repaired(proctor: Proctor, tmp_path: Path) -> None:
    def said(*options: object) -> str:
        done = proctor(*REPAIR, "--model", "m", "--dry-run", *options)
        assert done.returncode == 2, done.stdout
        return done.stderr

    assert "--from names the run" in said()
    assert "holds no run" in said("--from", tmp_path)
    run = earlier(proctor, tmp_path, [FAILING["wrong"], RIGHT])
    assert "leave --source out" in said("--from", run, "--source", "other.jsonl")
    with RunStore.open(run, write=True) as store:
        store.set_aside(["WA"], current_judges(store, settings_of(store)).values())
    assert "without a verdict: 1 sample of" in said("--from", run)
    assert f"`proctor resume {run}`" in said("--from", run)
    (tmp_path / "none").mkdir()
    unjudged = earlier(proctor, tmp_path / "none", [RIGHT], "--no-run-tests")
    assert "--no-run-tests" in said("--from", unjudged)
    crux = tmp_path / "crux"
    recording = write_rows(tmp_path / "crux.jsonl", [{"question_id": "proctor-c1", "code": "1"}])
    proctor("eval", "cruxeval", "--model", f"replay:{recording}", "--out", crux)
    assert "has no programs" in said("--from", crux)
    done = proctor(*EVAL, "--model", "m", "--dry-run", "--from", run)
    assert "--from is for" in done.stderr
    (tmp_path / "second").mkdir()
    second = earlier(proctor, tmp_path / "second", [RIGHT])
    problems = tmp_path / "second" / "problems.jsonl"
    problems.write_text(problems.read_text().replace("77777", "88888"))
    assert "is not what it was when" in said("--from", second)


@pytest.mark.slow
def test_without_a_reply_it_is_asked_anew(proctor: Proctor, tmp_path: Path) -> None:
    """A fault of the model is no failure of a program: the first prompt is sent again."""
    titles = list(right_programs())

    def refuse_one(call: Call) -> None:
        prompt = call.body["messages"][-1]["content"]
        if titles[0] in prompt and not healed:
            call.send(b'{"error": {"message": "no"}}', status=400)
        else:
            call.reply(right_reply(prompt))

    healed: list[bool] = []
    run, out = tmp_path / "run", tmp_path / "out"
    with serving(refuse_one) as stub:
        to = ("--model", "stub", "--base-url", stub.url, "--json")
        assert proctor(*EVAL, "--out", run, *to).returncode == 125
        healed.append(True)
        before = stub.calls.total()
        found = report(proctor(*REPAIR, "--from", run, "--out", out, *to))
        assert stub.calls.total() == before + 1
    assert found["standard"]["passed"] == 4
