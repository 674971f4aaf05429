"""FPS (Free Problem Set): an XML file of problems, as HUSTOJ exports and others import it.

Contract: the DTD of versions 1.1 to 1.6, and HUSTOJ's exporter, importer and judge.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from xml.etree.ElementTree import Element

from proctor.errors import InputError
from proctor.formats.livecodebench import located
from proctor.formats.packages.documents import read_xml
from proctor.formats.packages.files import LARGEST_EXPORT, Tree
from proctor.formats.packages.model import (
    ACCEPTED,
    Bound,
    Claim,
    Expectation,
    Labelled,
    Package,
    judgeable,
)
from proctor.formats.packages.native import ALL
from proctor.formats.packages.programs import TESTLIB, by_judges_name, family
from proctor.grading import Checker, Comparison, Convention, Grading
from proctor.limits import MIB, Limits
from proctor.problem import Batch, Interactive, Problem, Running, Stub, Subtask, Test
from proctor.program import Program

_MAIN = "problem.xml"
_STACK = 256 * MIB
"""HUSTOJ's limit on the stack, in bytes."""
_SECONDS = {"s": 1.0, "ms": 0.001}
_BYTES = {"mb": MIB, "kb": 1024}
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")
_STATEMENT = ("description", "input", "output", "hint")


class FpsItems:
    """Problems of an FPS file; ids are numbers, or the file or directory name for just one."""

    def __init__(self, tree: Tree, name: str) -> None:
        """Read the file. Raises InputError."""
        self._tree, self._name = tree, name
        root = read_xml(tree, name, doctype="fps", largest=LARGEST_EXPORT)
        if root.tag != "fps":
            what = f"the root must be <fps>, not <{root.tag}>"
            raise InputError(what, file=tree.shown(name))
        items = root.findall("item")
        if not items:
            raise InputError("there is no <item> in it", file=tree.shown(name))
        only = tree.root.name if name == _MAIN else PurePath(name).stem
        numbers = [str(number) for number in range(1, len(items) + 1)]
        self._items = dict(zip(numbers if len(items) > 1 else [only], items, strict=True))

    @property
    def titles(self) -> Mapping[str, str]:
        """Titles by id."""
        return {name: _text(item, "title").strip() for name, item in self._items.items()}

    def load(self, problem_id: str) -> Package:
        """Load the problem of this id. Raises InputError."""
        item = self._items[problem_id]
        tree = Tree(self._tree.root)  # a tree's notes are about one problem
        number = list(self._items).index(problem_id)
        try:
            return _package(tree, item, problem_id)
        except InputError as error:
            if error.file is not None:
                raise
            raise located(error, tree.root / self._name, None, f"item[{number}]") from error


def _package(tree: Tree, item: Element, problem_id: str) -> Package:
    elsewhere = _text(item, "remote_oj").strip()
    if elsewhere and item.find("test_input") is None:
        what = f"there are no tests here: it is judged by {elsewhere[:40]!r}"
        raise InputError(what, field="remote_oj")
    grading, running = _judging(tree, item)
    tests = _tests(tree, item, compared=isinstance(grading, Comparison) and running == Batch())
    memory = _amount(item, "memory_limit", "mb", _BYTES)
    problem = judgeable(Problem(
        id=problem_id,
        tests=tuple(tests.values()),
        subtasks=(Subtask(ALL, 1.0, tuple(tests)),) if tests else (),
        limits=Limits(_amount(item, "time_limit", "s", _SECONDS), memory=int(memory), stack=_STACK),
        grading=grading,
        running=running,
        stubs=_stubs(tree, item),
        title=_text(item, "title").strip(),
        statement="\n\n".join(filter(None, (_text(item, tag).strip() for tag in _STATEMENT))),
    ))  # fmt: skip
    solutions = tuple(_solutions(tree, item))
    return Package(problem, solutions, "fps", tree.root, notes=tuple(tree.notes.found))


def _text(item: Element, tag: str) -> str:
    """Text of the first element of that tag, empty if there is none."""
    found = item.find(tag)
    return "" if found is None else found.text or ""


