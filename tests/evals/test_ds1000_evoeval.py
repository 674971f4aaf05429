"""DS-1000 and EvoEval: right and wrong programs, in the shapes that models write."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import fenced, replies
from proctor_command import Proctor, report

from proctor.errors import InputError
from proctor.evals.benchmark_file.benchmark import FileBenchmark
from proctor.evals.registry import benchmark_named
from proctor.evals.settings import Settings


def rows_of(name: str) -> dict[str, dict[str, Any]]:
    text = (files("proctor") / "bundled" / f"{name}.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return {str(row.get("task_id", row.get("metadata", {}).get("problem_id"))): row for row in rows}


DS1000, EVOEVAL = rows_of("ds1000"), rows_of("evoeval")


def verdicts(
    proctor: Proctor, directory: Path, *command: str | Path, mode: str = "official"
) -> dict[str, int]:
    """Return the numbers of verdicts of a run."""
    number = len(list(directory.glob("run*")))
    done = proctor("eval", *command, "--out", directory / f"run{number}", "--json")
    counted: dict[str, int] = report(done)[mode]["verdicts"]
    return counted


RIGHT = DS1000["0"]["reference_code"]
BODY = DS1000["2"]["reference_code"]
LOOP = "result = []\nfor each in sorted(temperatures)[::-1]:\n    if each > mean(temperatures):\n        result.append(each)"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("problem", "reply", "options", "verdict"),
    [
        ("0", f"<code>\n{RIGHT}</code>", (), "AC"),
        ("0", RIGHT + "</code>\nThat is all.", (), "AC"),
        ("0", "So:\n" + fenced(RIGHT) + "It rounds.", (), "AC"),
        ("0", f"The variable:\n<code>\n{fenced(RIGHT)}</code>", (), "AC"),
        ("0", f"BEGIN SOLUTION\n<code>\n{RIGHT}\n</code>\nEND SOLUTION", (), "AC"),
        ("0", f"<think><code>x</code></think>\n<code>\n{RIGHT}</code>", (), "AC"),
        ("0", "<code>\nresult = temperatures\n</code>", (), "RE"),
        ("0", "<code>\nimport os\nos._exit(0)\n</code>", (), "WA"),
        ("0", "<code>\nresult = (\n</code>", (), "RE"),
        ("1", f"<code>\n{LOOP}\n</code>", (), "RE"),  # right, but for test_string
        ("2", f"<code>\n{BODY}</code>", (), "AC"),
        ("2", fenced(BODY), (), "AC"),
        ("2", BODY + "    ### END SOLUTION\n", (), "AC"),
        ("2", f"{BODY}</code>", ("--extraction", "upstream"), "AC"),
        ("0", f"{RIGHT}</code>\nA:", ("--prompt", "completion"), "AC"),
        ("2", f"\n{BODY}\n# SOLUTION END\nx", ("--prompt", "completion"), "AC"),
        ("2", "\n    return 2\n", ("--prompt", "completion"), "RE"),
    ],
)
def test_ds1000(
    proctor: Proctor,
    tmp_path: Path,
    problem: str,
    reply: str,
    options: tuple[str, ...],
    verdict: str,
) -> None:
    model = replies(tmp_path, (problem, reply))
    assert verdicts(proctor, tmp_path, "ds1000", "--model", model, *options) == {verdict: 1}


@pytest.mark.slow
def test_ds1000_selects_by_library_and_says_what_is_missing(
    proctor: Proctor, tmp_path: Path
) -> None:
    """A row whose library is not there is a TASK_FAULT, and with `--packages` it is judged."""
    row = DS1000["0"]
    context = row["code_context"].replace("statistics", "averages")
    other = row | {"code_context": context, "metadata": row["metadata"] | {"library": "Numpy"}}
    other["metadata"]["problem_id"] = 7
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in (row, other)))
    model = replies(tmp_path, ("0", RIGHT), ("7", RIGHT))
    command = ("ds1000", "--source", source, "--model", model, "--platforms", "Numpy")
    assert verdicts(proctor, tmp_path, *command) == {"TASK_FAULT": 1}
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "averages.py").write_text("def mean(each): return sum(each) / len(each)\n")
    assert verdicts(proctor, tmp_path, *command, "--packages", packages) == {"AC": 1}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("task", "change", "verdict"),
    [
        ("EvoEval/0", ("", ""), "AC"),
        ("EvoEval/0", ("heights[end] - heights[start]", "heights[end] - heights[start] + 1e-9"), "AC"),
        ("EvoEval/0", ("heights[end] - heights[start]", "heights[end]"), "WA"),
        ("EvoEval/0", ("return best", "return list(best)"), "WA"),
        ("EvoEval/0", ("return best", "return float(best[0]), best[1]"), "WA"),
        ("EvoEval/1", ("", ""), "AC"),
        ("EvoEval/1", ("in kept}", "in kept or True}"), "WA"),
        ("EvoEval/1", ("return {", "kept.clear(); return {"), "WA"),
        ("HumanEval/0", ("", ""), "AC"),
        ("HumanEval/0", ("/ 2", "// 2"), "WA"),
    ],
)  # fmt: skip
def test_evoeval(
    proctor: Proctor, tmp_path: Path, task: str, change: tuple[str, str], verdict: str
) -> None:
    row = EVOEVAL[task]
    body = row["canonical_solution"].replace(*change) if change[0] else row["canonical_solution"]
    model = replies(tmp_path, (task, fenced(row["prompt"] + body)))
    command = ("evoeval", "--model", model)
    assert verdicts(proctor, tmp_path, *command) == {verdict: 1}
    went_on = replies(tmp_path, (task, body + "\nprint(1)"))
    base = ("evoeval", "--model", went_on, "--prompt", "completion")
    assert verdicts(proctor, tmp_path, *base) == {verdict: 1}


@pytest.mark.slow
def test_evoeval_has_more_inputs_in_standard_mode(proctor: Proctor, tmp_path: Path) -> None:
    program = EVOEVAL["HumanEval/0"]["prompt"] + "    return abs(sum(numbers)) / 2\n"
    model = replies(tmp_path, ("HumanEval/0", fenced(program)))
    command = ("evoeval", "--task", "concise", "--model", model)
    assert verdicts(proctor, tmp_path, *command, "--mode", "both") == {"AC": 1}
    assert verdicts(proctor, tmp_path, *command, "--mode", "both", mode="standard") == {"WA": 1}


SPECIAL = [
    ("EvoEval/10", "make_palindrome", "(text): # case Insensitive", "'Abc'",
     "return text + text[1::-1]", "return text + text[1::-1].lower()", "return text[::-1] + text[1:]"),
    ("EvoEval/32", "find_zeros_interval", "(xs, interval):", "[-2, 1], (0, 5)",
     "return 2.0", "return 2.015", "return 2.5"),
    ("EvoEval/32", "find_zero", "(xs):", "[-8, 0, 0, 1]", "return 1.5157165665103982",
     "return 1.51571656651040", "return 2.0"),
    ("HumanEval/32", "find_zero", "(xs):", "[-1, 0, 1]", "return 1.0", "return -1.0", "return 0.0"),
    ("EvoEval/26", "pathfinder", "(maze, start, end):", "[[0, 0], [0, 0]], (0, 0), (1, 1)",
     "return ['down', 'right']", "return ['right', 'down']", "return ['right', 'right']"),
    ("EvoEval/30", "find_path", "(maze, start, end):", "[[1, 1], [1, 1]], (0, 0), (1, 1)",
     "return [(0, 0), (0, 1), (1, 1)]", "return [(0, 0), (1, 0), (1, 1)]", "return [(0, 0), (1, 1)]"),
    ("EvoEval/69", "magicTrick", "(arr, target):", "[2, 6, 3, 4], 12",
     "return (0, 1)", "return (2, 3)", "return (3, 2)"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("task", "name", "head", "given", "right", "other", "wrong"),
    SPECIAL,
    ids=[f"{each[0]}-{each[1]}" for each in SPECIAL],
)
def test_evoeval_tasks_with_several_right_results(
    proctor: Proctor, tmp_path: Path, task: str, name: str, head: str, given: str, right: str,
    other: str, wrong: str,
) -> None:  # fmt: skip
    prompt = f"def {name}{head}\n"
    row = {"task_id": task, "prompt": prompt, "canonical_solution": f"    {right}\n",
           "entry_point": name, "inputs": [given]}  # fmt: skip
    source = tmp_path / "rows.jsonl"
    source.write_text(json.dumps(row) + "\n")
    for program, verdict in ((right, "AC"), (other, "AC"), (wrong, "WA")):
        model = replies(tmp_path, (task, fenced(f"{prompt}    {program}\n")))
        command = ("evoeval", "--source", source, "--model", model)
        assert verdicts(proctor, tmp_path, *command) == {verdict: 1}, program


def test_evoeval_sets_are_data_sets_of_the_hub() -> None:
    for part in ("difficult", "tool_use", "concise"):
        benchmark = benchmark_named(f"evoeval/{part}")
        assert isinstance(benchmark, FileBenchmark)
        assert (benchmark.name, benchmark.definition.rows.hub) == (
            f"evoeval/{part}", f"evoeval/EvoEval_{part}",
        )  # fmt: skip
        assert len(list(benchmark.open_source(Settings()).infos())) == len(EVOEVAL)
    with pytest.raises(InputError, match="not one of"):
        benchmark_named("evoeval/unknown")
