"""Every name of upstream's evaluation modules, by what it does; and its own router, with ours."""

import json
import math
import os
import subprocess
import sys
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.errors import InfraFault, InputError, NotAllJudged, UsageError
from proctor.integrations import lcb_runner
from proctor.integrations.lcb_runner import judgements
from proctor.judgement import Judgement
from proctor.verdict import Verdict
from waiting import PATIENCE

ROOT = Path(__file__).parents[2]
SAMPLE = {"input_output": json.dumps({"inputs": ["2", "5"], "outputs": ["4", "10"]})}
CALLED = {"input_output": json.dumps({"inputs": ["1"], "outputs": ["2"], "fn_name": "f"})}
DOUBLE = "print(int(input()) * 2)"
GUARDED = "x = 1\nif __name__ == '__main__':\n    print(x)\n"
SQUARE = {"code": "def f(x):\n    return x * x", "input": "f(3)", "output": "9"}


class Style(Enum):
    """A copy of upstream's enumeration, of which only names count."""

    OpenAIChat = "OpenAIChat"
    GenericBase = "GenericBase"
    CodeLLaMaInstruct = "CodeLLaMaInstruct"


REPLY = "Look:\n```python\nprint(1)\n```"
TWO_BLOCKS = "```python\n[1]\n```\n```\n2\n```"


def wrapped(code: str) -> Any:
    """Return what the function made of a program returns, as upstream calls it."""
    names: dict[str, Any] = {}
    limit = sys.getrecursionlimit()
    try:
        exec(lcb_runner.make_function(code), names)
        return names["wrapped_function"]()
    finally:
        sys.setrecursionlimit(limit)


def captured(*texts: str) -> list[str]:
    with lcb_runner.Capturing() as found:
        for text in texts:
            print(text)
    return found


