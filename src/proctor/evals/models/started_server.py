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
from proctor.evals.models.openai import PROBE_PATIENCE, Endpoint, OpenAIServer

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


@contextmanager
def started(command: str, model: str, tell: Callable[[str], None]) -> Iterator[str]:
    """Start a server, and give its address once it answers; it is stopped at the end.

    What it writes goes to a file of the temporary directory, which is removed if all went well;
    `tell` gets its name. Raises SettingsError, and ModelUnreachable if the server ends, or does not
    answer within an hour.
    """
    port = _free_port()
    arguments = arguments_of(command, model, port)
    handle, name = tempfile.mkstemp(prefix="proctor-server-", suffix=".log")
    log = Path(name)
    with os.fdopen(handle, "wb") as output:
        process = _start(arguments, output.fileno())
    tell(f"starting {arguments[0]} for {model}; it writes to {log}")
    try:
        endpoint = Endpoint(model, f"http://127.0.0.1:{port}/v1", timeout=PATIENCE)
        asyncio.run(_answering(endpoint, process, log))
        yield endpoint.base_url
    finally:
        _stop(process)
    log.unlink(missing_ok=True)


def _start(arguments: list[str], output: int) -> subprocess.Popen[bytes]:
    # In a session of its own, so that Ctrl-C at the terminal does not end it before the run.
    setpriv = shutil.which("setpriv")  # ends the server if this process is killed
    dying = [setpriv, "--pdeathsig", "TERM", "--"] if setpriv is not None else []
    return subprocess.Popen(
        [*dying, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        start_new_session=True,
    )  # fmt: skip


async def _answering(endpoint: Endpoint, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server answers."""
    until = time.monotonic() + PATIENCE
    server = OpenAIServer(endpoint)
    try:
        while not await _answers(server):
            if process.poll() is not None:
                raise ModelUnreachable(
                    f"the server ended with {process.returncode}; the end of {log}:\n{_end(log)}"
                )
            if time.monotonic() > until:
                raise ModelUnreachable(f"no answer after {PATIENCE:g} s; see {log}")
            await asyncio.sleep(_LOOK_EVERY)
    finally:
        await server.close()


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
