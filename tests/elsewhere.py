"""Proctor as others find it: by another user, under another interpreter, with fewer privileges.

What is installed is copied to where everybody may read it; sandbox/circumstances.py makes the rest.
Only root can make other circumstances. CI runs as root; an ordinary user gets those that he is in.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import proctor
from proctor.sandbox.machine import interpreter
from waiting import PATIENCE

CIRCUMSTANCES = str(Path(__file__).parent / "sandbox" / "circumstances.py")
SYSTEM_PYTHON = "/usr/bin/python3"
AS_ROOT = os.geteuid() == 0
PROCTOR = ("-c", "from proctor.cli.main import main; main()")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Proctor and what it needs where everybody may read it."""

    library: Path
    python: str = SYSTEM_PYTHON
    names: tuple[str, ...] = ("as-is",)
    """Circumstances, as circumstances.py knows them."""

    def command(self, *arguments: str) -> list[str]:
        """What starts the interpreter with these arguments, there."""
        prefix = [sys.executable, "-I", CIRCUMSTANCES, ",".join(self.names)] if AS_ROOT else []
        return [*prefix, self.python, "-B", *arguments]

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        user = "user" if "user" in self.names or not AS_ROOT else "root"
        return {
            "PATH": "/nowhere",  # a container engine that is at hand here is not there
            "PYTHONPATH": str(self.library),
            # Shared by all circumstances on purpose: what is remembered of one must not be
            # believed in another.
            "XDG_CACHE_HOME": str(self.library / "cache" / user),
            "XDG_CONFIG_HOME": str(self.library / "none"),
            **more,
        }

    def run(
        self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the interpreter to its end."""
        return subprocess.run(
            self.command(*arguments), input=stdin, capture_output=True, text=True,
            timeout=PATIENCE, env=self.environment(env or {}), cwd="/",
        )  # fmt: skip

    def proctor(
        self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the command `proctor` to its end."""
        return self.run(*PROCTOR, *arguments, stdin=stdin, env=env)


@contextmanager
def installed() -> Iterator[Path]:
    """A directory with proctor and all that it depends on, readable by everybody."""
    place = Path(tempfile.mkdtemp(prefix="proctor-test-"))
    try:
        place.chmod(0o755)
        shutil.copytree(
            Path(proctor.__file__).parent, place / "proctor",
            ignore=shutil.ignore_patterns("__pycache__", "*.c", "*.h"),
        )  # fmt: skip
        for name in _requirements("proctor", set()):
            _copy_distribution(name, place)
        for user in ("root", "user"):
            (place / "cache" / user).mkdir(parents=True)
            (place / "cache" / user).chmod(0o777)
        yield place
    finally:
        shutil.rmtree(place)


def _requirements(name: str, seen: set[str]) -> set[str]:
    for line in importlib.metadata.requires(name) or ():
        needed = re.split(r"[^\w.-]", line)[0]
        if "extra ==" in line or needed in seen:
            continue
        try:
            importlib.metadata.version(needed)
        except importlib.metadata.PackageNotFoundError:
            continue  # for other systems or Pythons
        seen.add(needed)
        _requirements(needed, seen)
    return seen


def _copy_distribution(name: str, place: Path) -> None:
    files = importlib.metadata.files(name)
    assert files, f"{name} does not say which files are its own"
    for top in {file.parts[0] for file in files if file.parts[0] != ".."}:
        source = Path(str(importlib.metadata.distribution(name).locate_file(top)))
        if source.is_dir():
            shutil.copytree(source, place / top, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy(source, place)


@contextmanager
def private_python() -> Iterator[str]:
    """An interpreter that root alone may reach, as in root's home: ours if it is one, or a copy."""
    mine = interpreter.current()
    if not all(map(interpreter.readable_by_others, mine.directories)):
        yield mine.executable
        return
    place = Path(tempfile.mkdtemp(prefix="proctor-private-"))  # 0700
    try:
        library = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}"
        shutil.copytree(
            Path(mine.prefix, library), place / library, symlinks=True,
            ignore=shutil.ignore_patterns("test", "site-packages", "dist-packages", "config-*"),
        )  # fmt: skip
        (place / "bin").mkdir()
        copy = shutil.copy(mine.executable, place / "bin")
        yield str(copy)
    finally:
        shutil.rmtree(place)


def names(*circumstances: str, user: bool) -> tuple[str, ...]:
    """Circumstances of root or of an ordinary user."""
    return (*circumstances, "user") if user else circumstances


def said(done: subprocess.CompletedProcess[str]) -> Sequence[str]:
    """For messages of tests: how it ended and the last it said."""
    return [f"exit code {done.returncode}", done.stdout[-2000:], done.stderr[-2000:]]
