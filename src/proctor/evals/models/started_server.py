"""A model's server that runs while a run does: vLLM, SGLang, llama.cpp, `transformers serve` ...

All of these speak OpenAI's API, so that a server that is started here is asked like any other.
"""

import asyncio
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.errors import ModelUnreachable, SettingsError
from proctor.evals.models.listeners import Listener, family, listeners, users_of
from proctor.evals.models.openai import PROBE_PATIENCE, Endpoint, OpenAIServer
from proctor.sandbox.machine import procfs

_LOOK_EVERY = 0.5
"""Seconds between two looks whether the server answers."""
PATIENCE = 3600.0
"""Seconds that a server may take to load its model."""
_TO_STOP = 20.0
"""Seconds that a server gets to end by itself."""
_SHOWN_LINES = 12
_SHOWN_BYTES = 4096


def arguments_of(command: str, model: str, port: int) -> list[str]:
    """Split a command as a shell would, and put model and port into it. Raises SettingsError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SettingsError(f"--start-server: {error}") from error
    if "{port}" not in command:
        raise SettingsError(
            "--start-server needs {port} where the server takes its port, such as"
            " 'vllm serve {model} --port {port}'"
        )
    found = [word.replace("{model}", model).replace("{port}", str(port)) for word in words]
    if shutil.which(found[0]) is None:
        raise SettingsError(f"--start-server: there is no command {found[0]!r}")
    return found


class StartedServer:
    """A server's process, and the port that it was told to take."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self._process, self._port, self._log = process, port, log
        self._own: dict[str, Listener] = {}
        """Its sockets that listen on the port, by their descriptors in /proc."""

    def check(self) -> None:
        """Look whether what is sent to the port goes to this server, as far as can be seen.

        Raises ModelUnreachable, which passes only if nobody else has the port.
        """
        if (code := self._process.poll()) is not None:
            raise ModelUnreachable(f"the server ended with {code}; see {self._log}", passing=False)
        if self._own and all(each.is_at(place) for place, each in self._own.items()):
            return
        had = bool(self._own)
        if (stranger := self.stranger()) is not None:
            raise ModelUnreachable(self.theft_by(stranger), passing=False)
        if had and not self._own:
            raise ModelUnreachable(f"the server does not listen any more; see {self._log}")

    def stranger(self) -> Listener | None:
        """Return the socket of another user that listens on the port; None if none is seen.

        One of our own user, or of root, that is no descendant's may be a container's.
        """
        self._own = {}
        if not procfs.shows_us():
            return None
        pids = family(self._process.pid)
        found = {each: each.place(pids) for each in listeners(self._port)}
        known = {0, os.geteuid(), *users_of(pids)}
        for each, place in found.items():
            if not place and each.user not in known:
                return each
        if all(found.values()):
            self._own = {place: each for each, place in found.items()}
        return None

    @property
    def is_seen(self) -> bool:
        """True if the last look found the process, or a descendant, listening on the port."""
        return bool(self._own)

    def theft_by(self, stranger: Listener) -> str:
        """Return a sentence about a port on which another listens."""
        return f"port {self._port}, meant for the server that is started, is taken by {stranger}"

    async def answering(self, model: str) -> None:
        """Return when it answers to requests that hold no secret.

        Raises ModelUnreachable if it ends or takes too long, SettingsError if the port is taken.
        """
        until = time.monotonic() + PATIENCE
        server = OpenAIServer(Endpoint(model, self.url, timeout=PATIENCE))
        try:
            while True:
                answers = await _answers(server)
                if (code := self._process.poll()) is not None:
                    raise ModelUnreachable(
                        f"the server ended with {code}; the end of {self._log}:\n{_end(self._log)}"
                    )
                if (stranger := self.stranger()) is not None:
                    raise SettingsError(f"--start-server: {self.theft_by(stranger)}")
                if answers:
                    return
                if time.monotonic() > until:
                    raise ModelUnreachable(f"no answer after {PATIENCE:g} s; see {self._log}")
                await asyncio.sleep(_LOOK_EVERY)
        finally:
            await server.close()


@contextmanager
def started(command: str, model: str, tell: Callable[[str], None]) -> Iterator[StartedServer]:
    """Start a server, and give it once it answers; it is stopped at the end.

    What it writes goes to a file of the temporary directory, which is removed if all went well;
    `tell` gets its name. Raises SettingsError, also if another user has its port, and
    ModelUnreachable if the server ends, or does not answer within an hour.
    """
    port = _free_port()
    arguments = arguments_of(command, model, port)
    handle, name = tempfile.mkstemp(prefix="proctor-server-", suffix=".log")
    log = Path(name)
    with os.fdopen(handle, "wb") as output:
        process = _start(arguments, output.fileno())
    tell(f"starting {arguments[0]} for {model}; it writes to {log}")
    server = StartedServer(process, port, log)
    try:
        asyncio.run(server.answering(model))
        if not server.is_seen:
            tell(
                f"who answers at port {port} cannot be seen: only if {arguments[0]} starts a "
                "container is it sure to be the server"
            )
        yield server
        well = process.poll() is None
    finally:
        _stop(process)
    if well:
        log.unlink(missing_ok=True)


def _start(arguments: list[str], output: int) -> subprocess.Popen[bytes]:
    # In a session of its own, so that Ctrl-C at the terminal does not end it before the run.
    setpriv = shutil.which("setpriv")  # ends the server if this process is killed
    dying = [setpriv, "--pdeathsig", "TERM", "--"] if setpriv is not None else []
    return subprocess.Popen(
        [*dying, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        start_new_session=True,
    )  # fmt: skip


async def _answers(server: OpenAIServer) -> bool:
    """Return True if a request gets an answer that is not "later"."""
    try:
        async with asyncio.timeout(PROBE_PATIENCE):
            await server.body(server.client.models.with_streaming_response.list())
    except server.errors.APIStatusError as error:
        return int(error.status_code) < 500
    except (TimeoutError, server.errors.APIError, ModelUnreachable):
        return False
    return True


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server, and what it has started in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_TO_STOP)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _end(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _SHOWN_BYTES))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-_SHOWN_LINES:])
