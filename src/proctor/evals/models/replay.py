"""Recorded generations as a model: `replay:FILE`."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, ModelAbsent
from proctor.evals.models.model import ModelReply, ModelRequest
from proctor.formats.livecodebench import parse_json, read_lines, schema_error
from proctor.formats.tables import Row, read_table

PREFIX = "replay:"
_SYNONYMS = {"question_id": ("task_id", "id"), "code": ("solution", "completion")}


class _Recording(msgspec.Struct):
    question_id: str
    code: str | None = None
    code_list: list[str] | None = None
    generation: str | None = None
    output_list: list[str] | None = None


class ReplayModel:
    """Replies of a file: a JSON object a line, or a JSON array of them.

    Each has `question_id` (or `task_id`, or `id`) and one of: `code` or `code_list`, programs that
    are judged as they are (so are HumanEval's `completion` and EvalPlus's `solution`); `generation`
    or `output_list`, replies that a program is taken from. An object that has both a
    reply and a program, as lcb_runner's `_eval_all.json`, gives its program. The samples of a
    problem are numbered in the order of the file. Raises InputError for what cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, list[ModelReply]] = defaultdict(list)
        for row in _rows(path):
            question_id, replies = _replies(row)
            self._replies[question_id] += replies
        if not self._replies:
            raise InputError("holds no recorded generation", file=str(path))

    @property
    def name(self) -> str:
        """The file, so that a record says where the replies came from."""
        return f"{PREFIX}{self._path}"

    async def probe(self) -> str | None:
        return None

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Return what was recorded. Raises ModelAbsent if nothing was."""
        replies = self._replies.get(request.problem_id, [])
        if request.sample >= len(replies):
            raise ModelAbsent(
                f"{self._path} has {len(replies)} generations for {request.problem_id!r}, "
                f"none with number {request.sample}"
            )
        return replies[request.sample]

    def recorded(self, problem_id: str) -> int | None:
        return len(self._replies.get(problem_id, ()))

    async def close(self) -> None:
        return None


def _rows(path: Path) -> list[Row]:
    first = next((line for _, line in read_lines(path) if not line.isspace()), b"")
    if not first.lstrip().startswith(b"["):
        return list(read_table(path))
    items = parse_json(b"".join(line for _, line in read_lines(path)))
    if not all(isinstance(item, dict) for item in items):
        raise InputError("is an array of something other than objects", file=str(path))
    return [Row(path, number, item) for number, item in enumerate(items, 1)]


def _replies(row: Row) -> tuple[str, list[ModelReply]]:
    try:
        values = msgspec.convert(_with_usual_names(row.content), _Recording)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        found = schema_error(error)
        raise row.error(found.message, found.field) from error
    programs = values.code_list if values.code_list is not None else _one(values.code)
    texts = values.output_list if values.output_list is not None else _one(values.generation)
    if programs is None:
        if texts is None:
            raise row.error("is missing; give `code`, `code_list` or `generation`", "code")
        return values.question_id, [ModelReply(text) for text in texts]
    if texts is None or len(texts) != len(programs):
        return values.question_id, [ModelReply("", code=program) for program in programs]
    both = zip(texts, programs, strict=True)
    return values.question_id, [ModelReply(text, code=program) for text, program in both]


def _with_usual_names(content: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(content)
    for name, others in _SYNONYMS.items():
        for other in others:
            if other in found:
                found.setdefault(name, found[other])
    if isinstance(found.get("question_id"), int):
        found["question_id"] = str(found["question_id"])
    return found


def _one(value: str | None) -> list[str] | None:
    return None if value is None else [value]
