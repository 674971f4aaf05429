"""One running container, and the exchange of messages with the process that drives its cell."""

import contextlib
import math
import secrets
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from proctor.errors import CellDied, CellStartFailed, NoIsolation, ProctorError
from proctor.execution import Isolation
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.container import crossing, frames
from proctor.sandbox.container.engine import ENGINE_FAILED, ContainerEngine, failure
from proctor.sandbox.container.frames import BadFrame, Fields, Frame
from proctor.sandbox.container.guarantees import isolation
from proctor.version import __version__

START_TIMEOUT = 120.0
"""Time that a container may take to come up, in seconds: some engines copy the image for each."""
WATCH_EVERY = 5.0
"""Time between two checks for an overdue answer, in seconds."""
CLOSE_TIMEOUT = 10.0
"""Time that a container may take to end by itself once its input has ended, in seconds."""


class Box:
    """A container that was started with `command` and is called `name`."""

    def __init__(
        self,
        engine: ContainerEngine,
        image: str,
        name: str,
        command: Sequence[str],
        setup: CellSetup,
    ) -> None:
        """Start it and hear its hello. Raises NoIsolation or CellStartFailed."""
        self._engine, self._image, self._name = engine, image, name
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the box
        self._ended = False
        self._writing = threading.Lock()
        # Its answers carry this token: where a runtime lets programs open what proctor's process in
        # the container has open, they could write to us, but they do not know the token.
        self._token = secrets.token_hex(16)
        try:
            self._process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._log,
                # Ctrl-C at a terminal is for us; we end the container.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )  # fmt: skip
        except OSError as error:
            self._log.close()
            raise NoIsolation(f"{engine.path} cannot be started: {error.strerror}") from error
        self._watch = _Deadline(self._kill_client)
        try:
            self.isolation = self._greet(setup)
        except BaseException:
            self.close()
            raise

    def _greet(self, setup: CellSetup) -> Isolation:
        opening = {
            "token": self._token,
            "version": __version__,
            "digest": crossing.digest(),
            "python": setup.interpreter.executable or None,
            "packages": len(setup.packages),
            "preload": " ".join(setup.preload),
        }
        try:
            hello = Fields(self.ask(opening, [], [], START_TIMEOUT).header)
            if "fault" in hello.header:
                raise self._refused(hello.text("message"))
            return isolation(hello)
        except BadFrame as error:
            raise CellStartFailed(
                f"image {self._image} does not speak as proctor does: {error}"
            ) from error
        except CellDied as error:
            raise self._failure() from error

    def _refused(self, message: str) -> ProctorError:
        if message.startswith("the image holds another proctor"):
            return NoIsolation(
                f"image {self._image} was built from another proctor than this"
                f" ({__version__} {crossing.digest()}): build it anew with `proctor image"
                f" build`; {message}"
            )
        return CellStartFailed(message)

    def _failure(self) -> ProctorError:
        status: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(CLOSE_TIMEOUT)
        said = self._complaint()
        if self._watch.expired and status != ENGINE_FAILED:
            return CellStartFailed(f"no answer from the container within {START_TIMEOUT:.0f} s")
        return failure(self._engine, self._image, said, status)

    def ask(
        self, request: Mapping[str, Any], parts: Sequence[bytes], most: Sequence[int], wait: float
    ) -> Frame:
        """Send a frame and return the answer. Raises CellDied, also if `wait` seconds pass.

        Raises BadFrame for anything else, and for more or larger payloads than `most`.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._watch.until(time.monotonic() + wait):
            try:
                with self._writing:
                    frames.write(self._process.stdin, request, parts)
                frame = frames.read(self._process.stdout, most)
            except (OSError, ValueError) as error:
                if isinstance(error, BadFrame) and not self._gone():
                    raise
                raise CellDied(f"the container went away: {error}{self._said()}") from error
        if frame is None:
            raise CellDied(f"the container ended with a job in it{self._said()}")
        if not secrets.compare_digest(Fields(frame.header).text("token"), self._token):
            raise BadFrame("it does not come from proctor's own process in there")
        return frame

    def stop(self) -> None:
        """Tell the program that works in a directory to end, from any thread, if one runs."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError), self._writing:
            frames.write(self._process.stdin, {"do": "stop"})

    def _gone(self) -> bool:
        return self._ended or self._process.poll() is not None

    def _said(self) -> str:
        if self._watch.expired:
            return ": it was silent for too long and was killed"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        text = self._complaint()
        return f": {text}" if text else ""

    def _complaint(self) -> str:
        if self._process.poll() is None:
            return ""  # it still writes where we would read
        self._log.seek(0)
        return self._log.read(8000).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End it from any thread; whoever waits for an answer gets CellDied."""
        self._ended = True
        # Proctor's process in there ends with its input. Should it not, the watch ends our client.
        self._watch.end_by(time.monotonic() + CLOSE_TIMEOUT)
        _close(self._process.stdin)

    def _kill_client(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """End it and leave nothing of it behind."""
        self._watch.stop()
        _close(self._process.stdin)
        try:
            # The container ends when its input has ended; the client then waits for its removal.
            status = self._process.wait(CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        _close(self._process.stdout)
        if status < 0:  # the client was killed, and may not have seen the container's end
            with contextlib.suppress(NoIsolation):  # an engine that is gone has no containers
                remove(self._engine, self._name)
        self._log.close()


def remove(engine: ContainerEngine, name: str) -> None:
    """Remove a container and wait until it is gone. Raises NoIsolation."""
    until = time.monotonic() + CLOSE_TIMEOUT
    engine.call("rm", "--force", name)
    # It may be gone only after `rm` has returned, if it was being removed by itself already.
    while engine.call("container", "inspect", name).returncode == 0 and time.monotonic() < until:
        time.sleep(0.05)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.close()


class _Deadline:
    """Calls `on_expiry` some time after a deadline: not every system reads pipes with a timeout."""

    def __init__(self, on_expiry: Callable[[], None]) -> None:
        self.expired = False
        self._on_expiry = on_expiry
        self._due = self._last = math.inf
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="proctor-watch", daemon=True).start()

    @contextlib.contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """Set a deadline for the block."""
        self._due = deadline
        try:
            yield
        finally:
            self._due = math.inf

    def end_by(self, deadline: float) -> None:
        """Set a deadline, from any thread, for all that is done from now on."""
        self._last = deadline

    def _run(self) -> None:
        while not self._stopped.wait(WATCH_EVERY):
            if time.monotonic() > min(self._due, self._last):
                self.expired = True
                self._on_expiry()
                return

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
