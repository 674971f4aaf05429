"""CRUXEval, code execution and test output prediction: asked, extracted, graded, reported."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import write_rows
from proctor_command import Proctor, report
from stub import Call, serving

from fake_hub import FakeHub
from fake_hub import serving as serving_hub
from proctor.errors import InputError, SettingsError
from proctor.evals.benchmark_file.tasks import RowTask
from proctor.evals.models.model import ModelReply
from proctor.evals.predictions import LONGEST_SPLIT, sides, tagged
from proctor.evals.registry import benchmark_named
from proctor.evals.settings import Settings
from proctor.prediction import AssertionTask, CallTask

CRUX = ("eval", "cruxeval")
LCB = ("eval", "livecodebench")


def questions(name: str, source: str = "fixture") -> list[RowTask]:
    opened = benchmark_named(name).open_source(Settings(source=source))
    return list(opened.instances([info.id for info in opened.infos()]))


def asked_of(task: RowTask) -> CallTask | AssertionTask:
    running = task.problem.running
    assert isinstance(running, CallTask | AssertionTask)
    return running


def prompt(name: str, question: RowTask, template: str = "plain") -> str:
    asked = benchmark_named(name).messages(question, 0, Settings(prompt=template))
    assert not isinstance(asked, ModelReply)
    return asked[-1].content


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("cruxeval/output", (*CRUX, "--task", "output")),
        ("cruxeval/input", (*CRUX, "--task", "input")),
        ("livecodebench/codeexecution", (*LCB, "--scenario", "codeexecution")),
        ("livecodebench/testoutputprediction", (*LCB, "--scenario", "testoutputprediction")),
    ],
)
def test_a_right_model_and_a_wrong_one(
    proctor: Proctor, tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    """Against a server: half of the replies are right; then report, export, rejudge."""
    asked = {prompt(name, question): question for question in questions(name)}
    right = {question.id for question in list(asked.values())[::2]}

    def answer(call: Call) -> None:
        question = asked[call.body["messages"][-1]["content"]]
        output = asked_of(question).output if question.id in right else "'no such thing'"
        if name == "cruxeval/input":
            output = asked_of(question).output
        stated = f"assert {asked_of(question).call} == {output}"
        if name == "cruxeval/input" and question.id not in right:
            stated = f"assert f(None, None) == {output}"
        if name.endswith("testoutputprediction"):
            stated = stated.replace("true", "True").replace("false", "False")
            call.reply(f"It is:\n```python\n{stated}\n```")
        else:
            call.reply(f"<think>[ANSWER]0[/ANSWER]</think>[ANSWER]\n{stated}\n[/ANSWER]")

    run = tmp_path / "run"
    with serving(answer) as stub:
        found = report(proctor(*command, "--model", "stub", "--base-url", stub.url, "--out", run,
                               "--json"))  # fmt: skip
        assert stub.calls.total() == len(asked)
    assert found["benchmark"] == name
    for mode in ("official", "standard"):
        assert (found[mode]["passed"], found[mode]["scored"]) == (len(right), len(asked))
    again = report(proctor("rejudge", run, "--json"))
    assert again["standard"] == found["standard"]
    assert proctor("report", run, "--out", tmp_path / "page.html").returncode == 0
    assert "no such thing" in (tmp_path / "page.html").read_text() or name == "cruxeval/input"
    for format_ in ("jsonl", "json", "csv", "lcb"):
        exported = proctor("export", run, "--format", format_)
        assert exported.returncode == 0, exported.stderr
        assert exported.stdout
    rows = json.loads(proctor("export", run, "--format", "lcb").stdout)
    assert {row["question_id"] for row in rows if row["graded_list"] == [True]} == right


def test_a_recording(proctor: Proctor, tmp_path: Path) -> None:
    recording = write_rows(tmp_path / "replies.jsonl", [
        {"question_id": "proctor-c1", "code": "'anterns al lit'"},
        {"question_id": "proctor-c2", "code": "0 or True"},
        {"question_id": "proctor-c4", "generation": "[ANSWER]assert f(6) == (3, 10)[/ANSWER]"},
    ])  # fmt: skip
    found = report(proctor(*CRUX, "--model", f"replay:{recording}", "--out", tmp_path / "run",
                           "--json"))  # fmt: skip
    assert found["left_out"] == {"not recorded": 1}
    assert found["official"]["verdicts"] == {"AC": 2, "WA": 1}
    assert found["standard"]["verdicts"] == {"AC": 1, "WA": 2}


def test_prompts_hold_what_upstreams_do() -> None:
    for template in ("plain", "step-by-step"):
        (first, *_), text = questions("cruxeval/output"), ""
        text = prompt("cruxeval/output", first, template)
        assert asked_of(first).call + " == ??" in text
        assert asked_of(first).output not in text
        (first, *_) = questions("cruxeval/input")
        text = prompt("cruxeval/input", first, template)
        assert "f(??) == 'anterns al lit'" in text
        assert "lanterns all lit" not in text
        (first, *_) = questions("livecodebench/testoutputprediction")
        text = prompt("livecodebench/testoutputprediction", first, template)
        assert "assert fewestBoats([60, 80, 40, 20], 100) == # TODO" in text
        assert "def fewestBoats" in text
        assert "one or two of them" in text
    with pytest.raises(SettingsError, match="step-by-step"):
        benchmark_named("cruxeval/input").check(Settings(prompt="user-only"))


def extracted(name: str, reply: str, policy: str = "last-block", template: str = "plain") -> str:
    benchmark = benchmark_named(name)
    settings = Settings(extraction=policy, prompt=template)
    return str(benchmark.extract(None, reply, settings).code)


@pytest.mark.parametrize(
    ("reply", "output"),
    [
        ("[ANSWER]\nassert f(1) == [2]\n[/ANSWER]", "[2]"),
        ("[ANSWER]f(1) == '== x'[/ANSWER]", "'== x'"),
        ("[ANSWER]assert f('a == b', [1 == 1]) == 3[/ANSWER] so", "3"),
        ("[ANSWER][2][/ANSWER]", "[2]"),
        ("First [ANSWER]1[/ANSWER], no: [ANSWER]2[/ANSWER]", "2"),
        ("<think>[ANSWER]1[/ANSWER]</think>It is [ANSWER]2", "2"),
        ("2[/ANSWER] and more", "2"),
        ("[ANSWER]\n```python\nassert f(1) == 2\n```\n[/ANSWER]", "2"),
        ("[ANSWER]`2`[/ANSWER]", "2"),
        ("So it is\n```python\nassert f(1) == 2\n```", "2"),
        ("Well.\n\nassert f(1) == 2\n", "2"),
        ("", ""),
        ("[ANSWER][/ANSWER]", "[ANSWER][/ANSWER]"),
    ],
)  # fmt: skip
def test_outputs_in_replies(reply: str, output: str) -> None:
    assert extracted("cruxeval/output", reply) == output


@pytest.mark.parametrize(
    ("reply", "call"),
    [
        ("[ANSWER]\nassert f('a == b', [1]) == [2]\n[/ANSWER]", "f('a == b', [1])"),
        ("[ANSWER]f(1)[/ANSWER]", "f(1)"),
        ("[ANSWER]1, 2[/ANSWER]", "1, 2"),
    ],
)
def test_inputs_in_replies(reply: str, call: str) -> None:
    assert extracted("cruxeval/input", reply) == call


def test_the_publishers_extraction() -> None:
    """With its oddities: an == in a string cuts it, and thoughts count unless they are asked for."""
    quoted = "assert f(1) == '== x'[/ANSWER]"
    assert extracted("cruxeval/output", quoted, "upstream") == "'"
    aloud = "f(1) == 3 at first. [ANSWER]assert f(1) == 4[/ANSWER]"
    assert extracted("cruxeval/output", aloud, "upstream", "step-by-step") == "4"
    assert extracted("cruxeval/input", aloud, "upstream", "step-by-step") == "f(1)"
    assert extracted("livecodebench/codeexecution", aloud, "upstream", "step-by-step") == "4"
    lines = "assert f(1) == 4\nbecause"
    assert extracted("livecodebench/codeexecution", lines, "upstream") == "4"
    name = "livecodebench/testoutputprediction"
    fenced = "```\nno\n```\n```python\nf(1)\n```"
    assert extracted(name, fenced, "upstream") == "f(1)"
    assert extracted(name, "assert 1\nassert f() == 2 \nx", "upstream") == "assert f() == 2 "


@pytest.mark.parametrize(
    ("reply", "assertion"),
    [
        ("```python\nassert f(1) == 2\n```", "assert f(1) == 2"),
        (
            "```python\nassert f(0) == 1\nassert f(\n  1\n) == 2\n```\nDone.",
            "assert f(\n  1\n) == 2",
        ),
        ("<think>assert f(1) == 3</think>\nassert f(1) == 2", "assert f(1) == 2"),
        ("Hence `assert f(1) == 2`\n`assert f(1) == 2`", "assert f(1) == 2"),
        ("```\n[1, 2]\n```", "[1, 2]"),
        ("No idea.", ""),
    ],
)
def test_assertions_in_replies(reply: str, assertion: str) -> None:
    assert extracted("livecodebench/testoutputprediction", reply) == assertion


def test_long_replies_are_no_trouble(ends: None) -> None:
    for piece in ("[ANSWER]", "'\\", '"', "[/ANSWER]", "(", "==", "`", "assert "):
        reply = piece * (8_000_000 // len(piece) // 8)
        assert isinstance(sides(tagged(reply, "last-block")), tuple)
    for piece in ("'\\", "\"'\\", "'\\\n", "don't == ", "'"):
        for _ in range(20):  # of the longest that is split
            sides(piece * (LONGEST_SPLIT // len(piece)))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("it's == 1", "1"), (r"'\' == 2' == 3", "3"), ("f('\\n' == \"'\") == 4", "4"),
        ("'\\\n == '5'", "'5'"), ("\"it's\" == 'a' == 6", "'a' == 6"), ("'a\\", None),
    ],
)  # fmt: skip
def test_signs_in_strings_and_quotes_that_begin_none(text: str, right: str | None) -> None:
    assert sides(text)[1] == right


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "a", "code": "x", "input": "1"}, "output"),
        ({"id": "a", "code": "x", "input": "1", "output": 3}, "output"),
    ],
)
def test_rows_that_cannot_be_used(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [row])
    with pytest.raises(InputError, match=f"line 1.*{says}"):
        questions("cruxeval/output", str(path))


def test_ids_are_unique(tmp_path: Path) -> None:
    row = {"id": "a", "code": "def f(): pass", "input": "", "output": "None"}
    path = write_rows(tmp_path / "rows.jsonl", [row, row])
    with pytest.raises(InputError, match="already the id of line 1"):
        questions("cruxeval/output", str(path))


def test_sources(proctor: Proctor, tmp_path: Path) -> None:
    done = proctor(*CRUX, "--source", "nowhere.jsonl", "--dry-run")
    assert done.returncode == 2
    assert "a source is fixture or huggingface[:REVISION] or hf:OWNER" in done.stderr
    done = proctor(*CRUX, "--dry-run", "--task", "both")
    assert done.returncode == 2
    assert "not one of output, input" in done.stderr
    done = proctor(*CRUX, "--dry-run", "--sample-id", "proctor-c3", "--json")
    assert json.loads(done.stdout)["samples"] == 1
    done = proctor(*LCB, "--scenario", "codeexecution", "--dry-run", "--json",
                   "--min-release-date", "2024-05-01", "--difficulties", "easy")  # fmt: skip
    assert json.loads(done.stdout)["left_out"] == {"date": 1, "difficulty": 1}


@pytest.mark.parametrize(
    ("name", "repo"),
    [
        ("cruxeval/input", "cruxeval-org/cruxeval"),
        ("livecodebench/codeexecution", "livecodebench/execution-v2"),
        ("livecodebench/testoutputprediction", "livecodebench/test_generation"),
    ],
)
def test_the_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, repo: str) -> None:
    row = {"id": "a", "code": "def f(): pass", "input": "f()", "output": "None",
           "question_id": "a", "test": '[{"input": "1", "output": "2"}]', "function_name": "f",
           "contest_date": "2024-01-01T00:00:00"}  # fmt: skip
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serving_hub(FakeHub({repo: {"test.jsonl": json.dumps(row).encode()}})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        (question,) = questions(name, "huggingface")
    assert question.id.startswith("a")


def test_the_whole_of_cruxeval_is_read(test_data: Path) -> None:
    source = str(test_data / "cruxeval" / "cruxeval.jsonl")
    assert len(questions("cruxeval/output", source)) == 800
