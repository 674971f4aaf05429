"""Programs as packages keep them: a file, or a directory of files."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.errors import InputError
from proctor.formats.packages.files import Tree, extension, join
from proctor.languages import registry
from proctor.problem import Batch, Communication, OutputOnly, Running, TwoSteps
from proctor.program import Program

_MAIN = {
    "c": re.compile(r"\bmain\s*\("),
    "cpp": re.compile(r"\bmain\s*\("),
    "java": re.compile(r"\bstatic\s+(?:final\s+)?void\s+main\s*\("),
    "python": re.compile(r"__name__"),
}
_PROLOG = re.compile(r"^(?:[a-z]\w*+\s*+(?:\([^;{}]{0,200}?\)\s*+)?)?(?::-|-->)\s", re.MULTILINE)
"""A directive, or a rule: `goal(X) :- ...`."""
_PERL = re.compile(
    r"^#!.*\bperl\b|^[^\S\n]*+(?:use|my|our|package)\s++[$@%(\w]|<STDIN>", re.MULTILINE
)
_TELLING = 64 * 1024
"""Characters at the beginning of a source that tell its language."""
_SCRIPTS = ("build", "run")
_NOT_SOURCES = {*_SCRIPTS, "Makefile", "CMakeLists.txt"}

TESTLIB = "testlib.h"
"""Header of checkers and interactors, which no part of proctor brings."""
SCRIPTED = "build-run"
"""Language of a directory with scripts of its own that build and run it."""
DATA = "output"
"""Stands for the language of a submission that is files of output."""
LARGEST_SUBMISSION = 16 << 20
"""Bytes of a submission that is one file."""


def by_extension(name: str, source: str) -> str | None:
    """Id of a file's language, or None. The source tells Prolog from Perl, which share `.pl`."""
    if name.endswith(".pl"):
        begin = source[:_TELLING]
        if _PROLOG.search(begin) and not _PERL.search(begin):
            return "prolog" if "prolog" in registry.languages() else None
    found = registry.by_extension(name, source)
    return found.id if found else None


def is_source(name: str) -> bool:
    """Return True if the extension is that of a language."""
    return by_extension(name, "") is not None


_OF_JUDGES = {"clang": "c", "clang++": "cpp17", "cc": "cpp17"}
"""Languages under names that online judges have for them, beside proctor's own."""


def by_judges_name(name: str) -> str | None:
    """Id of the language with this name on online judges, in any letter case; None if unknown."""
    own = {each: known.id for known in registry.languages().values() for each in known.names}
    return (_OF_JUDGES | own).get(name.strip().lower())


def families() -> Mapping[str, str]:
    """Families of all languages, by each of their names."""
    return {name: each.family for each in registry.languages().values() for name in each.names}


def family(language: str) -> str:
    """Family of a language's id."""
    return families().get(language, language)


def load_program(
    tree: Tree,
    name: str,
    *,
    language: str | None = None,
    said_by: str | None = None,
    field: str | None = None,
    linked: bool = False,
    scripts: bool = False,
    main: str | None = None,
) -> Program:
    """A program that is a file, or a directory with one main file.

    With `linked` the main file may be one of the problem's own; with `scripts` a directory may
    bring scripts `build` and `run` instead; `main` is the main file, where it is known. Raises
    InputError if its language cannot be told, or its main file.
    """
    if scripts and any(tree.is_file(join(name, script)) for script in _SCRIPTS):
        return _with_scripts(tree, name)
    if tree.is_dir(name):
        return _from_directory(tree, name, language, linked=linked, main=main)
    source = tree.source(name, said_by=said_by, field=field)
    found = language or by_extension(name, source)
    if found is None:
        place = tree.shown(said_by) if said_by else tree.shown(name)
        raise InputError(f"the language of {name!r} is not known", file=place, field=field)
    # A script without an ending gets the language's usual name.
    return Program(source, found, name=name.rpartition("/")[2] if extension(name) else "")


def load_outputs(tree: Tree, name: str) -> Program:
    """A submission to an output-only task: a directory of files. Raises InputError."""
    if not tree.is_dir(name):
        what = "a submission to an output-only task is a directory of output files"
        raise InputError(what, file=tree.shown(name))
    files = {path.removeprefix(name + "/"): tree.content(path) for path in tree.walk(name)}
    return Program("", DATA, files=files)


