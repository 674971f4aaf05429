"""Environment variables of Tack's execution host, in proctor's own terms.

Commands call adopt() when they begin: the code below them knows only proctor's own variables.
"""

import os

_SWITCHES = {
    "TT_PRODUCTION": "PROCTOR_PRODUCTION",
    "TT_SANDBOX_ALLOW_UNSAFE": "PROCTOR_ALLOW_UNSAFE",
}
_LEVELS = {"docker": "container", "bwrap": "namespaces", "none": "none"}


def adopt() -> None:
    """Set proctor's variables from Tack's; the code that runs solvers refuses unknown modes."""
    for name, own in _SWITCHES.items():
        if os.environ.get(name) == "1":
            os.environ[own] = "1"
    mode = os.environ.get("TT_SANDBOX_MODE", "")
    if mode in {"", "auto"}:
        return
    os.environ.setdefault("PROCTOR_SOLVER_ISOLATION", _LEVELS.get(mode, mode))
