"""The drop-in for lcb_runner: shapes, values, errors, and a script that only changes an import."""

import json
import math
import os
import signal
import sys
from concurrent import futures
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from proctor.errors import InfraFault, InputError, NotAllJudged
from proctor.integrations import lcb_runner
from proctor.integrations.lcb_runner import judgements
from proctor.judgement import Judgement
from proctor.sandbox.pool import open_pool
from proctor.verdict import Verdict

Results = dict[Any, list[list[int]]]


def sample(*tests: tuple[Any, Any], fn_name: str | None = None) -> dict[str, str]:
    inputs, outputs = [test[0] for test in tests], [test[1] for test in tests]
    return {"input_output": json.dumps({"inputs": inputs, "outputs": outputs, "fn_name": fn_name})}


SQUARES = sample(("1\n", "1\n"), ("3\n", "9\n"))
ADD = sample(("1\n2", "3"), ("[1]\n[2]", "[1, 2]"), fn_name="plus")

SQUARE = "n = int(input())\nprint(n * n)"
ECHO = "print(input())"
ADDING = "class Solution:\n    def plus(self, a, b):\n        return a + b"


# What lcb_runner at 28fef95 gives, written down by hand from its rules and from recorded runs.
GOLDEN = [
    pytest.param(SQUARES, SQUARE, [True, True], None, id="stdio-pass"),
    pytest.param(
        SQUARES,
        ECHO,
        [True, -2],
        {
            "output": "3\n",
            "inputs": "3\n",
            "expected": "9\n",
            "error_code": -2,
            "error_message": "Wrong answer at output_line_idx=0: 3 != 9",
        },
        id="stdio-wrong",
    ),
    pytest.param(
        SQUARES,
        "print(1)\nprint(2)",
        [-2],
        {
            "output": "1\n2\n",
            "inputs": "1\n",
            "expected": "1\n",
            "error_code": -2,
            "error_message": "Wrong answer: mismatched output length",
        },
        id="stdio-length",
    ),
    pytest.param(
        SQUARES,
        "print(1 // (3 - int(input())) + 1)",
        [True, -4],
        {
            "error": "ZeroDivisionError('integer division or modulo by zero')",
            "error_code": -4,
            "error_message": "Runtime Error",
            "inputs": "3\n",
            "expected": "9\n",
        },
        id="stdio-raises",
    ),
    pytest.param(
        SQUARES,
        "while True: pass",
        [-3],
        {
            "error": "TimeoutException()",
            "error_code": -3,
            "error_message": "Time Limit Exceeded",
            "inputs": "1\n",
            "expected": "1\n",
        },
        id="stdio-time",
    ),
    pytest.param(
        SQUARES,
        "import os\nos._exit(0)",
        [-2],
        {
            "error": "IndexError('list index out of range')",
            "error_code": -5,
            "error_message": "TestRunnerError",
        },
        id="stdio-dies",
    ),
    pytest.param(ADD, ADDING, [True, True], None, id="call-pass"),
    pytest.param(
        ADD,
        ADDING.replace("a + b", "3"),
        [True, False],
        {
            "output": "3",
            "inputs": "[[1], [2]]",
            "expected": "[1, 2]",
            "error_code": -2,
            "error_message": "Wrong Answer",
        },
        id="call-wrong",
    ),
    pytest.param(
        ADD,
        "def other(a, b): return a + b",
        [-4],
        {
            "error_code": -4,
            "error_message": "Error during testing: cannot unpack non-iterable NoneType object",
        },
        id="call-missing",
    ),
]


@pytest.mark.slow("stdio-time")
@pytest.mark.parametrize(("given", "program", "results", "metadata"), GOLDEN)
def test_check_correctness(
    given: dict[str, str], program: str, results: list[int], metadata: dict[str, Any] | None
) -> None:
    got, about = lcb_runner.check_correctness(given, program, timeout=1, debug=False)
    # As JSON: in Python False is 0 and True is 1.
    assert json.dumps(got) == json.dumps(results)
    if metadata is None:
        assert list(about) == ["execution time"]
        assert about["execution time"] >= 0
    else:
        assert about == metadata


def test_codegen_metrics_shape() -> None:
    generations = [[SQUARE, ECHO], [ADDING, ADDING]]
    metrics, results, metadata = lcb_runner.codegen_metrics([SQUARES, ADD], generations, [1, 2, 5])
    assert metrics == {
        "pass@1": 0.75,
        "pass@2": 1.0,
        "detail": {"pass@1": {0: 0.5, 1: 1.0}, "pass@2": {0: 1.0, 1: 1.0}},
    }
    assert list(metrics)[-1] == "detail"
    assert results == {0: [[True, True], [True, -2]], 1: [[True, True], [True, True]]}
    assert lcb_runner.extract_instance_results(results) == [[True, False], [True, True]]
    assert [[json.loads(text).get("error_code") for text in texts] for texts in metadata] == [
        [None, -2],
        [None, None],
    ]