def load_submission(
    tree: Tree,
    name: str,
    running: Running,
    language: str | None = None,
    *,
    said_by: str | None = None,
    field: str | None = None,
) -> Program:
    """A submission to a problem of a certain kind, a file or a directory. Raises InputError.

    Several files of a submission to a task with processes or steps are compiled together with the
    task's own, which is where the program starts.
    """
    outputs = isinstance(running, Batch) and running.outputs and tree.is_dir(name)
    if isinstance(running, OutputOnly) or (outputs and not any(map(is_source, tree.walk(name)))):
        return load_outputs(tree, name)
    linked = isinstance(running, TwoSteps | Communication)
    return load_program(tree, name, language=language, said_by=said_by, field=field, linked=linked)


def with_files(
    tree: Tree, main: str, beside: Sequence[str], language: str | None = None
) -> Program:
    """The program `main`, with further files put beside it by their base names."""
    program = load_program(tree, main, language=language)
    files = {name.rpartition("/")[2]: tree.content(name) for name in beside if name != main}
    return Program(program.source, program.language, name=program.name, files=files)


def _with_scripts(tree: Tree, name: str) -> Program:
    """Program of a directory: its script `build`, if any, runs once; `run` is then the program."""
    build = join(name, "build")
    source = tree.source(build) if tree.is_file(build) else "#!/bin/sh\n"
    files = {each[len(name) + 1 :]: tree.content(each) for each in tree.walk(name) if each != build}
    return Program(source, SCRIPTED, files=files)


def _from_directory(
    tree: Tree, name: str, language: str | None, *, linked: bool, main: str | None
) -> Program:
    if scripts := [script for script in _SCRIPTS if tree.is_file(join(name, script))]:
        raise InputError(
            f"brings its own {' and '.join(scripts)} script; only sources are compiled here",
            file=tree.shown(name),
        )
    names = [each for each in tree.walk(name) if each.rpartition("/")[2] not in _NOT_SOURCES]
    sources = {each: tree.source(each) for each in names if is_source(each)}
    if not sources:
        raise InputError("there is no source file in it", file=tree.shown(name))
    languages = {each: by_extension(each, text) or "" for each, text in sources.items()}
    families = {family(each) for each in languages.values()}
    if language is None and "" in families:
        unknown = next(each for each, found in languages.items() if not found)
        raise InputError("its language is not known", file=tree.shown(unknown))
    if language is None and len(families) > 1:
        what = f"files of several languages: {', '.join(sorted(families))}"
        raise InputError(what, file=tree.shown(name))
    kind = families.pop() if language is None else family(language)
    try:
        given = join(name, main) if main else ""
        main = given if given in sources else _main(tree, name, sources, kind)
    except InputError:
        if not linked:
            raise
        main = min(sources)
    prefix = len(name) + 1
    files = {each[prefix:]: tree.content(each) for each in names if each != main}
    return Program(sources[main], language or languages[main], name=main[prefix:], files=files)


def _main(tree: Tree, directory: str, sources: Mapping[str, str], kind: str) -> str:
    """The file that the program starts in."""
    if len(sources) == 1:
        return next(iter(sources))
    if join(directory, "__main__.py") in sources:
        return join(directory, "__main__.py")
    pattern = _MAIN.get(kind)
    candidates = [name for name, text in sources.items() if pattern and pattern.search(text)]
    if len(candidates) != 1:
        named = [name for name in sources if name.rpartition("/")[2].lower().startswith("main.")]
        candidates = named or candidates
    if len(candidates) != 1:
        raise InputError(
            "which file is the main one cannot be told; name it main", file=tree.shown(directory)
        )
    return candidates[0]


def read_program(path: Path, language: str | None, running: Running) -> Program:
    """Read a submission, a file or a directory; without a language its ending tells.

    Raises InputError.
    """
    if path.is_dir():
        path = path.resolve()
        language = registry.get(language).id if language else None
        return load_submission(Tree.at(path.parent), path.name, running, language)
    try:
        if path.stat().st_size > LARGEST_SUBMISSION:
            raise InputError("a source of more than 16 MiB", file=str(path))
        source = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    if language is None:
        found = registry.by_extension(path.name, source)
        if found is None:
            raise InputError(
                "its language cannot be told from its name; say it with --language (see"
                " `proctor languages`)",
                file=str(path),
            )
        language = found.id
    return Program(source, registry.get(language).id)


_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n/]{1,200})"', re.MULTILINE)


def read_tool(path: Path) -> Program:
    """Read a generator or validator: a file, with headers beside it that it names, or a directory.

    Raises InputError.
    """
    program = read_program(path, None, Batch())
    if path.is_dir():
        return program
    files: dict[str, bytes] = {}
    todo = [program.source]
    tree = Tree.at(path.parent)
    while todo:
        for name in _INCLUDED.findall(todo.pop()):
            if name not in files and tree.is_file(name):
                files[name] = tree.content(name)
                todo.append(files[name].decode("latin-1"))
    return Program(program.source, program.language, files=files)
