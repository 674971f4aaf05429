"""Running a Python program in a directory that is read while it runs and afterwards."""

import itertools
import os
import re
import signal
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import Self

from proctor.cell.wire import DIRECTORY, Kind, receive
from proctor.errors import InfraFault, InputError, NoIsolation
from proctor.execution import LimitHit
from proctor.limits import MIB, Limits
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.directory_job import (
    DirectoryJob,
    DirectoryResult,
    FoundFile,
    JobListener,
    ProgressLine,
    ignore,
)
from proctor.sandbox.machine import memfile, plain_file, walk
from proctor.sandbox.meter import Meter
from proctor.sandbox.signalling import catches, signal_program
from proctor.sandbox.stop import Stop

_EVERY = 0.02
"""Time between two looks into the directory, in seconds."""
_LONGEST_LINE = 64 * 1024
_MOST_LINES = 1000
_MOST_HELD = 64 * MIB
_MOST_COLLECTED = 256
_MOST_AT_ONCE = 16 * MIB
"""Bytes of interim files that one look reads; older ones are passed over then."""
_MOST_NAMES = 256
_MOST_ENTRIES = 10_000
_MOST_READS = 32


def run_in_directory(
    cell: AgentProcess, job: DirectoryJob, limits: Limits, stop: Stop, hear: JobListener = ignore
) -> DirectoryResult:
    """Run a program in a directory; `hear` is called from another thread.

    Raises CellDied, and NoIsolation where this cannot be done.
    """
    if cell.single_use:
        raise NoIsolation("without proctor's C part programs cannot be given a directory")
    own: list[int] = []
    feed, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        own.append(null := memfile.sealed_reader(b""))
        own.append(stdout := memfile.empty())
        own.append(stderr := memfile.empty())
        own.append(bundle := memfile.sealed_reader(job.bundle()))
        progress, theirs = os.pipe2(os.O_CLOEXEC)
        own.append(progress)
        own.append(overrun := os.eventfd(0, os.EFD_CLOEXEC))
        try:
            cell.set_limits(limits)
            meter = Meter(cell)
            fds = [null, stdout, stderr, bundle, far.fileno(), theirs]
            cell.submit(cell.request(Kind.WORK, limits), fds)
        finally:
            os.close(theirs)
            far.close()
        output = _OutputLimit((stdout, stderr), limits.output, overrun)
        with _DirectoryWatch(job, feed, progress, output, hear) as watch:
            hit, interrupted = _wait(cell, meter, job, limits, stop, overrun)
            hit = hit or output.hit
            if not cell.wait([cell.control.fileno()], 0):
                cell.stop_job()
            # All its processes have ended; its files are there until result() is called.
            result, complaint, collected = watch.harvest()
            compiled = watch.compiled
        ended = cell.result()
        execution = meter.execution(limits, ended, hit, stdout, stderr)
        return DirectoryResult(
            execution, result, complaint, tuple(watch.interim), interrupted, stop.wanted, collected,
            compiled,
        )  # fmt: skip
    finally:
        feed.close()
        far.close()
        for fd in own:
            os.close(fd)


def _wait(
    cell: AgentProcess, meter: Meter, job: DirectoryJob, limits: Limits, stop: Stop, overrun: int
) -> tuple[LimitHit | None, bool]:
    """Wait for the job; return the limit that it hit, and whether it was told to end.

    `overrun`: descriptor that is readable once the job must end at once.
    """
    ends = [cell.control.fileno(), overrun]
    hit = meter.wait([*ends, stop.fileno()], ContestClock(limits), limits)
    called_off = hit is None and stop.wanted and not cell.wait(ends, 0)
    if not called_off and (hit is not LimitHit.WALL or limits.wall is None):
        return hit, False
    told = False
    steps = _steps(cell)
    for number in steps:
        try:
            if not signal_program(cell, number):
                break
        except InfraFault:  # the program may not be signalled
            break
        told = True
        # During its grace all limits hold, but for the wall limit.
        later = replace(limits, wall=meter.wall() + job.grace / len(steps))
        further = meter.wait(ends, ContestClock(later), limits, again=True)
        if further is not LimitHit.WALL:
            return (hit if further is None else further), told
    return hit, told


def _steps(cell: AgentProcess) -> tuple[int, ...]:
    """Return the signals that tell a program to end, in equal parts of its grace.

    On SIGINT a solver's library returns what it has. A program that handles SIGTERM saves its work
    then, and a KeyboardInterrupt first would prevent that; without a handler, SIGTERM would only
    end the program sooner.
    """
    handled = catches(cell, signal.SIGTERM)
    return (signal.SIGTERM, signal.SIGINT) if handled else (signal.SIGINT,)


@dataclass(slots=True)
class _OutputLimit:
    """The limit on output: a program beyond it is ended, before it fills memory."""

    files: tuple[int, ...]
    most: int
    overrun: int
    hit: LimitHit | None = None

    def look(self) -> None:
        """End the job if there is too much output."""
        if self.hit is None and any(os.fstat(fd).st_size > self.most for fd in self.files):
            self.hit = LimitHit.OUTPUT
            os.eventfd_write(self.overrun, 1)


