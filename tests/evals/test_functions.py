"""HumanEval and MBPP: rows, prompts, what is put together, and grades of real programs."""

import gzip
import io
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from proctor_command import Proctor, report

from fake_hub import FakeHub, serving
from proctor.errors import InputError
from proctor.evals.benchmark_file.functions import before
from proctor.evals.benchmark_file.grader import program
from proctor.evals.benchmark_file.loading import bundled
from proctor.evals.benchmark_file.tasks import RowTask
from proctor.evals.settings import Settings
from proctor.formats.tables import Row
from proctor.judging.unit_tests.judge import UnitTests

HEAD = (
    "import math\n\n\ndef half(x):\n    return x / 2\n\n\ndef area(radius):\n"
    '    """ Area of a circle.\n    >>> round(area(1))\n    3\n    """\n'
)
BODY = "    return math.pi * radius ** 2\n"
CIRCLE: dict[str, Any] = {
    "task_id": "Own/0",
    "prompt": HEAD,
    "entry_point": "area",
    "canonical_solution": BODY,
    "test": "def check(candidate):\n    assert candidate(0) == 0\n"
    "    assert abs(candidate(half(2)) - 3.14159) < 1e-4\n",
}
PLUS = CIRCLE | {"base_input": [[0], [1]], "plus_input": [[1e6], [-1]], "atol": 0}
FIRST = {
    "task_id": 7, "text": "Write a function that gives the first of a list.",
    "code": "import sys\ndef first(items):\n    return items[0]\n", "test_setup_code": "",
    "test_list": ["assert first([1, 2]) == 1", "assert first('ab') == 'a' and sys.maxsize"],
    "challenge_test_list": ["assert first([[3]]) == [3]"],
}  # fmt: skip
COMPARED = """import numpy as np

def nearly(out, exp, atol):
    if isinstance(exp, np.ndarray) or not isinstance(exp, float):
        assert out == exp
    elif atol:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        np.testing.assert_allclose(out, exp, atol=1e-6)

"""
"""Beginning of a test program as EvalPlus has it on the hub."""
MBPP_ON_HUB = {
    "task_id": 7, "code": "import math\ndef half(n):\n    return n / 2\ndef hypotenuse(one, other):\n"
    "    return math.sqrt(one ** 2 + other ** 2)\n",
    "prompt": "Write a function to find the hypotenuse.", "source_file": "own", "test_imports": [],
    "test_list": ["assert hypotenuse(3, 4) == 5", "assert math.isclose(hypotenuse(6, 8), 10)"],
    "test": COMPARED + "inputs = [[3, 4], (0, 0), [1, 1]]\nresults = [5.0, 0.0, 1.4142135]\n"
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
    "    nearly(hypotenuse(*inp), exp, i and 1e-4)\n",
}  # fmt: skip
SLICE = 12
"""Every so many of the recorded programs are graded."""


def row(content: Mapping[str, Any]) -> Row:
    return Row(Path("rows.jsonl"), 3, content)


def task_of(name: str, content: Mapping[str, Any]) -> RowTask:
    made = bundled(f"{name}.toml").tasks.task(row(content))
    assert made is not None
    return made


