"""Rows of the open-r1/ioi data set, and of its test cases, as contest problems.

One row per subtask; the tests are rows of a second data set. What the fields mean follows the
compile and run scripts of the published pipeline (package cms_ioi of its Piston):

- `grader_files`: pairs of name and content. `graders/grader.cpp`, or else `graders/stub.cpp`, is
  compiled with the submission, which is named after the first header in graders/ and sees -DEVAL;
  `graders/manager.cpp` and the flat keys of `graders/grader_config.json` make a Communication
  task; `checker/checker.cpp` is called with input, answer and output and prints the score.
- without checker and manager, outputs are compared line by line but for blank space (`diff -b`).
- `time_limit` in seconds, `memory_limit` in bytes; the stack may take all of the memory.
"""

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean, schema_error
from proctor.formats.tables import Row, read_table
from proctor.grading import Checker, Comparison, Convention, Grading, Match
from proctor.limits import Limits
from proctor.problem import (
    MOST_DECIMALS,
    MOST_PROCESSES,
    Batch,
    Communication,
    Content,
    OutputOnly,
    Problem,
    Running,
    Stub,
    Subtask,
    Test,
)
from proctor.program import Program

_T = TypeVar("_T")
TaskKey = tuple[int, str]
"""Year and problem id."""
TEST_COLUMNS = ("year", "problem_id", "test_name", "test_input", "test_output")
_HEADERS = (".h", ".hpp")
_SPOOLED = 64 * 1024
"""Bytes from which a test's text goes to a file: a year's tests take up to 1.8 GB."""


class _SubtaskRow(msgspec.Struct):
    year: int
    id: str
    subtask: str
    score: float
    time_limit: float
    memory_limit: int
    test_names: list[str]
    grader_files: list[tuple[str, str | None]]
    score_precision: int = 2
    task_type: str | None = None
    name: str | None = None
    day: str | None = None
    statement: str | None = None
    test_cases: list[list[str | None]] | None = None


class _TestRow(msgspec.Struct):
    year: int
    problem_id: str
    test_name: str
    test_input: str | None = None
    test_output: str | None = None


class _Config(msgspec.Struct):
    """`graders/grader_config.json`; its other keys repeat the row."""

    task_type: str | None = None
    processes: int = msgspec.field(
        name="task_type_parameters_Communication_num_processes", default=1
    )
    user_io: str = msgspec.field(
        name="task_type_parameters_Communication_user_io", default="std_io"
    )
    manager_args: str | list[str] | None = msgspec.field(
        name="task_type_parameters_Communication_manager_args", default=None
    )


@dataclass(frozen=True, slots=True)
class IoiTask:
    """A task, with the rows that it was made of for those who run its tests elsewhere."""

    year: int
    id: str
    day: str
    problem: Problem
    rows: Mapping[str, Mapping[str, Any]]
    """By subtask, in the order of the file."""

    @property
    def key(self) -> TaskKey:
        """Year and problem id."""
        return self.year, self.id

    @property
    def points(self) -> float:
        """Points of a perfect submission."""
        return self.problem.points

    @property
    def precision(self) -> int:
        """Decimals that points are rounded to."""
        return self.problem.precision


@dataclass(frozen=True, slots=True)
class _Located:
    row: Row
    values: _SubtaskRow


def load_tasks(
    subtask_files: Iterable[Path],
    test_files: Iterable[Path],
    *,
    only: Collection[TaskKey] | None = None,
    spool: Path | None = None,
) -> dict[TaskKey, IoiTask]:
    """Tasks by year and id, those of `only` if given.

    Tests of 64 KiB and more are written to files below `spool`, if given, and read when needed.
    Raises InputError naming file, line and field for a row that cannot be used, for a test that
    is nowhere, and for a task of `only` that is not there.
    """
    subtask_files = list(subtask_files)
    grouped = _group_subtasks(subtask_files, only)
    tests = load_tests(test_files, grouped, spool) if grouped else {}
    for key in only or ():
        if key not in grouped:
            known = {problem for _, problem in task_keys(subtask_files)}
            raise InputError(
                f"there is no task {key[1]!r} of {key[0]}{did_you_mean(key[1], known)}",
                field="problem_id",
            )
    return {key: make_task(rows, tests.get(key, {})) for key, rows in grouped.items()}


