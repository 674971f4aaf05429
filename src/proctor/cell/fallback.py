"""A substitute for the C part where it cannot be loaded: plain forks with resource limits.

There is then no lock-down inside the box; the host retires the cell after one job, since only the
end of the box ends everything that the job started. `doctor` and every result say so.
"""

import fcntl
import os
import resource
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence

from proctor.cell.wire import KILL, MAX_MESSAGE, TEST, Kind, Reply, Request, Result, Tag, receive

_MOST_FDS = 5
_GRACE, _LOOK_EVERY = 0.2, 0.002  # seconds; see GRACE in serve.h
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_CAPABILITY_VERSION = 0x20080522
# The agent uses these while it is in lcb_runner's state, in which `os` lacks them.
_kill, _killpg, _fork = os.kill, os.killpg, os.fork


def give_up() -> None:
    """Give up the box's capabilities, which jobs would inherit, and close this process to them.

    With them a job could make the box's mounts writable. Uses ctypes, whose first use is slow: the
    agent does this once, not each fresh job. Raises OSError.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    failed = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    failed = failed or libc.capset(header, bytes(24)) or libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if failed:
        raise OSError(ctypes.get_errno(), "capabilities could not be given up")


def serve(control_fd: int, get_ready: Callable[[int, int], None]) -> tuple[int, str]:
    """The agent's loop; see lockdown.serve."""
    control = socket.socket(fileno=control_fd)
    # Jobs can signal us. As process 1 we are safe from all signals but those that Python handles.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        data, fds = receive(control, _MOST_FDS)
        if not data:
            os._exit(0)
        if data == KILL:  # sent while the job ended by itself
            continue
        request = Request.decode(data)
        started = time.monotonic_ns()
        get_ready(request.kind, int(request.function != ""))
        if request.kind not in (Kind.RUN, Kind.STRING, Kind.SCRIPT):  # see spawn() in serve.h
            fds = [*(os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC) for _ in range(3)), *fds]
        pid = _fork()
        if pid == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            control.detach()
            os.setsid()
            _place(fds)
            _limit(request)
            return request.kind, request.function
        for fd in fds:
            os.close(fd)
        control.send(_supervise(control, pid, started).encode())


def _supervise(control: socket.socket, pid: int, started: int) -> Result:
    pidfd = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    poller.register(control.fileno(), select.POLLIN)
    over = told = False
    while not over:
        for fd, _event in poller.poll():
            if fd == pidfd:
                over = True
            elif control.recv(MAX_MESSAGE) == KILL:
                told = True
                _end(pid)
            else:  # the host hung up; the box dies with us
                os._exit(0)
    wall = time.monotonic_ns() - started
    os.close(pidfd)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # of this one child: cells are single-use
    _, status = os.waitpid(pid, 0)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = usage.ru_utime - used.ru_utime, usage.ru_stime - used.ru_stime
    if not told:
        _let_finish(pid)
    _end(pid)
    return Result(status, user, system, usage.ru_maxrss * 1024, wall, 0, 0)


def _let_finish(pid: int) -> None:
    """Wait, for a moment at most, until what a job or test has left running has ended by itself."""
    until = time.monotonic() + _GRACE
    while time.monotonic() < until:
        try:
            _killpg(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(_LOOK_EVERY)


def _end(pid: int) -> None:
    try:
        _killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def serve_tests(feed_fd: int) -> None:
    """A serving job's loop; see lockdown.serve_tests."""
    feed = socket.socket(fileno=feed_fd)
    while True:
        message, fds = receive(feed, _MOST_FDS)
        if message != TEST:
            os._exit(0)
        pid = _fork()
        if pid == 0:
            feed.detach()
            os.setsid()
            _place(fds)
            return
        for fd in fds:
            os.close(fd)
        _, status, usage = os.wait4(pid, 0)
        _let_finish(pid)
        _end(pid)
        reply = Reply(Tag.ENDED, "", status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024)
        feed.send(reply.encode())


def _place(fds: Sequence[int]) -> None:
    """Put these descriptors on 0, 1, 2, ... and close all others."""
    # First copied above all targets, so that no dup2 below overwrites a source.
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in fds]
    for target, fd in enumerate(high):
        os.dup2(fd, target)
    os.closerange(len(high), 1024)


def _limit(request: Request) -> None:
    limits = [
        (resource.RLIMIT_CPU, request.cpu),
        (resource.RLIMIT_FSIZE, request.file_size),
        (resource.RLIMIT_CORE, 0),
    ]
    if request.address_space:
        limits.append((resource.RLIMIT_AS, request.address_space))
    processes = _at_most(request.processes, resource.RLIMIT_NPROC)[0]
    for which, value in [*limits, (resource.RLIMIT_NPROC, processes)]:
        resource.setrlimit(which, (value, value))
    # The program may raise this one.
    resource.setrlimit(resource.RLIMIT_STACK, _at_most(request.stack, resource.RLIMIT_STACK))


def _at_most(wanted: int, which: int) -> tuple[int, int]:
    """Return a limit as wanted, or as high as may be, and how high that is."""
    most = resource.getrlimit(which)[1]
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most), most
