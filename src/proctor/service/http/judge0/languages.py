"""Judge0 CE's numbers of languages, and ours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.languages import registry
from proctor.languages.language import InstalledLanguage
from proctor.sandbox.machine.interpreter import Interpreter
from proctor.service.running import PYTHON

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
"""By our id. Numbers that differ in the version only mean the version that is here."""
_NAMES = {"c": "C", "cpp17": "C++", PYTHON: "Python", "csharp": "C#", "pascal": "Pascal"}
MULTI_FILE = 89
"""A directory of files with scripts of its own: see languages/scripts.py."""
_VERSION = re.compile(r"\d+(?:\.\d+)+|\d+")
_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(0x|1y|1z|2a|2b|11|14|17|20|23)")
_STANDARDS = {"0x": "11", "1y": "14", "1z": "17", "2a": "20", "2b": "23"}
_NO_MATTER = re.compile(
    r"-O[0-3sg]?|-Ofast|-W[\w=+-]*|-w|-g\d?|-pipe|-lm|-pthread|-lpthread|-static"
)
"""Options that change nothing about what a right program prints."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A language under one of Judge0's numbers."""

    id: int
    name: str
    ours: str
    source_file: str
    compiled: bool


def offered(interpreter: Interpreter, here: Sequence[InstalledLanguage]) -> dict[int, Offered]:
    """Return what can be run, by number: `here` are the engine's languages."""
    found = {each.language.id: each for each in here}
    listed = []
    for ours, numbers in _NUMBERS.items():
        if ours == PYTHON:
            version = interpreter.version
        elif ours in found:
            version = found[ours].version
        else:
            continue
        language = registry.get(ours)
        name = f"{_NAMES.get(ours, language.name.partition(' (')[0])} ({_shown(ours, version)})"
        source = language.source.replace("{class}", "Main")
        compiled = language.compile is not None and ours != PYTHON
        listed += [Offered(number, name, ours, source, compiled) for number in numbers]
    if "bash" in found:
        listed.append(Offered(MULTI_FILE, "Multi-file program", "bash", "", compiled=False))
    return {each.id: each for each in sorted(listed, key=lambda each: each.id)}


def _shown(ours: str, version: str) -> str:
    """Return a version as Judge0 has it in a name: its frontends cut names at the bracket."""
    numbers = _VERSION.findall(version)
    number = next((each for each in numbers if "." in each), numbers[0] if numbers else version)
    return {"c": "GCC ", "cpp17": "GCC ", "javascript": "Node.js "}.get(ours, "") + number


def with_options(ours: str, options: str) -> str | None:
    """Return our language for these compiler options; None if they would change what is made."""
    for option in options.split():
        if ours.startswith("cpp") and (standard := _STANDARD.fullmatch(option)):
            ours = "cpp" + _STANDARDS.get(standard[1], standard[1])
        elif not _NO_MATTER.fullmatch(option):
            return None
    return ours
