"""The documentation's site: every page is reachable, every public name is shown, nothing is foreign."""

import functools
import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

import proctor

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools" / "site"


def tool(name: str) -> ModuleType:
    """Load a module of tools/site, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", TOOL / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


prepare = tool("prepare")
check = tool("check")


def pages_of(navigation: object) -> list[str]:
    match navigation:
        case str():
            return [navigation]
        case dict():
            return [page for value in navigation.values() for page in pages_of(value)]
        case list():
            return [page for value in navigation for page in pages_of(value)]
    raise AssertionError(navigation)


def test_every_page_is_in_the_navigation_once() -> None:
    """A page that is not is a line that docs/index.md lacks."""
    listed = pages_of(prepare.navigation())
    written = [
        prepare.place(path.relative_to(ROOT).as_posix())
        for path in (ROOT / "docs").rglob("*")
        if path.suffix in {".md", ".ipynb"}
    ]
    assert sorted(set(written) - set(listed)) == [], "not linked from docs/index.md"
    assert sorted({page for page in listed if listed.count(page) > 1}) == []


def test_links_to_other_files_of_the_repository_stay_on_the_site() -> None:
    index = prepare.page("docs/index.md")
    assert "](repository/SECURITY.md)" in index
    assert "](index.md)" in index  # README
    assert "](docs/" not in prepare.page("README.md")
    assert "](../index.md)" not in prepare.page("docs/compare/index.md")
    assert "](../repository/benchmarks/RESULTS.md)" in prepare.page("docs/compare/index.md")


def test_pictures_of_other_hosts_and_links_to_folders_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "README.md").write_text(
        "a\n\n![x](https://example.org/x.svg)\n[![y](https://example.org/y)](LICENSE)\n\n"
        '<img width="1" src="https://example.org/z.png">[all](docs/) ![own](docs/own.svg)\n'
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "own.svg").touch()
    monkeypatch.setattr(prepare, "ROOT", tmp_path)
    assert prepare.page("README.md") == "a\n\n\nall ![own](own.svg)\n"


@pytest.mark.parametrize(
    ("origin", "target", "address"),
    [
        ("README.md", "docs/images/demo.svg", "images/demo.svg"),
        ("README.md", "docs/how-to/use-in-rl.md", "how-to/use-in-rl"),
        ("docs/reference/cli.md", "docs/images/demo.svg", "../../images/demo.svg"),
        ("docs/reference/cli.md", "README.md", "../.."),
        ("docs/compare/index.md", "docs/compare/piston.md", "piston"),
    ],
)
def test_addresses_in_html(origin: str, target: str, address: str) -> None:
    assert prepare.address(target, origin) == address


def test_what_a_code_block_is_for_is_not_shown() -> None:
    found = prepare.by_fences(
        "a\n```python file=x/y.py\n1\n```\nb\n```console like exit=1\n$ true\n```\n",
        str.upper,
        prepare.titled,
    )
    assert found == 'A\n```python title="x/y.py"\n1\n```\nB\n```console\n$ true\n```\n'


def test_what_a_site_has_wrong_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="a/#there">1</a><a href="a/#gone">2</a><a href="b/">3</a>'
        '<a href="#top">4</a><a href="https://example.org/x">5</a><img src="data:,">'
    )
    (tmp_path / "a" / "index.html").write_text(
        '<p id="there"></p><script src="https://example.org/y.js"></script><a href="..">6</a>'
    )
    found = check.check_site(tmp_path)
    assert found.broken == [
        "index.html: a/#gone has no such anchor",
        "index.html: b/ is not there",
    ]
    assert found.foreign == ["a/index.html: https://example.org/y.js"]
    assert found.outside == {"https://example.org/x"}


@pytest.mark.package("nbconvert")
def test_a_notebook_is_a_page_with_its_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs" / "tutorial").mkdir(parents=True)
    (tmp_path / "SECURITY.md").write_text("# Security\n")
    cell = {"id": "a", "metadata": {}, "source": "# Title\n[hole](../../SECURITY.md)"}
    printed = {"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m\n"}
    code = {"id": "b", "metadata": {}, "source": "print()", "execution_count": 1}
    cells = [cell | {"cell_type": "markdown"}, code | {"cell_type": "code", "outputs": [printed]}]
    language = {"language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "docs" / "tutorial" / "x.ipynb").write_text(json.dumps(notebook))
    monkeypatch.setattr(prepare, "ROOT", tmp_path)
    text = prepare.page("docs/tutorial/x.ipynb")
    assert "# Title\n[hole](../repository/SECURITY.md)" in text
    assert "```python\nprint()\n```" in text
    assert "    red\n" in text
    assert prepare.place("docs/tutorial/x.ipynb") == "tutorial/x.md"


@pytest.fixture(scope="module")
def site() -> Path:
    done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build" / "site"


class Anchors(HTMLParser):
    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {value for name, value in attrs if name == "id" and value}


@pytest.mark.package("zensical", "mkdocstrings-python", "nbconvert")
def test_docstrings_of_all_public_names_are_on_the_site(site: Path) -> None:
    found = Anchors(site / "reference" / "python-api" / "index.html").found
    assert [name for name in proctor.__all__ if f"proctor.{name}" not in found] == []
    assert "proctor.clients.connect" in found
    assert "proctor.Limits.memory" in found


@pytest.mark.package("zensical", "mkdocstrings-python", "nbconvert")
@pytest.mark.browser
def test_search_finds_a_page_and_asks_no_other_host(site: Path) -> None:
    from chromium import chromium

    with served(site) as address, chromium() as tab:
        tab.size(1280)
        tab.open(address, "document.readyState === 'complete'")
        tab.press("/")
        tab.wait("document.activeElement.shadowRoot?.querySelector('input')")
        tab.call("Input.insertText", text="idle limit")
        tab.wait("document.activeElement.shadowRoot.textContent.includes('Limits and clocks')")
        loaded = tab.run("performance.getEntriesByType('resource').map(each => each.name)")
        assert loaded
        assert [name for name in loaded if not name.startswith((address, "blob:", "data:"))] == []
        assert tab.said == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
