"""What the fixture `proctor` gives: a call of the command, and how it ended."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Proctor = Callable[..., Done]