class _DirectoryWatch(threading.Thread):
    """A thread that watches the directory and reads progress until its context is left."""

    def __init__(
        self,
        job: DirectoryJob,
        feed: socket.socket,
        progress: int,
        output: _OutputLimit,
        hear: JobListener,
    ) -> None:
        super().__init__(name="proctor-watch", daemon=True)
        self.interim: deque[FoundFile] = deque(maxlen=job.keep)
        self.compiled: bytes | None = None
        self._job, self._feed, self._progress, self._hear = job, feed, progress, hear
        self._output = output
        self._directory = -1
        self._seen: dict[str, tuple[int, ...]] = {}
        self._lines = 0
        self._line = b""
        self._over = threading.Event()
        self._began = time.monotonic()
        feed.setblocking(False)
        os.set_blocking(progress, False)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._end()
        if self._directory >= 0:
            os.close(self._directory)
        self._directory = -1

    def _end(self) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        pause = _EVERY
        while not self._over.wait(pause):
            began = time.monotonic()
            self._look()
            # However much there is to look at, half of the time is left to others.
            pause = max(_EVERY, time.monotonic() - began)

    def _look(self) -> None:
        self._output.look()
        self._listen()
        if self._directory < 0:
            self._take_directory()
        if self._directory < 0:
            return
        found, left = [], _MOST_AT_ONCE
        for name in reversed(self._names()):
            if (copied := self._copied(name, unread=left <= 0)) is not None:
                found.append(copied)
                left -= len(copied.data)
        for each in reversed(found):
            self.interim.append(each)
            while sum(len(one.data) for one in self.interim) > _MOST_HELD:
                self.interim.popleft()
            self._hear(each)

    def _names(self) -> list[str]:
        """Return the names of wanted files: the latest few interim ones, then the result."""
        try:
            with os.scandir(self._directory) as entries:
                some = (each.name for each in itertools.islice(entries, _MOST_ENTRIES))
                names = sorted(filter(self._job.interim.fullmatch, some), key=_number)
        except OSError:
            names = []
        return [*names[-_MOST_NAMES:], self._job.result]

    def _take_directory(self) -> None:
        word, fds = self._word()
        if word == DIRECTORY and len(fds) == 1:
            self._directory = fds[0]
        else:
            for fd in fds:
                os.close(fd)

    def _word(self) -> tuple[bytes, list[int]]:
        try:
            return receive(self._feed, 1)
        except OSError:  # nothing has come, or the sender is gone
            return b"", []

    def _copied(self, name: str, *, unread: bool) -> FoundFile | None:
        """Copy a file if it has changed since the last look; `unread`: only note it as seen."""
        try:
            about = os.stat(name, dir_fd=self._directory, follow_symlinks=False)
            state = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            if self._seen.get(name) == state:
                return None
            if len(self._seen) > _MOST_ENTRIES:  # the program can make up any number of names
                self._seen.clear()
            self._seen[name] = state
            data = b"" if unread else plain_file.read(name, self._job.most, self._directory)
        except (OSError, InputError):  # gone again, not a plain file, or too large
            return None
        # An empty file has yet to be written; if kept, it would take the place of another.
        return FoundFile(name, data, time.monotonic() - self._began) if data else None

    def _listen(self) -> None:
        """Read the lines of progress written so far; those beyond the bounds are dropped."""
        for _ in range(_MOST_READS):  # a program that writes on and on must not hold us up
            try:
                data = os.read(self._progress, _LONGEST_LINE)
            except BlockingIOError:
                return
            if not data:
                return
            *lines, rest = (self._line + data).split(b"\n")
            self._line = rest if len(rest) <= _LONGEST_LINE else b""
            for line in lines:
                if len(line) <= _LONGEST_LINE and self._lines < _MOST_LINES:
                    self._lines += 1
                    self._hear(ProgressLine(line, time.monotonic() - self._began))

    def harvest(self) -> tuple[bytes | None, str, tuple[FoundFile, ...]]:
        """Read the result and the other wanted files, after all processes of the job have ended."""
        self._end()
        self._look()
        if self._directory < 0:
            return None, "was not written", ()
        if self._job.compiled:
            self.compiled = self._word()[0] or None
        try:
            result, complaint = self._read(self._job.result), ""
        except FileNotFoundError:
            result, complaint = None, "was not written"
        except InputError as error:
            result, complaint = None, error.message
        return result, complaint, tuple(self._collect())

    def _read(self, name: str) -> bytes:
        return plain_file.read(name, self._job.most, self._directory)

    def _collect(self) -> list[FoundFile]:
        if self._job.collect is None:
            return []
        found: list[FoundFile] = []
        left = _MOST_HELD
        for path, name, descriptor in walk.files(self._directory):
            if not self._job.collect.fullmatch(path):
                continue
            try:
                data = plain_file.read(name, self._job.most, descriptor)
            except (OSError, InputError):
                continue
            left -= len(data)
            if left < 0 or len(found) == _MOST_COLLECTED:
                return found
            found.append(FoundFile(path, data, time.monotonic() - self._began))
        return found


def _number(name: str) -> tuple[int, str]:
    """Return a sort key: `inc_9` before `inc_10`, and names without a number last."""
    digits = re.search(r"\d+", name)
    return (int(digits[0]) if digits else 1 << 62, name)
