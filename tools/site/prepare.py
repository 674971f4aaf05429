"""Preparation of the site's source: docs/, README and what they link to, with no copy kept in git.

Pages stay where GitHub shows them, and link to one another as there. For the site

- README.md is the home page, and docs/index.md is "All pages": its sections are the navigation;
- a file outside docs/ that a page links to is a page below `repository/`, left out of the search;
- pictures of other hosts, such as badges, are left out;
- a notebook is a page, with the outputs it was committed with;
- what stands behind a code block's language is its title if it is `file=NAME`, else for tests;
- the tables of the page "Python API" are followed by what docstrings say of each name.
"""

import posixpath
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
INDEX, README = "docs/index.md", "README.md"
HOME, ALL_PAGES, BESIDE = "index.md", "pages.md", "repository"
API = "docs/reference/python-api.md"
PAGES = (".md", ".ipynb")
TOP_MODULE = "proctor"

_FENCE = re.compile(r"^(```+)(\w*)[ \t]*([^\n]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
_FOLDER = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:)[^)\s#]+/\)")
_HTML = re.compile(r'\b(src|srcset|href)="(?![a-z]+:|#)([^"\s]+)"')
_BADGE = r"!\[[^\]]*\]\(https?:[^)]*\)"
_FOREIGN_IMAGE = re.compile(
    rf'\[{_BADGE}\]\([^)]*\)\n?|{_BADGE}\n?|<img\b[^>]*\bsrc="https?:[^>]*>', re.MULTILINE
)
_ENTRY = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_NAMES = re.compile(r"^\| (`[A-Za-z_.]+`(?:, `[A-Za-z_.]+`)*) \|")
_NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


def prepare(settings: Path, folder: Path) -> Path:
    """Write to a folder all pages and the settings with the navigation; return the settings."""
    pages = folder / "site-pages"
    shutil.rmtree(pages, ignore_errors=True)
    for path in _all_files():
        target = pages / place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.startswith("docs/") and not path.endswith(PAGES):
            shutil.copyfile(ROOT / path, target)
            continue
        text = page(path) if path.endswith(PAGES) else _listing(path)
        if place(path).startswith(BESIDE):
            text = f"{_NOT_SEARCHED}{text}"  # a changelog would be found by any search
        target.write_text(text, encoding="utf-8")
    written = folder / "mkdocs.yml"
    navigation_text = yaml.safe_dump({"nav": navigation()}, sort_keys=False)
    written.write_text(f"{settings.read_text('utf-8')}\n{navigation_text}", encoding="utf-8")
    return written


