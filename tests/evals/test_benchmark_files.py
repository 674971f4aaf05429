"""Benchmarks that are files: each kind of grading, right and wrong, and runs of such."""

import json
import shutil
from pathlib import Path

import pytest
from benchmark_files import (
    ADD,
    ANSWER,
    QUESTIONS,
    STDIO,
    SUB,
    fenced,
    prompt_of,
    replies,
    verdicts,
    write,
)
from proctor_command import Proctor, report
from stub import Call, serving

from fake_hub import FakeHub
from fake_hub import serving as serving_hub
from proctor.errors import InputError

SUM = "print(sum(map(int, input().split())))"


@pytest.mark.compiler
def test_programs_that_read_and_write(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, STDIO, [ADD, SUB])
    assert prompt_of(path) == [("user", "Add two numbers in Python 3")]
    model = replies(tmp_path, ("add", fenced(SUM)), ("sub", fenced(SUM)))
    assert verdicts(proctor, path, model) == {"AC": 1, "WA": 1}
    shown = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a %s b; }"
    model = replies(tmp_path, ("add", fenced(shown % "+", "cpp")), ("sub", fenced(shown % "-")))
    assert verdicts(proctor, path, model, "--language", "c++") == {"AC": 2}
    assert verdicts(proctor, path, model, "--language", "c++", "--difficulties", "kyu-9") == {
        "AC": 1
    }


@pytest.mark.slow
def test_a_checker_limits_and_rows_left_out(proctor: Proctor, tmp_path: Path) -> None:
    text = (
        STDIO.replace('id = "name"', 'id = "name"\nwhere = "level != \'Kyu-9\'"')
        + """
cpu = 0.5
memory = "'256M'"
[grading.checker]
file = "check.py"
language = "python"
"""
    )
    path = write(tmp_path, text, [ADD, SUB])
    (tmp_path / "check.py").write_text(
        "import sys\ngiven, output, answer = (open(name).read().split() for name in sys.argv[1:4])\n"
        "sys.exit(0 if sorted(output) == sorted(given + answer) else 1)\n"
    )
    right = "given = input().split(); print(sum(map(int, given)), *given)"
    for code, verdict in ((right, "AC"), (SUM, "WA"), ("while True: pass", "TLE")):
        model = replies(tmp_path, ("add", fenced(code)))
        assert verdicts(proctor, path, model) == {verdict: 1}


@pytest.mark.slow
def test_garbage_raises_no_score(proctor: Proctor, tmp_path: Path) -> None:
    """A checker stumbles over it, and on one row over everything."""
    text = STDIO + '[grading.checker]\nfile = "check.py"\nlanguage = "python"\n'
    text += 'convention = "printed"\n'
    rows = [
        {**ADD, "shown": [], "name": name, "hidden": [{"input": name, "output": "1"}]}
        for name in "1234"
    ]
    path = write(tmp_path, text, rows)
    (tmp_path / "check.py").write_text(
        "import sys\ngiven, answer, output = (int(open(name).read()) for name in sys.argv[1:4])\n"
        "if given == 4: sys.exit(9)\nprint(int(output == answer))\n"
    )
    for wrong in ("0", "'I am not sure'"):
        model = replies(
            tmp_path, ("1", fenced("print(1)")),
            *((name, fenced(f"print({wrong})")) for name in "234"),
        )  # fmt: skip
        arguments = (path, "--model", model, "--out", tmp_path / f"run {wrong}", "--json")
        found = report(proctor("eval", *arguments))["standard"]
        assert found["verdicts"] == {"AC": 1, "WA": 2, "TASK_FAULT": 1}
        assert (found["pass_at_k"]["1"], found["pass_rate"], found["at_most"]) == (0.25, 0.25, 0.5)