def test_survives_json() -> None:
    value = lcb_runner.codegen_metrics([SQUARES], [[SQUARE]])
    again = json.loads(json.dumps(value, allow_nan=False))
    assert again[0]["detail"] == {"pass@1": {"0": 1.0}}
    assert again[1] == {"0": [[True, True]]}
    assert lcb_runner.compute_metrics_from_results(again[1])["pass@1"] == 1.0


def test_evaluate_generations_keeps_the_order() -> None:
    programs = [f"print({n})" for n in range(12)]
    given = [sample(("", str(n))) for n in range(12)]
    results, metadata = lcb_runner.evaluate_generations(
        given, [programs] * 12, num_process_evaluate=3
    )
    assert [[row == [True] for row in results[n]].index(True) for n in range(12)] == [*range(12)]
    assert all(metadata[n][n].keys() == {"execution time"} for n in range(12))


def test_problems_may_differ_in_number_of_generations() -> None:
    metrics, results, metadata = lcb_runner.codegen_metrics(
        [SQUARES, ADD], [[SQUARE], [ADDING, "", ADDING]], [1, 2]
    )
    assert metrics["pass@1"] == pytest.approx((1 + 2 / 3) / 2)
    assert "pass@2" not in metrics
    assert [len(results[0]), len(results[1])] == [1, 3]
    assert list(map(len, metadata)) == [1, 3]


def test_lines_of_stdin_as_a_list() -> None:
    program = "print(input() + input())"
    assert lcb_runner.run_test(sample((["a", "b"], "ab")), program)[0] == [True]


def test_the_calling_process_stays_as_it_is() -> None:
    handler, kill = signal.getsignal(signal.SIGALRM), os.kill
    hostile = "import os, sys\nos.kill = None\nsys.modules.clear()\nos.kill(os.getppid(), 9)"
    results, _ = lcb_runner.run_test(SQUARES, hostile, timeout=1)
    assert results in ([-4], [-2])
    assert signal.getsignal(signal.SIGALRM) is handler
    assert os.kill is kill


