"""Codeforces Polygon packages: a directory with problem.xml.

Contract: the packages that Polygon exports and testlib.h. Tests have to be there as files, which
they are in Polygon's full packages: generators are not run.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from proctor.errors import InputError
from proctor.formats.livecodebench import located
from proctor.formats.packages.documents import read_xml
from proctor.formats.packages.files import Tree, extension, join
from proctor.formats.packages.model import Package, judgeable
from proctor.formats.packages.polygon_scoring import has_points, points_of, subtasks
from proctor.formats.packages.polygon_solutions import language_of, load_solutions
from proctor.formats.packages.programs import by_extension, family
from proctor.grading import Checker, Comparison, Convention, Grading, Match
from proctor.limits import GIB, Limits
from proctor.problem import Batch, Interactive, Problem, Running, Stub, Test
from proctor.program import Program

FILE = "problem.xml"

_HEAD = 1 << 20
_MOST_CONVERTED = 512 << 20
"""Bytes of tests whose line ends are changed, which are then kept in memory."""
HEADERS = (".h", ".hh", ".hpp", ".hxx")
_PATTERN = re.compile(r"([^%]*)%(0[1-9])?d([^%]*)")

STANDARD: dict[str, Comparison] = {
    # Lines, blank space included.
    "fcmp": Comparison(Match.RAW_LINES),
    # Lines, each as tokens.
    "lcmp": Comparison(Match.TOKEN_LINES),
    # Tokens; whole numbers, of any size, are written in one way only.
    "wcmp": Comparison(),
    "icmp": Comparison(),
    "ncmp": Comparison(),
    "hcmp": Comparison(),
    "caseicmp": Comparison(),
    "casencmp": Comparison(),
    "casewcmp": Comparison(),
    "uncmp": Comparison(Match.UNORDERED_TOKENS),
    "yesno": Comparison(Match.YES_NO),
    "nyesno": Comparison(Match.YES_NO),
    # Numbers.
    "acmp": Comparison(absolute=1.5e-6),
    "rcmp": Comparison(absolute=1.5e-6),
    "dcmp": Comparison(absolute=1e-6, relative=1e-6),
    "rcmp4": Comparison(absolute=1e-4, relative=1e-4),
    "rcmp6": Comparison(absolute=1e-6, relative=1e-6),
    "rcmp9": Comparison(absolute=1e-9, relative=1e-9),
}
"""Comparisons of testlib's own checkers, by name."""


def load(tree: Tree) -> Package:
    """The package in a directory with problem.xml. Raises InputError."""
    root = read_xml(tree, FILE)
    if root.tag != "problem":
        what = f"the root must be <problem>, not <{root.tag}>"
        raise InputError(what, file=tree.shown(FILE))
    try:
        return _package(tree, root)
    except InputError as error:
        raise error if error.file else located(error, tree.root / FILE, None) from error


def _package(tree: Tree, root: Element) -> Package:
    judging = _only(root, "judging")
    if judging.get("run-count", "1") != "1":
        what = "problems whose solutions run several times are not supported"
        raise InputError(what, field="judging.run-count")
    testset = _testset(tree, judging)
    elements = testset.findall("tests/test")
    scored = has_points(testset)
    tests = _tests(tree, testset, elements, scored=scored)
    interactor = root.find("assets/interactor")
    problem = judgeable(Problem(
        id=root.get("short-name") or tree.root.name,
        tests=tuple(tests.values()),
        subtasks=subtasks(testset, elements, list(tests), scored=scored),
        limits=_limits(testset),
        grading=_grading(tree, root),
        running=_running(tree, root, judging, interactor),
        stubs=_stubs(tree, root),
        title=_in_english(root.findall("names/name"), "value") or root.get("short-name", ""),
        statement=_statement(tree, root),
    ))  # fmt: skip
    solutions = load_solutions(tree, root, scored=scored)
    return Package(problem, solutions, "polygon", tree.root, notes=tuple(tree.notes.found))


def _only(parent: Element, path: str) -> Element:
    found = parent.find(path)
    if found is None:
        raise InputError("is missing", field=path.replace("/", "."))
    return found


def _testset(tree: Tree, judging: Element) -> Element:
    """The one named tests, else the only one."""
    sets = judging.findall("testset")
    chosen = [each for each in sets if each.get("name") == "tests"] or sets
    if len(chosen) != 1:
        what = "there must be one testset, or one of them named tests"
        raise InputError(what, field="judging.testset")
    for other in sets:
        if other is not chosen[0]:
            tree.notes(f"{FILE}: the testset {other.get('name')!r} was left out")
    return chosen[0]


def _whole_number(parent: Element, path: str) -> int:
    text = (_only(parent, path).text or "").strip()
    if not re.fullmatch(r"[0-9]{1,15}", text) or not int(text):
        raise InputError(f"must be a whole number, not {text[:40]!r}", field=f"testset.{path}")
    return int(text)


def _limits(testset: Element) -> Limits:
    memory = _whole_number(testset, "memory-limit")
    # As at Codeforces the stack is the memory limit; more than a few GiB cannot be set everywhere.
    return Limits(
        cpu=_whole_number(testset, "time-limit") / 1000, memory=memory, stack=min(memory, 4 * GIB)
    )


