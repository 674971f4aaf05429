"""Replies that are kept between runs: the same request to the same model is not paid for twice."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from proctor.evals.models.model import (
    ManyAtOnce,
    Model,
    ModelReply,
    ModelRequest,
    ModelTraffic,
    Observed,
    plain,
)
from proctor.judging.cache.file_store import FileStore
from proctor.limits import GIB

FILE = "replies.db"
MOST = 16 * GIB
"""Bytes that replies may take; the least recently used go first."""
_VERSION = 1
"""Number that goes up when the form of stored replies or of their keys changes."""


class KeptReplies:
    """A model with a store of the replies that it gave to earlier runs under the same options.

    A reply is found by all that makes the request: the options of the server, model, messages,
    tools, sampling, and the number of the sample, since samples of one problem are to differ. Only
    whole replies are kept, no faults. Many processes may use one directory.
    """

    def __init__(self, model: Model, directory: Path, server: Mapping[str, Any]) -> None:
        """Open the store in a directory, or make it.

        `server` says, in JSON values, where and how the model is asked. Raises InputError.
        """
        self._model = model
        self._server = dict(server)
        self._store = FileStore(directory, MOST, FILE)
        self.found = 0
        """Number of replies found in the store."""

    @property
    def name(self) -> str:
        return self._model.name

    async def probe(self) -> str | None:
        return await self._model.probe()

    def recorded(self, problem_id: str) -> int | None:
        return self._model.recorded(problem_id)

    async def close(self) -> None:
        self._store.close()
        await self._model.close()

    @property
    def traffic(self) -> ModelTraffic:
        return self._model.traffic if isinstance(self._model, Observed) else ModelTraffic(0, 0, 1)

    async def generate(self, request: ModelRequest) -> ModelReply:
        return (await self.generate_many(request, 1))[0]

    async def generate_many(self, request: ModelRequest, n: int) -> list[ModelReply]:
        """Return the stored replies up to the first missing one; if there is none, ask for all.

        Raises ModelFault, and InfraFault if the store cannot be used.
        """
        requests = [replace(request, sample=request.sample + number) for number in range(n)]
        there: list[ModelReply] = []
        for each in requests:
            reply = await asyncio.to_thread(self._kept, each)
            if reply is None:
                break
            there.append(reply)
        self.found += len(there)
        if there:
            return there
        if isinstance(self._model, ManyAtOnce):
            made = await self._model.generate_many(request, n)
        else:
            made = [await self._model.generate(request)]
        for each, reply in zip(requests, made, strict=False):
            await asyncio.to_thread(self._store.put, self._key(each), _written(reply))
        return made

    def _kept(self, request: ModelRequest) -> ModelReply | None:
        entry = self._store.get(self._key(request))
        if entry is None:
            return None
        try:
            return msgspec.convert(json.loads(entry), ModelReply)
        except (ValueError, RecursionError):  # another version's entry; ValueError is msgspec's too
            return None

    def _key(self, request: ModelRequest) -> bytes:
        sampling = msgspec.to_builtins(request.sampling)
        tools = msgspec.to_builtins(request.tools)
        asked = [_VERSION, self._server, plain(request.messages), tools, sampling, request.sample]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


def _written(reply: ModelReply) -> bytes:
    # Not with msgspec, since texts may hold lone surrogates.
    return json.dumps(msgspec.to_builtins(reply)).encode()
