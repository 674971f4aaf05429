"""LiveCodeBench's code execution: what a call of a solution returns.

Rows of the data set livecodebench/execution-v2: `code`; `input`, the call; `output`, in Python;
`id`; `function_name`; contest and difficulty. Source of the publishers' extraction:
extract_execution_code in lcb_runner/utils/extraction_utils.py.
"""

from typing import cast

import msgspec

from proctor.evals.benchmark import Benchmark
from proctor.evals.livecodebench.upstream import prompts
from proctor.evals.livecodebench.upstream.names import is_upstream, parse
from proctor.evals.livecodebench.upstream.templates import pinned
from proctor.evals.predictions import THINKING, PublishedPrompts, Question, call_prediction
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import Places, converted, day_of
from proctor.formats.tables import Row
from proctor.prediction import CallTask


class _ExecutionRow(msgspec.Struct):
    id: str
    code: str
    input: str
    output: str
    function_name: str = ""
    contest_id: str | int | None = None
    difficulty: str | None = None


def _question(row: Row) -> Question:
    found = converted(row, _ExecutionRow)
    function = found.function_name or found.input.partition("(")[0].strip()
    info = ProblemInfo(
        id=found.id,
        title=function,
        statement=f"{found.code}\nassert {found.input} == ??",
        platform="leetcode",
        difficulty=found.difficulty or "",
        published=day_of(row, "contest_date"),
        contest="" if found.contest_id is None else str(found.contest_id),
        contest_date=str(row.content.get("contest_date") or ""),
    )
    return Question(info, CallTask(found.code, function, found.input, found.output, lcb=True))


def _upstream(reply: str, prompt: str) -> str:
    text = reply
    thinking = parse(prompt).cot if is_upstream(prompt) else prompt == THINKING
    if thinking and "[ANSWER]" in text:
        text = text.split("[ANSWER]")[1].strip()
    if "==" in text:
        text = text.split("==")[1].strip()
    end = "[/ANSWER]" if "[/ANSWER]" in text else "\n"
    return text.split(end)[0].strip()


BENCHMARK: Benchmark[Question] = call_prediction(
    "livecodebench/codeexecution",
    Places("livecodebench/execution-v2", fixture="execution.jsonl"),
    _question,
    _upstream,
    published=PublishedPrompts(
        is_upstream,
        lambda question, settings: prompts.execution(cast("CallTask", question.task), settings),
        lambda settings: pinned(settings, "codeexecution"),
    ),
)
