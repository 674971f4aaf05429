"""Judgements as they travel to other machines: a problem goes to each of them once, by its digest.

Both ends keep problems: the sender those that it has packed, the receiver those that it was sent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from proctor.errors import InputError
from proctor.judging.packed import digest_of, pack, to_judge, unpack
from proctor.judging.settings import JudgeSettings
from proctor.limits import MIB
from proctor.problem import Problem
from proctor.program import Program

KEPT = 512 * MIB
"""Bytes of packed problems that each end keeps; a larger one is kept alone."""


@dataclass(frozen=True, slots=True)
class Payload:
    """All of one judgement but its problem."""

    program: Program
    settings: JudgeSettings
    subtasks: tuple[str, ...] | None = None


def payload_of(
    program: Program | str, settings: JudgeSettings, subtasks: Collection[str] | None
) -> bytes:
    """Return a packed Payload. Raises InputError for arguments of other types."""
    if not isinstance(program, Program):
        program = Program(program)
    return pack(Payload(program, settings, None if subtasks is None else tuple(subtasks)))


class KeptProblems:
    """Problems where they are judged; the least recently used are forgotten as they grow many."""

    def __init__(self, most: int = KEPT) -> None:
        """`most`: bytes, packed."""
        self._most, self._size = most, 0
        self._kept: OrderedDict[str, tuple[Problem, int]] = OrderedDict()

    def add(self, digest: str, data: bytes) -> None:
        """Keep a problem. Raises InputError if it is not a problem, or not that of this digest."""
        if digest in self._kept:
            return
        if digest_of(data) != digest:
            raise InputError(f"is not the problem whose SHA-256 is {digest}")
        self._kept[digest] = unpack(data, Problem), len(data)
        self._size += len(data)

    def get(self, digest: str) -> Problem | None:
        """Return a problem, which is now the most recently used; None if it is not kept."""
        if digest not in self._kept:
            return None
        self._kept.move_to_end(digest)
        return self._kept[digest][0]

    def shrink(self) -> list[str]:
        """Forget problems beyond `most`; return their digests. The most recently used one stays."""
        gone = []
        while self._size > self._most and len(self._kept) > 1:
            digest, (_, size) = self._kept.popitem(last=False)
            self._size -= size
            gone.append(digest)
        return gone


@dataclass(frozen=True, slots=True, eq=False)
class PackedProblem:
    """A problem that has been packed, kept as long as any judgement needs it."""

    digest: str
    data: Any
    """Its bytes, or a reference to them in a store that machines share."""


class PackedProblems:
    """The most recently used problems, each packed once. Not for several threads at once."""

    def __init__(self, put: Callable[[bytes], Any] = bytes, most: int = KEPT) -> None:
        """`put` hands bytes to a store that machines share, and returns a reference to them."""
        self._put, self._most, self._size = put, most, 0
        self._known: OrderedDict[int, tuple[Problem, PackedProblem, int]] = OrderedDict()
        """By the problem's id(), which nothing else has as long as the problem is kept here."""

    def get(self, problem: Problem) -> PackedProblem:
        """Return a problem's packed form. Raises InputError if a file that it names is gone."""
        if (known := self._known.get(id(problem))) is not None:
            self._known.move_to_end(id(problem))
            return known[1]
        data = pack(to_judge(problem))
        packed = PackedProblem(digest_of(data), self._put(data))
        self._known[id(problem)] = problem, packed, len(data)
        self._size += len(data)
        while self._size > self._most and len(self._known) > 1:
            self._size -= self._known.popitem(last=False)[1][2]
        return packed
