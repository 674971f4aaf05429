"""How the models of a run are reached: by a server that is started, from replies that are kept."""

import asyncio
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proctor.cli import terminal
from proctor.errors import SettingsError
from proctor.evals.models.kept_replies import KeptReplies
from proctor.evals.models.model import Model
from proctor.evals.models.opening import is_behind_server, is_recording, open_model
from proctor.evals.redaction import redacted
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore

if TYPE_CHECKING:
    from proctor.evals.models.started_server import StartedServer

START_SERVER = "start_server"
"""Key, in a run's record, of the command that served its model."""


@dataclass(frozen=True, slots=True)
class ReachedModel:
    """A model that can be asked."""

    settings: Settings
    """Settings of the run, with the address of a server that was started."""
    open: Callable[[], Model]
    """Opens the model, for one event loop."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Choice of how models are reached. It is no part of a run's settings.

    A run received from somebody else must not start their commands or use their directories.
    """

    start_server: str | None = None
    reply_cache: str | None = None

    def check(self, settings: Settings) -> None:
        """Raise SettingsError for options that do not go together."""
        if settings.batch and (self.start_server or self.reply_cache):
            raise SettingsError("--batch goes with neither --start-server nor --reply-cache")
        if self.start_server is None:
            return
        if settings.base_url:
            raise SettingsError("give either --base-url (or OPENAI_BASE_URL) or --start-server")
        if not settings.model or not is_behind_server(settings):
            raise SettingsError("--start-server needs the --model that the server is to serve")
        from proctor.evals.models.started_server import arguments_of

        arguments_of(self.start_server, settings.model, port=0)

    @contextmanager
    def opened(self, settings: Settings) -> Iterator[ReachedModel]:
        """Yield the model; with `start_server` its server is started, and runs meanwhile.

        Raises what starting it raises, and ModelFault if no request to it can succeed.
        """
        kept: list[KeptReplies] = []
        with self._served(settings) as server:
            reached = settings
            if server is not None:
                reached = msgspec.structs.replace(settings, base_url=server.url)
                probe(open_model(reached, os.environ, server))

            def opened() -> Model:
                model = open_model(reached, os.environ, server)
                if self.reply_cache is None or is_recording(settings):
                    return model
                kept.append(self._keeping(model, self.reply_cache, settings))
                return kept[-1]

            yield ReachedModel(reached, opened)
        if found := sum(each.found for each in kept):
            replies = "1 reply was" if found == 1 else f"{found} replies were"
            terminal.note(f"{replies} in {self.reply_cache}")

    def look(self, settings: Settings) -> Model | None:
        """Return the model if it can be asked; None if its server is yet to be started.

        Raises ModelFault if no request can succeed, and what opening it raises.
        """
        if self.start_server is not None and is_behind_server(settings):
            return None
        model = open_model(settings, os.environ)
        probe(model)
        return model

    def look_again(self, store: RunStore, settings: Settings) -> None:
        """Call `look` for a resumed run. Raises SettingsError if its server must be started."""
        command = store.recall(START_SERVER)
        if command is not None and self.start_server is None:
            raise SettingsError(
                "the model of this run was served by a command; if you trust it, give it again: "
                f"--start-server {shlex.quote(command)}"
            )
        self.look(settings)

    def remember(self, store: RunStore) -> None:
        """Note in a run's record which server was started for it."""
        if self.start_server is not None:
            store.remember({START_SERVER: redacted(self.start_server)})

    @contextmanager
    def _served(self, settings: Settings) -> Iterator["StartedServer | None"]:
        if self.start_server is None or not is_behind_server(settings):
            yield None
            return
        from proctor.evals.models.started_server import started

        with started(self.start_server, settings.model, terminal.note) as server:
            yield server

    def _keeping(self, model: Model, directory: str, settings: Settings) -> KeptReplies:
        server = {
            "model": settings.model,
            "address": self.start_server or settings.base_url,
            "headers": settings.headers,
        }
        return KeptReplies(model, Path(directory), server)


def probe(model: Model) -> None:
    """Note a server's remark. Raises ModelFault, within seconds, if no request can succeed."""

    async def look() -> str | None:
        try:
            return await model.probe()
        finally:
            await model.close()

    if (remark := asyncio.run(look())) is not None:
        terminal.note(remark)
