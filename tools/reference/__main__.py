"""Generates the tables of docs/reference from the code: commands, settings, errors, HTTP.

`python tools/reference` writes them, `python tools/reference --check` says which are out of date.
A page has `<!-- generated: NAME -->` before each table and `<!-- end -->` behind it; all else in a
page is written by hand.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import command_line
import configuration
import error_codes
import http_api

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference"
TABLES: dict[str, Callable[[], str]] = {
    "commands": command_line.commands,
    "configuration keys": configuration.keys,
    "environment": configuration.variables,
    "error codes": error_codes.codes,
    "routes": http_api.routes,
    "requests": http_api.requests,
    "answers": http_api.answers,
    "session fields": http_api.sessions,
}
REGION = re.compile(r"(<!-- generated: ([^\n]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def filled(text: str) -> str:
    """Return a page with its tables as they are to be."""
    return REGION.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n{found[3]}", text)


def main(arguments: list[str]) -> int:
    """Write the pages, or check them; return the exit code."""
    out_of_date, used = [], set()
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text("utf-8")
        used |= {name for _, name, _ in REGION.findall(text)}
        wanted = filled(text)
        if wanted != text:
            out_of_date.append(page)
            if "--check" not in arguments:
                page.write_text(wanted, "utf-8")
    if missing := TABLES.keys() - used:
        print(f"no page has: {', '.join(sorted(missing))}")
        return 1
    for page in out_of_date:
        print(
            f"docs/reference/{page.name}: "
            + ("out of date: make reference" if "--check" in arguments else "written")
        )
    return 1 if out_of_date and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
