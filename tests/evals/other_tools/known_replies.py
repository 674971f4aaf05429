"""Right and wrong replies to all benchmarks' own rows, from a server, and what is said of them."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import same_process_replies
from answers import right_programs
from proctor_command import Proctor, report
from stub import Call, Stub, completion, serving

from proctor.evals.bundled import FAMILIES, is_benchmark_file
from proctor.integrations.prepared_benchmarks import prepare

NOTHING = "I would rather not say."
Verdicts = dict[tuple[str, str], dict[str, str]]
"""Verdicts by mode, of each problem's id and reply."""


def fenced(code: str, language: str = "python") -> str:
    return f"So:\n```{language}\n{code}\n```\n"


def _predicted(row: Mapping[str, Any], task: Any) -> list[str]:
    asked = task.problem.running
    right = asked.output.replace("true", "True").replace("false", "False")
    stated = f"assert {asked.call} == {right}"
    return [f"[ANSWER]{stated}[/ANSWER]", "[ANSWER]assert f(None) == 'no such thing'[/ANSWER]"]


def _stated(row: Mapping[str, Any], task: Any) -> list[str]:
    asked = task.problem.running
    right = asked.output.replace("true", "True").replace("false", "False")
    return [fenced(f"assert {asked.call} == {right}"), fenced(f"assert {asked.call} == 'no'")]


def _program(*columns: str) -> Callable[[Mapping[str, Any], Any], list[str]]:
    def made(row: Mapping[str, Any], task: Any) -> list[str]:
        code = "".join(row[column] for column in columns)
        return [fenced(code), fenced(f"raise SystemExit({task.function!r})")]

    return made


def _contest(row: Mapping[str, Any], task: Any) -> list[str]:
    return [fenced(right_programs()[task.title]), fenced("print(0)")]


def _solved(row: Mapping[str, Any], task: Any) -> list[str]:
    listed = row["solutions"] if "solutions" in row else row["correct_submissions"][0]["code"]
    if isinstance(listed, Mapping):
        listed = listed["solution"][0]
    code = json.loads(listed)[0] if listed.startswith("[") else listed
    return [fenced(f"from typing import List\n\n{code}"), fenced("raise SystemExit(0)")]


_MADE: dict[str, Callable[[Mapping[str, Any], Any], list[str]]] = {
    "livecodebench": _contest,
    "livecodebench/testoutputprediction": _stated,
    "livecodebench/codeexecution": _predicted,
    "cruxeval/output": _predicted,
    "cruxeval/input": _predicted,
    "humaneval": _program("prompt", "canonical_solution"),
    "humanevalfix": _program("declaration", "canonical_solution"),
    "mbpp": _program("code"),
    "mbppplus": _program("canonical_solution"),
    "bigcodebench": _program("complete_prompt", "canonical_solution"),
    "classeval": _program("solution_code"),
    "apps": _solved,
    "taco": _solved,
    "industryor": lambda row, _task: [fenced(f"print('{row['en_answer']}')"), fenced("print(1)")],
    "codecontests": _solved,
    "codecontestsplus": _solved,
    "ds1000": _program("reference_code"),
    **{
        name: _program("prompt", "canonical_solution")
        for name in FAMILIES["evoeval"].modules
    },
    "multipl-e": lambda _row, _task: [
        fenced(same_process_replies.CPP, "cpp"), fenced(same_process_replies.CPP_WRONG, "cpp"),
    ],
}  # fmt: skip


def replies_to(name: str, **options: Any) -> dict[str, list[str]]:
    """Three replies to each problem: a right one, a wrong one, and one without a program."""
    prepared = prepare(name, options)
    return {
        each.id: [*_MADE[name](getattr(each, "names", {}), each), NOTHING]
        for each in prepared.planned.source.instances(prepared.ids)
    }


def broken_humaneval(source: Path) -> tuple[str, dict[str, list[str]]]:
    """Write HumanEval's rows, the tests of the first broken; return its id, and replies to all.

    Who dies before broken tests do would be a race, and so its second program does not.
    """
    rows = (files("proctor") / "bundled" / "humaneval.jsonl").read_text("utf-8").splitlines()
    broken = json.loads(rows[0]) | {"test": "tests = None\n"}
    source.write_text("\n".join([json.dumps(broken), *rows[1:]]))
    replies = replies_to("humaneval")
    name = broken["task_id"]
    replies[name][1] = fenced(f"def {broken['entry_point']}(*given): return given")
    return name, replies


class Server:
    """Replies to prompts of benchmarks, in turn; fails for any other prompt."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, list[str]]] = {}
        self._asked: Counter[str] = Counter()

    def add(self, name: str, replies: Mapping[str, list[str]], **options: Any) -> None:
        for row in prepare(name, options).rows():
            messages = [(each.role, each.content) for each in row.messages]
            self._known[json.dumps(messages)] = (row.id, replies[row.id])

    def answer(self, call: Call) -> None:
        asked = [(each["role"], each["content"]) for each in call.body.get("messages", [])]
        key = json.dumps(asked or [("text", call.body["prompt"])])
        if key not in self._known:
            call.send(b'{"error": {"message": "not a prompt of ours"}}', 400)
            return
        _, replies = self._known[key]
        text = replies[self._asked[key] % len(replies)]
        self._asked[key] += 1
        if asked:
            call.reply(text)
        else:
            body = completion(text)
            body["object"], choice = "text_completion", body["choices"][0]
            choice["text"] = choice.pop("message")["content"]
            call.send(json.dumps(body).encode())


@contextmanager
def answering(replies: Mapping[str, Mapping[str, list[str]]], **options: Any) -> Iterator[Stub]:
    """Serve these replies by benchmark, problem and number."""
    server = Server()
    for name, each in replies.items():
        server.add(name, each, **options)
    with serving(server.answer) as stub:
        yield stub


def proctors_verdicts(
    proctor: Proctor, run: Path, name: str, url: str, n: int, *options: str
) -> tuple[Verdicts, dict[str, float]]:
    """Ask for so many samples with `proctor eval`; return verdicts, and pass@1 by mode."""
    chosen: tuple[str, ...] = (name,)
    if not is_benchmark_file(name):
        family, _, _ = name.partition("/")
        flag = FAMILIES[family].choice
        chosen = (family, f"--{flag}", FAMILIES[family].choice_of(name)) if flag else (family,)
    found = report(
        proctor("eval", *chosen, "--model", "stub", "--base-url", url, "--n", str(n), "--out", run,
                "--json", *options)
    )  # fmt: skip
    modes = [mode for mode in ("official", "standard") if mode in found]
    rows = map(json.loads, proctor("export", run).stdout.splitlines())
    verdicts = {
        (row["problem_id"], row["text"]): {
            mode: row["judgements"][mode]["verdict"] for mode in modes
        }
        for row in rows
    }
    return verdicts, {mode: found[mode]["pass_at_k"]["1"] for mode in modes}


def run(command: list[str | Path], cwd: Path, **environment: str) -> str:
    """Run somebody else's command to its end and return what it said."""
    done = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, timeout=900, cwd=cwd,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(cwd), "HF_HUB_OFFLINE": "1",
            "OPENAI_API_KEY": "none", **environment,
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sets_of(verdicts: Verdicts, modes: Collection[str]) -> dict[str, set[str]]:
    return {mode: {each[mode] for each in verdicts.values()} for mode in modes}
