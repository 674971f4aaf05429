"""The job that executes a program: it puts the files in place and becomes the program.

Everything it needs is in a bundle, a file whose format is (integers big-endian):

    length of the head, 4 bytes | head, JSON | contents of the files, one after the other

    head: {"argv": [...], "environment": {name: value, in which {work} is the working directory},
           "directories": [...],
           "program": bool, "collect": [...], "most": bytes,
           "files": [[name, size], ...]}

Descriptors from 4 on: the program's file if `program` is set (it is then executed by descriptor, so
that no file system is needed), the harvest if there is something to `collect`, and whatever else
the program is to inherit. With a harvest the program is a child of this process, which writes the
files that match when it has ended, each as (length of name, 2 bytes | size, 8 bytes | name |
content), and then ends as the program did.
"""

import json
import os
import signal
import stat
import struct
import time
from collections.abc import Sequence
from typing import Any, NoReturn

try:
    from proctor.cell import _lockdown
except ImportError:  # orphans are then not waited for
    _lockdown = None  # type: ignore[assignment]

BUNDLE_FD = 3
LENGTH = struct.Struct(">I")
ENTRY = struct.Struct(">HQ")
NOT_EXECUTED = 127
_CHUNK = 1 << 20
_MOST_FDS = 256  # RLIMIT_NOFILE of jobs
_GRACE = 0.2  # seconds; see GRACE in serve.h


def run() -> NoReturn:
    """Entry point; the job's descriptors are in place and it is locked down."""
    (length,) = LENGTH.unpack(os.pread(BUNDLE_FD, LENGTH.size, 0))
    head: dict[str, Any] = json.loads(os.pread(BUNDLE_FD, length, LENGTH.size))
    os.set_inheritable(BUNDLE_FD, False)
    free = BUNDLE_FD + 1
    program = harvest = -1
    if head["program"]:
        program, free = free, free + 1
        os.set_inheritable(program, False)
    if head["collect"]:
        harvest, free = free, free + 1
        os.set_inheritable(harvest, False)
    place(head["files"], LENGTH.size + length, head["directories"])
    # Python ignores these; the program that is executed would go on ignoring them.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if head["collect"]:
        _collect_from(_start(head, program), head, harvest)
    _become(head, program)


def place(files: list[tuple[str, int]], offset: int, directories: Sequence[str] = ()) -> None:
    """Put files, whose contents begin at `offset` of the bundle, into the working directory."""
    try:
        for name in directories:
            os.makedirs(name, mode=0o700)
        _place(files, offset)
    except OSError as error:
        _give_up(f"the program's files could not be put in place: {error}")


def _place(files: list[tuple[str, int]], offset: int) -> None:
    for name, size in files:
        directory = os.path.dirname(name)
        if directory:
            os.makedirs(directory, mode=0o700, exist_ok=True)
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o700)
        end = offset + size
        while offset < end:
            data = os.pread(BUNDLE_FD, min(_CHUNK, end - offset), offset)
            while data:
                written = os.write(fd, data)
                data = data[written:]
                offset += written
        os.close(fd)


def _become(head: dict[str, Any], program: int) -> NoReturn:
    here = os.getcwd()
    environment = {"HOME": here, "TMPDIR": here, "PWD": here}
    for name, value in head["environment"].items():
        environment[name] = value.replace("{work}", here)
    argv = head["argv"]
    try:
        os.execve(argv[0] if program < 0 else program, argv, environment)
    except (OSError, ValueError) as error:
        _give_up(f"{argv[0]}: {error}")


def _give_up(message: str) -> NoReturn:
    os.write(2, (message + "\n").encode("utf-8", "backslashreplace"))
    os._exit(NOT_EXECUTED)


def _start(head: dict[str, Any], program: int) -> int:
    if _lockdown is not None:
        _lockdown.adopt_orphans()
    pid = os.fork()
    if pid == 0:
        _become(head, program)
    return pid


def _collect_from(pid: int, head: dict[str, Any], harvest: int) -> NoReturn:
    # Pipes that the program closes would else stay open.
    os.closerange(0, 2)
    os.closerange(harvest + 1, _MOST_FDS)
    _, status = os.waitpid(pid, 0)
    _let_finish()
    left = head["most"]
    for name in _matching(head["collect"]):
        left -= _harvest(name, left, harvest)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else NOT_EXECUTED)


def _let_finish() -> None:
    """Wait, for a moment at most, until what the program has left running has ended by itself."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    until = time.monotonic() + _GRACE
    while (left := until - time.monotonic()) > 0:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            signal.sigtimedwait({signal.SIGCHLD}, left)


def _matching(patterns: list[str]) -> list[str]:
    import glob  # seldom needed

    # Matches of the first pattern come first: there may not be room for all.
    found = (name for each in patterns for name in sorted(glob.glob(each, recursive=True)))
    return list(dict.fromkeys(found))


def _harvest(name: str, most: int, harvest: int) -> int:
    """Append a regular file to the harvest; returns what it took of `most`."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0
    about = os.fstat(fd)
    raw = os.fsencode(name)
    if not stat.S_ISREG(about.st_mode) or about.st_size > most or len(raw) > 0xFFFF:
        os.close(fd)
        return 0
    size = about.st_size
    os.write(harvest, ENTRY.pack(len(raw), size) + raw)
    offset = 0
    while offset < size:
        done = os.sendfile(harvest, fd, offset, min(_CHUNK, size - offset))
        if done == 0:  # the file was cut meanwhile; the host will find the harvest short
            break
        offset += done
    os.close(fd)
    return size
