"""Environment variables of Tack's execution host, in proctor's own terms.

Commands call adopt() where they begin: what is below them knows proctor's own variables only.
"""

import os

from proctor.errors import InputError

_SWITCHES = {
    "TT_PRODUCTION": "PROCTOR_PRODUCTION",
    "TT_SANDBOX_ALLOW_UNSAFE": "PROCTOR_ALLOW_UNSAFE",
}
_LEVELS = {"docker": "container", "bwrap": "namespaces", "none": "none"}


def adopt() -> None:
    """Set proctor's variables by Tack's. Raises InputError for an unknown TT_SANDBOX_MODE."""
    for name, own in _SWITCHES.items():
        if os.environ.get(name) == "1":
            os.environ[own] = "1"
    mode = os.environ.get("TT_SANDBOX_MODE", "")
    if mode in {"", "auto"}:
        return
    if mode not in _LEVELS:
        raise InputError(f"{mode!r} is not one of {', '.join(_LEVELS)}", field="TT_SANDBOX_MODE")
    os.environ.setdefault("PROCTOR_SOLVER_ISOLATION", _LEVELS[mode])
