"""A model that is asked by batches: first all requests at once, then each reply is at hand."""

import asyncio
from collections.abc import Callable, Iterable

from proctor.errors import ModelAbsent, ModelRefused, ModelReplyBroken
from proctor.evals.batches.asking import BatchAsker, BatchProgress
from proctor.evals.batches.ledger import BatchLedger
from proctor.evals.batches.results import read_line, results_file
from proctor.evals.batches.service import BatchService
from proctor.evals.models.connections import Retry
from proctor.evals.models.model import ModelReply, ModelRequest
from proctor.evals.store import RunStore


class BatchedModel:
    """A model at a provider that takes batches. `ask` comes before `generate`."""

    def __init__(
        self,
        name: str,
        open_service: Callable[[], BatchService],
        reply_of: Callable[[bytes], ModelReply],
        retry: Retry | None = None,
    ) -> None:
        """`open_service` opens a client in the event loop that is to use it.

        `reply_of` reads a line of results, or raises the ModelFault that is in it.
        """
        self._name = name
        self._open_service = open_service
        self._reply_of = reply_of
        self._retry = retry or Retry(asyncio.sleep)
        self._store: RunStore | None = None

    @property
    def name(self) -> str:
        return self._name

    async def probe(self) -> str | None:
        service = self._open_service()
        try:
            return await service.probe()
        finally:
            await service.close()

    async def ask(
        self,
        store: RunStore,
        requests: Iterable[ModelRequest],
        tell: Callable[[BatchProgress], None] = lambda _progress: None,
    ) -> None:
        """Send all requests, and return when their replies are in the run's directory.

        Requests that were sent before are not sent again. Raises ModelFault, SettingsError,
        InputError; see `BatchAsker.ask`.
        """
        service = self._open_service()
        try:
            asker = BatchAsker(service, BatchLedger(store), store.directory, self._retry, tell)
            await asker.ask(requests)
        finally:
            await service.close()
        self._store = store

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Return the reply that a batch brought. Raises the ModelFault that it brought instead."""
        found = None if self._store is None else BatchLedger(self._store).place(request.key)
        if self._store is None or found is None:
            raise ModelAbsent("was not asked for in a batch")
        batch, position, length = found
        if position is None:
            if batch.fault:
                raise ModelRefused(batch.fault, passing=False)
            raise ModelReplyBroken(
                f"batch {batch.id} has ended ({batch.status}) with no whole reply to this request"
            )
        path = results_file(self._store.directory, batch.number)
        try:
            line = read_line(path, position, length)
        except OSError as error:
            raise ModelAbsent(f"{path} cannot be read: {error.strerror}") from error
        return self._reply_of(line)

    def recorded(self, problem_id: str) -> int | None:  # noqa: ARG002 - any number of any
        return None

    async def close(self) -> None:
        return None
