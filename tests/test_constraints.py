"""tools/constraints.txt pins what `make` installs, within the bounds of pyproject.toml."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def pins() -> dict[str, Requirement]:
    lines = (ROOT / "tools" / "constraints.txt").read_text("utf-8").splitlines()
    made = [Requirement(line) for line in lines if not line.startswith("#")]
    return {canonicalize_name(each.name): each for each in made}


def wanted() -> list[Requirement]:
    """Return what proctor[dev] names, and what the extras in it name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    found, waiting, seen = [], [*project["dependencies"], "proctor[dev]"], set[str]()
    while waiting:
        each = Requirement(waiting.pop())
        if each.name != "proctor":
            found.append(each)
        new = each.extras - seen if each.name == "proctor" else set()
        seen |= new
        waiting += [line for extra in new for line in extras[extra]]
    return found


def test_all_that_tests_and_checks_need_is_pinned_within_its_bounds() -> None:
    """`python tools/constraints.py` writes the file anew."""
    pinned = pins()
    assert len(wanted()) > 40
    for each in wanted():
        (version,) = pinned[canonicalize_name(each.name)].specifier
        assert version.operator == "=="
        assert each.specifier.contains(version.version, prereleases=True), str(each)
