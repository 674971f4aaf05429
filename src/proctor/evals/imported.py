"""Code of the user's own that an option names as MODULE:NAME."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def imported(name: str) -> Any:
    """Return what MODULE:NAME names; modules in the working directory are found, too.

    Raises ImportError, AttributeError or ValueError for a name that leads nowhere, and whatever the
    module raises.
    """
    module, _, attribute = name.partition(":")
    if (here := str(Path.cwd())) not in sys.path:  # a console script does not look there
        sys.path.append(here)
    return getattr(import_module(module), attribute)
