"""LiveCodeBench's test output prediction: what a function of a problem must return.

Rows of the data set livecodebench/test_generation: a problem, its starter code, `test_id`, and
`test`, a JSON list whose first entry has the arguments, one value a line, and the output. Source
of the prompt's contract and of the publishers' extraction: prompts/test_output_prediction.py and
utils/extraction_utils.py of lcb_runner.
"""

from typing import Any, cast

import msgspec

from proctor.errors import InputError
from proctor.evals.benchmark import Benchmark
from proctor.evals.livecodebench.rows import public_method
from proctor.evals.livecodebench.upstream import prompts
from proctor.evals.livecodebench.upstream.names import is_upstream
from proctor.evals.livecodebench.upstream.templates import pinned
from proctor.evals.predictions import (
    THINKING,
    PredictionBenchmark,
    PublishedPrompts,
    Question,
)
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import Places, converted, day_of
from proctor.formats.livecodebench import parse_json
from proctor.formats.replies import code_blocks
from proctor.formats.tables import Row
from proctor.formats.thoughts import answer
from proctor.prediction import AssertionTask

_TASK = (
    "Below are a problem, the function that is to solve it, and a test of that function which "
    "lacks its expected result. Work out from the problem what the function has to return, and "
    "complete the assertion with a literal."
)
_FORMS = {
    "plain": "Reply with the complete assertion, on one line, in a fenced python block.",
    THINKING: "First work the result out step by step, aloud. Then end your reply with the "
    "complete assertion, on one line, in a fenced python block.",
}


class _PredictionRow(msgspec.Struct):
    question_id: str
    test: str | list[dict[str, Any]]
    test_id: int | str = 0
    question_title: str | None = None
    question_content: str | None = None
    starter_code: str | None = None
    function_name: str | None = None
    contest_id: str | int | None = None
    difficulty: str | None = None


class _TestCase(msgspec.Struct):
    input: str
    output: str


def _question(row: Row) -> Question:
    found = converted(row, _PredictionRow)
    case = _case(row, found)
    starter = found.starter_code or ""
    function = found.function_name or public_method(starter)
    if not function:
        raise row.error("names no function, nor does starter_code begin one", "function_name")
    arguments = ", ".join(case.input.strip().split("\n"))
    info = ProblemInfo(
        id=f"{found.question_id}:{found.test_id}",
        title=found.question_title or function,
        statement=found.question_content or "",
        platform="leetcode",
        difficulty=found.difficulty or "",
        published=day_of(row, "contest_date"),
        contest="" if found.contest_id is None else str(found.contest_id),
        contest_date=str(row.content.get("contest_date") or ""),
        starter_code=starter,
    )
    return Question(info, AssertionTask(f"{function}({arguments})", case.output))


def _case(row: Row, found: _PredictionRow) -> _TestCase:
    try:
        tests = parse_json(found.test) if isinstance(found.test, str) else found.test
        return msgspec.convert(tests[0], _TestCase)
    except (InputError, msgspec.ValidationError, LookupError, TypeError) as error:
        raise row.error(f"must be a JSON list with an input and an output ({error})",
                        "test") from error  # fmt: skip


def _assertion(text: str, *, first: bool) -> str:
    """The last assertion in the last block that has one (or the first), else in any line."""
    blocks = [code for _, code in code_blocks(text, "python") if code.strip()]
    for block in blocks if first else reversed(blocks):
        lines = block.splitlines()
        at = [number for number, line in enumerate(lines) if line.lstrip().startswith("assert")]
        if at:
            # Of one that goes over several lines, all.
            return "\n".join(lines[at[0 if first else -1] :]).strip()
    lines = [line.strip("` \t") for line in text.splitlines()]
    stated = [line for line in lines if line.startswith("assert")]
    if stated:
        return stated[0 if first else -1]
    return blocks[0 if first else -1].strip() if blocks else ""


def _upstream(reply: str) -> str:
    lines = reply.split("\n")
    if stated := [line for line in lines if line.startswith("assert")]:
        return stated[-1]
    fences = [number for number, line in enumerate(lines) if "```" in line]
    named = [number for number in fences if "```python" in lines[number].replace("P", "p")]
    if named:
        fences = [number for number in fences if number >= named[0]]
    return "\n".join(lines[fences[0] + 1 : fences[1]]) if len(fences) > 1 else ""


def _ask(question: Question, template: str) -> str:
    info = question.info
    return (
        f"{_TASK} {_FORMS[template]}\n\n# {info.title}\n\n{info.statement.strip()}"
        f"\n\n## Function\n\n```python\n{info.starter_code.rstrip()}\n```\n\n## Test\n\n"
        f"```python\nassert {question.task.call} == # TODO\n```"
    )


def _taken(text: str, settings: Settings) -> str:
    if settings.extraction == "upstream":
        return _upstream(text)
    return _assertion(answer(text), first=settings.extraction == "first-block")


BENCHMARK: Benchmark[Question] = PredictionBenchmark(
    "livecodebench/testoutputprediction",
    Places("livecodebench/test_generation", fixture="test_generation.jsonl"),
    _question,
    _ask,
    _taken,
    published=PublishedPrompts(
        is_upstream,
        lambda question, settings: prompts.output_prediction(
            question.info, cast("AssertionTask", question.task), settings
        ),
        lambda settings: pinned(settings, "testoutputprediction"),
    ),
)