def write(path: Path, rows: list[Any]) -> Path:
    text = "".join(json.dumps(each) + "\n" for each in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def test_a_body_is_put_below_its_head_and_a_function_below_what_is_before_it() -> None:
    task = task_of("humaneval", CIRCLE)
    assert program(task, BODY) == HEAD + BODY
    whole = "def area(radius):\n    return 3 * radius\n"
    assert program(task, whole) == before(HEAD, "area") + whole
    assert program(task, whole).startswith("import math\n\n\ndef half")
    assert program(task, "") == ""
    future = '"""Circles."""\nfrom __future__ import annotations\n'
    assert program(task, future + whole) == future + before(HEAD, "area") + whole


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("prompt", 3, "line 3, field `prompt`: must be a text, not int"),
        ("plus_input", 3, "line 3: must hold lists of lists .* `grading.inputs`"),
        ("entry_point", "", "line 3: names no function"),
        ("atol", "x", "line 3, field `atol`: must be a number"),
        ("task_id", 1.5, "line 3, field `task_id`: must be a text or a whole number"),
    ],
)
def test_a_broken_row_is_named(column: str, value: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        task_of("humaneval", PLUS | {column: value})


def test_mbpp_shows_its_tests_and_keeps_the_challenge() -> None:
    task = task_of("mbpp", FIRST)
    messages = bundled("mbpp.toml").messages(task, 0, Settings())
    shown = messages[-1].content
    assert FIRST["text"] in shown
    assert "first([1, 2]) == 1" in shown
    assert "[[3]]" not in shown
    assert isinstance(tests := task.graded["standard"], UnitTests)
    assert "[[3]]" in tests.code


@pytest.mark.slow
@pytest.mark.parametrize(("benchmark", "solution"), [("humaneval", "canonical_solution"),
                                                     ("mbpp", "code")])  # fmt: skip
def test_the_fixture_is_passed_by_its_own_solutions(
    proctor: Proctor, tmp_path: Path, benchmark: str, solution: str
) -> None:
    text = (files("proctor") / "bundled" / f"{benchmark}.jsonl").read_text("utf-8")
    replies = write(tmp_path / "replies.jsonl", [
        {"task_id": each["task_id"], "code": each[solution]}
        for each in map(json.loads, text.splitlines())
    ])  # fmt: skip
    done = proctor("eval", benchmark, "--model", f"replay:{replies}", "--out", tmp_path / "run",
                   "--json", "--fail-under", "1")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["official"]["passed"] == found["standard"]["passed"] == len(text.splitlines())


@pytest.mark.slow
def test_grades_by_both_rules(proctor: Proctor, tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl.gz", [PLUS, PLUS | {"task_id": "Own/1"}])
    replies = write(tmp_path / "replies.jsonl", [
        {"task_id": "Own/0", "generation": f"So:\n```python\ndef area(radius):\n{BODY}```\n"},
        {"task_id": "Own/0", "completion": "    return 3.14159 * radius * half(2 * radius)\n"},
        {"task_id": "Own/1", "solution": HEAD + "    return abs(radius) * radius * math.pi\n"},
    ])  # fmt: skip
    done = proctor("eval", "humaneval", "--source", rows, "--model", f"replay:{replies}",
                   "--out", tmp_path / "run", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["official"]["verdicts"] == {"AC": 3}
    assert found["standard"]["verdicts"] == {"AC": 1, "WA": 2}


@pytest.mark.slow
def test_mbpp_by_both_rules(proctor: Proctor, tmp_path: Path) -> None:
    node = FIRST | {
        "task_id": 8,
        "code": "class Node:\n    pass\ndef first(node): return node\n",
        "test_list": ["assert first(Node())"],
    }
    rows = write(tmp_path / "rows.jsonl", [FIRST, node])
    replies = write(tmp_path / "replies.jsonl", [
        {"task_id": 7, "code": FIRST["code"]},
        {"task_id": 7, "code": "def first(items): return min(items) if items[0] != [3] else 0"},
        {"task_id": 8, "code": node["code"]},
    ])  # fmt: skip
    done = proctor("eval", "mbpp", "--source", rows, "--model", f"replay:{replies}",
                   "--out", tmp_path / "run", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["official"]["verdicts"] == {"AC": 2, "TASK_FAULT": 1}
    assert found["standard"]["verdicts"] == {"AC": 1, "WA": 1, "TASK_FAULT": 1}


@pytest.mark.slow
def test_recorded_verdicts_of_humaneval(proctor: Proctor, tmp_path: Path, test_data: Path) -> None:
    """A slice; HumanEval/55 is left out: it failed at an input that this file lacks."""
    data = test_data / "humaneval"
    recorded = [
        json.loads(line)
        for line in (data / "qwen2.5-coder-1.5b.jsonl").read_text().splitlines()[::SLICE]
    ]
    chosen = [each for each in recorded if each["task_id"] != "HumanEval/55"]
    done = proctor("eval", "humaneval", "--source", data / "HumanEvalPlus-NoExtreme.jsonl.gz",
                   "--model", f"replay:{write(tmp_path / 'replies.jsonl', chosen)}",
                   "--out", tmp_path / "run")  # fmt: skip
    assert done.returncode == 0, done.stderr
    exported = proctor("export", tmp_path / "run")
    graded = {
        found["question_id"]: {mode: each["verdict"] for mode, each in found["judgements"].items()}
        for found in map(json.loads, exported.stdout.splitlines())
    }
    for each in chosen:
        base, plus = each["base_status"] == "pass", each["plus_status"] == "pass"
        verdicts = graded[each["task_id"]]
        assert (verdicts["official"] == "AC") == base, each["task_id"]
        assert (verdicts["standard"] == "AC") == (base and plus), each["task_id"]


@pytest.mark.slow
def test_reference_code_of_mbpp_passes(proctor: Proctor, tmp_path: Path, test_data: Path) -> None:
    rows = [
        json.loads(line)
        for line in (test_data / "mbpp" / "mbpp.jsonl").read_text().splitlines()
        if json.loads(line)["task_id"] in {2, 124, 367, 533, 590, 596}
    ]
    source = write(tmp_path / "rows.jsonl", rows)
    replies = write(tmp_path / "replies.jsonl", [
        {"task_id": each["task_id"], "code": each["code"]} for each in rows
    ])  # fmt: skip
    done = proctor("eval", "mbpp", "--source", source, "--model", f"replay:{replies}",
                   "--mode", "standard", "--out", tmp_path / "run", "--json")  # fmt: skip
    # 367 makes objects of a class of the program's own, which is said.
    assert json.loads(done.stdout)["standard"]["verdicts"] == {"AC": 5, "TASK_FAULT": 1}


@pytest.mark.slow
def test_mbppplus(proctor: Proctor, tmp_path: Path) -> None:
    """Tuples are handed over, results of some tasks are compared as sets, and floats nearly."""
    spread = "def spread(numbers):\n    return max(numbers, default=0) - min(numbers, default=0)"
    in_both = "def in_both(one, other):\n    assert type(one) is tuple\n    return {set(one) & set(other)}"
    in_both = in_both.replace("{set", "list(set").replace("}", ")")
    base_only = spread.replace(", default=0", "")
    for first, passed in ((spread, {"official": 2, "standard": 2}), (base_only, {"official": 2})):
        rows = [
            {"id": name, "generation": f"```python\n{code}\n```"}
            for name, code in (("Sample/1", first), ("Sample/2", in_both))
        ]
        model, run = write(tmp_path / "replies.jsonl", rows), tmp_path / f"run{len(passed)}"
        found = report(
            proctor("eval", "mbppplus", "--model", f"replay:{model}", "--out", run, "--json")
        )
        for mode in ("official", "standard"):
            assert found[mode]["verdicts"].get("AC", 0) == passed.get(mode, 1), found[mode]


@pytest.mark.slow
def test_packages_are_lent_to_functions(proctor: Proctor, tmp_path: Path) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "circles.py").write_text("def area(r): return 3.14159265 * r * r\n")
    reply = {"task_id": "Own/0", "code": "from circles import area"}
    command = ("eval", "humaneval", "--source", write(tmp_path / "rows.jsonl", [CIRCLE]),
               "--model", f"replay:{write(tmp_path / 'replies.jsonl', [reply])}", "--json")  # fmt: skip
    found = report(proctor(*command, "--out", tmp_path / "without"))
    assert found["standard"]["verdicts"] == {"RE": 1}
    lent = ("--packages", tmp_path / "packages")
    found = report(proctor(*command, "--out", tmp_path / "with", *lent))
    assert found["standard"]["verdicts"] == {"AC": 1}


@pytest.mark.slow
def test_mbpp_takes_evalplus_rows(proctor: Proctor, tmp_path: Path) -> None:
    """Asserts are those of `assertion`; the prompt loses its quotes."""
    row_ = {
        "task_id": "Mbpp/7", "prompt": '"""\nGive the first of a list.\n"""\n', "atol": 0,
        "entry_point": "first", "canonical_solution": FIRST["code"], "base_input": [[[1, 2]]],
        "plus_input": [[[3]]], "assertion": "\nassert first([1, 2]) == 1\nassert first('ab') == 'a'",
    }  # fmt: skip
    assert task_of("mbpp", row_).names["asked"] == "Give the first of a list."
    replies = [{"task_id": "Mbpp/7", "code": code} for code in
               ("def first(items): return items[0]", "def first(items): return 1")]  # fmt: skip
    done = proctor("eval", "mbpp", "--source", write(tmp_path / "rows.jsonl", [row_]),
                   "--model", f"replay:{write(tmp_path / 'replies.jsonl', replies)}",
                   "--n", "2", "--out", tmp_path / "run", "--json")  # fmt: skip
    assert report(done)["official"]["verdicts"] == {"AC": 1, "WA": 1}


@pytest.mark.slow
def test_mbppplus_as_it_is_on_the_hub(
    proctor: Proctor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Asserts in both modes, the program `test` in one; a row that no task can be made of is told."""
    odd = MBPP_ON_HUB | {"task_id": 8, "test_list": []}
    table = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([MBPP_ON_HUB, odd]), table)
    right, coarse = MBPP_ON_HUB["code"], "def hypotenuse(a, b): return {3: 5, 6: 10}.get(a, 0)"
    replies = write(tmp_path / "replies.jsonl", [
        {"task_id": 7, "code": code} for code in (right, coarse, "def hypotenuse(a, b): return 0")
    ])  # fmt: skip
    with serving(FakeHub({"evalplus/mbppplus": {"data/test-0.parquet": table.getvalue()}})) as hub:
        env = {"HF_ENDPOINT": hub.url, "PROCTOR_CACHE_DIR": str(tmp_path), "HF_HUB_OFFLINE": "0"}
        for source in ("huggingface", "hf:evalplus/mbppplus@main"):
            asked = proctor("eval", "mbppplus", "--source", source, "--dry-run", "--json", env=env)
            shown = report(asked)["first_prompt"][-1]["content"]
            assert shown == f"{MBPP_ON_HUB['prompt']}\n{MBPP_ON_HUB['test_list'][0]}"
        done = proctor("eval", "mbppplus", "--source", "huggingface", "--n", "3", "--json",
                       "--model", f"replay:{replies}", "--out", tmp_path / "run", env=env)  # fmt: skip
    found = report(done)
    assert "line 2: No last item" in caplog.text
    assert found["left_out"] == {"unusable": 1}
    assert found["official"]["verdicts"] == {"AC": 2, "WA": 1}
    assert found["standard"]["verdicts"] == {"AC": 1, "WA": 2}


@pytest.mark.slow
def test_humanevalplus_as_it_is_on_the_hub(proctor: Proctor, tmp_path: Path) -> None:
    test = (
        COMPARED
        + f"LONG = {'9' * 5000}\n"
        + (
            "def check(candidate):\n    inputs = [[0], [1], [-1]]\n    results = [0.0, 3.14159265, 3.14159265]\n"
            "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
            "        nearly(candidate(*inp), exp, i and 1e-6)\n"
        )
    )
    rows = write(tmp_path / "rows.jsonl", [CIRCLE | {"test": test}])
    replies = write(tmp_path / "replies.jsonl", [
        {"task_id": "Own/0", "code": code}
        for code in (HEAD + BODY, "    return radius * 3.14159265\n", "    return [radius]\n")
    ])  # fmt: skip
    found = report(proctor("eval", "humaneval", "--source", rows, "--model", f"replay:{replies}",
                           "--n", "3", "--out", tmp_path / "run", "--json"))  # fmt: skip
    assert found["official"]["verdicts"] == found["standard"]["verdicts"] == {"AC": 1, "WA": 2}