def test_names_of_the_ports() -> None:
    assert lcb_runner.codegen_check_correctness is lcb_runner.check_correctness
    assert lcb_runner.run_test(ADD, ADDING, False, 2)[0] == [True, True]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (sample(), "no tests"),
        ({"input_output": '{"inputs": ["1"], "outputs": []}'}, "1 inputs but 0 outputs"),
        ({"input_output": "{"}, "broken JSON"),
        ({"input_output": '{"inputs": ["1"]}'}, r"input_output\.outputs`: is missing"),
        ({"input_output": '{"inputs": [1], "outputs": ["1"]}'}, r"inputs\[0\]"),
        (sample(("1", "1"), fn_name=""), "not the name of a function"),
        ({}, "input_output"),
        (None, "input_output"),
    ],
)
def test_sample_that_cannot_be_used(
    given: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(judgements, "start")  # nothing is run before everything was looked at
    with pytest.raises(InputError, match=message):
        lcb_runner.check_correctness(given, SQUARE, 6)
    with pytest.raises(InputError, match=r"samples_list\[1\].*" + message):
        lcb_runner.codegen_metrics([SQUARES, given], [[SQUARE], [SQUARE]])


@pytest.mark.parametrize(
    ("generations", "options", "message"),
    [
        ([], {}, "0 lists for 1 sample"),
        ([[SQUARE], [SQUARE]], {}, "2 lists for 1 sample"),
        ([SQUARE], {}, "a list of programs, not str"),
        ([[]], {}, "is empty"),
        ([[None]], {}, r"\[0\]\[0\]`: a program is a string"),
        ([[SQUARE]], {"timeout": 0}, "at least 1"),
        ([[SQUARE]], {"timeout": 1.5}, "whole number"),
        ([[SQUARE]], {"num_process_evaluate": 0}, "at least 1"),
        ([[SQUARE]], {"k_list": [1, 0]}, "at least 1"),
    ],
)
def test_arguments_that_cannot_be_used(
    generations: Any, options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(judgements, "start")
    with pytest.raises(InputError, match=message):
        lcb_runner.codegen_metrics([SQUARES], generations, **options)


def test_run_test_without_a_program() -> None:
    with pytest.raises(InputError, match="give the program"):
        lcb_runner.run_test(SQUARES)


def test_a_fault_of_ours_is_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> Future[Judgement]:
        future: Future[Judgement] = Future()
        future.set_result(Judgement(Verdict.INFRA_FAULT, 0.0, (), "two cells died"))
        return future

    monkeypatch.setattr(judgements, "start", start)
    with pytest.raises(InfraFault, match=r"sample 0, generation 0 .*two cells died"):
        lcb_runner.codegen_metrics([SQUARES], [[SQUARE]])
    with pytest.raises(InfraFault):
        lcb_runner.check_correctness(SQUARES, SQUARE, 6)


def test_a_fault_of_ours_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirteen programs, one of which cannot be judged: it has no result, the others have."""
    real = judgements.start

    def start(problem: Any, program: str, *rest: Any) -> Future[Judgement]:
        if program != "odd":
            return real(problem, program, *rest)
        future: Future[Judgement] = Future()
        future.set_result(Judgement(Verdict.INFRA_FAULT, 0.0, (), "two cells died"))
        return future

    monkeypatch.setattr(judgements, "start", start)
    programs = [SQUARE] * 13
    programs[5] = "odd"
    with pytest.raises(NotAllJudged, match=r"sample 0, generation 5 .*two cells died$") as raised:
        lcb_runner.codegen_metrics([SQUARES], [programs])
    right: list[Any] = [[True, True]] * 13
    right[5] = None
    assert raised.value.results == {0: right}
    assert [each is None for each in raised.value.metadata[0]] == [each is None for each in right]


@pytest.mark.parametrize(("wanted", "cells", "most"), [(1, 2, 1), (3, 2, 3), (1000, 2, 8)])
def test_bound_on_what_runs_at_once(
    wanted: int, cells: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def wait(running: Any, **options: Any) -> Any:
        seen.append(len(running))
        return futures.wait(running, **options)

    monkeypatch.setattr(judgements, "wait", wait)
    with open_pool(cells=cells) as pool:
        lcb_runner.use_pool(pool)
        try:
            lcb_runner.codegen_metrics([SQUARES], [[SQUARE] * 12], num_process_evaluate=wanted)
        finally:
            lcb_runner.use_pool(None)
    assert max(seen) == most


def test_programs_have_numpy() -> None:
    program = "import numpy\nprint(numpy.arange(4)[int(input())] ** 2)"
    assert lcb_runner.run_test(SQUARES, program)[0] == [True, True]


class TestPassAtK:
    @pytest.mark.parametrize("n", [1, 2, 7, 40])
    @pytest.mark.parametrize("k", [1, 2, 5, 40])
    def test_definition(self, n: int, k: int) -> None:
        estimates = lcb_runner.estimate_pass_at_k(n, range(n + 1), k)
        assert isinstance(estimates, np.ndarray)
        assert estimates.dtype == np.float64
        if k > n:
            assert np.isnan(estimates).all()
        else:
            exact = [1 - math.comb(n - c, k) / math.comb(n, k) for c in range(n + 1)]
            assert estimates.tolist() == pytest.approx(exact, abs=1e-15)

    def test_numbers_of_samples(self) -> None:
        assert lcb_runner.estimate_pass_at_k([4, 2], [1, 1], 1).tolist() == [0.25, 0.5]
        counts = np.array([4, 2]), np.array([1, 1])
        assert lcb_runner.estimate_pass_at_k(*counts, 2).mean() == 0.75
        with pytest.raises(InputError, match=r"num_samples.*1 numbers, num_correct 2"):
            lcb_runner.estimate_pass_at_k([4], [1, 1], 1)

    def test_without_numpy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "numpy", None)
        assert lcb_runner.estimate_pass_at_k(4, [1, 4], 1) == [0.25, 1.0]

    def test_metrics(self) -> None:
        results: Results = {"a": [[True], [True, -2], [-4]], "b": [[True, True], [True], [False]]}
        assert lcb_runner.compute_metrics_from_results(results, [1, 3, 4]) == {
            "pass@1": pytest.approx(0.5),
            "pass@3": 1.0,
            "detail": {
                "pass@1": {"a": pytest.approx(1 / 3), "b": pytest.approx(2 / 3)},
                "pass@3": {"a": 1.0, "b": 1.0},
            },
        }
        assert lcb_runner.compute_metrics_from_results({}) == {"detail": {}}

    def test_no_tests_are_no_pass(self) -> None:
        assert lcb_runner.compute_metrics_from_results({0: [[]]})["pass@1"] == 0.0
        assert lcb_runner.extract_instance_results({0: [[]]}) == [[False]]

    def test_instances_in_order_of_keys(self) -> None:
        results: Results = {10: [[True]], 2: [[False], [True, 1]], 1: [[-1]]}
        assert lcb_runner.extract_instance_results(results) == [[False], [False, True], [True]]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Here:\n```python\nprint(1)\n```\nDone.", "print(1)"),
        ("```\nfirst\n```\nor\n```\nsecond\nline\n```", "second\nline"),
        ("```\na\n```\nb\n```", "b"),  # the last two fences, whatever they are
        ("  ```python\n    x\n  ```", "    x"),
        ("```\n```", ""),
        ("```python\nprint(1)", ""),
        ("print(1)", ""),
        ("", ""),
    ],
)
def test_extract_code_generation(reply: str, code: str) -> None:
    assert lcb_runner.extract_code_generation(reply) == code
    assert lcb_runner.extract_code_generation(reply, model_type="base") == reply.strip()


def test_unknown_type_of_model() -> None:
    with pytest.raises(InputError, match="model_type"):
        lcb_runner.extract_code_generation("", "other")