def test_calls_of_a_function(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, """
[rows]
file = "rows.jsonl"
[let]
cases = "tests|selectattr('args')|list"
[prompt]
user = "Write {{ entry }}."
[program]
function = "entry"
[grading]
kind = "calls"
tests = '''{"input": cases|map(attribute="args")|list, "output": cases|map(attribute="gives")|list}'''
""", [{"id": number, "entry": name, "tests": [{"args": [[1, 2], "x"], "gives": "12x"}, {"args": []}]}
      for number, name in enumerate(("join", "merge"))])  # fmt: skip
    code = "def {}(items, end):\n    return ''.join(map(str, items)) + end\n"
    model = replies(tmp_path, ("0", code.format("join")), ("1", fenced(code.format("join"))))
    assert verdicts(proctor, path, model) == {"AC": 1, "RE": 1}


def test_answers(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, ANSWER + "compare = { absolute = 0.01 }\n", QUESTIONS)
    model = replies(
        tmp_path, ("1", "Think.\n4"), ("1", "[ANSWER]5[/ANSWER]"), ("2", fenced("3.33", "")),
        ("2", ""),
    )  # fmt: skip
    assert verdicts(proctor, path, model) == {"AC": 2, "WA": 1, "NC": 1}


@pytest.mark.slow
@pytest.mark.compiler
def test_packages(proctor: Proctor, tmp_path: Path) -> None:
    package = Path(__file__).parents[1] / "packages" / "guess"
    shutil.copytree(package, tmp_path / "packages" / "guess")
    path = write(tmp_path, """
[rows]
file = "rows.jsonl"
[prompt]
user = "Guess."
[program]
languages = ["cpp", "python"]
[grading]
kind = "package"
package = "'packages/' ~ id"
""", [{"id": "guess"}])  # fmt: skip
    submissions = package / "submissions"
    model = replies(tmp_path, *(
        ("guess", fenced((submissions / name).read_text(), "cpp"))
        for name in ("accepted/halves.cpp", "wrong_answer/out_of_range.cpp")
    ))  # fmt: skip
    assert verdicts(proctor, path, model) == {"AC": 1, "WA": 1}
    assert "same verdict: AC" in proctor("replay", f"{tmp_path / 'run'}#guess:0").stdout
    path.write_text(path.read_text().replace("packages/", "../packages/"))
    done = proctor("eval", path, "--dry-run")
    assert done.returncode == 2
    assert "not a plain relative path" in done.stderr


def test_extraction_by_a_template(proctor: Proctor, tmp_path: Path) -> None:
    path = write(
        tmp_path, ANSWER + "[extraction]\nauto = \"{{ reply.split('####')[-1] }}\"\n", QUESTIONS
    )
    model = replies(tmp_path, ("1", "2 + 2 is #### 4 "), ("2", "#### 3"))
    assert verdicts(proctor, path, model) == {"AC": 1, "WA": 1}
    assert verdicts(proctor, path, model, "--extraction", "whole") == {"WA": 2}


def test_a_reply_without_the_mark_holds_no_answer(proctor: Proctor, tmp_path: Path) -> None:
    letter = "{{ last('(?i)answer:[ (]*([a-d])', reply) }}"
    text = ANSWER + f'compare = {{ case_sensitive = false }}\n[extraction]\nauto = "{letter}"\n'
    path = write(tmp_path, text, "id,question,right\n1,which,B\n2,what,C\n")
    model = replies(
        tmp_path, ("1", "Answer: a? No. Answer: (b)."), ("2", "I do not know"), ("2", "")
    )
    assert verdicts(proctor, path, model) == {"AC": 1, "NC": 2}
    path.write_text(path.read_text().replace(letter, "{{ reply.split(':')[1] }}"))
    assert verdicts(proctor, path, model) == {"WA": 1, "NC": 2}
    path.write_text(path.read_text().replace("reply.split", "repyl.split"))
    done = proctor("eval", path, "--dry-run")
    assert (done.returncode, "there is no 'repyl' here; there are reply" in done.stderr) == (
        2,
        True,
    )


UNIT_TESTS = """
[rows]
file = "rows.jsonl"
[prompt]
user = "Complete it."
[prompts.base]
text = "{{ head }}"
[program]
function = "entry"
head = "head"
[grading]
kind = "unit-tests"
code = "tests"
check = "entry"
"""
HALF = {
    "id": 1, "entry": "half", "head": "def half(x):\n", "tests": "def check(candidate):\n"
    "    assert candidate(4) == 2\n",
}  # fmt: skip


