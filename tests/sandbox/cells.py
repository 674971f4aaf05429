"""A cell in other circumstances, for tests to talk to."""

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from elsewhere import Elsewhere
from waiting import PATIENCE

DRIVER = (Path(__file__).parent / "driver.py").read_text()


class Driver:
    """A process with a pool of one cell. Use as a context manager."""

    def __init__(self, there: Elsewhere, level: str = "", arrangement: str = "") -> None:
        self._process = subprocess.Popen(
            there.command("-c", DRIVER, level, arrangement), env=there.environment({}), cwd="/",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.pid = self._process.pid  # circumstances.py executes what it starts

    def ask(self, do: str, /, **arguments: Any) -> Any:
        """Ask and wait for the answer."""
        self.tell(do, **arguments)
        return self.answer()

    def tell(self, do: str, /, **arguments: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        assert ready, "the driver does not answer"
        said = self._process.stdout.readline()
        assert said, f"the driver ended: {self._process.wait(PATIENCE)}"
        return json.loads(said)

    def run(self, source: str, stdin: str = "", **limits: Any) -> Any:
        return self.ask("run", source=source, stdin=stdin, **limits)

    def verdict(self, source: str, *tests: tuple[str, str], **settings: Any) -> str:
        answer = self.ask("judge", source=source, tests=tests, **settings)
        assert isinstance(answer, list), answer
        return str(answer[0])

    def kill(self) -> None:
        """End the host's side without a chance to clean up."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._process.wait(PATIENCE)


class Watch:
    """Processes that are looked at until they are gone; numbers come back, these do not."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._left: dict[int, int] = {}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # gone already
                self._left[pid] = os.pidfd_open(pid)

    def __len__(self) -> int:
        return len(self._left)

    def gone(self) -> bool:
        """Wait until all are gone; False if some stay. Closes the watch."""
        poller = select.poll()
        for fd in self._left.values():
            poller.register(fd, select.POLLIN)
        waiting = set(self._left.values())
        while waiting:
            ended = poller.poll(1000 * PATIENCE)
            if not ended:
                break
            for fd, _ in ended:
                poller.unregister(fd)
                waiting.discard(fd)
        for pid, fd in self._left.items():
            if fd in waiting:
                os.kill(pid, signal.SIGKILL)  # whoever finds them here must not keep them
            os.close(fd)
        return not waiting
