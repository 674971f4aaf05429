"""The tables of a benchmark file, as they are written.

Fields called expressions are jinja2 expressions over a row's columns; see expressions.py. All
fields are described in docs/reference/benchmark-files.md.
"""

import re
import tomllib
from typing import Any, Literal, get_args

import msgspec

from proctor.errors import InputError
from proctor.evals import extraction
from proctor.evals.bundled import FAMILIES
from proctor.formats.livecodebench import did_you_mean, schema_error
from proctor.problem import Convention, Match

SETTINGS = frozenset({
    "extraction", "language", "max_tokens", "memory", "min_p", "mode", "n", "preload", "prompt",
    "reasoning_effort", "seed", "stop", "temperature", "test_timeout", "top_k", "top_p",
})  # fmt: skip
"""Options that a benchmark file may set: none that could lead a key elsewhere, or run code here."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
Texts = tuple[str, ...]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table, in which fields that are not known are errors."""


class RowsTable(_Table, frozen=True):
    """Places of the rows, and the columns that say what each one is."""

    file: str | Texts = ()
    """Files beside the benchmark file: JSONL, CSV or Parquet."""
    hub: str = ""
    """Data set of the Hugging Face hub, OWNER/NAME."""
    revision: str = "main"
    config: str | None = None
    tables: Texts = ()
    """Files of the data set; empty where it says itself which they are."""
    where: str = ""
    """Expression: rows for which it is false are left out."""
    id: str = "id"
    """Expression: a text or a whole number, unique. So are the following, which are texts."""
    title: str = ""
    statement: str = ""
    platform: str = ""
    difficulty: str = ""
    published: str = ""
    contest: str = ""
    contest_date: str = ""
    starter_code: str = ""


Role = Literal["system", "user", "assistant", "text"]


class MessageTable(_Table, frozen=True):
    """A message of a prompt."""

    role: Role
    content: str
    """Template."""


class PromptTable(_Table, frozen=True):
    """A prompt, as messages or in short; all texts are templates."""

    system: str = ""
    user: str = ""
    text: str = ""
    """Prompt of a base model, which goes on with the text: the completions API."""
    messages: tuple[MessageTable, ...] = ()

    def written(self) -> tuple[MessageTable, ...]:
        """Return all messages, in order."""
        short: list[tuple[Role, str]] = [
            ("system", self.system), ("user", self.user), ("text", self.text),
        ]  # fmt: skip
        named = [MessageTable(role, text) for role, text in short if text]
        return (*named, *self.messages)


class ProgramTable(_Table, frozen=True):
    """The program that a reply is to hold."""

    languages: Texts = ("python",)
    """Languages that --language chooses from; the first is the usual one."""
    function: str = ""
    """Expression: the function or class that is asked for."""
    head: str = ""
    """Expression: source that ends with the beginning of the function."""


class CompareTable(_Table, frozen=True):
    """How outputs are compared; see problem.Comparison."""

    match: Match = Match.TOKENS
    case_sensitive: bool = True
    space_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None


class CheckerTable(_Table, frozen=True):
    """A program that grades the output; see problem.Checker."""

    file: str = ""
    """File beside the benchmark file."""
    source: str = ""
    """Expression: its source, instead of a file."""
    language: str = "cpp"
    convention: Convention = Convention.TESTLIB
    flags: Texts = ()


class _Tests(_Table, frozen=True):
    """Tests, and limits of each."""

    tests: str
    """Expression: a list of tables with `input` and `output`; a table with a list of each; or the
    JSON of these."""
    public_tests: str = ""
    """Expression: the tests that the prompt shows, likewise."""
    cpu: str | float = ""
    """Expression: CPU seconds for a test; or the number."""
    memory: str | int = ""
    """Expression: bytes, or a text such as 256M; or the number of bytes."""


class StdioTable(_Tests, frozen=True, tag_field="kind", tag="stdio"):
    """Programs that read standard input and write standard output."""

    compare: CompareTable | None = None
    checker: CheckerTable | None = None


