"""LiveCodeBench's problem rows: one JSON object a line, in the upstream schema.

A row's tests are a list, a JSON string, or base64(zlib(pickle(JSON string))). The pickle is never
unpickled: its opcodes are walked, and only those of one plain string are admitted.

The helpers for JSON at the edge (`read_lines`, `parse_json`, `schema_error`, `located`) serve the
other formats as well.
"""

import binascii
import gzip
import json
import re
import zlib
from bisect import bisect
from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.bounded_lines import bounded_lines
from proctor.errors import InputError
from proctor.json_values import check_values
from proctor.problem import Problem, Test

MAX_DECOMPRESSED = 1 << 30
"""Bytes that one row's compressed tests may unpack to: no real row needs it, a zip bomb does."""

_IDS_SHOWN, _IDS_COMPARED = 3, 1000
_LONGEST_ID = 100
"""Characters of an id that others are compared with."""
_PROTO, _FRAME, _MEMOIZE, _BINPUT, _LONG_BINPUT = 0x80, 0x95, 0x94, ord("q"), ord("r")
_UNICODE, _PUT, _STOP = ord("V"), ord("p"), ord(".")
# Opcode -> bytes of its little-endian length: SHORT_BINUNICODE, BINUNICODE, BINUNICODE8.
_COUNTED_STRINGS = {0x8C: 1, ord("X"): 4, 0x8D: 8}
# Opcode -> bytes of its argument. These opcodes only number or frame the string: ignored here.
_BOOKKEEPING = {_PROTO: 1, _FRAME: 8, _MEMOIZE: 0, _BINPUT: 1, _LONG_BINPUT: 4}
_WHERE = re.compile(r" - at `\$\.?(?P<path>.*)`$")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")


class _Case(msgspec.Struct):
    input: str
    output: str
    testtype: Any = None
    """Only `func_name` selects between stdio and calls, as upstream; without it "functional" is a
    mistake."""


_Cases = list[_Case]
_T = TypeVar("_T")


class _Id(msgspec.Struct):
    question_id: str


class _LiveCodeBenchRow(msgspec.Struct):
    question_id: str
    question_title: str | None = None
    question_content: str | None = None
    platform: str | None = None
    difficulty: str | None = None
    contest_date: str | None = None
    starter_code: str | None = None
    public_test_cases: str | _Cases | None = None
    private_test_cases: str | _Cases | None = None
    metadata: str | dict[str, Any] | None = None


class _Metadata(msgspec.Struct):
    func_name: str | None = None


# Fields that a Problem holds whole. `contest_date` and `metadata` say more: kept in `extra`.
_CONSUMED = frozenset(_LiveCodeBenchRow.__struct_fields__) - {"contest_date", "metadata"}
_ID_DECODER = msgspec.json.Decoder(_Id)
_CASES_DECODER = msgspec.json.Decoder(_Cases)


def load_problems(path: Path | str, only: Collection[str] | None = None) -> dict[str, Problem]:
    """Problems of the file by id, in file order; those of `only` if given.

    Of rows that are not requested only the id is read: their tests, by far the most of the file,
    are not decoded. Public tests come first, as upstream. A row without tests
    gives a problem without tests, which the judge reports as a TASK_FAULT.

    Raises InputError, with file, line and field, for a row that cannot be used, an id that occurs
    twice, and an id in `only` that the file does not have.
    """
    problems = {problem.id: problem for problem in read_problems(path, only)}
    if only is not None and (absent := sorted(set(only) - problems.keys())):
        hint = did_you_mean(absent[0], problem_ids(path))
        more = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
        raise InputError(f"has no problem {absent[0]!r}{more}{hint}", file=str(path))
    return problems


def read_problems(path: Path | str, only: Collection[str] | None = None) -> Iterator[Problem]:
    """Problems of the file in order, one at a time: only one row's tests need be in memory.

    Raises InputError as `load_problems` does, but not for ids in `only` that the file lacks.
    """
    path = Path(path)
    wanted = None if only is None else frozenset(only)
    for number, line, question_id in _identified_lines(path):
        if wanted is not None and question_id not in wanted:
            continue
        try:
            yield _problem(line)
        except InputError as error:
            raise located(error, path, number) from error


def problem_ids(path: Path | str) -> list[str]:
    """Ids of all problems of the file, in file order, without decoding tests.

    Raises InputError as `load_problems` does for rows without a usable, unique id.
    """
    return [question_id for _, _, question_id in _identified_lines(Path(path))]


