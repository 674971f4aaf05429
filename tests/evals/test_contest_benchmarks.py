"""The benchmarks of contest problems: programs and calls, several languages, limits, checkers."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import fenced, replies
from proctor_command import Proctor, report

from proctor.errors import InputError
from proctor.evals.benchmark_file.loading import load
from proctor.evals.models.model import ModelReply
from proctor.evals.registry import benchmark_named
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
    opened = benchmark_named(name).open_source(Settings(source=source, **settings))
    return list(opened.instances([each.id for each in opened.infos()]))


def problems(name: str, source: str = "fixture") -> dict[str, Problem]:
    return {each.id: each.graded["standard"] for each in instances(name, source)}


def asked(name: str, instance: Any, **settings: Any) -> str:
    found = benchmark_named(name).messages(instance, 0, Settings(**settings))
    assert not isinstance(found, ModelReply)
    return found[-1].content


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


WRONG = (
    ("0", "input()\nprint(sum(sorted(map(int, input().split()))[-2:]))"),
    ("0", "def heaviest(jars): return 10"),
    ("1", "print(*sorted(set(input()) ^ set(input())), sep=', ')"),
    ("1", "print('a', 'd', sep='\\n')"),
    ("2", "class Solution:\n    def dropSmallest(self, nums, k): return nums[:k]"),
    ("2", "def dropSmallest(nums, k): return [x for x in nums if x > min(nums)]"),
    ("3", "def initials(name): return [''.join(n[0].upper() + '.' for n in name.split())]"),
    ("3", "def initials(name): return name[0]"),
)
BREAKING = (
    ("0", "input()\nprint(1 / 0)"),
    ("1", "print(input()[7])"),
    ("2", "class Solution:\n    def drop(self, nums, k): return nums"),  # another's name
    ("3", "print(input())"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["apps", "taco"])
def test_wrong_programs_and_functions_fail(proctor: Proctor, tmp_path: Path, name: str) -> None:
    for verdict, wrong in (("WA", WRONG), ("RE", BREAKING)):
        model = replies(tmp_path, *((number, fenced(code)) for number, code in wrong))
        assert counted(proctor, tmp_path, name, "--model", model) == {verdict: len(wrong)}


def test_prompts_show_what_is_called() -> None:
    jars, _, drop, initials = instances("apps")
    assert "standard input" in asked("apps", jars)
    assert "`dropSmallest`, which the tests call, in the class" in asked("apps", drop)
    assert "```python\nclass Solution:\n    def dropSmallest" in asked("apps", drop)
    assert "`initials`, which the tests call.\n" in asked("apps", initials)
    assert (jars.function, drop.function) == ("", "dropSmallest")
    (lamps, _) = instances("codecontests")
    assert "a program in C++17" in asked("codecontests", lamps, language="cpp17")


def test_the_function_asked_for_is_found_in_a_reply() -> None:
    initials = instances("apps")[3]
    text = fenced("def initials(name): return name") + "Say:\n" + fenced("print(initials('a'))")
    found = benchmark_named("apps").extract(initials, text, Settings())
    assert found.code.strip() == "def initials(name): return name"


def test_results_in_lists_of_their_own(tmp_path: Path) -> None:
    """A list is taken off if each result is in one, unless lists are what is returned."""
    listed = rows_of("apps")[2]
    cases = {**json.loads(listed["input_output"]), "outputs": [[[4]], [[5]]]}
    bare = listed | {"problem_id": 7, "starter_code": "", "input_output": json.dumps(cases)}
    cases["outputs"] = [[4, 1], [5]]
    mixed = listed | {"problem_id": 8, "starter_code": "", "input_output": json.dumps(cases)}
    found = problems("apps", written(tmp_path, [listed, bare, mixed]))
    outputs = {name: [test.output for test in each.tests] for name, each in found.items()}
    assert outputs == {"2": ["[4]", "[5]"], "7": ["[4]", "[5]"], "8": ["[4, 1]", "[5]"]}


def test_rows_that_cannot_be_called_are_left_out(tmp_path: Path) -> None:
    def row(number: int, inputs: list[Any]) -> dict[str, Any]:
        cases = {"fn_name": "f", "inputs": inputs, "outputs": [1]}
        return rows_of("apps")[3] | {"problem_id": number, "input_output": json.dumps(cases)}

    rows = [row(1, [[]]), row(2, [[{"1": 2}]]), row(3, []), row(4, [[[]]])]
    assert list(problems("apps", written(tmp_path, rows))) == ["4"]


@pytest.mark.parametrize(
    ("name", "column", "value", "said"),
    [
        ("apps", "input_output", '{"inputs": ["1"', "broken JSON"),
        ("taco", "input_output", '{"inputs": ["1"], "outputs": []}', "1 inputs and 0 outputs"),
        ("codecontests", "public_tests", {"input": ["1"], "output": []}, "1 inputs and 0 outputs"),
        ("codecontestsplus", "test_cases", [{"input": "1"}], "a test has no output"),
        ("codecontestsplus", "memory_limit", 1 << 40, "bytes at least"),
    ],
)
def test_broken_rows_are_refused(
    proctor: Proctor, tmp_path: Path, name: str, column: str, value: Any, said: str
) -> None:
    source = written(tmp_path, [rows_of(name)[0] | {column: value}])
    done = proctor("eval", name, "--source", source, "--dry-run")
    assert done.returncode == 2
    assert said in done.stderr
    assert source in done.stderr


def limits(name: str, source: str = "fixture") -> dict[str, tuple[float, int]]:
    found = problems(name, source)
    return {each: (problem.test_limits.cpu, problem.test_limits.memory)
            for each, problem in found.items()}  # fmt: skip


def test_limits_of_rows(tmp_path: Path) -> None:
    usual = Settings().judge_settings("standard").limits
    mebi = 1 << 20
    assert limits("taco") == {
        "0": (1.0, 256 * mebi), "1": (usual.cpu, usual.memory), "2": (2.0, 64 * mebi),
        "3": (usual.cpu, usual.memory),
    }  # fmt: skip
    assert limits("codecontests") == {
        "codeforces/9001_A. Odd Lamps": (1.5, 256_000_000),
        "aizu/p90002 Half a Cake": (usual.cpu, usual.memory),
    }
    assert limits("codecontestsplus") == {"Codeforces/9003_A": (1.0, 256 * mebi)}
    odd = rows_of("taco")[0] | {"time_limit": "none", "memory_limit": "a lot"}
    assert limits("taco", written(tmp_path, [odd])) == {"0": (usual.cpu, usual.memory)}


def test_tests_of_codecontests(tmp_path: Path) -> None:
    lamps = problems("codecontests")["codeforces/9001_A. Odd Lamps"]
    assert [test.public for test in lamps.tests] == [True, False, False, False]
    row = rows_of("codecontests")[0] | {"private_tests": None, "generated_tests": None}
    (public,) = problems("codecontests", written(tmp_path, [row])).values()
    assert len(public.tests) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "lamps", "cake"),
    [
        ("python", rows_of("codecontests")[0]["solutions"]["solution"][0],
         "x, y = map(int, input().split())\nprint(x / y if y else 'NEVER')"),
        pytest.param(
            "cpp17", ODD_LAMPS,
            '#include <cstdio>\nint main() { double x, y; scanf("%lf %lf", &x, &y);\n'
            'if (y == 0) puts("never"); else printf("%.6f", x / y); }\n',
            marks=pytest.mark.language("cpp"),
        ),
    ],
)  # fmt: skip
def test_codecontests_in_two_languages(
    proctor: Proctor, tmp_path: Path, language: str, lamps: str, cake: str
) -> None:
    fence = "cpp" if language == "cpp17" else language
    right = (("codeforces/9001_A. Odd Lamps", fenced(lamps, fence)),
             ("aizu/p90002 Half a Cake", fenced(cake, fence)))  # fmt: skip
    options = ("codecontests", "--language", language, "--model")
    assert counted(proctor, tmp_path, *options, replies(tmp_path, *right)) == {"AC": 2}
    wrong = [(name, text.replace("% 2", "% 3").replace("x / y", "x * y")) for name, text in right]
    assert counted(proctor, tmp_path, *options, replies(tmp_path, *wrong)) == {"WA": 2}


@pytest.mark.slow
@pytest.mark.language("cpp")
def test_checkers_of_codecontestsplus(proctor: Proctor, tmp_path: Path) -> None:
    name = "Codeforces/9003_A"
    for language, code, verdict in (
        ("python", "n = int(input())\nprint(n // 2, n - n // 2)", "AC"),
        ("python", "print(0, input())", "WA"),
        ("cpp17", BASKETS, "AC"),
        ("cpp17", BASKETS.replace("n - 1", "n"), "WA"),
    ):
        model = replies(tmp_path, (name, fenced(code, language.removesuffix("17"))))
        options = ("codecontestsplus", "--language", language, "--model", model)
        assert counted(proctor, tmp_path, *options) == {verdict: 1}
    row = rows_of("codecontestsplus")[0] | {"checker": '#include "no_such_header.h"\n'}
    model = replies(tmp_path, (name, fenced("print(1, int(input()) - 1)")))
    options = ("codecontestsplus", "--source", written(tmp_path, [row]), "--model", model)
    assert counted(proctor, tmp_path, *options) == {"TASK_FAULT": 1}


FILE = """
[rows]
file = "rows.jsonl"
[prompt]
user = "Go."
[grading]
kind = "stdio"
tests = "tests"
function = "called"
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[program]\nlanguages = ["cpp"]\n', "is for Python alone"),
        ("[grading.compare]\nabsolute = 0.1\n", "which calls have not"),
    ],
)
def test_calls_are_pythons_and_compared_as_values(tmp_path: Path, more: str, said: str) -> None:
    (tmp_path / "rows.jsonl").write_text("{}")
    (tmp_path / "calls.toml").write_text(FILE + more)
    with pytest.raises(InputError, match=said):
        load(tmp_path / "calls.toml")


def test_the_number_of_a_row(tmp_path: Path) -> None:
    """Where a column has the name, it is that column."""
    row = {"tests": {"input": ["1"], "output": ["1"]}, "called": ""}
    path = tmp_path / "numbers.toml"
    path.write_text(FILE.replace('file = "rows.jsonl"', 'file = "rows.jsonl"\nid = "row_number"'))
    for rows, ids in (([row, row], ["1", "2"]), ([row | {"row_number": 7}], ["7"])):
        written(tmp_path, rows)
        source = load(path).open_source(Settings())
        assert [each.id for each in source.infos()] == ids
