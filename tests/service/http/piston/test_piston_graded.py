"""open-r1's packages: scored in its clients' words, by the contest judge, out of reach of submissions."""

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from piston_requests import execute

import ioi_task
from proctor.errors import InfraFault
from proctor.evals.ioi.piston import Piston

pytestmark = pytest.mark.compiler  # graders and checkers are in C++

DATA = Path(os.environ.get("PROCTOR_TEST_DATA", "/nowhere")) / "ioi"
ROW = ioi_task.subtask_rows()[2]
ANSWERED = ("21\n", "42\n")
HEAD = '#include "double.h"\n#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n'
CHECKER = """
#include <cstdio>
int main(int, char **v) {
    long long want, is;
    FILE *answer = std::fopen(v[2], "r"), *output = std::fopen(v[3], "r");
    if (std::fscanf(answer, "%lld", &want) != 1) return 1;
    bool right = std::fscanf(output, "%lld", &is) == 1 && is == want;
    std::puts(right ? "1.0" : is == want + 1 ? "0.25" : "0.0");
    std::fputs(right ? "fine\\n" : "not so\\n", stderr);
}
"""
CHECKED = ROW | {"grader_files": [*ROW["grader_files"], ["checker/checker.cpp", CHECKER]]}


@pytest.fixture(scope="module")
def piston(url: str) -> Iterator[Piston]:
    with Piston(url) as client:
        yield client


@pytest.mark.parametrize(
    ("solution", "score", "said"),
    [
        ("right", "1", "Output is correct (diff)"),
        ("wrong", "0", "Output isn't correct (diff)"),
        ("crash", "0", "Runtime error with exit code 3"),
        ("slow", "0", "Time limit exceeded"),
        ("broken", "0", "Compilation error exit code 1"),
    ],
)
def test_a_batch_task(piston: Piston, solution: str, score: str, said: str) -> None:
    found = piston(ROW, ANSWERED[0], ioi_task.SOLUTIONS[solution], ANSWERED[1])
    assert found[0] == score
    assert found[1].startswith(said)


@pytest.mark.parametrize(
    ("solution", "score", "said"),
    [("exact", 1.0, "exact"), ("above", 0.5, "not exact"), ("crash", 0.0, "Runtime error with exit code 134")],
)  # fmt: skip
def test_a_communication_task(piston: Piston, solution: str, score: float, said: str) -> None:
    found = piston(ioi_task.guess_row(), "5\n", ioi_task.GUESSES[solution], "")
    assert (float(found[0]), found[1]) == (score, said)


def test_a_checkers_score_and_words(piston: Piston) -> None:
    above = '#include "double.h"\nlong long twice(long long n) { return 2 * n + 1; }\n'
    assert piston(CHECKED, *_with(above)) == ("0.25", "not so")
    assert piston(CHECKED, *_with(ioi_task.SOLUTIONS["right"])) == ("1", "fine")


def _with(code: str) -> tuple[str, str, str]:
    return ANSWERED[0], code, ANSWERED[1]


def test_what_takes_too_much_memory(piston: Piston) -> None:
    hungry = HEAD + (
        "long long twice(long long n) { size_t size = 400u << 20; char *x = (char *)malloc(size);"
        " for (size_t i = 0; i < size; i += 4096) ((volatile char *)x)[i] = 1; return 2 * n; }\n"
    )
    assert piston(ROW | {"memory_limit": 128 << 20}, *_with(hungry)) == (
        "0",
        "Memory limit exceeded",
    )


def test_limits_of_the_config_go_first(http: httpx.Client) -> None:
    """Those of graders/grader_config.json, which the package reads; run_timeout lies above."""
    config = json.dumps({"task_type": "Batch", "time_limit": 0.2, "memory_limit": 128 << 20})
    files = [[name, text] for name, text in ROW["grader_files"] if not name.endswith(".json")]
    files.append(["graders/grader_config.json", config])
    burner = HEAD + (
        "#include <ctime>\nlong long twice(long long n)"
        " { while (clock() < CLOCKS_PER_SEC) {} return 2 * n; }\n"
    )
    run = execute(http, "cms_ioi", *_request(burner, files), run_timeout=20_000)["run"]
    assert (run["stdout"], run["stderr"]) == ("0", "Time limit exceeded")