def _identified_lines(path: Path) -> Iterator[tuple[int, bytes, str]]:
    first_seen: dict[str, int] = {}
    for number, line in read_lines(path):
        if line.isspace():
            continue
        try:
            question_id = _question_id(line)
        except InputError as error:
            raise located(error, path, number) from error
        if question_id in first_seen:
            raise InputError(
                f"{question_id!r} is already the id of line {first_seen[question_id]}; "
                "ids must be unique, remove one of the two rows",
                file=str(path),
                line=number,
                field="question_id",
            )
        first_seen[question_id] = number
        yield number, line, question_id


def _question_id(line: bytes) -> str:
    try:
        question_id = _ID_DECODER.decode(line).question_id
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise schema_error(error, hint=_hint(error)) from error
    except (ValueError, RecursionError):
        question_id = _convert(parse_json(line), _Id).question_id
    if not question_id:
        raise InputError("is empty; every problem needs an id", field="question_id")
    return question_id


def _problem(line: bytes) -> Problem:
    return problem_of(parse_json(line))


def problem_of(fields: Mapping[str, Any]) -> Problem:
    """The problem that a row holds. Raises InputError, with the field, if it cannot be used."""
    row = _convert(fields, _LiveCodeBenchRow)
    function = _function(row.metadata)
    called = function is not None
    return Problem(
        id=row.question_id,
        tests=(
            *_tests(row.public_test_cases, "public_test_cases", public=True, called=called),
            *_tests(row.private_test_cases, "private_test_cases", public=False, called=called),
        ),
        function=function,
        title=row.question_title or "",
        statement=row.question_content or "",
        platform=row.platform or "",
        difficulty=row.difficulty or "",
        published=_published(row.contest_date),
        starter_code=row.starter_code or "",
        extra={name: value for name, value in fields.items() if name not in _CONSUMED},
    )


def _published(text: str | None) -> date | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).date()
    except ValueError as error:
        raise InputError(
            f"{text[:40]!r} is not a date; write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, "
            "or leave the field out",
            field="contest_date",
        ) from error


def _function(metadata: str | dict[str, Any] | None) -> str | None:
    if not metadata:
        return None
    try:
        content = parse_json(metadata) if isinstance(metadata, str) else metadata
    except InputError as error:
        raise InputError(error.message, field="metadata") from error
    name = _convert(content, _Metadata, field="metadata").func_name
    if name is not None and not name.isidentifier():
        raise InputError(
            f"{name[:40]!r} is not the name of a function; leave it out for a stdio problem",
            field="metadata.func_name",
        )
    return name


def _tests(source: str | _Cases | None, field: str, *, public: bool, called: bool) -> list[Test]:
    if isinstance(source, str):
        try:
            source = _cases(source.strip())
        except InputError as error:
            # The path within the list, if there is one, starts with a bracket.
            raise InputError(error.message, field=field + (error.field or "")) from error
    if not called and any(case.testtype == "functional" for case in source or ()):
        raise InputError("calls a function, and metadata.func_name does not say which", field=field)
    return [Test(case.input, case.output, public) for case in source or ()]


def _cases(text: str) -> _Cases:
    if not text:
        return []
    content: str | memoryview = text
    # Base64 begins with none of these: such text is meant as JSON, and errors should say so.
    if text[0] not in '[{"':
        content = plain_string(_decompressed(text))
    try:
        return _CASES_DECODER.decode(content)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise schema_error(error) from error
    except (ValueError, RecursionError):
        return _convert(parse_json(content if isinstance(content, str) else bytes(content)), _Cases)


def _decompressed(text: str) -> bytes:
    advice = "write the tests as a JSON list, or as base64(zlib(pickle(JSON string)))"
    try:
        # Strict, since the lenient mode skips what it does not know and decodes anything.
        compressed = binascii.a2b_base64("".join(text.split()), strict_mode=True)
    except ValueError as error:  # binascii.Error is one, and so is a non-ASCII string
        raise InputError(f"is neither JSON nor base64 ({error}); {advice}") from error
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(compressed, MAX_DECOMPRESSED)
    except zlib.error as error:
        raise InputError(f"is base64, but not of zlib data ({error}); {advice}") from error
    if stream.unconsumed_tail or (len(content) >= MAX_DECOMPRESSED and not stream.eof):
        raise InputError(
            f"unpacks to more than {MAX_DECOMPRESSED} bytes; no real problem does, "
            "check where the file comes from"
        )
    if not stream.eof:
        raise InputError("the compressed tests end too early; fetch the file again")
    return content


