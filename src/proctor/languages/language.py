"""Definitions of languages: one small file each, in definitions/ or the user's directory.

The fields are explained in docs/reference/languages.md.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proctor.errors import InputError
from proctor.limits import GIB, MIB

_ID = re.compile(r"[a-z0-9][a-z0-9+#._-]{0,31}")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
LISTS = frozenset({"assertions", "flags", "sources"})
"""Placeholders that must be whole words, and become any number of words."""
_COMPILE_VALUES = frozenset({"flags", "sources", "source", "stem"})
_RUN_VALUES = frozenset({"source", "stem", "class", "memory_mb", "assertions"})


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program of the machine's that the language needs."""

    names: tuple[str, ...]
    """The first that is found is used. Absolute paths are allowed."""
    version: tuple[str, ...] = ("--version",)
    """Arguments that make it print its version."""


class Compile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How sources become a program, in a directory that holds them and nothing else."""

    command: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    """Globs of files that make up the program; none: compiling only checks, and the sources are
    run, so that whatever else it left is gone."""
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    cpu: float = 30.0
    """CPU seconds."""
    memory: int = 2 * GIB
    """Bytes."""
    processes: int = 64
    disk: int = 256 * MIB
    """Bytes."""
    locks: bool = False
    """True if it cannot do without locks on files."""
    own_code: bool = False
    """True if compiling executes the program's own code: then no submission can be judged, since
    what it computes here no limit of its own counts."""


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a program is started."""

    command: tuple[str, ...]
    """Its argument list; without `executable`, the first word is the path of a tool."""
    executable: str = ""
    """The output that is executed, by descriptor; empty: the command is run with the outputs, or
    without a compile step the sources, in its directory."""
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    processes: int = 0
    """Threads that the runtime needs besides the program's own; added to the limit."""
    memory: int = 0
    """Bytes that the runtime needs besides its heap; added to the memory limit."""
    out_of_memory: tuple[str, ...] = ()
    """Texts on stderr by which the runtime says that it was refused memory."""


class Assertions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings that make a language evaluate assertions which it would skip by itself."""

    flags: tuple[str, ...] = ()
    """Flags for the compiler."""
    run: tuple[str, ...] = ()
    """Words that `{assertions}` in the command stands for."""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    """Files to put beside the sources; sources among them are compiled too."""


class SelfTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program, its input, and what it must print."""

    source: str
    input: str
    output: str
    part: bool = False
    """True if `output` need only be a part of what it prints, as beside a framework's times."""


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One language, as its file describes it."""

    id: str
    name: str
    family: str
    """Family by which a task's stubs and headers are chosen: c, cpp, python, java, ..."""
    extensions: tuple[str, ...]
    """Endings of files that are sources."""
    source: str
    """File name of a source that has none; `{class}` stands for the name of its class."""
    install: str
    """Advice for when a tool is missing."""
    tools: dict[str, Tool]
    run: Run
    selftest: SelfTest
    compile: Compile | None = None
    """Compile step; None if there is nothing to compile or check."""
    assertions: Assertions = Assertions()
    """Settings for runs that ask for assertions."""
    aliases: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    """Endings of files that are put beside sources, not compiled."""
    default: bool = True
    """True if files with its endings are taken for this language; one language per ending."""
    needs: tuple[str, ...] = ()
    """Paths below /usr, besides the tools, without which it cannot be used: libraries."""
    reads: tuple[str, ...] = ()
    """Globs of directories outside /usr that the tools need to read."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which it can be requested."""
        return (self.id, *self.aliases)


@dataclass(frozen=True, slots=True)
class InstalledLanguage:
    """A language whose tools are all on this machine."""

    language: Language
    tools: Mapping[str, str]
    """Path in a cell, by the tool's name in the definition."""
    versions: Mapping[str, str]
    """Line in which each tool states its version."""

    @property
    def version(self) -> str:
        """The first tool's version."""
        return next(iter(self.versions.values()), "")


def read(text: str, file: str) -> Language:
    """Decode a definition. Raises InputError, naming file and field."""
    try:
        language = msgspec.toml.decode(text, type=Language)
    except (msgspec.ValidationError, msgspec.DecodeError, ValueError) as error:
        raise InputError(f"{error}", file=file) from error
    for field, complaint in _complaints(language):
        raise InputError(complaint, file=file, field=field)
    if Path(file).stem != language.id:
        raise InputError(f"the file of this id must be called {language.id}.toml", file=file)
    return language


def expand(words: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Replace the placeholders of a command.

    A list replaces a placeholder that is a whole word by its members, if any; a string replaces its
    placeholder within a word. Raises KeyError for a placeholder without a value.
    """
    expanded: list[str] = []
    for word in words:
        alone = _PLACEHOLDER.fullmatch(word)
        value = values[alone[1]] if alone else None
        if value is None or isinstance(value, str):
            expanded.append(_PLACEHOLDER.sub(lambda found: str(values[found[1]]), word))
        else:
            expanded += value
    return expanded


def _complaints(language: Language) -> list[tuple[str, str]]:
    """Return field and complaint for each error that types alone do not rule out."""
    found = [
        ("id" if name == language.id else "aliases", f"{name!r} is not a name (small letters)")
        for name in language.names
        if not _ID.fullmatch(name)
    ]
    for field, endings in (("extensions", language.extensions), ("headers", language.headers)):
        found += [
            (field, f"{end!r} does not begin with a dot") for end in endings if end[:1] != "."
        ]
    found += [
        ("reads", f"{path!r} is not an absolute path")
        for path in language.reads
        if not path.startswith("/")
    ]
    if not language.extensions:
        found.append(("extensions", "there must be at least one"))
    found += [
        (f"tools.{name}.names", "there must be at least one")
        for name, tool in language.tools.items()
        if not tool.names
    ]
    if not language.run.command:
        found.append(("run.command", "must not be empty"))
    found += _unknown(language, "run", language.run, _RUN_VALUES)
    if language.compile is not None:
        if not language.compile.command:
            found.append(("compile.command", "must not be empty"))
        if language.run.executable and not language.compile.outputs:
            found.append(("compile.outputs", "must hold what run.executable names"))
        found += _unknown(language, "compile", language.compile, _COMPILE_VALUES)
    elif language.run.executable:
        found.append(("run.executable", "without [compile] there is none"))
    return found


def _unknown(
    language: Language, table: str, part: Compile | Run, known: frozenset[str]
) -> list[tuple[str, str]]:
    """Return complaints about unknown placeholders, and about lists within a word."""
    found = []
    for word in part.command:
        for name in _PLACEHOLDER.findall(word):
            if name not in known and name not in language.tools:
                allowed = ", ".join(sorted({*known, *language.tools}))
                found.append((table, f"{{{name}}} stands for nothing here (there are: {allowed})"))
            elif name in LISTS and word != f"{{{name}}}":
                found.append((table, f"{{{name}}} must be a word of its own, not in {word!r}"))
    return found
