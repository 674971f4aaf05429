"""README, docs and examples: every command and every line of Python in them is run.

What a fenced block is for stands behind its language:

    ```python               run, all of a page's in order in one process
    ```text output          what the python block before it prints, `...` as below
    ```LANGUAGE file=NAME   written to NAME in the page's directory before anything is run
    ```console              its `$ proctor ...` lines are run (and `$ echo ... | proctor ...`); they
                            must succeed, or end with N where it says exit=N
    ```console exact        the output is as shown, `...` standing for any text
    ```console like         the same, but numbers and white space may differ
    ```http                 a request, sent to a real server: `METHOD PATH`, headers, an empty line,
                            the body; {id} in the path is the last answer's id
    ```http answer          what it answered: status, content type, an empty line, the body, which
                            is compared as `like`, without regard to any white space

Anything else, and python with any other word behind it, is for reading only.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

import needs
import proctor
from proctor.service.http.native import schema, session_schema
from proctor.solver.envelope import Envelope, Partial
from proctor.variables import VARIABLES
from served import serving
from waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
OF_CPP = re.compile(r'#include|"c\+\+"|\.cpp\b')
"""Pattern found in examples that take a C++ compiler."""
OF_NAMESPACES = re.compile(
    r"\bnamespaces\b|proctor solve|proctor-tack|solve_instances|solver_generated|/v1/solve|SolverHost"
)
"""Pattern found in examples that take that level: as solvers do, where there is no engine."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKED = [*PAGES, *(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"))]
OF_OTHERS = {
    "docs/how-to/give-an-agent-python.md": ("langchain-core", "smolagents"),
    "docs/reference/e2b.md": ("e2b-code-interpreter",),
}
"""Packages that the Python of a page takes."""
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
DOORS = ("http-api", "sandbox-fusion", "judge0", "piston", "nemo", "mcp", "tack", "e2b")
API_PAGE = ROOT / "docs" / "reference" / "python-api.md"

FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:(?:echo|printf|cat) [^|]*\| )*proctor\b")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MARK = "\x1e block ends \x1e"

RUNNER = """
import json, sys
names = {"__name__": "__main__"}
for line, code, page in json.load(sys.stdin):
    exec(compile("\\n" * (line - 1) + code, page, "exec"), names)
    print(MARK, flush=True)
""".replace("MARK", repr(MARK))

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")},
    "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}",
    "NO_COLOR": "1",
    "COLUMNS": "100",
    "TERM": "dumb",
}


@dataclass(frozen=True)
class Block:
    language: str
    options: list[str]
    text: str
    line: int

    @property
    def values(self) -> dict[str, str]:
        return dict(option.split("=", 1) for option in self.options if "=" in option)


@dataclass
class Command:
    """One `$` line of a console block and the output shown below it."""

    line: str
    shown: list[str] = field(default_factory=list)


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2].split(), found[3], text.count("\n", 0, found.start(3)) + 1)
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> list[Command]:
    found: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line.removeprefix("$ ")))
        elif found and found[-1].line.endswith("\\"):
            found[-1].line = found[-1].line.removesuffix("\\") + line.strip()
        elif found:
            found[-1].shown.append(line)
    return [command for command in found if COMMAND.match(command.line)]


