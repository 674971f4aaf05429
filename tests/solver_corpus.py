"""Solver programs of every kind, good, unlucky and hostile, and the envelopes they deserve.

A file of tests/solver/corpus says in its head, as TOML behind `#:`, what its envelope must hold.
"""

import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest

CORPUS = sorted(Path(__file__).parent.joinpath("solver", "corpus").glob("*.py"))
LEVELS = ("namespaces", "landlock", "none", "container")
SECRET = "not for programs"
GIVEN = (
    b'{"capacity": 10, "items":'
    b' [{"id": "a", "size": 6}, {"id": "b", "size": 5}, {"id": "c", "size": 4}]}'
)


@dataclass
class Expected:
    """The head of a corpus file."""

    fields: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> "Expected":
        head = "\n".join(line[2:] for line in text.splitlines() if line.startswith("#:"))
        expected = cls()
        for name, value in _flat(tomllib.loads(head)):
            own = name in {"timeout", "levels", "marker", "memory", "survivors", "warning", "digest",
                           "most_incumbents"}  # fmt: skip
            (expected.options if own else expected.fields)[name] = value
        return expected


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def marked(place: Path) -> Profile:
    """The packing profile, with a marker."""
    shutil.copytree(profiles.folder("packing"), place)
    with (place / "profile.toml").open("a") as file:
        file.write('\n[marker]\ntext = "SOLUTION_FOUND"\n')
    return profiles.load(str(place / "profile.toml"))


def smaller(profile: Profile, memory: str | None) -> Profile:
    """The profile with little of everything."""
    limits = msgspec.structs.replace(
        profile.limits, grace=0.3, memory=(int(memory.removesuffix("M")) if memory else 512) << 20,
        output=8 << 20,
    )  # fmt: skip
    return msgspec.structs.replace(profile, warm=(), limits=limits)


def solved(host: SolverHost, path: Path, expected: Expected, with_marker: Profile) -> Envelope:
    """What a program of the corpus comes to."""
    options = expected.options
    profile = with_marker if options.get("marker") else profiles.load("packing")
    small = smaller(profile, options.get("memory"))
    timeout = options.get("timeout", 30)
    return host.solve(SolveRequest(path.read_bytes(), GIVEN, small, timeout, 1, 7))


def compare(envelope: Envelope, expected: Expected) -> None:
    plain = msgspec.to_builtins(envelope)
    msgspec.json.decode(msgspec.json.encode(envelope))
    found = {}
    for name in expected.fields:
        value: Any = envelope
        for part in name.split("."):
            value = getattr(value, part)
        found[name] = value
    assert found == expected.fields, plain
    options = expected.options
    assert options.get("digest", "") in envelope.error_digest, plain
    assert options.get("warning", "") in "\n".join(envelope.warnings), plain
    assert len(envelope.incumbents) <= options.get("most_incumbents", 50)
    if name := options.get("survivors"):
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        assert name not in listed.stdout
    assert envelope.isolation is not None or envelope.phase in {"compile", "prepare"}
    assert SECRET not in str(plain)