def _tests(
    tree: Tree, testset: Element, elements: Sequence[Element], *, scored: bool
) -> dict[str, Test]:
    count = _whole_number(testset, "test-count")
    if elements and len(elements) != count:
        what = f"is {count}, but there are {len(elements)} tests"
        raise InputError(what, field="testset.test-count")
    inputs, answers = (_pattern(testset, f"{kind}-path-pattern") for kind in ("input", "answer"))
    points = [points_of(each, f"test[{n}]") for n, each in enumerate(elements, 1)] or [0.0] * count
    most = max(points, default=0.0) or 1.0
    found, texts = {}, _Texts(tree)
    for number in range(1, count + 1):
        element = elements[number - 1] if elements else None
        name = str(number)
        given, answer = inputs(number), answers(number)
        for path in (given, answer):
            if not tree.is_file(path):
                raise InputError(_absent(element, name), file=tree.shown(path))
        worth = points[number - 1]
        found[name] = Test(
            texts.content(given),
            texts.content(answer),
            name=name,
            public=element is not None and element.get("sample") == "true",
            weight=worth if scored else 1.0,
            full=worth or most,  # a test worth nothing is scored on the others' scale
        )
    return found


class _Texts:
    """Files of tests; those of packages exported for Windows get the line ends of other systems.

    Programs at Codeforces see no carriage return either, since they read their input as text there.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree, self._left = tree, _MOST_CONVERTED

    def content(self, name: str) -> Path | bytes:
        """Return the file's path, or its content with other line ends. Raises InputError."""
        path = self._tree.file(name)
        try:
            with path.open("rb") as file:
                head = file.readline(_HEAD)
                if not head.endswith(b"\r\n"):
                    return path
                self._left -= path.stat().st_size
                if self._left >= 0:
                    return (head + file.read()).replace(b"\r\n", b"\n")
        except OSError as error:
            raise InputError(str(error.strerror), file=self._tree.shown(name)) from error
        self._tree.notes("tests: too large to give all of them the line ends of this system")
        return path


def _absent(element: Element | None, name: str) -> str:
    made_by = None if element is None else element.get("cmd")
    how = f" (it is made by {made_by[:80]!r}, which is not run here)" if made_by else ""
    return f"a file of test {name} is not there{how}; get the full package, or run its doall script"


def _pattern(testset: Element, name: str) -> "_Pattern":
    text = (_only(testset, name).text or "").strip()
    match = _PATTERN.fullmatch(text)
    if match is None:
        what = f"must have one number such as %02d in it, not {text[:80]!r}"
        raise InputError(what, field=f"testset.{name}")
    return _Pattern(match[1], int((match[2] or "0")[-1]), match[3])


class _Pattern:
    """The path of a test's file, by its number."""

    def __init__(self, before: str, width: int, after: str) -> None:
        self._before, self._width, self._after = before, width, after

    def __call__(self, number: int) -> str:
        return f"{self._before}{number:0{self._width}d}{self._after}"


def _grading(tree: Tree, root: Element) -> Grading:
    checker = root.find("assets/checker")
    if checker is None:
        raise InputError("is missing", field="assets.checker")
    name = checker.get("name") or ""
    if name.startswith("std::"):
        known = STANDARD.get(name.removeprefix("std::").removesuffix(".cpp"))
        if known is not None:
            return known
    if checker.find("source") is None:
        what = f"{name!r} is not one of testlib's checkers, and there is no source of it"
        raise InputError(what, field="assets.checker")
    return Checker(_program(tree, root, checker, "checker"), Convention.TESTLIB)


def _running(tree: Tree, root: Element, judging: Element, interactor: Element | None) -> Running:
    if interactor is not None:
        return Interactive(_program(tree, root, interactor, "interactor"), Convention.TESTLIB)
    return Batch(judging.get("input-file") or None, judging.get("output-file") or None)


def _program(tree: Tree, root: Element, parent: Element, what: str) -> Program:
    """A checker or interactor, with the headers of the package beside it."""
    field = f"assets.{what}.source"
    source = _only(parent, "source")
    path = source.get("path") or ""
    text = tree.source(path, said_by=FILE, field=field)
    language = language_of(source.get("type") or "", path, text)
    if language is None:
        raise InputError(f"the language of {path!r} is not known", field=field)
    directory = path.rpartition("/")[0]
    beside = [join(directory, name) for name in tree.entries(directory)]
    beside += [each.get("path") or "" for each in root.findall("files/resources/file")]
    files = {
        name.rpartition("/")[2]: tree.content(name, said_by=FILE, field="files.resources")
        for name in beside
        if extension(name) in HEADERS
    }
    return Program(text, language, path.rpartition("/")[2], files)


def _stubs(tree: Tree, root: Element) -> dict[str, Stub]:
    """Resources that are compiled with solutions, by family of languages."""
    files: dict[str, dict[str, bytes]] = {}
    for resource in root.findall("files/resources/file"):
        assets = {(each.get("name") or "").lower() for each in resource.findall("assets/asset")}
        if "solution" not in assets:
            continue
        path = resource.get("path") or ""
        content = tree.content(path, said_by=FILE, field="files.resources")
        language = by_extension(path, "")
        kinds = ("c", "cpp") if extension(path) in HEADERS else (family(language or ""),)
        for kind in filter(None, kinds):
            files.setdefault(kind, {})[path.rpartition("/")[2]] = content
    grown = {kind for kind, some in files.items() if any(extension(n) not in HEADERS for n in some)}
    return {kind: Stub(files[kind]) for kind in files if kind in grown}


def _in_english(elements: Sequence[Element], attribute: str) -> str:
    found = [each for each in elements if each.get("language") == "english"] or list(elements)
    return (found[0].get(attribute) or "") if found else ""


def _statement(tree: Tree, root: Element) -> str:
    tex = [
        each
        for each in root.findall("statements/statement")
        if each.get("type") == "application/x-tex"
    ]
    path = _in_english(tex, "path")
    return tree.source(path) if path and tree.is_file(path) else ""
