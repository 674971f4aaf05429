"""Asking by batches: what is missing is handed in, waited for and downloaded.

Each step is on the disk before the next, so that a kill at any moment costs nothing: a batch is
recorded as intended, with the requests in it, before it is handed in, and what was intended is
looked for at the provider before anything is handed in again.
"""

import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from proctor.errors import ModelFault, ModelReplyBroken
from proctor.evals.batches.ledger import BatchLedger
from proctor.evals.batches.results import (
    FOLDER,
    broken,
    download,
    places,
    requests_file,
    results_file,
)
from proctor.evals.batches.service import BatchService, BatchState, RequestBatch
from proctor.evals.models.connections import Connections, Retry
from proctor.evals.models.model import ModelRequest
from proctor.whole_file import whole_file

FIRST_POLL, LONGEST_POLL = 5.0, 60.0
"""Seconds between two looks at the batches."""
_SLOWER = 1.5
PATIENCE = 10
"""Looks in a row that fail, each after its retries, before the wait ends."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a run's batches are."""

    ids: tuple[str, ...]
    """Batches that have not ended."""
    done: int
    """Requests that are done with, of all batches that were waited for."""
    total: int
    since: float
    """Unix time at which the first of them was handed in."""


@dataclass(slots=True)
class BatchAsker:
    """Asks for the replies of one run."""

    service: BatchService
    ledger: BatchLedger
    directory: Path
    """Directory of the run."""
    retry: Retry
    tell: Callable[[BatchProgress], None] = lambda _progress: None
    """Called after each look at the batches."""
    clock: Callable[[], float] = time.time
    _connections: Connections = field(default_factory=lambda: Connections(4))

    async def ask(self, requests: Iterable[ModelRequest]) -> None:
        """Hand in what is in no batch yet, and return when all batches are in the directory.

        Raises ModelFault if the provider cannot be reached or used, or if it cannot be told
        whether a batch was handed in; SettingsError for a request that it has no form for.
        Cancelled, or killed, it leaves the batches as they are, and goes on with them next time.
        """
        (self.directory / FOLDER).mkdir(exist_ok=True)
        for batch in self.ledger.batches():
            if not batch.id:
                await self._settle(batch)
        for batch, keys in self._written(each for each in requests if self._is_new(each)):
            self.ledger.intend(batch, keys)
            await self._hand_in(batch)
        await self._wait()

    def _is_new(self, request: ModelRequest) -> bool:
        return not self.ledger.asked(request.key)

    def _written(
        self, requests: Iterable[ModelRequest]
    ) -> Iterator[tuple[RequestBatch, list[str]]]:
        """Write requests to files, as many in each as the provider takes; each with its keys."""
        form, service = self.service.form, self.service
        number = max((each.number for each in self.ledger.batches()), default=0)
        waiting = iter(requests)
        request = next(waiting, None)
        while request is not None:
            number += 1
            batch = RequestBatch(
                number, secrets.token_hex(8), service.path(request), 0, self.clock()
            )
            keys, size = list[str](), len(form.head) + len(form.tail)
            with whole_file(requests_file(self.directory, number)) as file:
                file.write(form.head)
                while request is not None and len(keys) < form.requests:
                    line = service.line(request, batch.custom_id(request.key))
                    size += len(line) + len(form.between)
                    if keys and (size > form.size or service.path(request) != batch.path):
                        break
                    file.write(form.between * bool(keys) + line)
                    keys.append(request.key)
                    request = next(waiting, None)
                file.write(form.tail)
            yield msgspec.structs.replace(batch, count=len(keys)), keys

    async def _hand_in(self, batch: RequestBatch) -> None:
        file = requests_file(self.directory, batch.number)
        known = self._ids()
        unsure = False

        async def attempt() -> str:
            nonlocal unsure
            # What seemed to fail may have been taken all the same.
            if unsure and (there := await self.service.found(batch, known)) is not None:
                return there
            unsure = True
            return await self.service.submit(batch, file)

        batch_id = await self._call(attempt)
        self.ledger.update(msgspec.structs.replace(batch, id=batch_id))
        file.unlink()

    async def _settle(self, batch: RequestBatch) -> None:
        """Find out what has become of a batch that was intended when the run was stopped."""
        known = self._ids()
        batch_id = await self._call(lambda: self.service.found(batch, known))
        if batch_id is None:
            self.ledger.forget(batch)
        else:
            self.ledger.update(msgspec.structs.replace(batch, id=batch_id))
        requests_file(self.directory, batch.number).unlink(missing_ok=True)

    async def _wait(self) -> None:
        waiting = [each for each in self.ledger.batches() if not each.downloaded]
        total = sum(each.count for each in waiting)
        since = min((each.made for each in waiting), default=0.0)
        done: dict[int, int] = {}
        pause, failures = FIRST_POLL, 0
        while waiting:
            for batch in tuple(waiting):
                try:
                    state = await self._call(partial(self.service.state, batch.id))
                except ModelFault as fault:
                    failures += 1
                    if not fault.passing or failures >= PATIENCE:
                        fault.args = (f"batch {batch.id}: {fault}",)
                        raise
                    continue
                failures = 0
                done[batch.number] = batch.count if state.ended else state.done
                if state.ended:
                    await self._finish(batch, state)
                    waiting.remove(batch)
            ids = tuple(each.id for each in waiting)
            self.tell(BatchProgress(ids, sum(done.values()), total, since))
            if waiting:
                await self.retry.sleep(pause)
                pause = min(LONGEST_POLL, pause * _SLOWER)

    async def _finish(self, batch: RequestBatch, state: BatchState) -> None:
        """Download the results of a batch, and record where each reply is."""
        path = results_file(self.directory, batch.number)

        async def attempt() -> None:
            await download(self._pieces(state), batch, path)
            if count := broken(path):
                raise ModelReplyBroken(f"batch {batch.id}: {count} lines of results are broken")

        if state.results:
            try:
                await self._call(attempt)
            except ModelReplyBroken:
                # Again and again the same: what can be read is taken, if there is anything.
                if not path.exists() or not any(places(path, batch)):
                    raise
        ended = msgspec.structs.replace(
            batch, status=state.status, fault=state.fault, downloaded=True
        )
        self.ledger.update(ended, places(path, batch) if state.results else ())

    async def _pieces(self, state: BatchState) -> AsyncIterator[bytes]:
        for name in state.results:
            piece = b"\n"
            async for piece in self.service.results(name):
                yield piece
            if not piece.endswith(b"\n"):
                yield b"\n"

    def _ids(self) -> frozenset[str]:
        return frozenset(each.id for each in self.ledger.batches() if each.id)

    async def _call(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        return await self.retry.call(self._connections, attempt)