def task_of_rows(rows: Iterable[Mapping[str, Any]], tests: Mapping[str, Test]) -> IoiTask:
    """Task of rows that come from no file. Raises InputError."""
    return make_task(
        [_subtask(Row(Path("rows"), number, row)) for number, row in enumerate(rows, 1)], tests
    )


def task_keys(subtask_files: Iterable[Path]) -> set[TaskKey]:
    """Year and id of every task, without reading what they hold. Raises InputError."""
    keys = set()
    for file in subtask_files:
        for row in read_table(file, ("year", "id")):
            try:
                keys.add((int(row.content["year"]), str(row.content["id"])))
            except (KeyError, TypeError, ValueError):
                raise row.error("year and id must name the task", "id") from None
    return keys


def make_test(name: str, given: str, answer: str | None, spool: Path | None = None) -> Test:
    """Make a test from the texts of its input and answer."""
    answered = None if answer is None else _content(answer, spool)
    return Test(_content(given, spool), answered, name=name)


def _group_subtasks(
    files: Iterable[Path], only: Collection[TaskKey] | None
) -> dict[TaskKey, list[_Located]]:
    grouped: dict[TaskKey, list[_Located]] = {}
    for file in files:
        for row in read_table(file):
            entry = _subtask(row)
            key = (entry.values.year, entry.values.id)
            if only is None or key in only:
                grouped.setdefault(key, []).append(entry)
    return grouped


def _subtask(row: Row) -> _Located:
    return _Located(row, converted(row, _SubtaskRow))


def converted(row: Row, kind: type[_T]) -> _T:
    """The row as a value of this kind. Raises InputError with file, line and field."""
    try:
        return msgspec.convert(row.content, kind, strict=False)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        found = schema_error(error)
        raise row.error(found.message, found.field) from error


def load_tests(
    files: Iterable[Path], only: Container[TaskKey], spool: Path | None = None
) -> dict[TaskKey, dict[str, Test]]:
    """Tests of the tasks of `only`, by name. Raises InputError for a row that cannot be used."""
    tests: dict[TaskKey, dict[str, Test]] = {}
    for file in files:
        for row in read_table(file, TEST_COLUMNS):
            values = converted(row, _TestRow)
            key = (values.year, values.problem_id)
            if key not in only:
                continue
            known = tests.setdefault(key, {})
            if values.test_name in known:
                raise row.error(f"test {values.test_name!r} is there twice", "test_name")
            given = values.test_input or ""
            known[values.test_name] = make_test(values.test_name, given, values.test_output, spool)
    return tests


def _content(text: str, spool: Path | None) -> Content:
    data = text.encode("utf-8", "surrogatepass")
    if spool is None or len(data) < _SPOOLED:
        return data
    path = spool / sha256(data).hexdigest()
    if not path.exists():
        path.write_bytes(data)
    return path


def make_task(rows: list[_Located], tests: Mapping[str, Test]) -> IoiTask:
    """The task of its subtasks' rows. Raises InputError."""
    first = rows[0]
    available = {**tests, **_inline_tests(rows)}
    for entry in rows:
        _check_same(first, entry)
        for name in entry.values.test_names:
            if name not in available:
                hint = did_you_mean(name, available) or "; add its row to the test cases"
                raise entry.row.error(f"there is no test {name!r}{hint}", "test_names")
        if not entry.values.test_names:
            raise entry.row.error("a subtask needs at least one test", "test_names")
    named = {name: None for entry in rows for name in entry.values.test_names}
    try:
        problem = _problem(first, rows, {name: available[name] for name in named})
    except InputError as error:
        if error.file is not None:
            raise
        raise first.row.error(error.message, error.field) from error
    values = first.values
    raw = {entry.values.subtask: entry.row.content for entry in rows}
    return IoiTask(values.year, values.id, values.day or "", problem, raw)


def _inline_tests(rows: list[_Located]) -> dict[str, Test]:
    """Tests that rows carry themselves, as those of the reward data set do."""
    found = {}
    for entry in rows:
        cases = entry.values.test_cases
        if cases is None:
            continue
        if len(cases) != len(entry.values.test_names):
            raise entry.row.error(
                f"has {len(cases)} entries for {len(entry.values.test_names)} names", "test_cases"
            )
        for at, (name, case) in enumerate(zip(entry.values.test_names, cases, strict=True)):
            if not case:
                what = "is empty; a test is its input, and its answer if there is one"
                raise entry.row.error(what, f"test_cases[{at}]")
            found[name] = make_test(name, case[0] or "", case[1] if len(case) > 1 else None)
    return found


