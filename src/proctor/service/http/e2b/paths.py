"""Paths of E2B's clients: below /home/user, or relative to it."""

import posixpath

from proctor.errors import InputError

HOME = "/home/user"
LONGEST = 4096


def relative(path: str) -> str:
    """Return a path relative to the workspace, "." for the workspace itself. Raises InputError."""
    if len(path) > LONGEST:
        raise InputError(f"a path has at most {LONGEST} characters")
    whole = posixpath.normpath(posixpath.join(HOME, path))
    if "\0" in path or not (whole == HOME or whole.startswith(f"{HOME}/")):
        raise InputError(f"{path!r} is not below {HOME}, which is all that a sandbox may write to")
    return posixpath.relpath(whole, HOME)


def absolute(path: str) -> str:
    """Return a path of the workspace as clients know it."""
    return posixpath.normpath(posixpath.join(HOME, path))
