"""Forms in which data sets keep tests: a right program gets 1, a wrong one 0, the unknown none."""

import json
from typing import Any

import pytest

from proctor import Pool
from proctor.errors import InputError
from proctor.integrations.rewards import RewardFunction, make_code_reward
from proctor.integrations.row_settings import RowSettings
from proctor.integrations.row_tests import read_tests
from proctor.integrations.rows import task_of
from proctor.integrations.verl import compute_score


@pytest.fixture(scope="module")
def reward(pool: Pool) -> RewardFunction:
    return make_code_reward(pool=pool)


def function(body: str) -> str:
    return f"```python\ndef f(*given):\n    {body}\n```"


def method(body: str) -> str:
    return f"```python\nclass Solution:\n    def f(self, *given):\n        {body}\n```"


def called(test: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """Return tests as DeepCoder, SkyRL and Tinker's cookbook keep LiveCodeBench's calls."""
    return [{"testtype": "functional", "metadata": {"func_name": "f"}, **test, **more}]


def apps(inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    return {"fn_name": "f", "inputs": inputs, "outputs": outputs}


ADDS, IS_LIST = "return sum(given)", "return [sum(given)]"


@pytest.mark.parametrize(
    ("tests", "right", "wrong"),
    [
        # A result in a list of its own, as in APPS and TACO; the list may be meant, too.
        (apps([[1, 2], [1, 3]], [[3], [4]]), ADDS, "return 3"),
        (apps([[1, 2]], [[3]]), IS_LIST, "return [[3]]"),
        (apps([[1, 2], [1, 3]], [3, 4]), ADDS, IS_LIST),
        (apps([[1, 2]], [[3, 4]]), "return 3, 4", "return 3"),
        (apps([[1, 2]], [[[3, 4]]]), "return (3, 4)", "return 3, 4, 5"),
        (apps([["a"]], [["aa"]]), "return given[0] * 2", "return 'a'"),
        (apps([[1]], [[True]]), "return True", "return False"),
        (apps([[1], [2]], [[None], [2]]), "return given[0] if given[0] > 1 else None", "return 2"),
        (apps([[1], [2]], [[], [2]]), "return [n for n in given if n > 1]", "return 2"),
        (apps([[[1]]], [[{"1": [2]}]]), "return {1: [2]}", "return {2: [1]}"),
        # A text is a text, though it looks like a number.
        (apps([["1"]], ["11"]), "return given[0] * 2", "return 11"),
        (apps([["1"]], [["11"]]), "return given[0] * 2", "return 11"),
        (apps([["1"]], ['"11"']), "return given[0] * 2", "return 11"),
        (apps([[1, 2]], ["[1, 2]"]), "return given", "return [1]"),
        (apps([[1, 2]], ["[1, 2]"]), "return '[1, 2]'", "return '[1]'"),
        # As verl keeps them: both are JSON, and a result may be wrapped.
        (apps(["1\n2"], ["3"]), ADDS, "return '3'"),
        (apps(["1\n2"], ["[3]"]), ADDS, "return 4"),
        (apps(['"1"'], ['"11"']), "return given[0] * 2", "return 11"),
        # SYNTHETIC-1 and PrimeIntellect.
        (
            [{"fn_name": "f", "type": "function_call", "input": [1, 2], "output": [3]}],
            ADDS,
            "return -3",
        ),
        (
            [{"fn_name": "f", "type": "function_call", "input": [1, 2], "output": "3"}],
            ADDS,
            "return 4",
        ),
        # LiveCodeBench's dialect: a list is a list.
        (called({"input": "1\n2", "output": "3"}), ADDS, "return '3'"),
        (called({"input": "1\n2", "output": "[3]"}), IS_LIST, ADDS),
        (called({"input": '"1"', "output": '"11"'}), "return given[0] * 2", "return 11"),
        (called({"input": "1\n2", "output": "[\n 3,\n 4\n]"}), "return [3, 4]", "return 3"),
        (called({"input": "1\n2", "output": "3"}, metadata='{"func_name": "f"}'), ADDS, "return 4"),
    ],
)
def test_calls(reward: RewardFunction, tests: Any, right: str, wrong: str) -> None:
    answers = [function(right), method(right), function(wrong)]
    assert reward(answers, ground_truth=[tests] * 3) == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "columns",
    [
        {"input_output": json.dumps(apps([[1, 2]], [[3]]))},
        {"tests": [{"input": "1\n2", "output": "3"}], "metadata": {"func_name": "f"}},
        {
            "tests": json.dumps([{"input": "1\n2", "output": "3", "testtype": "functional"}]),
            "metadata": json.dumps({"func_name": "f"}),
        },
        {"test_cases": [{"input": [1, 2], "output": 3}], "fn_name": "f"},
        {"reward_model": {"style": "rule", "ground_truth": json.dumps(apps(["1\n2"], ["3"]))}},
        {
            "reward_spec": {
                "ground_truth": json.dumps(called({"input": "1\n2", "output": "3"})),
            }
        },
        {"verification_info": {"language": "python", "test_cases": apps([[1, 2]], [3])}},
        # Arrow fills in the keys that only other rows have.
        {"test_cases": [{"input": [1, 2], "output": [3], "fn_name": "f", "checker": None}]},
    ],
)
def test_columns(reward: RewardFunction, columns: dict[str, Any]) -> None:
    batch = {name: [value] * 2 for name, value in columns.items()}
    assert reward([function(ADDS), function("return 4")], **batch) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        ("0.333333333333333333333", "1 / 3", "1 / 3 + 1e-4"),
        ("0.3333333333", "1 / 3", "0.33333"),
        ("0.3", "0.1 + 0.2", "0.31"),
        ("1e-7 2.5", "'0.0000001 2.50'", "'2.5'"),
        ("1000000008", "10**9 + 8", "10**9 + 7"),
        ("1000000008", "1000000008.0", "1000000007.0"),
        ("1000000000000000003", "10**18 + 3", "1e18"),
        ("YES 1000000", "'YES 1000000'", "'YES 1000001'"),
    ],
)
def test_numbers_that_are_printed(
    reward: RewardFunction, expected: str, right: str, wrong: str
) -> None:
    answers = [f"```python\nprint({value})\n```" for value in (right, wrong)]
    assert reward(answers, test_cases=[[["", expected]]] * 2) == [1.0, 0.0]


