"""Asking by batches: what is missing is handed in, waited for and downloaded.

Each step is on the disk before the next, so that a kill at any moment costs nothing: a batch is
recorded as intended, with the requests in it, before it is handed in, and what was intended is
looked for at the provider before anything is handed in again.
"""

import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from proctor.errors import ModelFault, ModelRefused, ModelReplyBroken
from proctor.evals.batches.ledger import BatchLedger
from proctor.evals.batches.results import (
    broken,
    download,
    leftovers,
    places,
    requests_file,
    results_file,
)
from proctor.evals.batches.service import CLOCKS, BatchService, BatchState, RequestBatch
from proctor.evals.models.connections import Connections, Retry
from proctor.evals.models.model import ModelRequest
from proctor.evals.store_file import FOLDER
from proctor.whole_file import whole_file

FIRST_POLL, LONGEST_POLL = 5.0, 60.0
"""Seconds between two looks at the batches."""
_SLOWER = 1.5
PATIENCE = 10
"""Looks in a row that fail, each after its retries, before the wait ends."""
SETTLING = 15.0
"""Seconds after which a provider lists a batch that it has accepted."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """Progress of a run's batches."""

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
        """Hand in requests that are in no batch yet; return when all results are in the directory.

        Raises ModelFault if the provider cannot be reached or used, or if it is unclear whether a
        batch was handed in; SettingsError for a request that its API has no form for.
        Cancelled, or killed, it leaves the batches as they are, and goes on with them next time.
        """
        (self.directory / FOLDER).mkdir(mode=0o700, exist_ok=True)
        for batch in self.ledger.batches():
            if not batch.id:
                await self._settle(batch)
        for rest in leftovers(self.directory):
            rest.unlink()
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
        failed: ModelFault | None = None

        async def attempt() -> str:
            nonlocal failed
            if failed is not None:  # the provider may have taken the batch all the same
                answered = isinstance(failed, ModelRefused)
                there = await self._found(batch, known, at_once=answered)
                if there is not None:
                    return there
            try:
                return await self.service.submit(batch, file)
            except ModelFault as fault:
                failed = fault
                raise

        batch_id = await self._call(attempt)
        self.ledger.update(msgspec.structs.replace(batch, id=batch_id))
        file.unlink()

    async def _settle(self, batch: RequestBatch) -> None:
        """Find out whether a batch that was intended when the run was stopped was handed in."""
        known, long_ago = self._ids(), self.clock() - batch.made > CLOCKS
        batch_id = await self._call(lambda: self._found(batch, known, at_once=long_ago))
        if batch_id is None:
            self.ledger.forget(batch)
        else:
            self.ledger.update(msgspec.structs.replace(batch, id=batch_id))

    async def _found(
        self, batch: RequestBatch, known: Collection[str], *, at_once: bool
    ) -> str | None:
        """Look for a batch; unless `at_once`, again after SETTLING seconds if it is not found."""
        there = await self.service.found(batch, known)
        if there is None and not at_once:
            await self.retry.sleep(SETTLING)
            there = await self.service.found(batch, known)
        return there

    async def _wait(self) -> None:
        waiting = [each for each in self.ledger.batches() if not each.downloaded]
        total = sum(each.count for each in waiting)
        since = min((each.made for each in waiting), default=0.0)
        done: dict[int, int] = {}
        pause, failures = FIRST_POLL, 0
        while waiting:
            failed: ModelFault | None = None
            for batch in tuple(waiting):
                try:
                    state = await self._call(partial(self.service.state, batch.id))
                except ModelFault as fault:
                    fault.args = (f"batch {batch.id}: {fault}",)
                    if not fault.passing:
                        raise
                    failed = fault
                    continue
                done[batch.number] = batch.count if state.ended else state.done
                if state.ended:
                    await self._finish(batch, state)
                    waiting.remove(batch)
            failures = 0 if failed is None else failures + 1
            if failed is not None and failures >= PATIENCE:
                raise failed
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
                # Broken at every attempt: take what can be read, if there is anything.
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
