"""Rewards as trainers ask for them: one a completion, and none where nothing is known."""

import json
import logging
from typing import Any

import pytest

import ioi_task
from proctor import Limits, Pool, Problem, Test, open_pool
from proctor.errors import InputError, SettingsError
from proctor.evals.extraction import Extracted
from proctor.integrations import grading
from proctor.integrations.rewards import (
    code_reward,
    ioi_reward,
    make_code_reward,
    make_ioi_reward,
)
from proctor.integrations.rows import COLUMNS, key_of, task_of, text_of

CASES = [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n", "weight": 3.0}]
RIGHT = "```python\nprint(2 * int(input()))\n```"
SQUARE = "Thus:\n```python\nprint(int(input()) ** 2)\n```"
CRASHES = "```python\nn = int(input())\nprint(2 * n if 1 // (n - 2) else 0)\n```"
LIMITS = Limits(cpu=2.0)


@pytest.mark.parametrize("ioi", [False, True])
def test_a_completion_that_nothing_can_be_taken_from(
    pool: Pool, contest_pool: Pool, ioi: bool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the parser raises is the completion's doing: it must not choose to have no reward."""
    extract = grading.extract

    def failing(reply: str, *rest: Any) -> Extracted:
        if reply == "odd":
            raise RecursionError("the parser fell over")
        found: Extracted = extract(reply, *rest)
        return found

    monkeypatch.setattr(grading, "extract", failing)
    if not ioi:
        reward, right, columns = make_code_reward(pool=pool), RIGHT, {"test_cases": [CASES] * 13}
    else:
        tests = ioi_task.write(tmp_path / "tests.jsonl", ioi_task.test_rows())
        reward = make_ioi_reward(tests=str(tests), pool=contest_pool)
        right = f"```cpp\n{ioi_task.SOLUTIONS['right']}\n```"
        columns = columns_of([ioi_task.subtask_rows()[2]] * 13)
    completions = [right] * 13
    completions[5] = "odd"
    expected: list[Any] = [1.0] * 13
    expected[5] = 0.0
    assert reward(completions, **columns) == expected


@pytest.mark.parametrize(
    "columns",
    [
        {"verification_info": {"language": "python", "test_cases": CASES}},
        {"verification_info": json.dumps({"test_cases": CASES})},
        {"verification_info": {"test_cases": json.dumps(CASES)}},
        {"test_cases": CASES},
        {"test_cases": json.dumps([["2\n", "4\n"], ["3\n", "6\n"]])},
        {"ground_truth": {"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]}},
        {"test_cases": [{"input": ["2"], "output": ["4"], "type": "stdin_stdout"}, CASES[1]]},
        {
            "question_id": "q",
            "public_test_cases": json.dumps([{**CASES[0], "testtype": "stdin"}]),
            "private_test_cases": json.dumps([{**CASES[1], "testtype": "stdin"}]),
        },
        {"problem": Problem("p", (Test("2\n", "4\n"), Test("3\n", "6\n")))},
    ],
)
def test_every_form_of_tests(pool: Pool, columns: dict[str, Any]) -> None:
    reward = make_code_reward(pool=pool)
    batch = {name: [value] * 2 for name, value in columns.items()}
    assert reward([RIGHT, SQUARE], prompts=["p", "p"], **batch) == [1.0, 0.0]


@pytest.mark.parametrize("name", [*COLUMNS, "metadata", "language"])
def test_rows_share_what_is_read_of_them_only_if_all_of_it_is_the_same(name: str) -> None:
    row = {"test_cases": CASES, "prompt": "one"}
    assert key_of({**row, "prompt": "other"}) == key_of(row)
    one, other = (
        {**row, name: Problem(text, ()) if name == "problem" else text} for text in ("c", "cpp")
    )
    assert len({key_of(row), key_of(one), key_of(other)}) == 3
    assert key_of(dict(reversed(one.items()))) == key_of(one)


@pytest.mark.parametrize(
    "case",
    [
        {"fn_name": "add", "input": [1, [2]], "output": [1, 2], "type": "function_call"},
        {"fn_name": "add", "input": "1\n[2]", "output": "[1, 2]"},
    ],
)
def test_functions(pool: Pool, case: dict[str, Any]) -> None:
    reward = make_code_reward(pool=pool)
    answers = [f"```python\ndef add(a, b): return {value}\n```" for value in ("[a, *b]", "b")]
    assert reward(answers, test_cases=[[case]] * 2) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("scoring", "rewards"),
    [("all", [1.0, 0.0, 0.0]), ("fraction", [1.0, 0.5, 0.5]), ("weighted", [1.0, 0.25, 0.75])],
)
def test_scorings(pool: Pool, scoring: Any, rewards: list[float]) -> None:
    """A program that crashes in its first test may pass the second."""
    reward = make_code_reward(scoring=scoring, pool=pool)
    assert reward([RIGHT, SQUARE, CRASHES], test_cases=[CASES] * 3) == rewards


def test_faults_have_no_reward_and_are_told(pool: Pool, caplog: pytest.LogCaptureFixture) -> None:
    extra: dict[str, list[str]] = {}
    metrics: dict[str, float] = {}
    rows = [CASES, [], "not JSON", None, [{"input": 1, "output": "2"}], CASES]
    with caplog.at_level(logging.WARNING):
        rewards = make_code_reward(pool=pool)(
            completions=[RIGHT] * 5 + ["I do not know."],
            test_cases=rows,
            trainer_state=object(),
            log_extra=extra.__setitem__,
            log_metric=metrics.__setitem__,
        )
    assert rewards == [1.0, None, None, None, None, 0.0]
    assert extra["code_reward_verdict"] == ["AC", *["TASK_FAULT"] * 4, "NC"]
    assert metrics == {"code_reward/masked": 4 / 6}
    assert "is not JSON" in caplog.text


def test_the_reward_of_no_program_is_stated(pool: Pool) -> None:
    reward = make_code_reward(pool=pool, no_code=-0.5)
    completions = ["I do not know.", RIGHT, "", "```python\nprint(0)\n```"]
    assert reward(completions, test_cases=[CASES] * 4) == [-0.5, 1.0, -0.5, 0.0]


def test_a_fault_of_the_machine_has_no_reward() -> None:
    with open_pool(cells=1) as closed:
        pass
    assert make_code_reward(pool=closed)([RIGHT], test_cases=[CASES]) == [None]


def test_a_fault_behind_a_failure_counts_for_parts_only(pool: Pool) -> None:
    broken = [Test("2", "5"), Test("not json", "6")]
    problem = Problem("p", tuple(broken), function="f")
    for scoring in ("all", "fraction"):
        reward = make_code_reward(scoring=scoring, pool=pool)  # type: ignore[arg-type]
        assert reward(["```python\ndef f(n): return n\n```"], problem=[problem]) == [None]


def test_weights_that_are_all_0_give_no_share(pool: Pool) -> None:
    reward = make_code_reward(scoring="weighted", pool=pool)
    cases = [{**case, "weight": 0} for case in CASES]
    assert reward([RIGHT], test_cases=[cases]) == [None]


def test_languages(pool: Pool) -> None:
    bash = '```bash\nread n; echo "$((2 * n))"\n```'
    reward = make_code_reward(pool=pool)
    got = reward(
        [bash, RIGHT, RIGHT, bash],
        test_cases=[CASES] * 4,
        language=["bash", None, "klingon", "python"],
    )
    assert got == [1.0, 1.0, None, 0.0]


def test_chats() -> None:
    assert text_of([{"role": "assistant", "content": "a"}]) == "a"
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    tool = {"role": "tool", "content": "no"}
    assert text_of([{"role": "assistant", "content": parts}, tool]) == "ab"
    said = [{"role": "assistant", "content": each} for each in ("first", "last", "", None)]
    assert text_of([*said, {"role": "user", "content": "x"}]) == "last"
    assert text_of([{"role": "user", "content": "x"}]) == ""
    assert text_of({"role": "assistant", "content": "a"}) == "a"
    with pytest.raises(InputError):
        text_of(3)


NESTED = "a = []\n    for _ in range(10**5): a = [a]\n    return a"


@pytest.mark.parametrize(
    "completion",
    [
        "", "\0" * 100, "\ud800", "a" * 5_000_000, "```\n" * 10_000, "```python\nprint(4)\0\n```",
        "```python\nprint('\ud800')\n```", "```python\n" + "(" * 50_000 + "\n```",
        "```python\n# coding: nonsense\nprint(4)\n```", [], {}, {"role": "assistant", "content": None},
        [{"role": "assistant", "content": [{"type": "text", "text": None}]}],
        [{"role": "user", "content": RIGHT}], [{"role": "assistant", "content": 3}],
    ],
)  # fmt: skip
def test_what_a_model_may_say_always_counts(pool: Pool, completion: Any) -> None:
    assert make_code_reward(pool=pool)([completion], test_cases=[CASES]) == [0.0]


@pytest.mark.parametrize(
    "body",
    [
        "return object()", "return float('nan')", "return '\ud800'", "return 2\0", "yield 2", NESTED,
        "return 10**100_000", "a = []; a.append(a); return a", "import os; os._exit(0)",
        "raise SystemExit(0)",
    ],
)  # fmt: skip
def test_what_a_function_may_do_always_counts(pool: Pool, body: str) -> None:
    tests = {"fn_name": "f", "inputs": [[1]], "outputs": [[2]]}
    program = f"```python\ndef f(n):\n    {body}\n```"
    assert make_code_reward(pool=pool)([program], test_cases=[tests]) == [0.0]


@pytest.mark.parametrize("completion", [None, 3, b"print(4)", ["print(4)"], [object()], iter("")])
def test_what_no_model_can_say_is_a_mistake_of_the_caller(pool: Pool, completion: Any) -> None:
    reward, extra = make_code_reward(pool=pool), dict[str, Any]()
    got = reward([completion, RIGHT], test_cases=[CASES] * 2, log_extra=extra.__setitem__)
    assert got == [None, 1.0]
    assert extra == {"code_reward_verdict": ["TASK_FAULT", "AC"]}


def test_a_chat_is_rewarded(pool: Pool) -> None:
    chat = [{"role": "assistant", "content": RIGHT}]
    assert make_code_reward(pool=pool)([chat], test_cases=[CASES]) == [1.0]


@pytest.mark.slow
def test_options(pool: Pool) -> None:
    limits = make_code_reward(pool=pool, limits=LIMITS, no_code=-1.0, name="mine")
    loop = "```python\nwhile True: pass\n```"
    assert limits([loop, ""], test_cases=[CASES] * 2) == [0.0, -1.0]
    assert limits.__name__ == "mine"  # type: ignore[attr-defined]
    assert limits([]) == []
    near, half = make_code_reward(pool=pool, tolerance=0.1), [[["", "4"]]]
    assert near(["```python\nprint(3.99)\n```"], test_cases=half) == [1.0]
    exact, third = make_code_reward(pool=pool, tolerance=None), [[["", "0.33333333"]]]
    assert exact(["```python\nprint(1 / 3)\n```"], test_cases=third) == [0.0]
    with pytest.raises(SettingsError):
        make_code_reward(scoring="some")  # type: ignore[arg-type]
    with pytest.raises(InputError):
        make_code_reward(extraction="some")
    with pytest.raises(InputError, match="verification_info"):
        limits([RIGHT], answers=["4"])
    assert (code_reward.__name__, ioi_reward.__name__) == ("code_reward", "ioi_reward")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "row",
    [
        {"test_cases": {"a": 1}},
        {"test_cases": {"inputs": ["1"], "outputs": []}},
        {"test_cases": [{"input": "1", "output": "1", "type": "function_call"}]},
        {"test_cases": [{"input": "1", "output": "1", "weight": -1.0}]},
        {
            "test_cases": [
                {"input": "1", "output": "1", "fn_name": "f"},
                {"input": "", "output": ""},
            ]
        },
        {"test_cases": "[" * 100000},
        {"verification_info": {}},
        {},
    ],
)
def test_rows_that_cannot_be_used(row: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        task_of(row)


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in rows[0]}


@pytest.mark.slow
def test_ioi(contest_pool: Pool, tmp_path: Any) -> None:
    tests = ioi_task.write(tmp_path / "tests.jsonl", ioi_task.test_rows())
    row = ioi_task.subtask_rows()[2]
    names = ["right", "small", "crash", "broken"]
    answers = [f"```cpp\n{ioi_task.SOLUTIONS[name]}\n```" for name in names]
    reward = make_ioi_reward(tests=str(tests), pool=contest_pool)
    absent = {**row, "test_names": ["no such test"]}
    rows = columns_of([*[row] * 4, row, absent])
    assert reward([*answers, "no idea", answers[0]], **rows) == [1.0, 0.0, 0.0, 0.0, 0.0, None]
    points = make_ioi_reward(tests=str(tests), pool=contest_pool, scoring="points")
    assert points([answers[0]], **columns_of([row])) == [row["score"]]


def test_ioi_parts_and_forgotten_headers(contest_pool: Pool) -> None:
    row = {**ioi_task.guess_row()}
    row["test_names"], row["test_cases"] = ["t"], [["5\n", ""]]
    above = ioi_task.GUESSES["above"].replace('#include "guess.h"\n', "")
    answer = f"```cpp\n{above}\n```"
    got = [
        make_ioi_reward(pool=contest_pool, scoring=scoring)([answer], **columns_of([row]))
        for scoring in ("score", "all")
    ]  # type: ignore[arg-type]
    assert got == [[0.5], [0.0]]
