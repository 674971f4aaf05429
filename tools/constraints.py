"""Writes tools/constraints.txt: the versions installed here of all that tests and checks need.

With them `make` installs everywhere what was tried, and pip has nothing to search: left alone, pip
25 gave up after 20 minutes. To move on, install newer ones, run the tests, then this.
"""

import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

PLACE = Path(__file__).with_suffix(".txt")
FIRST, USUAL = "3.11.0", "3.11.5"
"""The oldest Python that we support, and one from which on every package has to work."""
NOT_OURS = {"pip", "proctor"}


def line(package: Distribution) -> str:
    """Pin a package; a version that the oldest Python cannot have, for newer ones only."""
    pin = f"{canonicalize_name(package.metadata['Name'])}=={package.version}"
    needs = SpecifierSet(package.metadata.get("Requires-Python") or "")
    if FIRST in needs:
        return pin
    if USUAL not in needs:
        sys.exit(f"{pin} needs Python {needs}: choose another version")
    return f'{pin} ; python_full_version >= "{USUAL}"'


def main() -> None:
    """Write the file."""
    packages = [each for each in distributions() if each.metadata["Name"] not in NOT_OURS]
    head = "# Written by tools/constraints.py.\n"
    PLACE.write_text(head + "".join(f"{each}\n" for each in sorted(map(line, packages))), "utf-8")
    print(f"wrote {PLACE}")


if __name__ == "__main__":
    main()
