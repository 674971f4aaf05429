"""Packed problems that a server keeps in memory for later judgements.

Each owner has separate ones: knowing the digest of another's problem gives no access to it. A
problem is not forgotten while judgements wait for it or use it.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from proctor.errors import Busy, InputError, UnknownProblem
from proctor.judging.foreign import check_foreign
from proctor.judging.packed import count_values, digest_of, unpack
from proctor.judging.remote import KEPT
from proctor.limits import GIB, check_limits, physical_memory
from proctor.problem import Problem

MOST_VALUES = 1 << 21
"""Values in one packed problem: 100,000 tests with all that a test can have."""
_VALUE = 64
"""Bytes that a small value takes in memory, about."""
_UNPACKED_AT_ONCE = 2
_COME_BACK = 1.0
"""Seconds after which judgements that hold problems may have ended."""


@dataclass(slots=True)
class _KeptProblem:
    problem: Problem
    size: int
    users: int = 0
    """Judgements that wait or run."""


class ProblemStore:
    """Problems by owner and digest. Lives in one event loop."""

    def __init__(self, most_of_one: int = KEPT, most: int | None = None) -> None:
        """Keep up to `most_of_one` bytes per owner and `most` in all; None: an eighth of memory."""
        share = min(4 * GIB, physical_memory() // 8)
        self.most_of_one = most_of_one
        self._most = max(most_of_one, share) if most is None else most
        self._kept: OrderedDict[tuple[str, str], _KeptProblem] = OrderedDict()
        """By owner and digest, the least recently used first."""
        self._sizes = Counter[str]()
        """Bytes of the problems of each owner."""
        self._unpacking = asyncio.Semaphore(_UNPACKED_AT_ONCE)

    async def put(self, owner: str, digest: str, data: bytes) -> None:
        """Keep a problem.

        Raises InputError for bytes that are not the packed problem of this digest, or for a
        problem that is not judged here; Busy while problems that are in use leave no room.
        """
        if (owner, digest) in self._kept:
            self._kept.move_to_end((owner, digest))
            return
        async with self._unpacking:
            problem, size = await asyncio.to_thread(_unpacked, digest, data)
        if (owner, digest) not in self._kept:
            self._make_room(owner, size)
            self._kept[owner, digest] = _KeptProblem(problem, size)
            self._sizes[owner] += size

    @contextmanager
    def use(self, owner: str, digest: str) -> Iterator[Problem]:
        """Give a problem, which is kept for as long as the block runs. Raises UnknownProblem."""
        kept = self._kept.get((owner, digest))
        if kept is None:
            raise UnknownProblem(f"no problem with the SHA-256 {digest} of yours is kept")
        self._kept.move_to_end((owner, digest))
        kept.users += 1
        try:
            yield kept.problem
        finally:
            kept.users -= 1

    def _make_room(self, owner: str, size: int) -> None:
        """Make room by forgetting the owner's problems first, then those of others. Raises Busy.

        A problem that is too large for its owner is kept if the owner has no other.
        """
        over = self._sizes[owner] + size - self.most_of_one
        if over > 0 and self._forget(over, owner) > 0 and self._sizes[owner]:
            raise Busy("your judgements under way use all the memory for your problems", _COME_BACK)
        over = self._sizes.total() + size - self._most
        if over > 0 and self._forget(over) > 0 and self._kept:
            raise Busy("judgements under way use all the memory for problems", _COME_BACK)

    def _forget(self, over: int, owner: str | None = None) -> int:
        """Forget problems, of one owner or all, that nobody uses; return the bytes still over."""
        unused = [
            key
            for key, each in self._kept.items()
            if not each.users and (owner is None or key[0] == owner)
        ]
        for key in unused:
            if over <= 0:
                break
            size = self._kept.pop(key).size
            self._sizes[key[0]] -= size
            over -= size
        self._sizes = +self._sizes  # `+` drops owners who have none left
        return over


def _unpacked(digest: str, data: bytes) -> tuple[Problem, int]:
    if digest_of(data) != digest:
        raise InputError(f"is not the problem whose SHA-256 is {digest}")
    size = len(data) + _VALUE * count_values(data, MOST_VALUES)
    problem = unpack(data, Problem)
    check_foreign(problem)
    if problem.limits is not None:
        check_limits(problem.limits)
    return problem, size
