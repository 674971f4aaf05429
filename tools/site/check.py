"""Check of the built site: each link within it leads to a page that is there, each anchor too."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASSETS = {"link", "script", "img", "source", "iframe"}
"""Elements that a browser loads by itself: none of them may be of another host."""
NO_PAGES = {"canonical"}


@dataclass
class Findings:
    """Links that lead nowhere, assets of other hosts, and links to other hosts."""

    broken: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)


class _Page(HTMLParser):
    """The links, assets and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {""}
        self.links: set[str] = set()
        self.assets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        self.anchors |= {name for name in (of.get("id"), of.get("name")) if name}
        if tag == "link" and of.get("rel") in NO_PAGES:
            return
        for name in ("href", "src", "srcset", "poster"):
            if (value := of.get(name)) is not None:
                (self.assets if tag in ASSETS else self.links).add(value.split(" ")[0])


def check_site(folder: Path) -> Findings:
    """Look at every page of a built site."""
    pages = {
        path.relative_to(folder).as_posix(): _Page(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }
    found = Findings()
    for name, page in pages.items():
        if name == "404.html":
            continue  # it is shown at any address: its links begin at the host's root
        found.foreign += [f"{name}: {link}" for link in page.assets if urlsplit(link).netloc]
        found.outside |= {link for link in page.links if _elsewhere(link)}
        found.broken += _broken(folder, pages, name, page)
    return found


def _broken(folder: Path, pages: dict[str, _Page], name: str, page: _Page) -> Iterator[str]:
    for link in sorted(page.links | page.assets):
        if _elsewhere(link):
            continue
        parts = urlsplit(link)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
        target = name if not parts.path else path
        if (folder / target).is_dir():
            target = posixpath.normpath(f"{target}/index.html")
        if not (folder / target).is_file():
            yield f"{name}: {link} is not there"
        elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield f"{name}: {link} has no such anchor"


def _elsewhere(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc) or bool(parts.scheme)
