"""The benchmarks of contest problems: programs and calls, several languages, limits, checkers."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import fenced, replies
from proctor_command import Proctor, report

from proctor.errors import InputError
from proctor.evals import registry
from proctor.evals.models.model import ModelReply
from proctor.evals.settings import Settings
from proctor.problem import Problem

BENCHMARKS = ("apps", "taco", "codecontests", "codecontestsplus")
ODD_LAMPS = """#include <iostream>
int main() {
    int n, m, on = 0;
    std::cin >> n >> m;
    for (int lamp = 1; lamp <= n; ++lamp) {
        int turns = 0;
        for (int i = 1; i <= m; ++i) turns += lamp % i == 0;
        on += turns % 2;
    }
    std::cout << on << std::endl;
}
"""
BASKETS = '#include <iostream>\nint main() { long n; std::cin >> n; std::cout << n - 1 << " 1"; }\n'


def rows_of(name: str) -> list[dict[str, Any]]:
    text = (files("proctor") / "bundled" / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def instances(name: str, source: str = "fixture", **settings: Any) -> list[Any]:
    opened = registry.get(name).open_source(Settings(source=source, **settings))
    return list(opened.instances([each.id for each in opened.infos()]))


def problems(name: str, source: str = "fixture") -> dict[str, Problem]:
    return {each.id: each.graded["standard"] for each in instances(name, source)}


def asked(name: str, instance: Any, **settings: Any) -> str:
    found = registry.get(name).messages(instance, 0, Settings(**settings))
    assert not isinstance(found, ModelReply)
    return found[-1].content


def graded(proctor: Proctor, directory: Path, name: str, *options: str | Path) -> dict[str, str]:
    """Return the verdict of each problem of a run."""
    run = directory / "run"
    done = report(proctor("eval", name, *options, "--out", run, "--json"))
    assert "official" not in done
    exported = proctor("export", run, "--format", "results")
    assert exported.returncode == 0, exported.stderr
    return {}


def counted(proctor: Proctor, directory: Path, name: str, *options: str | Path) -> dict[str, int]:
    """Return the numbers of verdicts of a run."""
    number = len(list(directory.glob("run*")))
    done = report(proctor("eval", name, *options, "--out", directory / f"run{number}", "--json"))
    found: dict[str, int] = done["standard"]["verdicts"]
    return found


def written(directory: Path, rows: list[dict[str, Any]]) -> str:
    path = directory / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_dry_run_tries_all_rows(proctor: Proctor, name: str) -> None:
    done = proctor("eval", name, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "left out: where 1" in done.stdout
    assert "reads standard input and writes standard output" in done.stdout


@pytest.mark.parametrize("name", ["apps", "taco"])
def test_right_programs_and_functions_pass(proctor: Proctor, tmp_path: Path, name: str) -> None:
    codes = [json.loads(row["solutions"])[0] for row in rows_of(name)[:4]]
    codes[2] = f"from typing import List\n\n{codes[2]}"
    model = replies(tmp_path, *((str(at), fenced(code)) for at, code in enumerate(codes)))
    assert counted(proctor, tmp_path, name, "--model", model) == {"AC": 4}


@pytest.mark.parametrize("name", ["apps", "taco"])
def test_wrong_programs_and_functions_fail(proctor: Proctor, tmp_path: Path, name: str) -> None:
    method = "class Solution:\n    def dropSmallest(self, nums, k):\n        return sorted(nums)[k:]\n"
    model = replies(
        tmp_path,
        ("0", fenced("input()\nprint(sum(sorted(map(int, input().split()))[-2:]))")),
        ("1", fenced("print(*sorted(set(input()) ^ set(input())), sep=', ')")),
        ("2", fenced(method.replace("[k:]", "[:k]"))),
        ("2", fenced(method.replace("dropSmallest", "drop"))),
        ("3", fenced("def initials(name):\n    return [name[0]]\n")),
        ("3", fenced("def initials(name):\n    return 1 / 0\n")),
    )
    options = ("--model", model, "--n", "1")
    found = counted(proctor, tmp_path, name, *options)
    assert "AC" not in found
    assert sum(found.values()) == 4
