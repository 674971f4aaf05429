"""Languages by Judge0 CE's numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.languages import registry
from proctor.languages.language import InstalledLanguage
from proctor.languages.run import PYTHON
from proctor.sandbox.machine.interpreter import Interpreter

_NUMBERS: Mapping[str, tuple[int, ...]] = {
    "bash": (46,),
    "c": (48, 49, 50, 75, 103, 104),
    "cpp17": (52, 53, 54, 76, 105),
    "csharp": (51,),
    "go": (60, 95, 106, 107),
    "haskell": (61,),
    "java": (62, 91),
    "javascript": (63, 93, 97, 102),
    "kotlin": (78,),
    "lua": (64,),
    "ocaml": (65,),
    "pascal": (67,),
    "perl": (85,),
    "php": (68, 98),
    PYTHON: (71, 92, 100, 109),
    "ruby": (72,),
    "rust": (73, 108),
    "typescript": (74, 94, 101),
}
"""Judge0's numbers by the id of proctor's language; numbers that differ in the version are one."""
_NAMES = {"c": "C", "cpp17": "C++", PYTHON: "Python", "csharp": "C#", "pascal": "Pascal"}
MULTI_FILE = 89
"""A directory of files with scripts of its own: see languages/scripts.py."""
_VERSION = re.compile(r"\d+(?:\.\d+)+|\d+")
_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(0x|1y|1z|2a|2b|11|14|17|20|23)")
_STANDARDS = {"0x": "11", "1y": "14", "1z": "17", "2a": "20", "2b": "23"}
_HARMLESS = re.compile(
    r"-O[0-3sg]?|-Ofast|-W[\w=+-]*|-w|-g\d?|-pipe|-lm|-pthread|-lpthread|-static"
)
"""Options that change nothing about what a right program prints."""


@dataclass(frozen=True, slots=True)
class Judge0Language:
    """A language under one of Judge0's numbers."""

    id: int
    name: str
    language_id: str
    """Id of proctor's language."""
    source_file: str
    compiled: bool


def languages_by_number(
    interpreter: Interpreter, here: Sequence[InstalledLanguage]
) -> dict[int, Judge0Language]:
    """Return the languages that can be run, by number; `here` are the engine's."""
    found = {each.language.id: each for each in here}
    listed = []
    for language_id, numbers in _NUMBERS.items():
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
        compiled = language.compile is not None and language_id != PYTHON
        listed += [
            Judge0Language(number, name, language_id, source, compiled) for number in numbers
        ]
    if "bash" in found:
        listed.append(Judge0Language(MULTI_FILE, "Multi-file program", "bash", "", compiled=False))
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
