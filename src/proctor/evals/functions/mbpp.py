"""MBPP: short tasks in words, each with three asserts that the prompt shows.

A row has task_id, text (or prompt), code, test_list, test_setup_code (or test_imports) and, in the
full set, challenge_test_list.
"""

import msgspec

from proctor.evals.benchmark import Benchmark
from proctor.evals.functions.benchmark import FunctionBenchmark, FunctionTask, outlined
from proctor.evals.tables import Places, converted
from proctor.formats.tables import Row
from proctor.judging.unit_tests.judge import UnitTests


class _MbppRow(msgspec.Struct):
    task_id: int | str
    code: str
    test_list: list[str]
    text: str = ""
    prompt: str = ""
    """Name of `text` in the sanitized set."""
    test_setup_code: str = ""
    test_imports: list[str] = msgspec.field(default_factory=list)
    challenge_test_list: list[str] = msgspec.field(default_factory=list)


def task(row: Row) -> FunctionTask:
    """Make the task of a row. Raises InputError."""
    found = converted(row, _MbppRow)
    statement = found.text or found.prompt
    if not statement:
        raise row.error("must say what is asked", "text")
    if not found.test_list:
        raise row.error("must hold at least one assert", "test_list")
    # Some tests use what the solution imports.
    known = outlined(found.code)
    before = [*known.imports, *found.test_imports, found.test_setup_code]
    official = "\n".join([*before, *found.test_list])
    standard = "\n".join([official, *found.challenge_test_list])
    used = outlined(standard).names
    called = [each for each in known.definitions if each.name in used]
    names = tuple(each.name for each in called)
    if not names:
        raise row.error("defines nothing that the tests use", "code")
    classes = [each.name for each in called if each.is_class]
    return FunctionTask(
        id=str(found.task_id),
        statement=statement,
        function=names[-1],
        head="",
        official=UnitTests(names, official, solution=found.code),
        standard=UnitTests(names, standard, solution=found.code),
        unfit=f"its tests make objects of a class of the program's, {classes[0]}"
        if classes
        else "",
    )


def _ask(task: FunctionTask) -> str:
    tests = task.official.code.strip()
    return f"{task.statement}\n\nThese tests must pass:\n\n```python\n{tests}\n```"


BENCHMARK: Benchmark[FunctionTask] = FunctionBenchmark(
    name="mbpp",
    modes={
        "official": "the asserts that the prompt shows",
        "standard": "those, and the challenge asserts where there are any",
    },
    places=Places("google-research-datasets/mbpp", config="full", fixture="mbpp.jsonl"),
    task=task,
    ask=_ask,
)
