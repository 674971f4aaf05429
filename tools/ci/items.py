"""Parts that a landing may run, what each is about and what each needs of the machine."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ci import graph, machine
from ci.changes import ROOT
from ci.running import Item

THIRDS = 3
"""Number of landings in which each far part has its turn."""
_REAL_PARTS = (
    "docker", "podman", "slurm", "browser", "kernel", "typescript", "ray", "outside", "package",
)  # fmt: skip
NOT_FAR = f"not ({' or '.join(_REAL_PARTS)})"
"""Tests that are of no far part, by their marks."""
CELLS = ("src/proctor/sandbox/", "src/proctor/cell/", "tests/sandbox/unboxed/")
"""Folders of the code that makes cells, and of the tests of cells without namespaces."""
_FAR = Path(__file__).with_name("far.toml")


@dataclass(frozen=True, slots=True)
class Place:
    """Where and on what a landing is run."""

    scratch: Path
    files: list[str]
    """Files of tests for the part `tests`."""
    affected: frozenset[str]
    """Files of tests that depend on what changed."""
    changed: frozenset[str]
    """Paths that changed; none where that is not known."""
    whole: bool
    """True if every test is run: no sample, and nothing left to later turns."""
    at_once: frozenset[str]
    """Far parts that are run whole, since something that they are about changed; of those that only
    a mark describes, it is the tests that depend on the change."""
    as_user: tuple[str, ...] = ()
    """Words in front of a command that run it as an ordinary user, in a copy of the repository."""
    workers: int = 3
    turn: int = 0

    def share(self, part: str) -> str:
        """Return which share of a far part is tried: 1/1 is all, 2/3 each third from the second."""
        if self.whole or part in self.at_once:
            return "1/1"
        return f"{self.turn // THIRDS % THIRDS + 1}/{THIRDS}"

    def sample(self) -> tuple[str, ...]:
        """Return pytest's arguments for what a landing tries of many tests."""
        listed = self.scratch / "changed"
        listed.write_text("".join(f"{path}\n" for path in sorted(self.changed)), "utf-8")
        return ("--landing", "--changed", str(listed))

    def filled(self, text: str, part: str = "") -> str:
        """Put this run's folder, uv and the share of a part into a text of far.toml."""
        return text.format(scratch=self.scratch, uv=machine.uv(), share=self.share(part))


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a landing runs."""

    name: str
    item: Callable[[Place], Item]
    about: tuple[str, ...] = ()
    """Files and folders after a change of which it is run at once; none if it is run every time."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Debian's packages by the command or file that they are needed for."""
    targets: tuple[str, ...] = (".venv/bin/.ready",)
    """Targets of `make` that bring what it needs into .venv."""
    environments: tuple[str, ...] = ()
    """Groups of dependencies that it needs, each in an environment of its own."""
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that fetch what else it needs."""

    def prepared(self, place: Place) -> Item:
        """Return the item with the commands before it that fetch what it alone needs."""
        made = (machine.environment(place.scratch / each, each) for each in self.environments)
        fetched = (tuple(map(place.filled, command)) for command in self.before)
        return replace(self.item(place), before=(*made, *fetched))


def _having(mark: str) -> list[str]:
    """Return the files of tests with a mark: to collect all others takes as long as some parts."""
    return [each for each in graph.tests() if f"mark.{mark}" in (ROOT / each).read_text("utf-8")]


def _pytest(*arguments: str, python: str = ".venv/bin/python") -> tuple[str, ...]:
    return (python, "-m", "pytest", "-q", "--durations=10", *arguments)


def _demo(place: Place) -> Item:
    """Install a wheel as a user does, with pip, and judge what comes with it."""
    into, dist = place.scratch / "demo", place.scratch / "dist"
    lines = (
        f"{machine.uv()} build --quiet --wheel --out-dir {dist} .",
        f"python3 -m venv {into}",
        f"{into}/bin/pip install --quiet --disable-pip-version-check {dist}/proctor-*.whl",
        f"cd {place.scratch}",
        f"{into}/bin/proctor doctor",
        f"{into}/bin/proctor demo",
        *([f"{into}/bin/proctor demo --mode official"] if place.whole else []),
    )
    return Item("demo", ("bash", "-euc", "\n".join(lines)), shown=30)


def _tests(place: Place) -> Item:
    """Run what this landing tries of the chosen files, but for far parts."""
    many = ("-n", str(place.workers), "--dist", "loadfile", "--max-worker-restart", "0")
    chosen = ("-m", NOT_FAR) if place.whole else place.sample()
    return Item("tests", _pytest(*many, *chosen, *place.files), pytest=True, most=3600, shown=60)


def _unboxed(place: Place) -> Item:
    """Run tests in cells without namespaces; half of them if nothing that makes cells changed."""
    whole = place.whole or any(path.startswith(CELLS) for path in place.changed)
    chosen = () if whole else place.sample()
    return Item("unboxed", _pytest(*chosen, "tests/sandbox/unboxed"), pytest=True)


def _install(place: Place) -> Item:
    """Make the environment of an ordinary user, from nothing, with what `make test` brings."""
    return Item("install", (*place.as_user, "make", ".venv/bin/.ready"))


def _user(place: Place) -> Item:
    """Run the README's command as an ordinary user, for what depends on who runs it."""
    flags = f"PYTEST_FLAGS=-q --landing --durations=10 -m user {' '.join(_having('user'))}"
    return Item("user", (*place.as_user, "make", "test", flags), pytest=True, shown=30)


