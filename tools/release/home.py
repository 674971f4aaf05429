"""Writes where the project lives into every file that must say it.

`python tools/release/home.py OWNER/NAME` once, when the repository is on GitHub, and again whenever
it moves; `--check` says which files are not as it would write them, and exits with 1 if there are
any. Until it has been run nothing names an address, and the release workflow refuses to publish.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
BEGIN, END = "home: written by tools/release/home.py", "home: end"
"""Words of comments around what is written; whatever is between them is replaced."""


@dataclass(frozen=True, slots=True)
class Home:
    """A repository on GitHub."""

    name: str
    """OWNER/NAME."""

    @property
    def owner(self) -> str:
        return self.name.partition("/")[0]

    @property
    def url(self) -> str:
        return f"https://github.com/{self.name}"

    @property
    def site(self) -> str:
        """Address of its documentation, on GitHub's pages."""
        owner, _, name = self.name.partition("/")
        return f"https://{owner.lower()}.github.io/{name}/"


def pyproject(text: str, home: Home) -> str:
    """Write [project.urls]."""
    urls = f"""\
[project.urls]
Homepage = "{home.url}"
Documentation = "{home.site}"
Repository = "{home.url}"
Issues = "{home.url}/issues"
Changelog = "{home.url}/blob/main/CHANGELOG.md"
"""
    return _between(text, "# ", urls, before="[tool.setuptools.dynamic]\n")


def citation(text: str, home: Home) -> str:
    """Add where the software is to be had."""
    said = f'repository-code: "{home.url}"\nurl: "{home.site}"\n'
    return _between(text, "# ", said, before="keywords:\n")


def readme(text: str, home: Home) -> str:
    """Add badges below the title, and the address to clone from."""
    ci = f"{home.url}/actions/workflows/ci.yml"
    badges = f"""\
[![CI]({ci}/badge.svg?branch=main)]({ci})
[![PyPI](https://img.shields.io/pypi/v/proctor)](https://pypi.org/project/proctor/)
[![Python](https://img.shields.io/pypi/pyversions/proctor)](https://pypi.org/project/proctor/)
"""
    title, rest = text.split("\n", 1)
    text = f"{title}\n" + _between(rest, "<!-- ", badges, before="", after=" -->")
    return re.sub(
        r"git clone (?:<this repository>|https://github\.com/\S+)", f"git clone {home.url}", text
    )


def codeowners(text: str, home: Home) -> str:
    """Name who is asked to review."""
    return _between(text, "# ", f"* @{home.owner}\n", before="")


def issue_choices(text: str, home: Home) -> str:
    """Send reports of holes to the private form."""
    said = f"""\
contact_links:
  - name: A hole in the sandbox, or a verdict that was not earned on purpose
    url: {home.url}/security/advisories/new
    about: In private, please. SECURITY.md says what counts.
"""
    return _between(text, "# ", said, before="")


def security(text: str, home: Home) -> str:
    """Add the address of the private form."""
    said = f"The form is at <{home.url}/security/advisories/new>.\n"
    return _between(text, "<!-- ", said, before="Send what we need", after=" -->")


WRITTEN: dict[str, Callable[[str, Home], str]] = {
    "pyproject.toml": pyproject,
    "CITATION.cff": citation,
    "README.md": readme,
    "SECURITY.md": security,
    ".github/CODEOWNERS": codeowners,
    ".github/ISSUE_TEMPLATE/config.yml": issue_choices,
}
"""For each file its text afterwards. The documentation's site is told where it is by the workflow
that publishes it, and images are named for the repository by theirs."""


def _between(text: str, comment: str, said: str, before: str, after: str = "") -> str:
    """Put text between its two comments; at first they go before a line, "" being the beginning."""
    begin, end = f"{comment}{BEGIN}{after}\n", f"{comment}{END}{after}\n"
    block = f"{begin}{said}{end}"
    if begin in text:
        head, _, rest = text.partition(begin)
        return head + block + rest.partition(end)[2]
    if before not in text:
        raise SystemExit(f"no line {before.strip()!r} to write before")
    head, found, rest = text.partition(before) if before else ("", "", text)
    return f"{head}{block}\n{found}{rest}"


def current(root: Path) -> Home | None:
    """Return the home that pyproject.toml names, if any."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    url = project.get("urls", {}).get("Repository", "")
    return Home(url.removeprefix("https://github.com/")) if url else None


def stale(root: Path, home: Home) -> dict[Path, str]:
    """Return the files that do not say where the project lives, and their text if they did."""
    changed = {}
    for name, write in WRITTEN.items():
        place = root / name
        text = place.read_text("utf-8")
        if (wanted := write(text, home)) != text:
            changed[place] = wanted
    return changed


def main() -> int:
    """Write or check the files; return the exit code."""
    parser = argparse.ArgumentParser(description="Write where the project lives.")
    parser.add_argument("home", nargs="?", metavar="OWNER/NAME", help="repository on GitHub")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if not all say it")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    home = Home(asked.home) if asked.home else current(asked.root)
    if home is None:
        print("pyproject.toml names no repository: run tools/release/home.py OWNER/NAME first")
        return 1
    if not NAME.fullmatch(home.name):
        parser.error(f"a repository is OWNER/NAME, not {home.name!r}")
    changed = stale(asked.root, home)
    for place, text in changed.items():
        if not asked.check:
            place.write_text(text, "utf-8")
        print(f"{'stale' if asked.check else 'written'}: {place.relative_to(asked.root)}")
    return int(asked.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
