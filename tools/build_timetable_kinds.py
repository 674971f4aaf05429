"""Writes the constraint kinds into docs/reference/timetable-kinds.md and the profile's prompt.md.

    python tools/build_timetable_kinds.py           writes the table
    python tools/build_timetable_kinds.py --check   writes nothing; exit code 1 if it is out of date

What stands above the marker is written by hand and kept.
"""

import sys
from pathlib import Path

from proctor.timetable.reference import listing, table

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "timetable-kinds.md"
PROMPT = Path(__file__).parents[1] / "src/proctor/timetable/prompt.md"
MARKER = "<!-- From here on written by tools/build_timetable_kinds.py: do not edit. -->\n"
HEADING = "## Kinds of constraints\n"
"""Of the prompt, which models read: no marker there."""


def main(check: bool) -> int:
    """Compare the pages with the registry, and write them unless only asked."""
    stale = [
        page
        for page, marker, text in ((PAGE, MARKER, table()), (PROMPT, HEADING, listing()))
        if _put(page, marker, text, check)
    ]
    if check and stale:
        print(f"{stale[0]} is not what the registry says: run tools/build_timetable_kinds.py")
        return 1
    return 0


def _put(page: Path, marker: str, text: str, check: bool) -> bool:
    """Whether the page said anything else; it no longer does unless only asked."""
    now = page.read_text(encoding="utf-8")
    head, found, _ = now.partition(marker)
    if not found:
        raise SystemExit(f"{page} has no line {marker!r}")
    wanted = head + marker + "\n" + text
    if wanted != now and not check:
        page.write_text(wanted, encoding="utf-8")
    return wanted != now


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
