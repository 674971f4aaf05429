"""Old import paths of modules that have moved: they work until 1.0, and warn.

`proctor/__init__.py` puts a finder at the end of `sys.meta_path`, which is asked only for modules
that nobody else finds, and loads this module only then. An old path gives the very module that has
the new one.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from proctor.deprecation import Deprecation

MOVED = {
    "proctor.bench": "proctor.evals",
    "proctor.client": "proctor.clients",
    "proctor.compat": "proctor.integrations",
    "proctor.engine": "proctor.service",
    "proctor.ioi": "proctor.evals.ioi",
    "proctor.judging.formats": "proctor.formats",
    "proctor.report": "proctor.reports",
    "proctor.serve": "proctor.service.http",
    "proctor.serve.daemon": "proctor.service.daemon",
    "proctor.serve.mcp": "proctor.service.mcp.server",
    "proctor.serve.tools": "proctor.service.mcp.tools",
    "proctor.solver.resources": "proctor.solver.profile",
    "proctor.solver.timetable": "proctor.timetable",
    "proctor.solver.timetable.serving": "proctor.timetable.profile",
    "proctor.solver.validation.report": "proctor.solver.report",
}
"""Old path -> new path, of a package with all that is in it. The longest that fits counts."""


def new_path(name: str) -> str | None:
    """Return the new path of a module; None if it has not moved."""
    old = name
    while old not in MOVED:
        old, dot, _ = old.rpartition(".")
        if not dot:
            return None
    return MOVED[old] + name[len(old) :]


def spec_of(name: str) -> ModuleSpec | None:
    """Return a spec that leads to a moved module; None for any other name. Called by finders."""
    new = new_path(name) if name.startswith("proctor.") else None
    if new is None or find_spec(new) is None:
        return None
    if name in MOVED:
        # Name the import statement's line: frames of the import system do not count as levels.
        Deprecation("0.1", "1.0", new).warn(name, stacklevel=2)
    # First from now on: the usual finder would load the modules of a moved package once more.
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    return ModuleSpec(name, _FINDER)


class _MovedModules(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        return spec_of(name)

    def create_module(self, _spec: ModuleSpec) -> None:
        pass  # the import system makes an empty module, which is replaced

    def exec_module(self, module: ModuleType) -> None:
        new = new_path(module.__name__)
        assert new is not None
        sys.modules[module.__name__] = import_module(new)


_FINDER = _MovedModules()
