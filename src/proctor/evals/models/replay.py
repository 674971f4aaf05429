"""Recorded generations as a model: `replay:FILE`."""

import weakref
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import msgspec

from proctor.errors import InputError, ModelAbsent
from proctor.evals.models.model import ModelReply, ModelRequest
from proctor.formats.livecodebench import parse_json, read_lines, schema_error
from proctor.formats.tables import Row, read_table

PREFIX = "replay:"
IN_MEMORY = 16 << 20
"""Bytes of replies that are held in memory; more lie on the disk."""
_DECODER = msgspec.msgpack.Decoder(tuple[bytes, bytes | None])
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
    Of a large file the replies are copied to the directory for temporary files, not to memory.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies = _Shelf()
        for row in _rows(path):
            self._replies.add(*_replies(row))
        if not self._replies.count:
            raise InputError("holds no recorded generation", file=str(path))

    @property
    def name(self) -> str:
        """The file, so that a record says where the replies came from."""
        return f"{PREFIX}{self._path}"

    async def probe(self) -> str | None:
        return None

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Return what was recorded. Raises ModelAbsent if nothing was."""
        recorded = self.recorded(request.problem_id)
        if request.sample >= recorded:
            raise ModelAbsent(
                f"{self._path} has {recorded} generations for {request.problem_id!r}, "
                f"none with number {request.sample}"
            )
        return self._replies.take(request.problem_id, request.sample)

    def recorded(self, problem_id: str) -> int:
        return self._replies.count.get(problem_id, 0)

    async def close(self) -> None:
        return None


class _Shelf:
    """Replies by problem and number; beyond IN_MEMORY bytes, they lie in an unnamed file."""

    def __init__(self) -> None:
        self.count: dict[str, int] = {}
        self._places: dict[str, array[int]] = {}
        self._end = 0
        self._file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - for as long as the shelf is
        weakref.finalize(self, self._file.close)

    def add(self, problem_id: str, replies: Sequence[ModelReply]) -> None:
        """Store a problem's next replies."""
        places = self._places.setdefault(problem_id, array("Q"))
        for each in replies:
            code = None if each.code is None else _bytes(each.code)
            made = msgspec.msgpack.encode((_bytes(each.text), code))
            places.extend((self._end, len(made)))
            self._end += self._file.write(made)
        self.count[problem_id] = len(places) // 2

    def take(self, problem_id: str, number: int) -> ModelReply:
        """Return one of the replies."""
        start, size = self._places[problem_id][2 * number : 2 * number + 2]
        self._file.seek(start)
        text, code = _DECODER.decode(self._file.read(size))
        return ModelReply(_text(text), code=None if code is None else _text(code))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _rows(path: Path) -> Iterable[Row]:
    first = next((line for _, line in read_lines(path) if not line.isspace()), b"")
    if not first.lstrip().startswith(b"["):
        return read_table(path)
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