def test_unit_tests_and_a_base_model(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, UNIT_TESTS, [HALF])
    model = replies(tmp_path, ("1", "    return x / 2\n"), ("1", "    return x\n"))
    assert verdicts(proctor, path, model, "--prompt", "base") == {"AC": 1, "WA": 1}


@pytest.mark.slow
def test_tests_that_call_nothing_are_passed_by_nobody(proctor: Proctor, tmp_path: Path) -> None:
    """A forgotten `check` would accept anything."""
    path = write(tmp_path, UNIT_TESTS.replace('check = "entry"', ""), [HALF])
    model = replies(tmp_path, ("1", fenced("def half(x):\n    return 7")))
    run = tmp_path / "run"
    done = proctor("eval", path, "--model", model, "--out", run)
    assert "a problem that cannot be graded: 1: the tests called none of half" in done.stdout
    assert "TASK_FAULT 1" in done.stdout
    path = write(tmp_path, UNIT_TESTS, [HALF | {"tests": "half(1)"}])
    assert verdicts(proctor, path, model) == {"TASK_FAULT": 1}


def test_an_agent_sees_the_public_tests(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, STDIO, [ADD])
    said: list[str] = []

    def answer(call: Call) -> None:
        said.append(call.body["messages"][-1]["content"])
        call.reply("<run_tests>\n```python\nprint(3)\n```\n</run_tests>" if len(said) == 1
                   else f"<submit>\n```python\n{SUM}\n```\n</submit>")  # fmt: skip

    with serving(answer) as stub:
        found = report(proctor(
            "eval", path, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
            "--agentic-mode", "--agentic-protocol", "text", "--json",
        ))  # fmt: skip
    assert found["standard"]["scored"] == 1
    assert len(said) > 1


def test_few_shot_and_base_models(tmp_path: Path) -> None:
    path = write(tmp_path, ANSWER + """
[prompts.shots]
messages = [
    { role = "user", content = "How much is 1 + 1?" },
    { role = "assistant", content = "2" },
    { role = "user", content = "{% include 'ask.j2' %}" },
]
[prompts.base]
text = "{% include 'ask.j2' %}\\nA:"
""", QUESTIONS)  # fmt: skip
    (tmp_path / "ask.j2").write_text("Q: {{ question }}\n")
    assert prompt_of(path, "shots")[1:] == [("assistant", "2"), ("user", "Q: 2 + 2")]
    assert prompt_of(path, "base") == [("text", "Q: 2 + 2\nA:")]


def test_settings_of_the_file_give_way_to_the_command_line(
    proctor: Proctor, tmp_path: Path
) -> None:
    settings = "[settings]\nn = 2\ntemperature = 0.5\nstop = ['Q:']\n"
    path = write(tmp_path, ANSWER + settings, QUESTIONS)
    with serving(lambda call: call.reply("4")) as stub:
        found = report(proctor("eval", path, "--model", "stub", "--base-url", stub.url,
                               "--temperature", "0.1", "--out", tmp_path / "run", "--json"))  # fmt: skip
        assert {(body["temperature"], *body["stop"]) for body in stub.bodies} == {(0.1, "Q:")}
    assert found["samples"] == 4


