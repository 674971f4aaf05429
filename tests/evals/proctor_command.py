"""What the fixture `proctor` gives: a call of the command, and how it ended."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Proctor = Callable[..., Done]


def report(done: Done) -> dict[str, Any]:
    """Return what a command that succeeded has written with --json."""
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found
