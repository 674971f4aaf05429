"""Interface of a store of verdicts, in a file or on a server: 32-byte keys, entries of any size."""

from typing import Protocol

SCHEMES = ("redis", "rediss")
"""Schemes of the addresses of servers; any other place is a directory."""


class VerdictStore(Protocol):
    """Keeps entries by key, and may lose any. Methods may be called from any thread.

    All raise InfraFault where the store cannot be used, with the reason and the remedy.
    """

    name: str
    """The directory or server, without passwords."""

    def get(self, key: bytes) -> bytes | None:
        """Return an entry, which is now the most recently used; None if there is none."""

    def put(self, key: bytes, entry: bytes) -> None:
        """Keep an entry, in place of the one there is."""

    def drop(self, key: bytes) -> None:
        """Forget an entry, if there is one."""

    def close(self) -> None:
        """Close the store; never raises. Its other methods are not called afterwards."""
