"""Languages by the numbers of Judge0's two editions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.languages import registry
from proctor.languages.language import InstalledLanguage
from proctor.languages.run import PYTHON
from proctor.languages.scripts import BASH
from proctor.sandbox.machine.interpreter import Interpreter
from proctor.service.http.judge0.archived import CE_ARCHIVED, EXTRA_CE_ARCHIVED

PLAIN_TEXT, EXECUTABLE = 43, 44
MULTI_FILE = 89
"""Number of programs that are a directory with its own scripts: see languages/scripts.py."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One of Judge0's editions, which number languages differently."""

    version: str
    prefixes: tuple[str, ...]
    """Prefixes of its routes' paths."""
    numbers: Mapping[str, tuple[int, ...]]
    """Judge0's numbers by the id of proctor's language, which stands for all of their versions."""
    by_bash: tuple[int, ...]
    """Numbers of files that bash runs as they are."""
    archived: Mapping[int, str]
    """Names of languages that are never run, by number."""


CE = Edition(
    "1.13.1",
    ("", "/judge0"),
    {
        "bash": (46,),
        "c": (48, 49, 50, 75, 103, 104, 110),
        "cpp17": (52, 53, 54, 76, 105),
        "csharp": (51,),
        "d": (56,),
        "go": (60, 95, 106, 107),
        "haskell": (61,),
        "java": (62, 91),
        "javascript": (63, 93, 97, 102),
        "kotlin": (78, 111),
        "lua": (64,),
        "ocaml": (65,),
        "pascal": (67,),
        "perl": (85,),
        "php": (68, 98),
        PYTHON: (71, 92, 100, 109, 113),
        "r": (80, 99),
        "ruby": (72,),
        "rust": (73, 108),
        "scala": (81, 112),
        "swift": (83,),
        "typescript": (74, 94, 101),
    },
    (PLAIN_TEXT, EXECUTABLE, MULTI_FILE),
    CE_ARCHIVED,
)
EXTRA_CE = Edition(
    "1.13.1-extra",
    ("/judge0-extra",),
    {
        "c": (1,),
        "cpp17": (2,),
        "csharp": (22,),
        "java": (4,),
        "pypy": (28,),
        PYTHON: (10, 25, 33),
    },
    (MULTI_FILE,),
    EXTRA_CE_ARCHIVED,
)
_NAMES = {"c": "C", "cpp17": "C++", PYTHON: "Python", "csharp": "C#", "pascal": "Pascal"}
_VERSION = re.compile(r"\d+(?:\.\d+)+|\d+")
_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(0x|1y|1z|2a|2b|11|14|17|20|23)")
_STANDARDS = {"0x": "11", "1y": "14", "1z": "17", "2a": "20", "2b": "23"}
_HARMLESS = re.compile(
    r"-O[0-3sg]?|-Ofast|-W[\w=+-]*|-w|-g\d?|-pipe|-lm|-pthread|-lpthread|-static"
)
"""Compiler options that do not change what a right program prints."""


@dataclass(frozen=True, slots=True)
class Judge0Language:
    """A language under one of Judge0's numbers."""

    id: int
    name: str
    language_id: str
    """Id of proctor's language."""
    source_file: str
    compile_command: str | None = None
    """Command that compiles it, to be shown; None if it is run as it is."""
    run_command: str | None = None
    """Command that runs it, to be shown."""
    script: tuple[str, ...] = ()
    """Command that runs a source that is not a program text; empty for proctor's own languages."""

    @property
    def compiled(self) -> bool:
        """True if it takes compiler options."""
        return self.compile_command is not None


_BY_BASH = (
    Judge0Language(
        PLAIN_TEXT, "Plain Text", "bash", "text.txt", None, "cat text.txt", ("/bin/cat", "text.txt")
    ),
    Judge0Language(
        EXECUTABLE, "Executable", "bash", "a.out", None, "./a.out",
        (BASH, "-c", 'exec ./a.out "$@"', "a.out"),
    ),
    Judge0Language(MULTI_FILE, "Multi-file program", "bash", ""),
)  # fmt: skip
"""Files that bash runs as they are."""


def languages_by_number(
    interpreter: Interpreter, here: Sequence[InstalledLanguage], edition: Edition
) -> dict[int, Judge0Language]:
    """Return the languages that can be run, by number; `here` are the engine's."""
    found = {each.language.id: each for each in here}
    listed = []
    for language_id, numbers in edition.numbers.items():
        if language_id == PYTHON:
            version = interpreter.version
        elif language_id in found:
            version = found[language_id].version
        else:
            continue
        language = registry.get(language_id)
        name = _NAMES.get(language_id, language.name.partition(" (")[0])
        name = f"{name} ({_shown(language_id, version)})"
        source = language.source.replace("{class}", "Main")
        python = language_id == PYTHON
        compiling = None if python or language.compile is None else language.compile.command
        running = ("python3", source) if python else language.run.command
        listed += [
            Judge0Language(
                number, name, language_id, source,
                None if compiling is None else " ".join(compiling), " ".join(running),
            )
            for number in numbers
        ]  # fmt: skip
    if "bash" in found:
        listed += [each for each in _BY_BASH if each.id in edition.by_bash]
    return {each.id: each for each in sorted(listed, key=lambda each: each.id)}


def _shown(language_id: str, version: str) -> str:
    """Return a version as in Judge0's names, which frontends cut at the bracket."""
    numbers = _VERSION.findall(version)
    number = next((each for each in numbers if "." in each), numbers[0] if numbers else version)
    return {"c": "GCC ", "cpp17": "GCC ", "javascript": "Node.js "}.get(language_id, "") + number


def with_options(language_id: str, options: str) -> str | None:
    """Return the id of the language for these compiler options; None if they are not served."""
    for option in options.split():
        if language_id.startswith("cpp") and (standard := _STANDARD.fullmatch(option)):
            language_id = "cpp" + _STANDARDS.get(standard[1], standard[1])
        elif not _HARMLESS.fullmatch(option):
            return None
    return language_id
