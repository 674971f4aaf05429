"""CRUXEval: what a short function returns for an input, or an input for which it returns a value.

Rows of the data set cruxeval-org/cruxeval: `code`, which defines f; `input`, arguments as they
stand in a call; `output`, in Python; `id`. Source of the prompts' contract and of the publishers'
extraction: inference/ in github.com/facebookresearch/cruxeval.
"""

import msgspec

from proctor.evals.benchmark import Benchmark
from proctor.evals.predictions import THINKING, Question, Wanted, call_prediction
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import Places, converted
from proctor.formats.tables import Row
from proctor.prediction import CallTask


class _CruxRow(msgspec.Struct):
    id: str
    code: str
    input: str
    output: str


def _question(row: Row, wanted: Wanted) -> Question:
    found = converted(row, _CruxRow)
    task = CallTask(found.code, "f", f"f({found.input})", found.output, wanted)
    gap = f"{task.call} == ??" if wanted == "output" else f"f(??) == {found.output}"
    return Question(ProblemInfo(found.id, statement=f"{found.code}\nassert {gap}"), task)


def _said(reply: str, prompt: str) -> str:
    text = reply.split("[/ANSWER]", maxsplit=1)[0]  # a stop word, upstream
    return text.split("[ANSWER]")[1] if prompt == THINKING and "[ANSWER]" in text else text


def _upstream_output(reply: str, prompt: str) -> str:
    text = _said(reply, prompt)
    return (text.split("==")[1] if "==" in text else text).strip()


def _upstream_input(reply: str, prompt: str) -> str:
    text = _said(reply, prompt).split("==")[0]
    return (text.split("assert")[1] if "assert" in text else text).strip()


_PLACES = Places("cruxeval-org/cruxeval", fixture="cruxeval.jsonl")
OUTPUT: Benchmark[Question] = call_prediction(
    "cruxeval/output", _PLACES, lambda row: _question(row, "output"), _upstream_output
)
INPUT: Benchmark[Question] = call_prediction(
    "cruxeval/input", _PLACES, lambda row: _question(row, "input"), _upstream_input, "input"
)