def same(shown: str, printed: str, how: list[str]) -> bool:
    if "like" in how:
        shown, printed = normal(shown), normal(printed)
    pattern = ".*".join(map(re.escape, shown.strip().split("...")))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def normal(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\d+(?:\.\d+)?(?:e-\d+)?", "N", text))


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


FIRST = ("README.md", "docs/tutorial/first-verdict.md", "docs/how-to/choose-isolation.md")
"""Pages with what a newcomer begins with: tried each time, and as an ordinary user too."""


def marked(page: Path) -> Any:
    """Return the page as a parameter, marked with the packages that it takes."""
    marks = [pytest.mark.user] if page_id(page) in FIRST else []
    if others := OF_OTHERS.get(page_id(page)):
        marks.append(pytest.mark.package(*others))
    return pytest.param(page, id=page_id(page), marks=marks)


def skip_without_needs(*texts: str) -> None:
    for pattern, unmet in ((OF_CPP, needs.compiler), (OF_NAMESPACES, needs.namespaces)):
        if any(map(pattern.search, texts)) and (missing := unmet()):
            pytest.skip(missing)


@pytest.mark.sampled(3, always=FIRST)
@pytest.mark.parametrize("page", [marked(page) for page in PAGES])
def test_page(page: Path, tmp_path: Path) -> None:
    found = blocks(page)
    skip_without_needs(*(block.text for block in found))
    for block in found:
        if name := block.values.get("file"):
            target = tmp_path / name
            assert not target.exists(), f"{name} is written twice"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
    for block in found:
        if block.language == "console":
            check_console(block, tmp_path)
    check_python(page, found, tmp_path)
    check_http(found)


def check_http(found: list[Block]) -> None:
    """Send a page's requests to one server, in order."""
    if not any(block.language == "http" for block in found):
        return
    with serving() as served, served.client() as client:
        answer = None
        for block in found:
            if block.language != "http":
                continue
            head, _, text = block.text.partition("\n\n")
            first, *lines = head.splitlines()
            if "answer" in block.options:
                assert answer is not None
                printed = squeezed(normal(answer.text))
                said = f"line {block.line}: {answer.status_code} {answer.headers}\n{answer.text}"
                assert first.split()[0] == str(answer.status_code), said
                for name, _, value in (line.partition(": ") for line in lines):
                    assert same(normal(value), normal(answer.headers[name]), ["exact"]), said
                assert same(squeezed(normal(text)), printed, ["exact"]), said
                continue
            method, path = first.split()
            if "{id}" in path:
                assert answer is not None
                path = path.replace("{id}", answer.json()["id"])
            headers = dict(line.split(": ", 1) for line in lines)
            answer = client.request(method, path, headers=headers, content=text.encode())


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def check_console(block: Block, directory: Path) -> None:
    for command in commands(block):
        done = subprocess.run(
            ["bash", "-c", command.line],
            cwd=directory, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        said = f"$ {command.line}\n{done.stdout}-> {done.returncode}"
        assert done.returncode == int(block.values.get("exit", 0)), said
        if "exact" in block.options or "like" in block.options:
            assert same("\n".join(command.shown), done.stdout, block.options), said


def check_python(page: Path, found: list[Block], directory: Path) -> None:
    programs = [
        (index, block)
        for index, block in enumerate(found)
        if block.language == "python" and not block.options
    ]
    if not programs:
        return
    given = json.dumps([(block.line, block.text, page_id(page)) for _, block in programs])
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        cwd=directory, env=ENVIRONMENT, input=given, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{MARK}\n")
    for (index, block), output in zip(programs, printed, strict=False):
        after = found[index + 1] if index + 1 < len(found) else None
        if after is not None and "output" in after.options:
            assert same(after.text, output, ["exact"]), f"line {block.line} prints {output!r}"


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=page_id)
def test_example(example: Path, tmp_path: Path) -> None:
    skip_without_needs(example.read_text("utf-8"))
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_examples_are_listed() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert EXAMPLES
    assert [path.name for path in EXAMPLES if path.name not in text] == []


def test_the_reference_is_generated() -> None:
    """Tables of commands, settings, errors and HTTP are as `make reference` writes them."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "reference"), "--check"],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_every_route_and_field_of_the_server_is_documented() -> None:
    """By the pages of the doors, from what the server says of itself."""
    pages = {
        name: (ROOT / "docs" / "reference" / f"{name}.md").read_text("utf-8") for name in DOORS
    }
    everything = "\n".join(pages.values())
    found = openapi()
    paths = [path.replace("identity", "id").replace("{name}", "{id}") for path in found["paths"]]
    assert "/v1/judge" in paths
    missing = [path for path in paths if path not in everything and not other_place(path)]
    assert missing == [], missing
    for struct in (
        each
        for module in (schema, session_schema)
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, msgspec.Struct)
    ):
        assert f"### {struct.__name__.removesuffix('Json')}\n" in pages["http-api"], struct
    envelope = (ROOT / "docs" / "reference" / "solve-envelope.md").read_text("utf-8")
    answered = {*Envelope.__struct_encode_fields__, *Partial.__struct_encode_fields__}
    assert "jobId" in answered
    assert [name for name in sorted(answered) if f"`{name}`" not in envelope] == []


def other_place(path: str) -> bool:
    """Whether it is a second place of what stands in the pages at its first."""
    return path.startswith(("/judge0/", "/judge0-extra/", "/api/v2"))


def openapi() -> Any:
    with serving() as served, served.client() as client:
        return client.get("/schema/openapi.json").json()


def test_every_public_name_is_documented() -> None:
    text = API_PAGE.read_text(encoding="utf-8")
    missing = [name for name in proctor.__all__ if not re.search(rf"`{name}\b", text)]
    assert missing == []


def test_every_environment_variable_is_declared() -> None:
    """The table of configuration.md is generated from the declarations."""
    used = {
        name
        for path in (ROOT / "src" / "proctor").rglob("*.py")
        if path.name != "variables.py"
        for name in re.findall(r"\bPROCTOR_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8"))
    }
    assert "PROCTOR_ISOLATION" in used
    declared = {name for each in VARIABLES for name in each.names.split(", ")}
    assert used - declared == set()
    # The tests' own variable is read by the tests alone.
    mine = {name for name in declared if name.startswith("PROCTOR_")}
    assert mine - used - {"PROCTOR_TEST_DATA"} == set()


def test_named_files_exist() -> None:
    """The architecture page names modules by their path below src/proctor."""
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|c|h))`", text)
    assert named
    assert [path for path in named if not (ROOT / "src" / "proctor" / path).is_file()] == []


@pytest.mark.parametrize("page", LINKED, ids=page_id)
def test_links(page: Path) -> None:
    broken = []
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        known = target.is_relative_to(ROOT) and target.exists()
        if not known or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in HEADING.findall(text)
    }
