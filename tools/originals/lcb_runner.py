"""Tries LiveCodeBench's own scenario_router with its evaluation imports swapped to proctor's.

    python tools/originals/lcb_runner.py CHECKOUT

CHECKOUT is a clone of https://github.com/LiveCodeBench/LiveCodeBench. Its router is loaded twice,
as it is and with two imports changed, and takes the same replies through extraction and evaluation
in all four scenarios. Prints a row for each: pass@1 by both, and whether programs, results and
metadata are equal; exits with 1 if any differs. Upstream's half needs numpy, pandas and tqdm, and
runs the replies below, which are harmless, without a sandbox.
"""

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

SWAPS = {
    "lcb_runner.evaluation": "proctor.integrations.lcb_runner",
    "lcb_runner.utils.extraction_utils": "proctor.integrations.lcb_runner.extraction_utils",
}
UNUSED = {"datasets": ["load_dataset"], "anthropic": ["HUMAN_PROMPT", "AI_PROMPT"]}
"""Modules that upstream imports for other ends, and what it takes from them."""
DOUBLE = "n = int(input())\nprint(n * 2)"
ADD = "class Solution:\n    def plus(self, a: int, b: int) -> int:\n        return a + b"


@dataclass(frozen=True, slots=True)
class Scene:
    """A scenario with its problems and, for each, the replies to take through it."""

    name: str
    problems: list[Any]
    replies: list[list[str]]