MODULES: dict[str, dict[str, tuple[Any, Any]]] = {
    "testing_util": {
        "CODE_TYPE": (lambda it: [it.call_based.value, it.standard_input.value], [0, 1]),
        "Capturing": (lambda it: (captured("a", "b"), it), (["a\nb\n"], lcb_runner.Capturing)),
        "MockBuffer": (lambda it: it("a\nb").readline(), b"a\n"),
        "MockStdinWithBuffer": (lambda it: it("a\nb").readlines(), ["a", "b"]),
        "TimeoutException": (lambda it: it.__mro__[1], Exception),
        "clean_if_name": (lambda it: (it(GUARDED), it("x = (")), ("x = 1\nprint(x)", "x = (")),
        "convert_line_to_decimals": (
            lambda it: ([str(n) for n in it("1e3 2")[1]], it("1 a")),
            (["1E+3", "2"], (False, [])),
        ),
        "get_function": (lambda it: (it(json, "loads") is json.loads, it(1, "f")), (True, None)),
        "get_stripped_lines": (lambda it: it(" a \n\nb\n"), ["a", "", "b"]),
        "grade_call_based": (
            lambda it: [
                it("def f(a, b): return a + b", ["1\n2", "3\n4"], ["3", "8"], "f", 2)[0],
                it("def g(): 0", ["1"], ["1"], "f", 2)[0],
            ],
            [[True, False], [-4]],
        ),
        "grade_stdio": (
            lambda it: [it(DOUBLE, ["2"], ["4"], 2)[0], it("print(", ["2"], ["4"], 2)[0]],
            [[True], [-4]],
        ),
        "import_string": (lambda it: it.splitlines()[-1], "sys.setrecursionlimit(50000)"),
        "make_function": (lambda it: (wrapped("import os\nreturn 7"), it("(")), (7, "(")),
        "reliability_guard": (lambda it: (it(), it(1 << 20), callable(os.kill))[2], True),
        "run_test": (lambda it: it(SAMPLE, DOUBLE)[0], [True, True]),
        "truncatefn": (lambda it: [it("x" * 9, 4), it([1])], ["xx...(truncated) ...xx", "[1]"]),
    },
    "pass_k_utils": {
        "compute_metrics_from_results": (lambda it: it({0: [[True], [-2]]})["pass@1"], 0.5),
        "estimate_pass_at_k": (lambda it: list(it(2, [1], 1)), [0.5]),
        "extract_instance_results": (lambda it: it({0: [[True], [-2]]}), [[True, False]]),
    },
    "compute_code_generation_metrics": {
        "check_correctness": (lambda it: it(SAMPLE, "print(4)", 2)[0], [True, -2]),
        "codegen_metrics": (lambda it: it([SAMPLE], [[DOUBLE, ""]])[0]["pass@1"], 0.5),
        "evaluate_generations": (lambda it: it([SAMPLE], [[DOUBLE]])[0], {0: [[True, True]]}),
        "evaluate_generations_by_problem": (
            lambda it: [[DOUBLE, "print(4)"], *it([[DOUBLE, "print(4)"], SAMPLE, True, 2])][1],
            [[True, True], [True, -2]],
        ),
    },
    "compute_code_execution_metrics": {
        "BASE_IMPORTS": (lambda it: "import pandas as pd\n" in it, True),
        "check_correctness": (lambda it: it("assert 1 == 1"), True),
        "code_execution_metrics": (
            # The third repeats the call, and is left out.
            lambda it: it([SQUARE], [["9", "3 * 4", "f(3)", "3 * 3"]]),
            [{"pass@1": pytest.approx(200 / 3)}, {0: [[True], [False], [True]]}],
        ),
        "evaluate_score": (
            lambda it: [
                it((["9", "f(3)"], tuple(SQUARE.values()))),
                it((["f(3)"], tuple(SQUARE.values()))),
            ],
            [[True], [False]],
        ),
        "pass_at_k": (lambda it: [it(4, 1, 2), it(1, 0, 2)], [0.5, 1.0]),
    },
    "compute_test_output_prediction_metrics": {
        "check_testcase_output": (
            lambda it: [
                it("# a note\nassert f(1) == [1, 2]", "[1, 2]"),
                it("(1, 2)", "[1, 2]"),
                it("import os", "[]"),
            ],
            [True, False, False],
        ),
        "parse_assert_statement": (
            lambda it: [it("assert f(1) == 2"), it("x ="), it(""), it("1"), it("assert 1 < 2")],
            [
                "2",
                "Invalid syntax",
                "Empty statement",
                "Not an assert statement",
                "Not an equality assertion",
            ],
        ),
        "test_output_metrics": (
            lambda it: it([{"input": "", "output": "3"}], [["assert f(1) == 3", "4"]], k_list=[1]),
            [{"pass@1": 0.5, "detail": {"pass@1": {0: 0.5}}}, {0: [[True], [False]]}],
        ),
    },
    "utils_execute": {
        "BASE_IMPORTS": (lambda it: it.startswith("from itertools import "), True),
        "TimeoutException": (lambda it: issubclass(it, Exception), True),
        "check_correctness": (
            lambda it: [
                it("assert 1 == 1"),
                it("assert 1 == 2"),
                it("1 / 0"),
                it("exit()"),
                it("import os; os._exit(0)"),
                it("while True: pass", 0.2),
                it(
                    lcb_runner.utils_execute.BASE_IMPORTS
                    + "assert inf > log2(prod([8])) == re_search('3', '3').end() + 2"
                ),
                it("assert inf"),
            ],
            [True, False, False, False, False, False, True, False],
        ),
        "reliability_guard": (lambda it: it(), None),
    },
    "extraction_utils": {
        "extract_code": (
            lambda it: [
                it(REPLY, Style.OpenAIChat),
                it(" x ", Style.GenericBase),
                it("[PYTHON]\nx\n[/PYTHON]", Style.CodeLLaMaInstruct),
                it(REPLY, "CodeLLaMaInstruct"),
                it("no block", Style.OpenAIChat),
            ],
            ["print(1)", "x", "x", "print(1)", ""],
        ),
        "extract_execution_code": (
            lambda it: [
                it("f(1) == 2\nso", Style.OpenAIChat),
                it("a == b [ANSWER]f(1) == 2[/ANSWER]", Style.OpenAIChat, cot=True),
            ],
            ["2", "2"],
        ),
        "extract_test_output_code": (
            lambda it: [it("assert a\nassert b\nx"), it(TWO_BLOCKS, Style.OpenAIChat), it("x")],
            ["assert b", "[1]", ""],
        ),
    },
}


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in MODULES.items() for name in names]
)
def test_does_what_upstream_does(module: str, name: str) -> None:
    act, expected = MODULES[module][name]
    found = act(getattr(import_module(f"proctor.integrations.lcb_runner.{module}"), name))
    assert found == expected
    assert repr(found).count("True") == repr(expected).count("True")  # True is 1, and False 0