def test_a_directory_and_the_hub(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ANSWER.replace('file = "rows.csv"', 'hub = "some/sums"\ntables = ["q.csv"]')
    (tmp_path / "benchmark.toml").write_text(text)
    monkeypatch.setenv("HF_ENDPOINT", "unset below")
    with serving_hub(FakeHub({"some/sums": {"q.csv": QUESTIONS.encode()}})) as hub:
        env = {"HF_ENDPOINT": hub.url, "PROCTOR_CACHE_DIR": str(tmp_path), "HF_HUB_OFFLINE": "0"}
        found = report(proctor("eval", tmp_path, "--dry-run", "--json", env=env))
    assert (found["source"], found["problems"]) == ("hf:some/sums", 2)
    assert found["first_prompt"] == [{"role": "user", "content": "How much is 2 + 2?"}]


@pytest.mark.slow
def test_a_run_goes_on_with_the_same_file_only(proctor: Proctor, tmp_path: Path) -> None:
    text = ANSWER.replace("How much is {{ question }}?", "{% include 'ask.j2' %}")
    path = write(tmp_path, text, QUESTIONS)
    (tmp_path / "ask.j2").write_text("{{ question }}")
    run = tmp_path / "run"
    model = replies(tmp_path, ("1", "4"), ("2", "3.333"))
    done = proctor("eval", path, "--model", model, "--out", run, "--json")
    assert report(done)["benchmark"] == "sums"
    assert report(proctor("rejudge", run, "--json"))["standard"]["passed"] == 2
    assert proctor("report", run, "--out", tmp_path / "page.html").returncode == 0
    (tmp_path / "ask.j2").write_text("{{ question }} now?")
    for command in (["resume"], ["rejudge"], ["retry", "--verdict", "AC"]):
        done = proctor(*command[:1], run, *command[1:])
        assert done.returncode == 2
        assert "ask.j2 is not what it was" in done.stderr
    kept = map(json.loads, proctor("export", run).stdout.splitlines())
    assert all(each["judgements"]["standard"]["verdict"] == "AC" for each in kept)
    path.unlink()
    assert proctor("resume", run).returncode == 2


def test_columns_with_names_that_mean_something(tmp_path: Path) -> None:
    names = {"run": "r", "json": "j", "last": "l", "language": "French", "mode": "m"}
    text = (
        ANSWER.replace(
            "How much is {{ question }}?",
            "{{ row['run'] }} {{ row.json }} {{ language }} {{ mode }}",
        )
        .replace("rows.csv", "rows.jsonl")
        .replace('"right"', "\"row['last']\"")
    )
    path = write(tmp_path, text, [{"id": 1, **names}])
    assert prompt_of(path) == [("user", "r j French m")]
    path.write_text(text.replace("{{ mode }}", "{{ last }}"))
    with pytest.raises(InputError, match="a function, or `run`, is not text"):
        prompt_of(path)


def test_answers_in_blocks_of_any_label_and_behind_thoughts(
    proctor: Proctor, tmp_path: Path
) -> None:
    path = write(tmp_path, ANSWER, QUESTIONS)
    model = replies(
        tmp_path, ("1", fenced("5", "") + fenced("4", "text")), ("1", "[ANSWER]\n```json\n4\n```"),
    )  # fmt: skip
    assert verdicts(proctor, path, model) == {"AC": 2}
    path.write_text(ANSWER + "[extraction]\nauto = \"{{ last('#### *(.+)', reply) }}\"\n")
    model = replies(
        tmp_path, ("1", "<think>#### 4</think>I do not know"), ("1", "x" * 300_000 + "#### 4")
    )
    assert verdicts(proctor, path, model) == {"NC": 1, "AC": 1}


def test_limits_of_rows_go_before_those_of_options(proctor: Proctor, tmp_path: Path) -> None:
    """Each by itself: a row's CPU time leaves the option for memory in force."""
    path = write(tmp_path, STDIO + 'cpu = "cpu"\nmemory = "memory"\n',
                 [ADD | {"cpu": "5", "memory": ""}])  # fmt: skip
    model = replies(tmp_path, ("add", fenced(f"held = b'x' * (300 << 20)\n{SUM}")))
    assert verdicts(proctor, path, model) == {"AC": 1}
    assert verdicts(proctor, path, model, "--memory", "128M") == {"MLE": 1}


@pytest.mark.slow
def test_a_rejudgement_that_cannot_begin_hides_no_verdict(proctor: Proctor, tmp_path: Path) -> None:
    path = write(tmp_path, ANSWER, QUESTIONS)
    run, recording = tmp_path / "run", replies(tmp_path, ("1", "4"), ("2", "3.333"))
    proctor("eval", path, "--model", recording, "--out", run)
    Path(recording.removeprefix("replay:")).unlink()
    done = proctor("rejudge", run, env={"PROCTOR_ISOLATION": "cage"})
    assert done.returncode != 0
    assert report(proctor("resume", run, "--json"))["standard"]["passed"] == 2
    assert report(proctor("rejudge", run, "--json"))["standard"]["passed"] == 2
