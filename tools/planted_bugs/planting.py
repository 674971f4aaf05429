"""Bugs as plain data, and copies of the tree to plant them in."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".hypothesis", ".*_cache", "__pycache__", "node_modules", "build", "dist"
)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::[\w:]+)", re.MULTILINE)
_LONGEST = 1800.0
"""Seconds that one run of pytest may take: its tests have limits of their own."""


class PlantError(Exception):
    """Something that says nothing of the tests: a bug that is none, or a tree that fails anyway."""


@dataclass(frozen=True, slots=True)
class Bug:
    """One bug."""

    name: str
    file: str
    """File below src/proctor."""
    text: str
    """Text to replace, which occurs once in the file."""
    instead: str
    tests: tuple[str, ...]
    """Files below tests that are run first."""

    @property
    def folder(self) -> str:
        """Folder below tests that mirrors the file's: the nearest that exists."""
        folder = Path(self.file).parent
        while not (ROOT / "tests" / folder).is_dir():
            folder = folder.parent
        return str(folder)

    def planted(self, source: str) -> str:
        """Return the source with the bug. Raises PlantError if its text is not there just once."""
        times = source.count(self.text)
        if times != 1:
            raise PlantError(
                f"{self.name}: {self.text!r} is {times} times in src/proctor/{self.file}, not once:"
                " write another text, or another bug, into bugs.toml"
            )
        return source.replace(self.text, self.instead)


@dataclass(frozen=True, slots=True)
class Found:
    """Outcome of planting one bug."""

    name: str
    by: str
    """Test that failed; empty if none did."""
    seconds: float


def read_bugs() -> list[Bug]:
    """Return all bugs. Raises PlantError if a name occurs twice, or a text is not there once."""
    table = tomllib.loads(Path(__file__).with_name("bugs.toml").read_text("utf-8"))
    bugs = [
        Bug(each["name"], each["file"], each["text"], each["instead"], tuple(each["tests"]))
        for each in table["bug"]
    ]
    names = [each.name for each in bugs]
    for bug in bugs:
        if names.count(bug.name) > 1:
            raise PlantError(f"two bugs have the name {bug.name}")
        bug.planted((ROOT / "src/proctor" / bug.file).read_text("utf-8"))
    return bugs


class Tree:
    """A copy of the working tree, with caches of its own."""

    def __init__(self, place: Path) -> None:
        """Copy it to `place`, which must not exist."""
        shutil.copytree(ROOT, place / "tree", ignore=_LEFT_OUT)
        self._root = place / "tree"
        paths = [str(self._root / "src"), os.environ.get("PYTHONPATH", "")]
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "XDG_CACHE_HOME": str(place / "cache"),
        }

    def tried(self, bug: Bug) -> Found:
        """Plant a bug, and run tests until one fails. Raises PlantError."""
        began = time.monotonic()
        tests = [f"tests/{name}" for name in bug.tests]
        rest = [f"tests/{bug.folder}", *(f"--ignore={name}" for name in tests)]
        with self.with_bug(bug):
            by = self._failed(bug, tests) or self._failed(bug, rest)
        if by and self._failed(bug, [by]):
            raise PlantError(f"{bug.name}: {by} fails without it, too")
        return Found(bug.name, by, time.monotonic() - began)

    @contextmanager
    def with_bug(self, bug: Bug) -> Iterator[Path]:
        """Have the bug in the copy for a while; yields the file."""
        path = self._root / "src/proctor" / bug.file
        source = path.read_text("utf-8")
        try:
            _write(path, bug.planted(source))
            yield path
        finally:
            _write(path, source)

    def _failed(self, bug: Bug, arguments: list[str]) -> str:
        """Return the first test that fails, "" if none does. Raises PlantError."""
        options = "-x -q --quick --tb=no -rfE -p no:cacheprovider"
        command = [sys.executable, "-m", "pytest", *options.split(), *arguments]
        done = subprocess.run(
            command, cwd=self._root, env=self._environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=_LONGEST,
        )  # fmt: skip
        found = _FAILED.search(done.stdout)
        if done.returncode == 1 and found is not None:
            return found[1]
        if done.returncode != 0:
            said = (done.stdout + done.stderr)[-2000:]
            raise PlantError(f"{bug.name}: pytest ended with {done.returncode}: {said}")
        return ""


def _write(path: Path, source: str) -> None:
    """Write a module, and drop what was compiled: its date and size may be the same."""
    path.write_text(source, "utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