def main() -> int:
    """Run every scenario through both routers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_AsItStands)
    parser.add_argument("checkout", type=Path)
    checkout = parser.parse_args().checkout.resolve()
    text = (checkout / "lcb_runner" / "runner" / "scenario_router.py").read_text("utf-8")
    sys.path[0] = str(checkout)  # instead of this folder, where `lcb_runner` would be this file
    os.chdir(checkout)  # its examples are opened by relative paths
    _without_what_is_not_used()
    routers = _router(text, "original"), _router(_swapped(text), "swapped")
    print(f"{'scenario':24}{'upstream':>10}{'proctor':>10}  equal")
    equal = True
    for scene in _scenes():
        theirs, ours = (_graded(router, scene) for router in routers)
        same = json.dumps(_without_times(theirs)) == json.dumps(_without_times(ours))
        equal = equal and same
        values = [f"{each[1][0]['pass@1']:10.4g}" for each in (theirs, ours)]
        print(f"{scene.name:24}{''.join(values)}  {'yes' if same else 'NO'}")
        if not same:
            print(f"  upstream {theirs}\n  proctor  {ours}")
    return 0 if equal else 1


class _AsItStands(argparse.RawDescriptionHelpFormatter):
    """Help with the lines of the docstring."""


def _swapped(text: str) -> str:
    for old, new in SWAPS.items():
        if f"from {old} import" not in text:
            raise SystemExit(f"this checkout's router does not import from {old}")
        text = text.replace(f"from {old} import", f"from {new} import")
    return text


def _router(text: str, name: str) -> ModuleType:
    module = ModuleType(name)
    exec(compile(text, f"{name}.py", "exec"), vars(module))  # the checkout's own module
    return module


def _without_what_is_not_used() -> None:
    """Let modules be imported that load data sets and write prompts: none of it is done here."""
    for name, constants in UNUSED.items():
        absent = ModuleType(name)
        vars(absent).update(dict.fromkeys(constants, ""))
        sys.modules[name] = absent


def _graded(router: ModuleType, scene: Scene) -> tuple[Any, Any]:
    """Return what the router extracts from the replies, and what it says of that."""
    scenario = router.Scenario(scene.name)
    style = sys.modules["lcb_runner.lm_styles"].LMStyle.OpenAIChat
    combined = router.combine_results(scenario, scene.replies, SimpleNamespace(model_style=style))
    options = SimpleNamespace(scenario=scenario, num_process_evaluate=2, timeout=2)
    with (
        Path(os.devnull).open("w") as nowhere,  # upstream asks stderr for its descriptor
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        return combined, router.get_metrics(scenario, options, scene.problems, combined)


def _without_times(graded: tuple[Any, Any]) -> Any:
    """Return metrics as JSON, to 12 digits, without the time that passing programs took."""
    text = json.dumps(graded, default=float)
    combined, found = json.loads(text, parse_float=lambda number: round(float(number), 12))
    texts = found[2] if len(found) > 2 else []
    entries = [[json.loads(text) for text in row] for row in texts]
    for entry in (each for row in entries for each in row):
        entry.pop("execution time", None)
    return combined, found[:2], entries


def _scenes() -> Iterator[Scene]:
    benchmarks = sys.modules["lcb_runner.benchmarks"]
    programs = [
        _program_problem(benchmarks, "1", "", [("2\n", "4\n"), ("5\n", "10\n")]),
        _program_problem(benchmarks, "2", "plus", [("1\n2", "3"), ("0.5\n1", "1.5")]),
    ]
    replies = [
        [_fenced(DOUBLE), _fenced("print(4)"), _fenced("print(int(input()"), "no program"],
        [_fenced(ADD), _fenced("def plus(a, b): return a - b"), _fenced("1 / 0"), ""],
    ]
    yield Scene("codegeneration", programs, replies)
    yield Scene("selfrepair", programs, [[[text] for text in row] for row in replies])
    yield Scene(
        "testoutputprediction",
        [_output_problem(benchmarks, "[0, 1]"), _output_problem(benchmarks, "2.5")],
        [
            ["assert f(2) == [0, 1]", _fenced("assert f(2) == [0, 2]"), "assert f(2) == (0, 1)"],
            ["Think.\nassert f(5) == 5 / 2", _fenced("2.5"), "assert f(5) >= 2.5"],
        ],
    )
    yield Scene(
        "codeexecution",
        [_call_problem(benchmarks, "f(x = 2)", "4"), _call_problem(benchmarks, "f(x = 3)", "9")],
        [
            ["[ANSWER]f(x = 2) == 4[/ANSWER]", "== 5", "assert"],
            ["[ANSWER]f(x = 3) == 3 * 3[/ANSWER]", "9 + ", "f(x = 3) is f(x = 3)"],
        ],
    )


def _fenced(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\nDone."


def _program_problem(
    benchmarks: ModuleType, name: str, function: str, tests: list[tuple[str, str]]
) -> Any:
    kind = "functional" if function else "stdin"
    cases = [{"input": given, "output": wanted, "testtype": kind} for given, wanted in tests]
    return benchmarks.CodeGenerationProblem(
        question_title=name,
        question_content=name,
        platform="leetcode" if function else "atcoder",
        question_id=name,
        contest_id=name,
        contest_date="2024-01-01T00:00:00",
        starter_code="",
        difficulty="easy",
        public_test_cases=json.dumps(cases[:1]),
        private_test_cases=json.dumps(cases[1:]),
        metadata=json.dumps({"func_name": function} if function else {}),
    )


def _output_problem(benchmarks: ModuleType, output: str) -> Any:
    return benchmarks.TestOutputPredictionProblem(
        question_title="f",
        question_content="f",
        question_id="1",
        contest_id="1",
        contest_date="2024-01-01",
        difficulty="easy",
        test=json.dumps([{"input": "2", "output": output, "testtype": "functional"}]),
        starter_code="",
        function_name="f",
        test_id=0,
    )


def _call_problem(benchmarks: ModuleType, call: str, output: str) -> Any:
    return benchmarks.CodeExecutionProblem(
        question_id="1",
        contest_id="1",
        contest_date="2024-01-01",
        difficulty="easy",
        function_name="f",
        code="def f(x):\n    return x * x",
        input=call,
        output=output,
        id="sample_1",
        problem_id="1",
        numsteps=1,
    )


if __name__ == "__main__":
    sys.exit(main())
