"""Environment variables of Tack's execution host, in proctor's own terms.

Commands call adopt() where they begin: what is below them knows proctor's own variables only.
"""

import os

_SWITCHES = {
    "TT_PRODUCTION": "PROCTOR_PRODUCTION",
    "TT_SANDBOX_ALLOW_UNSAFE": "PROCTOR_ALLOW_UNSAFE",
}
_LEVELS = {"docker": "container", "bwrap": "namespaces", "none": "none"}


def adopt() -> None:
    """Set proctor's variables by Tack's; an unknown mode is for what runs solvers to refuse."""
    for name, own in _SWITCHES.items():
        if os.environ.get(name) == "1":
            os.environ[own] = "1"
    mode = os.environ.get("TT_SANDBOX_MODE", "")
    if mode in {"", "auto"}:
        return
    os.environ.setdefault("PROCTOR_SOLVER_ISOLATION", _LEVELS.get(mode, mode))
