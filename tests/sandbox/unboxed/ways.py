"""The ways to cells without namespaces that are tried (see conftest.py)."""

import shutil
from pathlib import Path

import pytest
from cells import Driver

from elsewhere import Elsewhere, names

NO_CAPABILITIES = "the system's bwrap, no capabilities"
WAYS = {
    "own users, counted": ("as-is",),
    "own users": ("container",),
    "scopes": names("no-user-namespaces", user=True),
    NO_CAPABILITIES: names("as-is", user=True),
    NO_CAPABILITIES + ", no /proc": names("masked-proc", user=True),
}
USERS = ("scopes", NO_CAPABILITIES)
"""Ways that are an ordinary user's too; the others take root."""


def driver(way: str, library: Path) -> Driver:
    there = Elsewhere(library, names=WAYS[way])
    if not way.startswith(NO_CAPABILITIES):
        return Driver(there, "landlock")
    if shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin") is None:
        pytest.skip("the system has no bwrap of its own")
    return Driver(there, "namespaces", way)
