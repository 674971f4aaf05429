"""Commands and doors of proctor: a file of tests depends on those that it names.

A command is implemented by a function NAME_command of a module in COMMANDS, with the other
functions of that module. In NAME_commands.py these others are also a command of that name, as for
`eval`, whose own commands are made of tables. In a module with a group of commands, such as those
of `proctor ioi`, all functions are of the group.
"""

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ci.changes import ROOT

MAIN = "src/proctor/cli/main.py"
"""Module of the command `proctor`."""
COMMANDS = "src/proctor/cli/"
_DOORS = ("src/proctor/service/http/", "src/proctor/service/")
"""Folders with the server's doors, each in a package of its own."""
_OWN = "native"
"""Door of proctor's own API, which all that have a server use."""
_STARTED = re.compile(
    r"""["']-m["'], *["']proctor["']|["'/]proctor["'/]|\bPROCTOR\b|\bCOMMAND\b|from proctor\.cli"""
)
_GROUP = re.compile(r"^(\w+)_app = ", re.MULTILINE)
_COMMAND = re.compile(r"[a-z]\w*_command")
_WORD = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Named:
    """Commands and doors that a file of tests and its helpers name."""

    words: frozenset[str]
    """Words of their texts in small letters; those with hyphens also with underscores."""
    starts: bool
    """True if one of them starts the command `proctor`."""
    all: bool
    """True if one of them tries what pages of the documentation name, which may be anything."""

    def command(self, name: str) -> bool:
        """Say whether a command is named."""
        return self.all or name in self.words

    def door(self, name: str) -> bool:
        """Say whether a door is named."""
        return self.all or name == _OWN or bool({name, name.replace("_", "")} & self.words)


def starts(file: Path) -> bool:
    """Say whether a file of tests or a helper starts the command."""
    return bool(_STARTED.search(file.read_text("utf-8")))


def words(tree: ast.Module) -> frozenset[str]:
    """Return the words of a module's texts, but for those of its documentation."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in told:
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            found.update(_WORD.findall(text.lower()) if isinstance(text, str) else ())
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(_WORD.findall(ast.unparse(node).lower()))
    return frozenset(found | {each.replace("-", "_") for each in found})


@cache
def scripts() -> dict[str, str]:
    """Return the modules of commands beside `proctor`, such as `proctor-tack`, by their names."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return {
        name: "src/" + home.partition(":")[0].replace(".", "/") + ".py"
        for name, home in about["project"]["scripts"].items() if name != "proctor"
    }  # fmt: skip


def entered(source: str, target: str) -> str | None:
    """Return the door into which an edge leads from outside of it; None if into none."""
    door = _door_of(target)
    return None if door == _door_of(source) else door


def _door_of(file: str) -> str | None:
    below = next((file.removeprefix(each) for each in _DOORS if file.startswith(each)), "")
    return below.partition("/")[0] if "/" in below else None


def commands(file: str, tree: ast.Module) -> dict[str, list[ast.FunctionDef]]:
    """Return by name the commands that a module defines, each with the functions it may call."""
    own = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    if group := _GROUP.search(ast.unparse(tree)):
        return {group[1]: own}
    named = [each for each in own if _COMMAND.fullmatch(each.name)]
    others = [each for each in own if each not in named]
    found = {each.name.removesuffix("_command"): [each, *others] for each in named}
    if file.endswith("_commands.py"):
        found.setdefault(Path(file).stem.removesuffix("_commands"), others)
    return found