class CallsTable(_Tests, frozen=True, tag_field="kind", tag="calls"):
    """Calls of a Python function; an input is a list of arguments, or JSON, one a line."""


class UnitTestsTable(_Table, frozen=True, tag_field="kind", tag="unit-tests"):
    """Test code that calls Python functions; see UnitTests. All fields are expressions."""

    code: str
    functions: str = ""
    """Names that the test code may call; empty for that of the program."""
    check: str = ""
    """Name of the function that `check`, of the test code, is called with."""
    solution: str = ""
    reference: str = ""
    """Source of a right function of the same name, which answers `inputs`."""
    inputs: str = ""
    """Lists of lists of arguments, or the JSON of such."""
    tolerance: str = ""
    unfit: str = ""
    """Reason why a row cannot be graded; an empty text if it can."""


class ValueTable(_Table, frozen=True, tag_field="kind", tag="value"):
    """What a call returns, or a call that returns it; see CallTask. All texts are expressions."""

    code: str
    function: str
    call: str
    output: str
    wanted: Literal["output", "input"] = "output"
    lcb_imports: bool = False
    """True if the code runs after lcb_runner's imports."""


class AssertionTable(_Table, frozen=True, tag_field="kind", tag="assertion"):
    """What a call of a function returns whose code is not known. Both are expressions."""

    call: str
    output: str
    """JSON."""


class AnswerTable(_Table, frozen=True, tag_field="kind", tag="answer"):
    """A text that is compared with the right one, or graded by a checker."""

    output: str
    """Expression."""
    compare: CompareTable | None = None
    checker: CheckerTable | None = None


class PackageTable(_Table, frozen=True, tag_field="kind", tag="package"):
    """A contest package: its tests, limits, checker and points."""

    package: str
    """Expression: directory of the package, from the benchmark file's."""


Grading = (
    StdioTable | CallsTable | UnitTestsTable | ValueTable | AssertionTable | AnswerTable
    | PackageTable
)  # fmt: skip
PYTHON_ONLY = (CallsTable, UnitTestsTable)
NO_PROGRAM = (ValueTable, AssertionTable, AnswerTable)
"""Gradings of what is no program."""


class Definition(_Table, frozen=True):
    """A benchmark file."""

    rows: RowsTable
    grading: Grading
    name: str = ""
    summary: str = ""
    let: dict[str, str] = {}
    """Expressions by name; each may use those before it, and all fields may use them."""
    prompt: PromptTable = PromptTable()
    """The prompt `plain`."""
    prompts: dict[str, PromptTable] = {}
    """Others, by name."""
    program: ProgramTable = ProgramTable()
    extraction: dict[str, str] = {}
    """Templates by policy that take the answer from `reply`, asked for with the prompt `prompt`."""
    modes: dict[Literal["official", "standard"], str] = {}
    """Modes of grading, in words; the expressions of `grading` see the name as `mode`."""
    settings: dict[str, Any] = {}
    """Options of `proctor eval` that hold unless others are given."""


_NAMES: dict[str, tuple[str, ...]] = {
    "kind": tuple(str(each.__struct_config__.tag) for each in get_args(Grading)),
    "match": tuple(Match),
    "convention": tuple(Convention),
    "role": get_args(Role),
    "wanted": ("output", "input"),
}
"""What a field may be, by its name."""
_TABLES = (
    Definition, RowsTable, PromptTable, MessageTable, ProgramTable, CheckerTable, CompareTable,
    *get_args(Grading),
)  # fmt: skip
_FIELDS = {name for table in _TABLES for name in table.__struct_fields__}
_UNKNOWN = re.compile("unknown field `(.*)`")


