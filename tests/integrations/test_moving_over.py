"""Moving over: a whole script with one import changed, and recorded verdicts on real programs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.integrations import lcb_runner
from waiting import PATIENCE

# As people write them for lcb_runner, down to the workers; only MODULE is filled in.
SCRIPT = """
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from MODULE import check_correctness, codegen_metrics
from MODULE import extract_instance_results, estimate_pass_at_k

def work(job):
    sample, code = job
    result, metadata = check_correctness(sample, code, timeout=6, debug=False)
    return all(r is True for r in result), metadata.get("error_message")

if __name__ == "__main__":
    samples = [
        {"input_output": json.dumps({"inputs": ["2\\n"], "outputs": ["4"], "fn_name": None})},
        {"input_output": json.dumps({"inputs": ["[3]"], "outputs": ["3"], "fn_name": "f"})},
    ]
    codes = [["print(int(input()) * 2)", "print(5)"], ["def f(x): return x[0]", "def f(x: 1"]]
    metrics = codegen_metrics(samples, codes, k_list=[1, 2], num_process_evaluate=12, timeout=6)
    graded = extract_instance_results(metrics[1])
    assert metrics[0]["pass@1"] == estimate_pass_at_k(2, [sum(g) for g in graded], 1).mean()
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(max_workers=2, mp_context=context) as executor:
        jobs = [(sample, code) for sample, row in zip(samples, codes) for code in row]
        again = list(executor.map(work, jobs))
    print(json.dumps([metrics, graded, again]))
"""


def test_a_script_for_lcb_runner_with_its_imports_changed(tmp_path: Path) -> None:
    script = tmp_path / "score.py"
    script.write_text(SCRIPT.replace("MODULE", "proctor.integrations.lcb_runner"))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (metrics, results, metadata), graded, again = json.loads(done.stdout)
    assert metrics["pass@1"] == 0.5
    assert metrics["pass@2"] == 1.0
    assert results == {"0": [[True], [-2]], "1": [[True], [-4]]}
    assert graded == [[True, False], [True, False]]
    assert [passed for passed, _ in again] == [True, False, True, False]
    assert again[1][1] == json.loads(metadata[0][1])["error_message"]
    assert again[3][1].startswith("Error during testing: ")


# docs/reference/lcb_runner.md: time-outs and memory, machine by machine.
ON_THE_EDGE = {"3406", "abc301_e", "abc361_f", "abc363_c"}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def racy(code: str) -> bool:
    """Whether it may start a thread that it does not wait for: on a busy machine, output is lost.

    The same page: so it is upstream.
    """
    return "threading" in code and ".start()" in code and ".join()" not in code


def recorded(folder: Path) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Programs and what lcb_runner said of them, by question; some 60, those with numpy first."""
    by_question: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    pairs = zip(
        rows(folder / "programs.jsonl"), rows(folder / "lcb_runner_verdicts.jsonl"), strict=True
    )
    for program, verdict in pairs:
        if program["question_id"] not in ON_THE_EDGE and not racy(program["code"]):
            by_question.setdefault(program["question_id"], []).append((program["code"], verdict))
    names = sorted(by_question)
    chosen = [
        name for name in names if any("import numpy" in code for code, _ in by_question[name])
    ]
    chosen += names[:: len(names) // 24]
    return {name: by_question[name] for name in dict.fromkeys(chosen)}


@pytest.mark.slow
def test_recorded_verdicts(test_data: Path) -> None:
    folder = test_data / "livecodebench"
    chosen = recorded(folder)
    problems = {row["question_id"]: row for row in rows(folder / "problems.jsonl")}
    samples = []
    for name in chosen:
        row = problems[name]
        tests = json.loads(row["public_test_cases"]) + json.loads(row["private_test_cases"])
        row_of_tests = {
            "inputs": [test["input"] for test in tests],
            "outputs": [test["output"] for test in tests],
            "fn_name": json.loads(row["metadata"]).get("func_name"),
        }
        samples.append({"input_output": json.dumps(row_of_tests)})
    generations = [[code for code, _ in chosen[name]] for name in chosen]
    assert sum(map(len, generations)) >= 50
    metrics, results, metadata = lcb_runner.codegen_metrics(samples, generations)
    for index, name in enumerate(chosen):
        for number, (_, verdict) in enumerate(chosen[name]):
            about = json.loads(metadata[index][number])
            got = results[index][number], about.get("error_code"), about.get("error_message")
            wanted = verdict["results"], verdict["error_code"], verdict["error_message"]
            assert json.dumps(got) == json.dumps(wanted), (name, number)
    # A mean over problems, which have one program or two.
    rates = [
        sum(verdict["error_code"] is None for _, verdict in each) / len(each)
        for each in chosen.values()
    ]
    assert metrics["pass@1"] == pytest.approx(sum(rates) / len(rates))