def _amount(item: Element, tag: str, usual: str, units: Mapping[str, float]) -> float:
    element = item.find(tag)
    if element is None:
        raise InputError("is missing", field=tag)
    text, unit = (element.text or "").strip(), element.get("unit", usual).strip().lower()
    if unit not in units:
        raise InputError(f"the unit must be one of {', '.join(units)}, not {unit!r}", field=tag)
    if not _NUMBER.fullmatch(text) or not float(text):
        raise InputError(f"must be a number above 0, not {text[:40]!r}", field=tag)
    return float(text) * units[unit]


def _tests(tree: Tree, item: Element, *, compared: bool) -> dict[str, Test]:
    """Samples and tests by name; HUSTOJ judges both. If `compared`, tests need an output."""
    inputs, outputs = _named(item, "test_input"), _named(item, "test_output")
    found = {}
    samples = zip(item.findall("sample_input"), item.findall("sample_output"), strict=False)
    for number, (shown, answer) in enumerate(samples):
        name = f"sample{number or ''}"
        if answer.text and (shown.text or not inputs) and name not in inputs:
            found[name] = Test(shown.text or "", answer.text, public=True, name=name)
    for name, given in inputs.items():
        if compared and name not in outputs:
            raise InputError(f"there is no test_output of test {name!r}", field="test_input")
        found[name] = Test(given, outputs.get(name), name=name)
    for name in outputs.keys() - inputs.keys():
        tree.notes(f"test {name!r}: there is no test_input, so it is left out")
    return found


def _named(item: Element, tag: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, element in enumerate(item.findall(tag)):
        name = element.get("name") or f"test{number}"
        if name in found:
            raise InputError(f"two tests are named {name!r}", field=f"{tag}[{number}]")
        found[name] = element.text or ""
    return found


def _judging(tree: Tree, item: Element) -> tuple[Grading, Running]:
    """The comparison or program that grades, in the order in which HUSTOJ looks for it."""
    for tag in ("spj", "tpj"):
        element = item.find(tag)
        if element is not None and element.get("language") == "Text":
            raise InputError("submissions that are answers, no programs, are not judged", field=tag)
    if (interactor := _program(tree, item, "interactor")) is not None:
        return Comparison(), Interactive(interactor, Convention.TESTLIB)
    if (checker := _program(tree, item, "tpj")) is not None:
        return Checker(checker, Convention.TESTLIB), Batch()
    if (checker := _program(tree, item, "spj")) is not None:
        return Checker(checker, Convention.HUSTOJ), Batch()
    return Comparison(), Batch()


def _program(tree: Tree, item: Element, tag: str) -> Program | None:
    element = item.find(tag)
    if element is None or not (source := element.text or "").strip():
        return None
    language = by_judges_name(element.get("language", "C++"))
    if language is None:
        raise InputError(f"its language, {element.get('language')!r}, is not known", field=tag)
    if TESTLIB not in source:
        return Program(source, language)
    if not tree.is_file(TESTLIB):
        raise InputError(f"it needs {TESTLIB}; put that beside the XML file", field=tag)
    return Program(source, language, files={TESTLIB: tree.content(TESTLIB)})


def _stubs(tree: Tree, item: Element) -> dict[str, Stub]:
    """Code around submissions, by family of languages."""
    parts: dict[str, dict[str, str]] = {}
    for tag in ("prepend", "append"):
        for element in item.findall(tag):
            named = element.get("language", "")
            if (language := by_judges_name(named)) is None:
                tree.notes(f"{tag}: its language, {named!r}, is not known")
            else:
                parts.setdefault(family(language), {}).setdefault(tag, element.text or "")
    return {
        kind: Stub({}, before=found.get("prepend", ""), after=found.get("append", ""))
        for kind, found in parts.items()
    }


def _solutions(tree: Tree, item: Element) -> Iterator[Labelled]:
    """Accepted submissions, which already contain the code that stubs put around them."""
    for number, element in enumerate(item.findall("solution"), 1):
        named = element.get("language", "")
        language, source = by_judges_name(named), element.text or ""
        name = f"solution {number} ({named})"
        if language is None:
            tree.notes(f"{name}: its language is not known")
        elif not source.strip():
            tree.notes(f"{name}: there is no code in it")
        else:
            expected = Expectation(Claim(verdicts=ACCEPTED))
            yield Labelled(name, Program(source, language), expected, Bound.LOWER, complete=True)
