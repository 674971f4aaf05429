"""Builds the documentation's site: `python tools/site` writes build/site and checks its links.

It needs the extra `docs`, and no network. Exit code 1 if a page, a link or an anchor is wrong.
"""

import subprocess
import sys

from check import check_site
from prepare import ROOT, prepare

BUILD = ROOT / "build"


def main() -> int:
    """Return the exit code."""
    settings = prepare(ROOT / "mkdocs.yml", BUILD)
    # The tool that reads the source takes strings for annotations, and causes these warnings.
    python = [sys.executable, "-W", "ignore::SyntaxWarning", "-m"]
    command = [*python, "zensical", "build", "--strict", "--clean", "-f", settings]
    built = subprocess.run(command, cwd=BUILD, check=False)
    if built.returncode:
        return 1
    found = check_site(BUILD / "site")
    for line in [*found.broken, *(f"{each} is of another host" for each in found.foreign)]:
        print(line, file=sys.stderr)
    print(f"build/site: {len(found.outside)} links to other hosts, which are not followed")
    return 1 if found.broken or found.foreign else 0


if __name__ == "__main__":
    sys.exit(main())
