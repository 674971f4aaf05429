"""Says whether a tag may be released, and prints the release's notes.

`python tools/release/ready.py v1.2.3 > notes.md` exits with 1, and says what is missing, unless the
tag is the version's, the changelog has a dated section of it, and the project has a home.
"""

import re
import sys
from pathlib import Path

import home

ROOT = Path(__file__).resolve().parents[2]
DATED = re.compile(r"\d{4}-\d\d-\d\d")


def version(root: Path) -> str:
    """Return the version, from the one place that has it, without importing anything."""
    text = (root / "src/proctor/version.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit("src/proctor/version.py has no __version__")
    return found[1]


def section(changelog: str, wanted: str) -> tuple[str, str]:
    """Return the date of a version's section, or what stands in its place, and the section."""
    found = re.search(
        rf"^## \[{re.escape(wanted)}\] - ([^\n]+)\n(.*?)(?=^## \[|\Z)",
        changelog,
        re.MULTILINE | re.DOTALL,
    )
    return (found[1].strip(), found[2].strip()) if found else ("", "")


def faults(root: Path, tag: str) -> list[str]:
    """Return what keeps this tag from being released."""
    found = []
    now = version(root)
    if tag != f"v{now}":
        found.append(f"the tag is {tag}, but src/proctor/version.py has {now}: tag v{now}")
    date, text = section((root / "CHANGELOG.md").read_text("utf-8"), now)
    if not text:
        found.append(f"CHANGELOG.md has no section '## [{now}] - DATE' with text")
    elif not DATED.fullmatch(date):
        found.append(f"CHANGELOG.md dates {now} {date!r}: write the day of the release, YYYY-MM-DD")
    lives = home.current(root)
    if lives is None:
        found.append("pyproject.toml names no repository: run tools/release/home.py OWNER/NAME")
    else:
        found += [
            f"{place.relative_to(root)} does not name {lives.url}: run tools/release/home.py"
            for place in home.stale(root, lives)
        ]
    return found


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Print the notes, or what is missing; return the exit code."""
    if len(arguments) != 1:
        print("usage: ready.py vVERSION", file=sys.stderr)
        return 2
    missing = faults(root, arguments[0])
    for each in missing:
        print(f"not ready: {each}", file=sys.stderr)
    if missing:
        return 1
    print(section((root / "CHANGELOG.md").read_text("utf-8"), version(root))[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