@pytest.mark.parametrize(
    ("module", "call", "instead"),
    [
        ("testing_util", lambda it: it.compile_code("print(1)", 1), "grade_stdio"),
        ("testing_util", lambda it: it.call_method(print, "1"), "run_test"),
        ("utils_execute", lambda it: it.unsafe_execute("1", [], 1), "check_correctness"),
    ],
)
def test_nothing_executes_a_program_here(module: str, call: Any, instead: str) -> None:
    with pytest.raises(UsageError, match=instead):
        call(import_module(f"proctor.integrations.lcb_runner.{module}"))


def test_a_handler_that_raises() -> None:
    testing_util = import_module("proctor.integrations.lcb_runner.testing_util")
    with pytest.raises(testing_util.TimeoutException):
        testing_util.timeout_handler(14, None)


def test_every_public_name_is_here() -> None:
    for name in MODULES:
        module = import_module(f"proctor.integrations.lcb_runner.{name}")
        assert all(hasattr(module, each) for each in module.__all__)
    assert all(hasattr(lcb_runner, name) for name in lcb_runner.__all__)


def test_text_that_takes_a_parser_down() -> None:
    """Taken apart in a cell: this process goes on, and the text stays as it is."""
    nested = "(" * 100_000
    assert lcb_runner.clean_if_name(nested) == nested
    assert lcb_runner.make_function(nested) == nested


CODES = [
    # program, results upstream, results of the ports
    ("print(", [-4], [-2]),
    ("print(4)", [True, -2], [True, False]),
    ("1 / 0", [-4], [-4]),
]


@pytest.mark.parametrize(("program", "upstream", "ports"), CODES)
def test_codes_of_the_ports(program: str, upstream: list[int], ports: list[int]) -> None:
    for codes, wanted in (("upstream", upstream), ("ports", ports)):
        options: dict[str, Any] = {"codes": codes}
        tests = ["2", "5"], ["4", "10"]
        found = [
            lcb_runner.run_test(SAMPLE, program, **options)[0],
            lcb_runner.check_correctness(SAMPLE, program, 6, **options)[0],
            lcb_runner.grade_stdio(program, *tests, 6, **options)[0],
            lcb_runner.codegen_metrics([SAMPLE], [[program]], **options)[1][0][0],
            lcb_runner.evaluate_generations_by_problem([[program], SAMPLE, 0, 6], **options)[0][0],
        ]
        assert {json.dumps(each) for each in found} == {json.dumps(wanted)}


def test_metrics_of_copies() -> None:
    results = {0: [[True], [-2]], 1: [[True], [True]]}
    found = lcb_runner.compute_metrics_from_results(results, [1], port="evalscope")
    assert found == {"pass@1": 75.0, "detail": {"pass@1": {0: 50.0, 1: 100.0}}}
    found = lcb_runner.compute_metrics_from_results(results, [1], port="nvidia")
    assert (found["pass@1"], found["pass@1_stderr"]) == (0.75, pytest.approx(0.25))
    assert math.isnan(
        lcb_runner.codegen_metrics([SAMPLE], [[DOUBLE]], port="nvidia")[0]["pass@1_stderr"]
    )
    both = [SQUARE, SQUARE], [["9"], ["8"]]
    found = lcb_runner.code_execution_metrics(*both, port="nvidia")[0]
    assert found == {"pass@1": 0.5, "pass@1_stderr": pytest.approx(0.5)}
    with pytest.raises(InputError, match="port"):
        lcb_runner.codegen_metrics([SAMPLE], [[DOUBLE]], port="other")  # type: ignore[arg-type]


