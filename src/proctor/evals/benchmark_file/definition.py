"""The tables of a benchmark file, as they are written.

Fields called expressions are jinja2 expressions over a row's columns; see expressions.py. All
fields are described in docs/reference/benchmark-files.md.
"""

from typing import Any, Literal

import msgspec

from proctor.grading import Convention, Match

Texts = tuple[str, ...]
PLAIN = "plain"
"""Name of the prompt that is asked unless another is chosen."""


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
    """Template for the data set's configuration; it sees only `run`."""
    tables: Texts = ()
    """Files of the data set; empty where it says itself which they are."""
    where: str = ""
    """Expression: rows for which it is false are left out."""
    id: str = "id"
    """Expression: a text or a whole number, unique. The fields below are expressions for texts."""
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
    stop: Texts = ()
    """Texts that end a reply, unless others are given."""
    examples: int = 0
    """How many solved examples it shows, unless --few-shot says otherwise."""

    def written(self) -> tuple[MessageTable, ...]:
        """Return all messages, in order."""
        short: list[tuple[Role, str]] = [
            ("system", self.system), ("user", self.user), ("text", self.text),
        ]  # fmt: skip
        named = [MessageTable(role, text) for role, text in short if text]
        return (*named, *self.messages)


class ExamplesTable(_Table, frozen=True):
    """Rows that a prompt may show solved."""

    file: str | Texts = ()
    """Files of examples, with the columns of the rows; if empty, examples come from the rows."""
    where: str = ""
    """Expression: rows for which it is false are no examples."""


class ProgramTable(_Table, frozen=True):
    """The program that a reply is to hold."""

    languages: Texts | dict[str, str] = ("python",)
    """Languages that --language chooses from; the first is the usual one. Or a table of them with
    the tag of each, by which rows and templates know it."""
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


class _LimitedTable(_Table, frozen=True):
    """Limits of a test."""

    cpu: str | float = ""
    """Expression: CPU seconds for a test; or the number."""
    memory: str | int = ""
    """Expression: bytes, or a text such as 256M; or the number of bytes."""


class _TestsTable(_LimitedTable, frozen=True, kw_only=True):
    """Tests, and limits of each."""

    tests: str
    """Expression: a list of tables with `input` and `output`; a table with a list of each; or the
    JSON of these."""
    public_tests: str = ""
    """Expression: the tests that the prompt shows, likewise."""


class StdioTable(_TestsTable, frozen=True, tag_field="kind", tag="stdio"):
    """Programs that read standard input and write standard output."""

    function: str = ""
    """Expression: the Python function that the row's tests call, as those of a CallsTable do; empty
    for a program."""
    compare: CompareTable | None = None
    checker: CheckerTable | None = None


class CallsTable(_TestsTable, frozen=True, tag_field="kind", tag="calls"):
    """Calls of a Python function; an input is a list of arguments, or JSON, one a line."""


class UnitTestsTable(_Table, frozen=True, tag_field="kind", tag="unit-tests"):
    """Test code that calls Python functions; see UnitTests. All fields are expressions."""

    code: str
    functions: str = ""
    """Names that the test code may call; empty for that of the program."""
    check: str = ""
    """Name of the function that the test code's `check` is called with."""
    solution: str = ""
    reference: str = ""
    """Source of a correct function of the same name, which gives the right results for `inputs`."""
    inputs: str = ""
    """Lists of lists of arguments, or the JSON of such."""
    tolerance: str = ""
    unfit: str = ""
    """Reason why a row cannot be graded; an empty text if it can."""


class SameProcessTable(
    _LimitedTable, frozen=True, kw_only=True, tag_field="kind", tag="same-process"
):
    """Tests in one source with the program, which run in its process.

    A program that sets out to pass such tests can: they are for figures that are to be compared
    with published ones, not for rewards.
    """

    source: str
    """Template: the whole source, made of `program` and of `passed`, a line that it must print last
    when all tests have passed."""
    solution: str = ""
    """Expression: a program known to pass."""
    unfit: str = ""
    """Expression: the reason why a row cannot be graded; an empty text if it can."""


class ValueTable(_Table, frozen=True, tag_field="kind", tag="value"):
    """Predictions of a call's result, or of a call by its result; all texts are expressions."""

    code: str
    function: str
    call: str
    output: str
    wanted: Literal["output", "input"] = "output"
    lcb_imports: bool = False
    """True if the code runs after lcb_runner's imports."""


class AssertionTable(_Table, frozen=True, tag_field="kind", tag="assertion"):
    """Predictions of a call's result without the code; both fields are expressions."""

    call: str
    output: str
    """Right result, as JSON."""


class AnswerTable(_Table, frozen=True, tag_field="kind", tag="answer"):
    """A text that is compared with the right one, or graded by a checker."""

    output: str
    """Expression: the right answer."""
    compare: CompareTable | None = None
    checker: CheckerTable | None = None


class PackageTable(_Table, frozen=True, tag_field="kind", tag="package"):
    """A contest package: its tests, limits, checker and points."""

    package: str
    """Expression: directory of the package, from the benchmark file's."""


Grading = (
    StdioTable | CallsTable | UnitTestsTable | SameProcessTable | ValueTable | AssertionTable
    | AnswerTable | PackageTable
)  # fmt: skip
PYTHON_ONLY = (CallsTable, UnitTestsTable)
NO_PROGRAM = (ValueTable, AssertionTable, AnswerTable)
"""Gradings of answers that are not programs."""


class BenchmarkDefinition(_Table, frozen=True):
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
    """Further prompts, by name."""
    examples: ExamplesTable = ExamplesTable()
    program: ProgramTable = ProgramTable()
    extraction: dict[str, str] = {}
    """Templates by policy that take the answer from `reply`."""
    modes: dict[Literal["official", "standard"], str] = {}
    """Modes of grading, in words; the expressions of `grading` see the name as `run.mode`."""
    settings: dict[str, Any] = {}
    """Options of `proctor eval` that hold unless others are given."""

    @property
    def all_prompts(self) -> dict[str, PromptTable]:
        """Prompts by name, the plain one among them."""
        return {PLAIN: self.prompt, **self.prompts}
