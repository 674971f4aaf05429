"""Which isolation level is used. Never a silent fallback."""

import os

from proctor.errors import NoIsolation, SettingsError
from proctor.sandbox.backend import Backend

LEVELS = ("namespaces", "none")
"""Levels by strength. `container` and `landlock` have their place between these two."""


def choose(level: str | None = None) -> Backend:
    """Return the backend for `level`; None means PROCTOR_ISOLATION or the default, namespaces.

    Raises SettingsError for an unknown level and NoIsolation if it is not permitted here.
    """
    wanted = level or os.environ.get("PROCTOR_ISOLATION") or LEVELS[0]
    if wanted not in LEVELS:
        raise SettingsError(f"isolation level {wanted!r} is not one of {', '.join(LEVELS)}")
    if wanted == "none":
        return _none()
    from proctor.sandbox.bubblewrap import Bubblewrap

    return Bubblewrap()


def _none() -> Backend:
    if os.environ.get("PROCTOR_PRODUCTION") == "1":
        raise NoIsolation("level none is refused while PROCTOR_PRODUCTION=1")
    if os.environ.get("PROCTOR_ALLOW_UNSAFE") != "1":
        raise NoIsolation(
            "level none runs programs with no isolation at all; set PROCTOR_ALLOW_UNSAFE=1 to"
            " accept that, on a machine you can lose"
        )
    from proctor.sandbox.unsafe import Unsafe

    return Unsafe()