def plain_string(pickled: bytes) -> memoryview:
    """UTF-8 of the one string that `pickled` holds, read without unpickling.

    Walks the opcodes (listed in CPython's Lib/pickletools.py; protocols 0 to 5) and admits only
    the string, its memo number, frames and the end: none of them can import, call or build.

    Raises InputError for anything else.
    """
    view, at, text = memoryview(pickled), 0, None
    while at < len(view):
        opcode, start, at = view[at], at, at + 1
        if opcode == _STOP:
            if text is None or at != len(view):
                raise InputError("the pickle holds something other than one string; not read")
            return text
        if opcode in _BOOKKEEPING:
            at += _BOOKKEEPING[opcode]
        elif opcode == _PUT:
            at = _end_of_line(pickled, at) + 1
        elif text is not None or (opcode != _UNICODE and opcode not in _COUNTED_STRINGS):
            raise InputError(
                f"the pickle holds something other than one string (opcode {opcode:#04x} at byte "
                f"{start}); pickles can run code, so it was not read"
            )
        elif opcode == _UNICODE:
            end = _end_of_line(pickled, at)
            line = str(view[at:end], "raw-unicode-escape")
            text, at = memoryview(line.encode("utf-8", "surrogatepass")), end + 1
        else:
            begin = at + _COUNTED_STRINGS[opcode]
            end = begin + int.from_bytes(view[at:begin], "little")
            text, at = view[begin:end], end
    raise InputError("the pickle ends too early; fetch the file again")


def _end_of_line(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end


def _convert(content: Any, kind: type[_T], field: str = "") -> _T:
    try:
        return msgspec.convert(content, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise schema_error(error, within=field, hint=_hint(error)) from error


def _hint(error: Exception) -> str:
    if str(error).endswith("`$.question_id`"):
        return '; ids are strings, write "1899" rather than 1899'
    return ""


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines of the file with their 1-based numbers, blank ones too, without a byte order mark.

    Raises InputError if the file cannot be read, or for a line of too many values.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in bounded_lines(file, path):
                try:
                    check_values(line)
                except InputError as error:
                    raise located(error, path, number) from error
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {why}", file=str(path)) from error


def parse_json(text: bytes | str) -> Any:
    """Value of a JSON text.

    Raises InputError, whose line is that within the text, if it is not JSON, or too many values.
    """
    check_values(text)
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        # The standard library also reads what Python writes beyond JSON (NaN, lone surrogates), and
        # its messages say where the error is.
        pass
    text = text.rstrip()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc) or error.msg.startswith("Unterminated string"):
            what = "broken JSON: it breaks off; was the file cut short? repair or remove it"
        else:
            what = f"broken JSON: {error.msg} at column {error.colno}; repair or remove it"
        raise InputError(what, line=error.lineno) from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply to be read") from error
    except ValueError as error:
        raise InputError(f"broken JSON: {error}") from error


def schema_error(
    error: msgspec.ValidationError | UnicodeEncodeError, within: str = "", hint: str = ""
) -> InputError:
    """The InputError for a value that does not fit its schema, with the path to it as field.

    msgspec raises UnicodeEncodeError for half a surrogate pair, which JSON can carry.
    """
    text = str(error)
    path = match["path"] if (match := _WHERE.search(text)) else ""
    text = _WHERE.sub("", text)
    if missing := _MISSING.match(text):
        path = f"{path}.{missing['name']}" if path else missing["name"]
        text = "is missing"
    if within and path and not path.startswith("["):
        within += "."
    return InputError(text[:1].lower() + text[1:] + hint, field=within + path or None)


def located(error: InputError, path: Path, line: int | None, within: str = "") -> InputError:
    """The same error with its place; `within` goes before its field."""
    field = error.field or ""
    dot = "." if within and field and not field.startswith("[") else ""
    return InputError(error.message, file=str(path), line=line, field=within + dot + field or None)


def did_you_mean(question_id: str, known: Collection[str]) -> str:
    """`; did you mean 'a' or 'b'?`, or nothing where no id is close.

    Of many ids only the neighbours in the alphabet are looked at, and none that is long: to compare
    two texts takes the product of their lengths.
    """
    if len(question_id) > _LONGEST_ID:
        return ""
    short = sorted(each for each in known if len(each) <= _LONGEST_ID)
    begin = bisect(short, question_id) - _IDS_COMPARED // 2
    begin = max(min(begin, len(short) - _IDS_COMPARED), 0)
    near = short[begin : begin + _IDS_COMPARED]
    close = get_close_matches(question_id, near, n=_IDS_SHOWN)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