def _check_same(first: _Located, other: _Located) -> None:
    for field in ("time_limit", "memory_limit", "score_precision", "task_type", "grader_files"):
        if getattr(first.values, field) != getattr(other.values, field):
            raise other.row.error(
                f"differs from that of subtask {first.values.subtask!r} of the same task", field
            )


def _problem(first: _Located, rows: list[_Located], tests: Mapping[str, Test]) -> Problem:
    values = first.values
    if not 0 <= values.score_precision <= MOST_DECIMALS:
        what = f"must be from 0 to {MOST_DECIMALS}, not {values.score_precision}"
        raise first.row.error(what, "score_precision")
    files = {name: content for name, content in values.grader_files if content}
    config = _config(first, files)
    return Problem(
        id=values.id,
        tests=tuple(tests.values()),
        subtasks=tuple(
            Subtask(entry.values.subtask, entry.values.score, tuple(entry.values.test_names))
            for entry in rows
        ),
        limits=Limits(cpu=values.time_limit, memory=values.memory_limit, stack=values.memory_limit),
        grading=_grading(files),
        running=_running(first, config, files),
        stubs={"cpp": _stub(values.id, files)},
        title=values.name or "",
        statement=values.statement or "",
        precision=values.score_precision,
    )


def _config(entry: _Located, files: Mapping[str, str]) -> _Config:
    text = files.get("graders/grader_config.json")
    if text is None:
        return _Config()
    try:
        return msgspec.json.decode(text, type=_Config, strict=False)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise entry.row.error(f"graders/grader_config.json: {error}", "grader_files") from error


def _running(entry: _Located, config: _Config, files: Mapping[str, str]) -> Running:
    kind = entry.values.task_type or config.task_type or "Batch"
    if kind == "Batch":
        return Batch()
    if kind == "OutputOnly":
        return OutputOnly()
    if kind != "Communication":
        raise entry.row.error(
            f"{kind!r} tasks cannot be judged; Batch, Communication and OutputOnly can", "task_type"
        )
    source = files.get("graders/manager.cpp")
    if source is None:
        raise entry.row.error("graders/manager.cpp is missing", "grader_files")
    if config.user_io not in {"std_io", "fifo_io"}:
        raise entry.row.error(
            f"user_io is {config.user_io!r}; std_io or fifo_io is known", "grader_files"
        )
    if not 1 <= config.processes <= MOST_PROCESSES:
        what = f"num_processes must be from 1 to {MOST_PROCESSES}, not {config.processes}"
        raise entry.row.error(what, "grader_files")
    args = config.manager_args or ()
    headers = {name: text.encode() for name, text in _beside("graders", files, _HEADERS).items()}
    return Communication(
        manager=Program(source, "cpp", "manager.cpp", headers),
        processes=config.processes,
        fifo_io=config.user_io == "fifo_io",
        manager_args=tuple(args.split() if isinstance(args, str) else args),
    )


def _grading(files: Mapping[str, str]) -> Grading:
    source = files.get("checker/checker.cpp")
    if source is None:
        return Comparison(Match.LINES)
    beside = {name: text.encode() for name, text in _beside("checker", files, _HEADERS).items()}
    return Checker(Program(source, "cpp", "checker.cpp", beside), Convention.SCORE)


def _stub(problem_id: str, files: Mapping[str, str]) -> Stub:
    headers = _beside("graders", files, _HEADERS)
    parts = {name: text.encode() for name, text in headers.items()}
    for name in ("grader.cpp", "stub.cpp"):
        if f"graders/{name}" in files:
            parts[name] = files[f"graders/{name}"].encode()
            break
    own = sorted(name for name in headers if name != "testlib.h")
    stem = own[0].rpartition(".")[0] if own else problem_id.lower()
    return Stub(parts, f"{stem}.cpp", ("-DEVAL",))


def _beside(directory: str, files: Mapping[str, str], suffix: tuple[str, ...]) -> dict[str, str]:
    start = f"{directory}/"
    return {
        name.removeprefix(start): text
        for name, text in files.items()
        if name.startswith(start) and name.endswith(suffix) and "/" not in name[len(start) :]
    }
