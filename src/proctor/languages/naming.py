"""Names that a language derives from the source: a Java file is called like its public class."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import PurePosixPath

from proctor.languages.language import Language
from proctor.program import Program

# What is not closed ends with the line or the text: otherwise every opening is searched to the end.
_NOT_CODE = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\\?\Z)|'  # text blocks
    r'"(?:\\.|[^"\\\n])*+(?:"|(?=\n)|\\?\Z)|'  # strings
    r"'(?:\\.|[^'\\\n])++(?:'|(?=\n)|\\?\Z)|"  # characters
    r"//[^\n]*|/\*.*?(?:\*/|\Z)",  # comments
    re.DOTALL,
)
_PACKAGE = re.compile(r"\bpackage\s+([\w.]+)\s*;")
_TYPE = re.compile(
    r"(\bpublic\s++)?+(?:(?:abstract|final|static|strictfp|sealed|non-sealed)\s++){0,8}+"
    r"\b(?:class|interface|enum|record)\s++(\w++)"
)
_MAIN = re.compile(r"\bstatic\s+(?:final\s+)?void\s+main\s*\(")
_USUAL = "Main"
_LONGEST = 200
"""Longest name of a class, in bytes, that a file is called by: javac refuses a longer one."""


def file_name(language: Language, source: str) -> str:
    """Return the file name for a source that has none."""
    if "{class}" not in language.source:
        return language.source
    return language.source.replace("{class}", _Classes(source).of_file)


def own_name(language: Language, program: Program) -> str:
    """Return the file name of a program: its own, in Java with its public class for the stem."""
    name = program.name
    if not name or "{class}" not in language.source:
        return name or file_name(language, program.source)
    public = _Classes(program.source).public
    return str(PurePosixPath(name).with_stem(public)) if public else name


def is_source(language: Language, name: str) -> bool:
    """Return whether a file is one to compile."""
    return PurePosixPath(name).suffix in language.extensions


def is_header(language: Language, name: str) -> bool:
    """Return whether a file of the language is only put beside those that are compiled."""
    return PurePosixPath(name).suffix in language.headers


def main_class(sources: Iterable[str]) -> str:
    """Return the full name of the class to start: the first with a main method."""
    classes = [_Classes(source) for source in sources]
    starting = [each for each in classes if each.starting]
    for each in starting or classes[:1]:
        return each.package + (each.starting or each.of_file)
    return _USUAL


def values(language: Language, entry: str, sources: Mapping[str, str]) -> dict[str, str]:
    """Return what {source}, {stem} and {class} stand for, given the entry file and all sources."""
    found = {"source": entry, "stem": str(PurePosixPath(entry).with_suffix(""))}
    if "{class}" in language.source:
        others = [text for name, text in sources.items() if name != entry]
        found["class"] = main_class([sources[entry], *others])
    return found


class _Classes:
    """Classes that a Java source declares at its top level."""

    def __init__(self, source: str) -> None:
        code = _NOT_CODE.sub(" ", source)
        package = _PACKAGE.search(code)
        self.package = f"{package[1]}." if package else ""
        top = list(_outermost(code))
        self.public = next((found[2] for found in top if found[1] and _fits(found[2])), "")
        """The class that is public; empty if none is, or its name is too long for a file."""
        self.starting = ""
        """The class that main is in; empty if there is none."""
        for found, after in pairwise([*top, None]):
            end = after.start() if after else len(code)
            if found and _MAIN.search(code, found.end(), end):
                self.starting = found[2]
                break
        names = [self.public, self.starting, *(found[2] for found in top), _USUAL]
        self.of_file = next(name for name in names if name and _fits(name))
        """The class that the file must be named after, or may be."""


def _fits(name: str) -> bool:
    return len(name.encode("utf-8", "surrogatepass")) <= _LONGEST


def _outermost(code: str) -> Iterator[re.Match[str]]:
    """Yield the types that are declared outside all braces, looking at every brace once."""
    depth = at = 0
    for found in _TYPE.finditer(code):
        depth += code.count("{", at, found.start()) - code.count("}", at, found.start())
        at = found.start()
        if depth == 0:
            yield found