@pytest.mark.slow
def test_memory_is_the_callers() -> None:
    program = "x = bytearray(150 << 20)\nprint(int(input()) * 2)"
    assert lcb_runner.run_test(SAMPLE, program)[0] == [True, True]
    for memory in ("100M", 100 << 20):
        metrics, _, metadata = lcb_runner.codegen_metrics([SAMPLE], [[program]], memory=memory)
        assert (metrics["pass@1"], json.loads(metadata[0][0])["error_code"] < -3) == (0.0, True)
    with pytest.raises(InputError, match="memory"):
        lcb_runner.run_test(SAMPLE, program, memory="much")


def test_progress() -> None:
    seen: list[tuple[int, int]] = []

    def note(done: int, number: int) -> None:
        seen.append((done, number))

    lcb_runner.codegen_metrics([SAMPLE, CALLED], [[DOUBLE], [DOUBLE, ""]], progress=note)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    lcb_runner.test_output_metrics([{"output": "3"}], [["3"]], progress=note)
    lcb_runner.code_execution_metrics([SQUARE], [["9", "f(3)"]], progress=note)
    assert seen[3:] == [(1, 1), (1, 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lcb_runner.code_execution_metrics([], []), "no mean"),
        (lambda: lcb_runner.code_execution_metrics([{}], [["1"]]), r"samples\[0\].*code"),
        (lambda: lcb_runner.code_execution_metrics([SQUARE], []), "0 lists for 1"),
        (lambda: lcb_runner.test_output_metrics([{"output": "{"}], [["1"]]), "not JSON"),
        (lambda: lcb_runner.test_output_metrics([{"output": "1"}], [[1]]), "a string"),
        (lambda: lcb_runner.check_testcase_output("1", "nope"), "not JSON"),
        (lambda: lcb_runner.evaluate_generations_by_problem([[DOUBLE], SAMPLE]), "args"),
        (lambda: lcb_runner.grade_stdio(DOUBLE, ["1"], [], 6), "1 inputs but 0 outputs"),
        (lambda: lcb_runner.utils_execute.check_correctness("1", 0), "timeout"),
    ],
)
def test_what_cannot_be_judged_is_an_error(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_a_fault_of_ours_is_no_wrong_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = SimpleNamespace(result=lambda: Judgement(Verdict.INFRA_FAULT, 0.0, (), "gone"))
    monkeypatch.setattr(judgements, "judge_each", lambda *_: [(next(iter(_[0])), fault.result())])
    with pytest.raises(NotAllJudged, match="gone"):
        lcb_runner.test_output_metrics([{"output": "3"}], [["3"]])
    with pytest.raises(NotAllJudged, match="gone"):
        lcb_runner.code_execution_metrics([SQUARE], [["9"]])
    with pytest.raises(InfraFault, match="gone"):
        lcb_runner.check_testcase_output("3", "3")


@pytest.mark.slow
@pytest.mark.outside("LCB_RUNNER")
def test_upstreams_router_with_our_evaluation() -> None:
    checkout = Path(os.environ["PROCTOR_TEST_LCB_RUNNER"])
    if not (checkout / "lcb_runner" / "runner").is_dir():
        pytest.skip("no case: a copy of LiveCodeBench without upstream's router")
    script = ROOT / "tools" / "originals" / "lcb_runner.py"
    done = subprocess.run(
        [sys.executable, script, checkout],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[-1] for line in done.stdout.splitlines()[1:]] == ["yes"] * 4
