"""Files that are written: incumbents during the search, the result at its end."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULT = "result.json"
SHORTEST_INTERVAL = 0.05
"""Least time between two written incumbents, in seconds; the newest is written."""
KEPT = 16
"""Number of incumbents whose files are kept: the host copies each as it is announced."""
Json = dict[str, Any]


def write_whole(path: Path, value: Json) -> None:
    """Write a file under another name and rename it, so that it is whole or not there."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    with hidden.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, allow_nan=False)
        file.flush()
    hidden.rename(path)


class Publisher:
    """Writes incumbents from a thread of its own, so that the search does not wait for disks.

    `offer` keeps only the newest; what is written is complete before it is announced.
    """

    def __init__(self, directory: Path, progress_fd: int | None, started: float) -> None:
        self._directory = directory
        self._progress_fd = progress_fd
        self._started = started
        self._changed = threading.Condition()
        self._waiting: Callable[[], Json] | None = None
        self._found_at = 0.0
        self._closed = False
        self._number = 0
        self._thread = threading.Thread(target=self._work, name="incumbents", daemon=True)
        self._thread.start()

    def offer(self, result: Callable[[], Json]) -> None:
        """Announce a better solution; `result` is called in the thread, if it is still newest."""
        with self._changed:
            self._waiting, self._found_at = result, time.monotonic()
            self._changed.notify()

    def close(self) -> None:
        """Write the waiting incumbent, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while self._waiting is None and not self._closed:
                    self._changed.wait()
                newest, found_at = self._waiting, self._found_at
                self._waiting = None
                if newest is None:
                    return
            self._publish(newest(), found_at - self._started)
            with self._changed:
                if not self._closed:
                    self._changed.wait(SHORTEST_INTERVAL)

    def _publish(self, result: Json, seconds: float) -> None:
        self._number += 1
        name = f"inc_{self._number}.json"
        try:
            write_whole(self._directory / name, result)
            (self._directory / f"inc_{self._number - KEPT}.json").unlink(missing_ok=True)
            if self._progress_fd is not None:
                record = {
                    "t": round(seconds, 3),
                    "objective": result["objective"],
                    "bound": result["bound"],
                    "file": name,
                }
                os.write(self._progress_fd, json.dumps(record).encode() + b"\n")
        except OSError:
            # A full disk or a host that no longer reads: the search is worth more than its news.
            self._progress_fd = None