EVERY_TIME = (
    Part(
        "check", lambda _: Item("check", ("make", "check"), shown=5),
        targets=(".venv/bin/.ready-check",),
    ),
    Part("demo", _demo),
    # Cells of which only the host's looking bounds how many processes a program has: beside the
    # checks and no other tests, since a fork bomb among them can take a small machine minutes.
    Part("unboxed", _unboxed),
    Part("tests", _tests, needs={
        "strace": "strace", "redis-server": "redis-server", "bwrap": "bubblewrap",
        # Languages whose self-tests must pass; `make languages` has the others.
        "cc": "gcc libc6-dev", "g++": "g++", "pypy3": "pypy3", "javac": "openjdk-17-jdk-headless",
        "node": "nodejs", "php": "php-cli", "/usr/bin/rustc": "rustc",
        "mcs": "mono-mcs mono-runtime libmono-system-core4.0-cil libmono-system-numerics4.0-cil",
    }),
    Part("install", _install, needs={  # who cannot reach a Python in root's home
        "import ensurepip, venv": "python3-venv", "/usr/include/python3*/Python.h": "python3-dev",
    }),
    Part("user", _user),
    Part(
        "site", lambda _: Item("site", ("make", "site"), shown=5),
        targets=(".venv/bin/.ready-docs",),
        about=("docs", "src", "README.md", "tools/site", "mkdocs.yml"),
    ),
)  # fmt: skip


def _far(name: str, row: dict[str, Any]) -> Part:
    """Return a far part as its table in far.toml describes it."""

    def item(place: Place) -> Item:
        rest: dict[str, Any] = {
            "environment": {
                key: place.filled(value) for key, value in row.get("variables", {}).items()
            },
            "most": row.get("most", 1800),
        }
        if "command" in row:
            return Item(name, tuple(place.filled(each, name) for each in row["command"]), **rest)
        own = (
            place.filled("{scratch}/" + row["python"] + "/bin/python")
            if "python" in row
            else ".venv/bin/python"
        )
        marks = ("-m", row["mark"]) if "mark" in row else ()
        if place.share(name) != "1/1":
            marks += place.sample()
        tests = row.get("tests") or _having(row["mark"].split()[0])
        if "tests" not in row and name in place.at_once:
            tests = [each for each in tests if each in place.affected] or tests
        nice = ("nice",) if row.get("nice") else ()
        return Item(name, (*nice, *_pytest(*marks, *tests, python=own)), pytest=True, **rest)

    return Part(
        name, item, about=tuple(row["about"]), needs=row.get("needs", {}),
        environments=tuple(row.get("environments", ())),
        before=tuple(map(tuple, row.get("before", ()))),
    )  # fmt: skip


FAR = tuple(_far(name, row) for name, row in tomllib.loads(_FAR.read_text("utf-8")).items())
"""Far parts, in the order of their turns."""