UNKNOWN: list[tuple[Any, str]] = [
    ([{"input": "1", "output": "2", "type": "mystery"}], r"\[0\].type"),
    ([{"input": "1", "output": "2", "testtype": 3}], r"\[0\].testtype"),
    ([{"input": "1", "output": "2", "testtype": "functional"}], "func_name"),
    ([{"input": "1", "output": "2", "type": "function_call"}], "fn_name"),
    ([{"input": "1", "output": "2", "type": "stdin_stdout", "fn_name": "f"}], "type"),
    ([{"input": "1", "output": "2", "type": "stdin", "testtype": "functional"}], "type"),
    ([{"input": "1", "output": "2", "fn_name": "Solution().f"}], "fn_name"),
    ([{"input": "1", "output": "2", "checker": "def check(): ..."}], r"\[0\].checker"),
    ([{"input": "1", "output": "2"}, {"stdin": "1", "stdout": "2"}], r"\[1\].stdin"),
    ([{"input": "1"}], r"\[0\].output"),
    ([{"input": "1", "output": None}], "not NoneType"),
    ([{"input": 1, "output": "2"}], "not int"),
    ([{"input": "1", "output": ["2", 3]}], "not list"),
    (["assert f(1) == 2"], r"\[0\]"),
    ([["1", "2", "3"]], r"\[0\]"),
    ({"inputs": ["1"], "outputs": ["1", "2"]}, "one length"),
    ({"inputs": ["1"]}, "outputs"),
    ({"inputs": "1", "outputs": ["2"]}, "inputs"),
    ({"inputs": ["1"], "outputs": ["2"], "assert_case": ["assert f(1) == 2"]}, "assert_case"),
    ({"functional": "def check(candidate): ..."}, "functional"),
    ({"input": ["1"], "output": ["2"]}, "input"),
    ("def test_it(): ...", "not JSON"),
    (3, "not int"),
    ([{"input": "1", "output": ""}, {"input": "2", "output": " \n"}], "no test has an output"),
    (apps([[1]], [None]), "result"),
    (apps([[1], [2]], [[None], None]), "result"),
    (called({"input": "1", "output": "null"}), "result"),
    (apps([3], [3]), "input"),
    (apps(["one"], ["3"]), "input"),
    (apps(["1"], ["True"]), "output"),
    (apps([[{"1": 2}]], [[3]]), "keys"),
    (apps(['{"1": 2}'], ["3"]), "keys"),
    (apps([[1]], [{3}]), "output"),
    ([{"input": "1", "output": "2", "tolerance": "little"}], "tolerance"),
    (
        [{"input": "1", "output": "2", "tolerance": t} for t in (0.1, 0.2)],
        "the same tolerance",
    ),
]


@pytest.mark.parametrize(("tests", "named"), UNKNOWN)
def test_what_is_not_known_is_said(tests: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        task_of({"ground_truth": tests})


def test_what_is_not_known_has_no_reward(reward: RewardFunction) -> None:
    answers = [function("return 1")] * (len(UNKNOWN) + 1)
    tests = [*(tests for tests, _ in UNKNOWN), []]
    assert reward(answers, ground_truth=tests) == [None] * len(answers)
    with pytest.raises(InputError, match="mystery"):
        compute_score("apps", answers[0], UNKNOWN[0][0])


def test_livecodebench_needs_the_name_of_its_function() -> None:
    case = [{"input": "1\n2", "output": "3", "testtype": "functional"}]
    row = {"question_id": "q", "public_test_cases": json.dumps(case)}
    with pytest.raises(InputError, match="func_name"):
        task_of(row)
    assert task_of({**row, "metadata": {"func_name": "f"}}).problem.function == "f"


def test_arrays_as_pandas_has_them() -> None:
    numpy = pytest.importorskip("numpy", reason="no case: numpy is not installed here")
    cases = numpy.array([{"input": numpy.array([1, 2]), "output": numpy.int64(3), "fn_name": "f"}])
    (test,) = read_tests(cases, RowSettings(), "tests").tests
    assert (test.input, test.output) == ("1\n2", "3")
