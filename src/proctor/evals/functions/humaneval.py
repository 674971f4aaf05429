"""HumanEval, and HumanEval+ where its inputs are there.

A row of OpenAI's file has task_id, prompt, entry_point, canonical_solution and test; EvalPlus's
adds base_input, plus_input (lists of argument lists) and atol.
"""

import json
from typing import Any

import msgspec

from proctor.evals.benchmark import Benchmark
from proctor.evals.functions.benchmark import FunctionBenchmark, FunctionTask, before
from proctor.evals.tables import Places, converted
from proctor.formats.tables import Row
from proctor.judging.unit_tests.judge import Reference, UnitTests

_ORACLES = {
    "find_zero": """

def oracle(arguments, result):
    (coefficients,) = arguments
    value = sum(c * result ** power for power, c in enumerate(coefficients))
    return abs(value) <= {tolerance!r}
"""
}
"""Code that accepts any right result: EvalPlus puts a zero into the polynomial."""


class _HumanEvalRow(msgspec.Struct):
    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    test: str
    base_input: str | list[list[Any]] | None = None
    """Argument lists; as JSON where the file went through Parquet."""
    plus_input: str | list[list[Any]] | None = None
    atol: float | str = 0.0


def task(row: Row) -> FunctionTask:
    """Make the task of a row. Raises InputError."""
    found = converted(row, _HumanEvalRow)
    function = found.entry_point
    # Tests use what the prompt defines beside the function.
    code = before(found.prompt, function) + found.test
    solution = found.prompt + found.canonical_solution
    official = UnitTests((function,), code, check=function, solution=solution)
    try:
        reference = _reference(found, solution)
    except ValueError as error:
        raise row.error("must be a number", "atol") from error
    return FunctionTask(
        id=found.task_id,
        statement=found.prompt,
        function=function,
        head=found.prompt,
        official=official,
        standard=msgspec.structs.replace(official, reference=reference),
    )


def _reference(row: _HumanEvalRow, solution: str) -> Reference | None:
    if row.plus_input is None:
        return None
    tolerance = float(row.atol)
    code = solution + _ORACLES.get(row.entry_point, "").format(tolerance=tolerance)
    inputs = tuple(
        each if isinstance(each, str) else json.dumps(each)
        for each in (row.base_input or [], row.plus_input)
    )
    return Reference(code, row.entry_point, inputs, tolerance)


def _ask(task: FunctionTask) -> str:
    return f"Complete this function.\n\n```python\n{task.head.rstrip()}\n```"


BENCHMARK: Benchmark[FunctionTask] = FunctionBenchmark(
    name="humaneval",
    modes={
        "official": "HumanEval's own tests",
        "standard": "those, and HumanEval+'s inputs where the source has them",
    },
    places=Places("openai/openai_humaneval", fixture="humaneval.jsonl"),
    task=task,
    ask=_ask,
)
