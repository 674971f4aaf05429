"""Loading a package of any format.

A new format is a module beside this one with `load(tree) -> Package`, and its line in `_FORMATS`.
"""

from importlib import import_module
from pathlib import Path

from proctor.errors import InputError
from proctor.formats.packages.files import Tree
from proctor.formats.packages.model import (
    Bound,
    Claim,
    Expectation,
    Labelled,
    Package,
    Part,
    Timing,
)

__all__ = ["Bound", "Claim", "Expectation", "Labelled", "Package", "Part", "Timing", "load"]

# By main file: title, and module, which is imported when there is such a package. Tried in this
# order: exports to other formats are put into an ICPC package more often than the other way round.
_FORMATS = {
    "problem.toml": ("proctor's own", "native"),
    "problem.yaml": ("ICPC/Kattis", "icpc"),
    "problem.json": ("IOI (TPS, CMS)", "tps"),
    "task.yaml.orig": ("Italian, for task-maker", "italian"),
    "task.yaml": ("Italian, for CMS", "italian"),
    "task.yml": ("Italian, for CMS", "italian"),
    "problem.xml": ("Polygon", "polygon"),
    "init.yml": ("DMOJ", "dmoj"),
}


def is_main_file(name: str) -> bool:
    """Return True if a file's name says that a package is around it."""
    return name in _FORMATS


def load(path: Path | str) -> Package:
    """Load the package in a directory, or the one that a main file belongs to.

    Tests are not read, only named. Raises InputError, with file and field, for a directory that
    is no package and for a package that is broken.
    """
    path = Path(path)
    tree = Tree.at(path.parent if path.name in _FORMATS and path.is_file() else path)
    for name, (_, module) in _FORMATS.items():
        if tree.is_file(name):
            loaded: Package = import_module(f"{__package__}.{module}").load(tree)
            return loaded
    beside = tree.root.with_suffix(tree.root.suffix + ".yaml")  # where CMS took it from, long ago
    if beside.is_file() and tree.is_dir("sol"):
        raise InputError(f"there is no task.yaml; move {beside} to task.yaml", file=str(tree.root))
    looked = ", ".join(f"{name} ({title})" for name, (title, _) in _FORMATS.items())
    raise InputError(f"not a problem package: none of {looked} is there", file=str(path))
