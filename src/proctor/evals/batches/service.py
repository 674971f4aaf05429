"""The contract of a provider's batches, and what is common to all of them."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from proctor.errors import ModelReplyBroken
from proctor.evals.models import wire
from proctor.evals.models.model import ModelRequest
from proctor.evals.models.refusals import one_line

MOST_PAGES = 1000
"""Pages of a list of batches at most."""
CLOCKS = 3600.0
"""Seconds by which this machine's clock and a provider's may differ."""
_T = TypeVar("_T")


class RequestBatch(msgspec.Struct, frozen=True):
    """One batch of a run, as it is stored."""

    number: int
    """Number within the run, from 1."""
    token: str
    """Random digits by which the batch is recognised at the provider."""
    path: str
    """Path of the API that its requests are for, such as /v1/chat/completions."""
    count: int
    """Number of requests."""
    made: float
    """Unix time at which it was to be handed in."""
    id: str = ""
    """Id at the provider; empty until the batch is known to be there."""
    status: str = ""
    """Status in the provider's words, once it has ended."""
    fault: str = ""
    """Reason why it has no replies at all."""
    downloaded: bool = False
    """True if its replies are in the run's directory."""

    def custom_id(self, key: str) -> str:
        """Return the name of a request within the batch; it tells runs with equal prompts apart."""
        return f"{key}-{self.token}"

    def key(self, custom_id: str) -> str | None:
        """Return the key of a request by its name within the batch; None for another batch's."""
        key, _, token = custom_id.partition("-")
        return key if token == self.token else None


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the provider sees it."""

    status: str
    ended: bool
    done: int
    """Requests that are done with, the failed ones included."""
    results: tuple[str, ...] = ()
    """Names of what is to be downloaded, once it has ended."""
    fault: str = ""
    """Reason why it has no replies at all."""


@dataclass(frozen=True, slots=True)
class BatchForm:
    """The file of a batch: how it is written, and how much it may hold."""

    requests: int
    """Requests in a batch at most."""
    size: int
    """Bytes in a batch at most."""
    head: bytes = b""
    between: bytes = b""
    tail: bytes = b""


class BatchService(Protocol):
    """Batches at a provider. Each call is one attempt, and raises ModelFault."""

    form: BatchForm

    async def probe(self) -> str | None:
        """Check the provider, within seconds and free of charge; returns a remark or None."""
        ...

    def path(self, request: ModelRequest) -> str:
        """Return a request's API path; all of a batch have the same. Raises SettingsError."""
        ...

    def line(self, request: ModelRequest, custom_id: str) -> bytes:
        """Write a request as it stands in the file. Raises SettingsError."""
        ...

    async def submit(self, batch: RequestBatch, file: Path) -> str:
        """Hand in a batch; returns its id. After a fault it may be there all the same."""
        ...

    async def found(self, batch: RequestBatch, known: Collection[str]) -> str | None:
        """Look for a batch that may have been handed in; returns its id, or None if it was not.

        `known` are ids of the run's other batches. Raises a ModelFault that is not passing if
        this cannot be decided.
        """
        ...

    async def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        ...

    def results(self, name: str) -> AsyncIterator[bytes]:
        """Download what `BatchState.results` names, in pieces: JSON lines with `custom_id`."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class _Named(msgspec.Struct):
    custom_id: str


_NAMED = msgspec.json.Decoder(_Named)


def custom_id_of(line: bytes) -> str:
    """Return the name of the request that a line of results is for. Raises ModelReplyBroken."""
    try:
        return wire.decoded(line, _NAMED).custom_id
    except (ValueError, RecursionError) as error:
        raise ModelReplyBroken(f"a line of results is broken: {error}") from error


def read(body: bytes, kind: type[_T], secrets: Collection[str]) -> _T:
    """Decode a provider's answer. Raises ModelReplyBroken, a passing fault without secrets."""
    try:
        return wire.decoded(body, msgspec.json.Decoder(kind))
    except (ValueError, RecursionError) as error:
        why, start = one_line(str(error), secrets), wire.start_of(body, secrets)
        raise ModelReplyBroken(f"the answer is not what it should be ({why}): {start!r}") from error
