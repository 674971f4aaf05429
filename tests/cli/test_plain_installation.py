"""Tests of the command line as `pip install proctor` without any extra gives it."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Runs the command line where packages named by the first argument cannot be imported.
RUNNER = """
import sys

from importlib.machinery import PathFinder

class Installed(PathFinder):
    missing = set(sys.argv.pop(1).split(","))

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in cls.missing:
            return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Installed
from proctor.cli.main import main
sys.argv[0] = "proctor"
main()
"""


def plain() -> set[str]:
    """Return the names of proctor's own requirements, and of theirs."""
    found: set[str] = set()
    waiting = ["proctor"]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        found.add(name)
        try:
            wanted = [Requirement(each) for each in requires(name) or ()]
        except PackageNotFoundError:  # one for another system
            continue
        waiting += [
            each.name for each in wanted
            if each.marker is None or each.marker.evaluate({"extra": ""})
        ]  # fmt: skip
    return found


@pytest.fixture(scope="module")
def missing() -> str:
    allowed = plain()
    names = [
        name
        for name, owners in packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & allowed
    ]
    assert "litestar" in names
    return ",".join(names)


def command(missing: str, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", RUNNER, missing, *words],
        input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_daemon_runs_programs(missing: str) -> None:
    asked = [
        {"id": 1, "method": "run", "params": {"program": {"source": "print(6 * 7)"}}},
        {"id": 2, "method": "skeleton", "params": {}},
    ]
    ended = command(missing, "daemon", stdin="".join(json.dumps(each) + "\n" for each in asked))
    assert ended.returncode == 0, ended.stderr
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    results = {each["id"]: each["result"] for each in answers if "result" in each}
    assert results[1]["execution"]["stdout"]["text"] == "42\n"
    assert results[2]["files"]


def test_a_program_runs(missing: str) -> None:
    ended = command(missing, "run", "-", stdin="print(6 * 7)")
    assert (ended.returncode, ended.stdout) == (0, "42\n"), ended.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("serve", "serve"),
        ("mcp", "mcp"),
        ("solve - --syntax-check", "solver"),
        ("solve - --input no-such-file", "solver"),
        ("solve - --input no-such-file --profile packing --isolation namespaces", "solver"),
    ],
)
def test_a_missing_extra_is_named(missing: str, words: str, extra: str) -> None:
    ended = command(missing, *words.split(), stdin="pass")
    assert ended.returncode == 2, ended.stderr
    (line,) = ended.stderr.splitlines()  # and nothing of what else may be wrong
    assert line.endswith(f": pip install 'proctor[{extra}]'")
