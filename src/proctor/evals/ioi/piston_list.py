"""List of the Pistons that a run may use: URLs, files of URLs, jobs of Slurm."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import httpx

from proctor.errors import InputError
from proctor.sandbox.machine import slurm

ASK_SLURM_EVERY = 60.0
"""Seconds between two calls of squeue."""
SLURM = "slurm"
_WORKER = re.compile(r"piston-worker-(\d{1,5})", re.ASCII)
"""Name of the jobs that open-r1's script starts, with the port that the worker listens on."""
_NODE = re.compile(r"[\w.-]+", re.ASCII)
_Part = Callable[[float], tuple[str, ...]]
"""Function that returns the URLs of a part of the list at a given time."""


class PistonList:
    """URLs, each up to and including the version, as in http://host:2000/api/v2."""

    def __init__(self, text: str, field: str) -> None:
        """Take URLs, `@FILE` and `slurm`, with commas between them.

        `field` is where the text comes from, for errors. Raises InputError.
        """
        self.text, self._field = text, field
        self._parts: list[_Part] = []
        self.may_change = False
        """True if Pistons can join and leave."""
        for item in filter(None, map(str.strip, text.split(","))):
            self._parts.append(self._part(item))

    def _part(self, item: str) -> _Part:
        if item == SLURM or item.startswith("@"):
            self.may_change = True
            return _SlurmWorkers() if item == SLURM else _UrlFile(Path(item[1:]))
        try:
            url = checked_url(item)
        except ValueError as error:
            raise InputError(str(error), field=self._field) from error
        return lambda _now: (url,)

    def read(self, now: float) -> tuple[str, ...]:
        """Return the URLs at time `now`, in seconds of any clock, each once.

        A file is read again if it has changed, Slurm is asked again when its answer is old. Raises
        InputError, PlatformError, InfraFault; the next call starts from the URLs known before.
        """
        return tuple(dict.fromkeys(url for part in self._parts for url in part(now)))


class _UrlFile:
    """A file with one URL a line; empty lines and lines that begin with # are ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, ...] = ()
        self._urls: tuple[str, ...] = ()

    def __call__(self, _now: float) -> tuple[str, ...]:
        try:
            with self._path.open(encoding="utf-8") as file:
                about = os.fstat(file.fileno())
                version = (about.st_ino, about.st_size, about.st_mtime_ns)
                if version != self._version:
                    # Set first, so that a broken version is an error only once.
                    self._version = version
                    self._urls = self._parsed(file.read())
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read: {error}", file=str(self._path)) from error
        return self._urls

    def _parsed(self, text: str) -> tuple[str, ...]:
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            if (item := line.strip()) and not item.startswith("#"):
                try:
                    found.append(checked_url(item))
                except ValueError as error:
                    raise InputError(str(error), file=str(self._path), line=number) from error
        return tuple(found)


class _SlurmWorkers:
    """Running jobs named piston-worker-PORT."""

    def __init__(self) -> None:
        self._due = float("-inf")
        self._urls: tuple[str, ...] = ()

    def __call__(self, now: float) -> tuple[str, ...]:
        if now >= self._due:
            self._due = now + ASK_SLURM_EVERY
            self._urls = tuple(
                f"http://{node}:{worker[1]}/api/v2"
                for name, node in slurm.running_jobs()
                if (worker := _WORKER.fullmatch(name)) and _NODE.fullmatch(node)
            )
        return self._urls


def checked_url(text: str) -> str:
    """Return a URL without a slash at its end. Raises ValueError if it cannot be a Piston's."""
    example = "as in http://host:2000/api/v2"
    if "@" in text:  # what is before the @ is not shown
        host = text.rpartition("@")[2]
        raise ValueError(f"a URL with a name or password before @{host}: use PISTON_KEY")
    try:
        url = httpx.URL(text)
        url.host.encode("idna")  # as a client does when it connects
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ValueError(f"{text!r:.200} is not a URL: {error}; {example}") from error
    usable = url.scheme in ("http", "https") and url.host and (url.port or 80) < 1 << 16
    if not usable or url.query or url.fragment:
        raise ValueError(f"{text!r:.200} is not a URL of a Piston; {example}")
    return text.rstrip("/")