def _request(code: str, grader_files: list[list[str]]) -> list[dict[str, str]]:
    """Files as open-r1's client sends them."""
    files = [
        ["graders/double.cpp", code],
        ["input.txt", ANSWERED[0]],
        ["correct_output.txt", ANSWERED[1]],
    ]
    return [{"name": name, "content": text} for name, text in [*files, *grader_files] if text]


def test_the_shape_of_an_answer(http: httpx.Client) -> None:
    answer = execute(http, "cms_ioi", *_request(ioi_task.SOLUTIONS["right"], ROW["grader_files"]))
    assert (answer["language"], answer["version"]) == ("cms_ioi", "1.0.0")
    assert answer["compile"]["code"] == 0
    assert (answer["run"]["code"], answer["run"]["signal"]) == (0, None)
    broken = execute(http, "cms_ioi", *_request("int", ROW["grader_files"]))
    assert broken["compile"] == broken["run"]
    assert broken["compile"]["code"] == 1


SPY = (
    "static void spy() { for (const char *name : {%s}) if (FILE *file = fopen(name, \"r\")) {"
    " char all[100]; size_t n = fread(all, 1, 99, file); fwrite(all, 1, n, stdout); fflush(stdout); _exit(0); } }\n"
    "long long twice(long long) { spy(); return -1; }\n"
)  # fmt: skip
FORGED = "#!/bin/sh\\necho 1.0\\n"
ATTACKS = {
    "rewrites the checker": HEAD + (
        'long long twice(long long) { for (const char *name : {"checker/checker", "../checker/checker", "checker"})'
        f' if (FILE *file = fopen(name, "w")) {{ fputs("{FORGED}", file); fclose(file); }}'
        " return -1; }\n"
    ),
    "reads the answer as it runs": HEAD + SPY % (
        '"correct_output.txt", "../correct_output.txt", "answer.txt", "/box/submission/correct_output.txt",'
        ' "/box/work/answer.txt"'
    ),
    "prints a score": HEAD + (
        'long long twice(long long) { puts("1.0"); fputs("1.0", stderr); fflush(stdout); _exit(0); }\n'
    ),
    "kills its parent": HEAD + (
        "#include <csignal>\nlong long twice(long long) { kill(getppid(), SIGKILL); kill(-1, SIGKILL); return -1; }\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_get_nothing(piston: Piston, attack: str) -> None:
    score, _ = piston(CHECKED, *_with(ATTACKS[attack]))
    assert float(score) == 0


@pytest.mark.parametrize(
    "line",
    [
        '#include "../correct_output.txt"',
        '#include "correct_output.txt"',
        '#include "/box/work/correct_output.txt"',
        'asm(".incbin \\"correct_output.txt\\"");',
        'asm(".incbin \\"../input.txt\\"");',
    ],
)
def test_answers_are_not_there_when_it_is_compiled(piston: Piston, line: str) -> None:
    code = f"{line}\n{ioi_task.SOLUTIONS['right']}"
    score, said = piston(ROW, *_with(code))
    assert score == "0"
    assert said.startswith("Compilation error")


@pytest.mark.parametrize(
    "checker", ["int main() {", "int main() { return 3; }", "int main() { for (;;) *(volatile int *)0 = 1; }"]
)  # fmt: skip
def test_a_broken_task_is_no_score(http: httpx.Client, checker: str) -> None:
    files = [*ROW["grader_files"], ["checker/checker.cpp", checker]]
    body = {"language": "cms_ioi", "version": "*",
            "files": _request(ioi_task.SOLUTIONS["right"], files)}  # fmt: skip
    answer = http.post("/execute", json=body)
    assert answer.status_code == 400
    assert set(answer.json()) == {"message"}
    row = ROW | {"grader_files": files}
    with Piston(str(http.base_url)) as piston, pytest.raises(InfraFault):
        piston(row, *_with(ioi_task.SOLUTIONS["right"]))


TWO_STEPS = """
#include "double.h"
#include <cstdio>
#include <cstring>
int main(int, char **v) {
    long long n;
    FILE *file = std::fopen(v[2], v[1][0] == '0' ? "w" : "r");
    if (v[1][0] == '0') { if (std::scanf("%lld", &n) != 1) return 1; std::fprintf(file, "%lld", twice(n)); }
    else { if (std::fscanf(file, "%lld", &n) != 1) return 1; std::printf("%lld\\n", n); }
    std::fclose(file);
}
"""


def test_two_steps(http: httpx.Client) -> None:
    """Which the package does not know."""
    files = [
        ["graders/double.h", "long long twice(long long n);\n"],
        ["graders/manager.cpp", TWO_STEPS],
        ["graders/grader_config.json", '{"task_type": "TwoSteps", "time_limit": 1.0}'],
    ]
    for solution, score in (("right", "1"), ("wrong", "0")):
        answer = execute(http, "cms_ioi", *_request(ioi_task.SOLUTIONS[solution], files))
        assert answer["run"]["stdout"] == score, answer


def test_output_only(http: httpx.Client) -> None:
    """Which it does not know either: what is handed in is the output."""
    files = [["graders/grader_config.json", '{"task_type": "OutputOnly", "time_limit": 1.0}']]
    assert execute(http, "cms_ioi", *_request("42\n", files))["run"]["stdout"] == "1"
    assert execute(http, "cms_ioi", *_request("43\n", files))["run"]["stdout"] == "0"


def codeforces(
    http: httpx.Client,
    language: str,
    source: str,
    test: tuple[str, str],
    checker: str = "",
    **settings: Any,
) -> dict[str, Any]:
    """One request as open-r1's cf_scoring makes it."""
    config = {"TIME_LIMIT": 2.0, "MEMORY_LIMIT": 256.0, "INPUT_MODE": "stdio"} | settings
    files = [
        ("main.cpp" if language == "c++17" else "main.python", source),
        ("checker.py", checker),
        ("input.txt", test[0]),
        ("correct_output.txt", test[1]),
        ("grader_config", "\n".join(f"{name}={value}" for name, value in config.items())),
    ]
    sent = [{"name": name, "content": text} for name, text in files if text]
    return execute(http, language, *sent, run_timeout=(config["TIME_LIMIT"] + 10) * 1000)


SUM = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }\n"
SUM_PYTHON = "print(sum(map(int, input().split())))"
FROM_FILE = (
    'a, b = map(int, open("input.txt").read().split())\nopen("output.txt", "w").write(str(a + b))'
)
CLOSE = """
import sys
answer, output = (float(open(name).read()) for name in sys.argv[2:4])
print(1 if abs(answer - output) < 0.01 else 0)
"""


def passed(answer: dict[str, Any]) -> bool:
    """As open-r1 reads it; there is no `message`."""
    assert "message" not in answer
    run: dict[str, Any] = answer["run"]
    return run["code"] == 0 and run["stdout"].strip() == "1"


@pytest.mark.parametrize(
    ("language", "source", "test", "more", "expected"),
    [
        ("c++17", SUM, ("1 2\n", "3\n"), {}, True),
        ("c++17", SUM, ("1 2\n", "4\n"), {}, False),
        ("cf_python3", SUM_PYTHON, ("1 2\n", "3\n"), {}, True),
        ("cf_python3", "print('YES')", ("1 2\n", "yes\n"), {}, True),
        ("cf_python3", "print(", ("1 2\n", "3\n"), {}, False),
        ("cf_python3", "while True: pass", ("1 2\n", "3\n"), {"TIME_LIMIT": 0.3}, False),
        ("cf_python3", FROM_FILE, ("1 2\n", "3\n"), {"INPUT_MODE": "file"}, True),
        ("cf_python3", FROM_FILE, ("1 2\n", "3\n"), {}, False),
        ("cf_python3", "print(3.001)", ("1 2\n", "3\n"), {"checker": CLOSE}, True),
        ("cf_python3", "print(3.1)", ("1 2\n", "3\n"), {"checker": CLOSE}, False),
        ("cf_python3", "print(open('correct_output.txt').read())", ("1 2\n", "3\n"), {}, False),
    ],
)  # fmt: skip
def test_codeforces(
    http: httpx.Client,
    language: str,
    source: str,
    test: tuple[str, str],
    more: dict[str, Any],
    expected: bool,
) -> None:
    answer = codeforces(http, language, source, test, **more)
    assert answer["compile"]["code"] == 0
    assert passed(answer) is expected, answer


@pytest.mark.slow
def test_a_header_twice(piston: Piston, http: httpx.Client) -> None:
    """open-r1 puts bits/stdc++.h before what includes it itself; precompiled from the second on."""
    twice = "#include <bits/stdc++.h>\n#include <vector>\n#include <bits/stdc++.h>\n"
    for _ in range(3):
        tag = f"// {secrets.token_hex(8)}, so that it is compiled\n"
        assert piston(ROW, *_with(twice + ioi_task.SOLUTIONS["right"] + tag))[0] == "1"
        assert passed(codeforces(http, "c++17", twice + SUM + tag, ("1 2\n", "3\n")))


def test_codeforces_that_does_not_compile(http: httpx.Client) -> None:
    answer = codeforces(http, "c++17", "int main( {", ("1 2\n", "3\n"))
    assert answer["compile"]["code"] == 1


def test_a_name_that_two_have(http: httpx.Client) -> None:
    """c++17 is a compiler, and with grader_config the package."""
    answer = execute(http, "c++17", 'int main() { __builtin_puts("hi"); }')
    assert answer["run"]["stdout"] == "hi\n"
    assert answer["language"] == "c++"


def test_limits_that_a_row_does_not_name(http: httpx.Client) -> None:
    """The pipeline formats the row's null into the config."""
    unnamed = {"MEMORY_LIMIT": None, "INPUT_MODE": None}
    assert passed(codeforces(http, "cf_python3", SUM_PYTHON, ("1 2\n", "3\n"), **unnamed))
    assert not passed(codeforces(http, "cf_python3", SUM_PYTHON, ("1 2\n", "4\n"), **unnamed))


def test_a_config_is_read_not_executed(http: httpx.Client, tmp_path: Path) -> None:
    body = {"language": "cf_python3", "version": "*", "files": [
        {"name": "main.python", "content": "print(1)"},
        {"name": "grader_config", "content": f"TIME_LIMIT=$(touch {tmp_path}/got)"},
    ]}  # fmt: skip
    answer = http.post("/execute", json=body)
    assert answer.status_code == 400
    assert "NAME=VALUE" in answer.json()["message"]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.data("ioi")
def test_tasks_of_the_ioi(piston: Piston) -> None:
    """Labelled solutions of A + B, on a test that both solve and on one that only the model does."""
    rows = _lines("subtasks.jsonl")
    row = next(row for row in rows if row["subtask"] == "03-full")
    zero = next(row for row in rows if row["subtask"] == "02-bZero")
    tests = {test["test_name"]: test for test in _lines("test_cases.jsonl")}
    codes = {each["file"]: each["code"] for each in _lines("solutions.jsonl")}
    other = next(name for name in row["test_names"] if name not in zero["test_names"])
    for name, partly in ((zero["test_names"][0], 1.0), (other, 0.0)):
        test = tests[name]
        given, answer = test["test_input"], test["test_output"]
        assert float(piston(row, given, codes["solution.cpp"], answer)[0]) == 1.0
        assert float(piston(row, given, codes["solution-b-zero.cpp"], answer)[0]) == partly


def _lines(file: str) -> list[dict[str, Any]]:
    """Rows of the task."""
    rows = map(json.loads, (DATA / file).read_text("utf-8").splitlines())
    return [row for row in rows if "aplusb" in {row.get("id"), row.get("problem_id")}]