def parsed(text: str, file: str, name: str) -> Definition:
    """Parse a benchmark file; `name` is its name if it says none. Raises InputError."""
    try:
        found = msgspec.convert(tomllib.loads(text), Definition)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is no TOML: {error}", file=file) from error
    except msgspec.ValidationError as error:
        wrong = schema_error(error)
        message = wrong.message + _hint(wrong)
        raise InputError(message, file=file, field=wrong.field) from error
    found = msgspec.structs.replace(found, name=found.name or name)
    for field, message in _mistakes(found):
        raise InputError(message, file=file, field=field)
    return found


def _hint(wrong: InputError) -> str:
    """Return what could have been meant, to be put behind a message of msgspec's."""
    name = (wrong.field or "").rpartition(".")[2]
    if name in _NAMES and wrong.message.startswith("invalid"):
        return f"; it is one of {', '.join(_NAMES[name])}"
    if (unknown := _UNKNOWN.search(wrong.message)) is not None:
        return did_you_mean(unknown[1], _FIELDS)
    return ""


def _mistakes(found: Definition) -> list[tuple[str, str]]:
    """Return field and message of what fits the schema but cannot be meant."""
    grading, mistakes = found.grading, list[tuple[str, str]]()
    if not _NAME.fullmatch(found.name.replace("/", "-")):
        mistakes.append(("name", f"{found.name!r} is no name: use letters, digits, - and _"))
    if not found.rows.file and not found.rows.hub:
        mistakes.append(("rows", "needs `file`, or `hub` for a data set of the hub"))
    for field, prompt in _prompts(found):
        chat = prompt.user or prompt.system
        given = sum(map(bool, (chat, prompt.text, prompt.messages)))
        if given != 1 or (chat and not prompt.user):
            what = "`user`, perhaps with `system`; or `text` for a base model; or `messages`"
            mistakes.append((field, f"needs one of these: {what}"))
    if "plain" in found.prompts:
        mistakes.append(("prompts.plain", "is the table `prompt`"))
    for policy in found.extraction.keys() - set(extraction.policies()):
        known = ", ".join(extraction.policies())
        mistakes.append((f"extraction.{policy}", f"is none of {known}"))
    for name in found.settings.keys() - SETTINGS:
        known = ", ".join(sorted(SETTINGS))
        mistakes.append((f"settings.{name}", f"is for the command line; here can be {known}"))
    languages = found.program.languages
    if not languages:
        mistakes.append(("program.languages", "names none"))
    if isinstance(grading, PYTHON_ONLY) and languages != ("python",):
        mistakes.append(("program.languages", "must be python for this kind of grading"))
    if isinstance(grading, CallsTable | UnitTestsTable) and not found.program.function:
        functions = isinstance(grading, UnitTestsTable) and grading.functions
        if not functions:
            mistakes.append(("program.function", "is missing"))
    return mistakes + _mistakes_of_modes(found) + _mistakes_of_checkers(grading)


def _prompts(found: Definition) -> list[tuple[str, PromptTable]]:
    return [("prompt", found.prompt), *((f"prompts.{n}", p) for n, p in found.prompts.items())]


def _mistakes_of_modes(found: Definition) -> list[tuple[str, str]]:
    plain = not isinstance(found.grading, AnswerTable | PackageTable) and not (
        isinstance(found.grading, StdioTable)
        and (found.grading.compare or found.grading.checker
             or found.program.languages != ("python",))
    )  # fmt: skip
    if "official" in found.modes and not plain:
        return [("modes.official", "lcb_runner's rules are for Python and plain tests only")]
    return []


def _mistakes_of_checkers(grading: Grading) -> list[tuple[str, str]]:
    if not isinstance(grading, StdioTable | AnswerTable) or grading.checker is None:
        return []
    if grading.compare is not None:
        return [("grading.checker", "stands beside `compare`; give only one of them")]
    if bool(grading.checker.file) == bool(grading.checker.source):
        return [("grading.checker", "needs `file` or `source`")]
    return []


def is_bundled_name(name: str) -> bool:
    """Return True for a name that a benchmark of proctor has."""
    return name.partition("/")[0] in FAMILIES