def navigation() -> list[Any]:
    """Return the sections of docs/index.md, a page each link."""
    sections: list[Any] = [{"Home": HOME}, {"All pages": ALL_PAGES}]
    for section in re.split(r"^## ", _read(INDEX), flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        sections.append({title.strip(): list(_entries(text))})
    return sections


def _entries(text: str) -> Iterator[Any]:
    """Yield a section's pages; one that is a folder's index brings those it links to there."""
    for title, link in _ENTRY.findall(text):
        target = target_of(INDEX, link)
        if target is None:
            continue  # a test reports that the link leads nowhere
        if posixpath.basename(target) != "index.md":
            yield {title: place(target)}
            continue
        yield place(target)
        for name, inside in _ENTRY.findall(_read(target)):
            if "/" not in inside:
                yield {name: place(f"{posixpath.dirname(target)}/{inside}")}


def _all_files() -> set[str]:
    """Return the paths of all of docs/, and of what its pages link to, and so on."""
    docs = (path for path in (ROOT / "docs").rglob("*") if path.is_file())
    waiting = [README, *(path.relative_to(ROOT).as_posix() for path in docs)]
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if path.endswith(PAGES):
            links = _LINK.findall(_FENCE.sub("", _markdown(path)))
            waiting += [each for link, _ in links if (each := target_of(path, link))]
    return found


def page(path: str) -> str:
    """Return a page's Markdown with links and code blocks as the site has them."""
    here = posixpath.dirname(place(path)) or "."

    def linked(found: re.Match[str]) -> str:
        target = target_of(path, found[1])
        if target is None:
            return found[0]  # broken: the check of the built site says so
        return f"]({posixpath.relpath(place(target), here)}{found[2] or ''})"

    def shown(found: re.Match[str]) -> str:
        target = target_of(path, found[2])
        return f'{found[1]}="{address(target, path)}"' if target else found[0]

    def outside(part: str) -> str:
        part = _FOREIGN_IMAGE.sub("", part)  # a badge would tell its host who reads this
        part = _FOLDER.sub(r"\1", part)  # the site shows no folders
        return _HTML.sub(shown, _LINK.sub(linked, part))

    text = _markdown(path)
    return by_fences(_with_docstrings(text) if path == API else text, outside, titled)


def by_fences(
    text: str, outside: Callable[[str], str], inside: Callable[[re.Match[str]], str]
) -> str:
    """Return a text with what is outside of its code blocks, and each block, rewritten."""
    made, end = [], 0
    for fence in _FENCE.finditer(text):
        made += [outside(text[end : fence.start()]), inside(fence)]
        end = fence.end()
    return "".join([*made, outside(text[end:])])


def titled(fence: re.Match[str]) -> str:
    """Return a code block with the name of its file, and without what tests do with it."""
    name = re.search(r"\bfile=(\S+)", fence[3])
    title = f' title="{name[1]}"' if name else ""
    return f"{fence[1]}{fence[2]}{title}\n{fence[4]}{fence[1]}"


def _with_docstrings(markdown: str) -> str:
    """Put behind each table of names what the docstrings say of them, and link them."""
    made: list[str] = []
    names: list[str] = []
    for line in [*markdown.splitlines(), ""]:
        if found := _NAMES.match(line):
            row = {name: _full(name) for name in found[1].replace("`", "").split(", ")}
            names += row.values()
            links = ", ".join(f"[`{name}`](#{full})" for name, full in row.items())
            made.append(f"| {links} |{line[found.end() :]}")
            continue
        if names and not line.startswith("|"):
            made += ["", *(f"::: {name}" for name in names)]
            names = []
        made.append(line)
    return "\n".join(made)


def _full(name: str) -> str:
    return name if "." in name else f"{TOP_MODULE}.{name}"


def _markdown(path: str) -> str:
    """Return a page's Markdown as it is in git; of a notebook, its cells and their outputs."""
    if not path.endswith(".ipynb"):
        return _read(path)
    from nbconvert import MarkdownExporter
    from nbconvert.filters import strip_ansi

    exporter = MarkdownExporter(config={"NbConvertBase": {"display_data_priority": _SHOWN}})
    text, _ = exporter.from_filename(str(ROOT / path))
    return str(strip_ansi(text))


_SHOWN = ["text/html", "text/markdown", "text/plain"]
"""Forms of a notebook's outputs, the first that there is; pictures are none of them."""


def _listing(path: str) -> str:
    language = {"py": "python", "toml": "toml"}.get(path.rpartition(".")[2], "text")
    return f"# {posixpath.basename(path)}\n\n`{path}`\n\n````{language}\n{_read(path)}\n````\n"


def target_of(origin: str, link: str) -> str | None:
    """Return the path from the root that a page's link leads to; None where there is no file."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link.partition("#")[0]))
    return path if not path.startswith("..") and (ROOT / path).is_file() else None


def place(path: str) -> str:
    """Return where the site's source has a file, which is given by its path from the root."""
    if path in {README, INDEX}:
        return {README: HOME, INDEX: ALL_PAGES}[path]
    if path.startswith("docs/"):
        return re.sub(r"\.ipynb$", ".md", path.removeprefix("docs/"))
    return f"{BESIDE}/{path if path.endswith('.md') else path + '.md'}"


def address(target: str, origin: str) -> str:
    """Return the relative address of a file as HTML within a page needs it."""

    def url(path: str) -> str:
        placed = place(path)
        if not placed.endswith(".md"):
            return placed
        plain = placed.removesuffix(".md")
        return re.sub(r"(^|/)(index|README)$", r"\1", plain) if _is_index(plain) else f"{plain}/"

    return posixpath.relpath(url(target) or ".", url(origin) or ".")


def _is_index(plain: str) -> bool:
    return posixpath.basename(plain) in {"index", "README"}


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
