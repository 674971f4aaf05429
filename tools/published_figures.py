"""Compares proctor's verdicts with published ones, sample by sample, and prints a table.

    python tools/published_figures.py CHECKOUT [--packages DIR] [NAME ...]

CHECKOUT is one of github.com/QwenLM/Qwen2.5-Coder, which has the replies and verdicts of two base
models for MultiPL-E, MBPP+, CRUXEval and the hard rows of BigCodeBench (whose libraries are in
DIR). NAME is one of these, or a part of one, such as `multipl-e/java`. Names of samples that differ
follow the table; docs/reference/benchmarks.md says why.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASE = Path("qwencoder-eval/base")
MODELS = ("1.5b-base", "7b-base")
LANGUAGES = {
    "bash": "sh", "cpp17": "cpp", "csharp": "cs", "java": "java", "javascript": "js", "php": "php",
    "typescript": "ts",
}  # fmt: skip
Verdicts = dict[str, bool]


@dataclass(frozen=True)
class Recording:
    """Replies of a model, and their published verdicts."""

    name: str
    options: tuple[str, ...]
    """Benchmark and options of `proctor eval`."""
    rows: Path | list[dict[str, Any]]
    replies: Mapping[str, str]
    """By id, as they are given to the benchmark."""
    published: Mapping[str, Verdicts]
    """True for a pass; by mode, then by id."""


def recordings(checkout: Path) -> Iterator[Recording]:
    """Read all recordings of the checkout."""
    base = checkout / BASE
    for model in MODELS:
        there = base / "outptus" / "qwen2.5-coder" / model
        for language, tag in LANGUAGES.items():
            yield multipl_e(base, there, model, language, tag)
        yield mbppplus(base, there, model)
        for task in ("input", "output"):
            yield cruxeval(base, there, model, task)
        yield bigcodebench(base, there, model)


def multipl_e(base: Path, there: Path, model: str, language: str, tag: str) -> Recording:
    """Continuations of MultiPL-E's prompts."""
    replies = {}
    for row in lines(there / "multipl-e" / f"pred_{tag}_output.jsonl"):
        whole, prompt = row["generation"], row["prompt"]
        begun = prompt if whole.startswith(prompt) else prompt.rstrip()
        replies[row["task_id"]] = whole.removeprefix(begun)
    details = read(there / "multipl-e" / f"humaneval-{tag}-details.json")
    passed = {name: made[0][1]["passed"] for name, made in details.items()}
    options = ("multipl-e", "--language", language, "--prompt", "completion")
    rows = base / "benchmarks" / "multiple-eval" / "data" / f"humaneval-{tag}.jsonl"
    return Recording(f"multipl-e/{tag}/{model}", options, rows, replies, {"official": passed})


def mbppplus(base: Path, there: Path, model: str) -> Recording:
    """Programs for MBPP+."""
    made = read(there / "evalplus" / "mbpp" / "generated_eval_results.json")["eval"]
    own = {name: each[0]["base_status"] == "pass" for name, each in made.items()}
    plus = {name: own[name] and each[0]["plus_status"] == "pass" for name, each in made.items()}
    replies = {name: each[0]["solution"] for name, each in made.items()}
    rows = base / "eval_cache" / "evalplus" / "MbppPlus-v0.1.0.jsonl"
    options = ("mbppplus", "--extraction", "whole")
    published = {"official": own, "standard": plus}
    return Recording(f"mbppplus/{model}", options, rows, replies, published)


def cruxeval(base: Path, there: Path, model: str, task: str) -> Recording:
    """Predictions for CRUXEval, taken from replies already."""
    made = read(there / "cruxeval" / f"{task}-cot" / "completion_scored.json")
    replies = {name: each[0] or " " for name, each in made["raw_generations"].items()}
    passed = {name: each[0] for name, each in made["raw_scored_generations"].items()}
    options = ("cruxeval", "--task", task, "--extraction", "whole", "--mode", "official")
    rows = base / "benchmarks" / "cruxeval" / "data" / "cruxeval.jsonl"
    return Recording(f"cruxeval/{task}/{model}", options, rows, replies, {"official": passed})


def bigcodebench(base: Path, there: Path, model: str) -> Recording:
    """Programs for the hard rows of BigCodeBench."""
    made = there / "bigcodebench" / "hard"
    name = "completion-sanitized-calibrated"
    replies = {row["task_id"]: row["solution"] for row in lines(made / f"{name}.jsonl")}
    results = read(made / f"{name}_hard_eval_results.json")["eval"]
    passed = {name: each[0]["status"] == "pass" for name, each in results.items()}
    table = read(base / "benchmarks" / "bigcodebench" / "data" / "bigcodebench_hard.json")
    options = ("bigcodebench", "--extraction", "whole")
    rows = list(table.values())
    return Recording(f"bigcodebench/{model}", options, rows, replies, {"official": passed})


def compared(recording: Recording, directory: Path, packages: str | None) -> list[str]:
    """Judge a recording, print a line for each mode, and return the samples that differ."""
    replies, rows = directory / "replies.jsonl", recording.rows
    write(replies, [{"id": k, "generation": v} for k, v in recording.replies.items()])
    if isinstance(rows, list):
        write(directory / "rows.jsonl", rows)
        rows = directory / "rows.jsonl"
    command = ["eval", *recording.options, "--source", rows, "--model", f"replay:{replies}"]
    if packages is not None and recording.options[0] == "bigcodebench":
        command += ["--packages", packages]
    proctor(*command, "--out", directory / "run")
    proctor("export", directory / "run", "--format", "records", "--out", directory / "out.jsonl")
    made = {row["problem_id"]: row for row in lines(directory / "out.jsonl")}
    differ = []
    for mode, published in recording.published.items():
        here = {name: row[mode] for name, row in made.items() if name in published}
        scored = {name for name, verdict in here.items() if verdict != "TASK_FAULT"}
        other = [name for name in scored if (here[name] == "AC") != published[name]]
        passed = sum(here[name] == "AC" for name in scored)
        counts = sum(published.values()), passed, len(here) - len(scored), len(other)
        numbers = "{:10} {:8} {:8} {:6}".format(*counts)
        print(f"{recording.name:28} {mode:8} {len(here):7} {numbers}", flush=True)
        differ += [f"{recording.name} {mode} {name}: {here[name]}" for name in sorted(other)]
    return differ


def proctor(*command: Any) -> None:
    """Run a command of proctor's. Ends the process if it fails."""
    found = Path(sys.executable).with_name("proctor")
    done = subprocess.run([found, *map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


def read(path: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(path.read_text("utf-8"))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Return the rows of a JSONL file."""
    return map(json.loads, path.read_text("utf-8").splitlines())


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def main() -> None:
    """Compare all that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--packages")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    print(f"{'recording':28} {'mode':8} samples  published   passed ungraded differ")
    differ = []
    for recording in recordings(given.checkout):
        if not given.names or any(recording.name.startswith(name) for name in given.names):
            with tempfile.TemporaryDirectory() as directory:
                differ += compared(recording, Path(directory), given.packages)
    print("", *differ, sep="\n")


if __name__ == "__main__":
    main()
