"""Python jobs, once they are locked down. From here on the submission may do anything."""

import atexit
import builtins
import contextlib
import gc
import io
import linecache
import os
import signal
import socket
import sys
import threading
import traceback
import types
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any, NoReturn

from proctor.cell import compiling, lockdown
from proctor.cell.wire import TEST, Kind, Reply, Tag, receive

SOURCE_NAME = "solution.py"
STRING_NAME = "<string>"
STDIN_NAME = "<stdin>"
_SHM = "/dev/shm"  # noqa: S108 - the job's own, if it has one
SOURCE_FD = 3
FEED_FD = 4
RESULT_FD = 3
"""Descriptor, in a test's process, of the file for what a function returns, encoded."""
INTERRUPTED = 0x100 | signal.SIGINT  # not an exit code: KeyboardInterrupt ends CPython by signal
# Plain integers: an enum's machinery would cost a fresh job a dozen page faults.
_RUN, _SERVE_FORK, _SERVE_OFFICIAL = int(Kind.RUN), int(Kind.SERVE_FORK), int(Kind.SERVE_OFFICIAL)
_SESSION, _COMMAND, _WORK = int(Kind.SESSION), int(Kind.COMMAND), int(Kind.WORK)
_STRING, _SCRIPT = int(Kind.STRING), int(Kind.SCRIPT)
READY = Reply(Tag.READY).encode()
_leave = os._exit  # a program may replace what modules hold, as guards against cheating do


def run(kind: int, function: str, part: Any) -> NoReturn:
    """Entry point of every job, whose descriptors are in place.

    `part` is the module of jobs of this kind (parts.py), None for the kinds that need none.
    """
    if kind == _COMMAND:
        part.run()
    gc.enable()
    if kind == _WORK:
        _run_once(*part.prepare())
    if kind == _SCRIPT:  # tested apart: looking in a tuple would write to more pages
        _run_once(*part.prepare())
    source = read(SOURCE_FD)
    os.close(SOURCE_FD)
    if kind == _RUN:
        _run_once(source)
    if kind == _STRING:
        sys.argv[:] = ["-c"]
        _run_once(source, STRING_NAME)
    feed = socket.socket(fileno=FEED_FD)
    if kind == _SESSION:
        feed.send(READY)
        feed.detach()
        lockdown.serve_session(FEED_FD)
        source = read(SOURCE_FD)
        os.close(SOURCE_FD)
        _run_once(source)
    if kind == _SERVE_OFFICIAL:
        part.serve(feed, source, function)
    try:
        code = compile(source, SOURCE_NAME, "exec", dont_inherit=True)
    except compiling.ERRORS as error:
        feed.send(Reply(Tag.UNLOADABLE, _brief(error)).encode())
        _leave(0)
    feed.send(READY)
    last = kind == _SERVE_FORK
    if function:
        test = partial(part.call, code, function, last=last)
    else:
        test = partial(_execute, code, file=_main_file(source, SOURCE_NAME))
    if kind == _SERVE_FORK:
        _serve_fork(test)
    _serve_shared(feed, test)


def _run_once(source: bytes, name: str = SOURCE_NAME) -> NoReturn:
    status = _run_program(source, name)
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    _leave(status)


def _run_program(source: bytes, name: str = SOURCE_NAME) -> int:
    """Compile and run a program; returns the exit code to end this process with."""
    # Tracebacks and warnings read these lines.
    if name == SOURCE_NAME:  # a lazy entry: decoded only when read
        linecache.cache[name] = (lambda: source.decode("utf-8", "replace"),)
    elif name != STRING_NAME:  # lazy entries are ignored if the file exists, even if unreadable
        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except compiling.ERRORS as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        sys.stderr.flush()
        return 1
    _reseed()
    return _finish(_execute(code, name, _main_file(source, name)))


def _main_file(source: bytes, name: str) -> str:
    """Return what a program is to take for its own file, and prepare for its further processes.

    One that is started anew, not forked, imports the program by that name.
    """
    if b"multiprocess" not in source:
        return name
    os.environ.setdefault("TMPDIR", _SHM)  # for managers' sockets, in a job without disk
    if name[:1] == "<" or not (b"spawn" in source or b"forkserver" in source):
        return name
    path = f"{_SHM}/{os.getpid()}-{os.path.basename(name)}"
    try:
        with open(path, "wb") as file:
            file.write(source)
    except OSError:  # there is no /dev/shm at this level
        return name
    return path


def _serve_fork(test: Callable[[], int]) -> NoReturn:
    """Fork one process per test. The submission never runs in this one."""
    gc.collect()
    gc.freeze()
    lockdown.serve_tests(FEED_FD)
    _leave(_finish(test()))


def _serve_shared(feed: socket.socket, test: Callable[[], int]) -> NoReturn:
    """Run the tests one after the other in this process, each with fresh globals and streams."""
    while True:
        message, fds = receive(feed, 4)
        if message != TEST:
            _leave(0)
        for target, fd in enumerate(fds[:3]):
            os.dup2(fd, target)
            os.close(fd)
        if fds[3:]:
            os.dup2(fds[3], RESULT_FD)
            os.close(fds[3])
        fresh_streams()
        feed.send(Reply(Tag.RETURNED, str(_end_of_test(test()))).encode())


def _end_of_test(status: int) -> int:
    """Join threads, run atexit handlers, flush. Unlike _finish, leaves threading usable."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    try:
        atexit._run_exitfuncs()  # noqa: SLF001 - no public twin
    except BaseException as error:  # noqa: BLE001 - as in _execute
        print_exception(error)
    return _flush_all(status)


def _execute(code: CodeType, name: str = SOURCE_NAME, file: str = SOURCE_NAME) -> int:
    """Run a program as __main__; returns the exit code CPython would end with."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    if name != STRING_NAME:
        main.__dict__["__file__"] = file
    sys.modules["__main__"] = main
    try:
        exec(code, main.__dict__)
    except SystemExit as stop:
        return exit_code(stop)
    except BaseException as error:  # noqa: BLE001 - this is the interpreter's outermost frame
        print_exception(error)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def exit_code(stop: SystemExit) -> int:
    """Return the exit code that a SystemExit stands for; show its text, as CPython does."""
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF if -(1 << 63) <= stop.code < 1 << 63 else 255
    try:
        text = str(stop.code)
    except BaseException:  # noqa: BLE001 - a hostile __str__
        text = ""
    _complain(f"{text}\n")
    return 1


def _finish(status: int) -> int:
    """Do what the interpreter does when it exits: end threads, run atexit handlers, flush."""
    try:
        _end_threads()
        if atexit._ncallbacks():  # noqa: SLF001 - no public twin
            atexit._run_exitfuncs()  # noqa: SLF001 - no public twin
    except BaseException as error:  # noqa: BLE001 - as in _execute
        print_exception(error)
    status = _flush_all(status)
    # Files that the program opened on its output and never closed are flushed when collected.
    sys.modules.pop("__main__", None)
    gc.collect()
    return _flush_all(status)


def _end_threads() -> None:
    """Wait for threads as the interpreter does, if there are any: that writes to seventy pages."""
    # Private names, for want of public twins.
    held = threading._limbo or getattr(threading, "_threading_atexits", None)  # type: ignore[attr-defined]  # noqa: SLF001
    if held or len(threading._active) > 1:  # type: ignore[attr-defined]  # noqa: SLF001
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001


def _flush_all(status: int) -> int:
    """Flush the streams; like CPython, end with 120 if output was lost."""
    for name in ("stdout", "stderr", "__stdout__"):
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:  # noqa: BLE001 - it may be the submission's own object
            if name == "stdout" and not status:
                _complain(f"Exception ignored in: {name}\n{type(error).__name__}: {error}\n")
                status = 120
    return status


def print_exception(error: BaseException) -> None:
    """Show an exception without our own frames, by the program's hook if it has set one."""
    first = error.__traceback__.tb_next if error.__traceback__ is not None else None
    hook = getattr(sys, "excepthook", None)
    if hook is not None and hook is not sys.__excepthook__:
        with contextlib.suppress(BaseException):  # if the hook fails: shown below, as by CPython
            hook(type(error), error, first)
            return
    try:
        if sys.stderr is not None:
            traceback.print_exception(type(error), error, first)
    except BaseException:  # noqa: BLE001 - a hostile __str__ must not change the exit code
        _complain(f"{type(error).__name__}\n")


def _complain(text: str) -> None:
    """Write to stderr, or to descriptor 2 where the program left no usable stderr."""
    with contextlib.suppress(BaseException):
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except BaseException:  # noqa: BLE001 - the stream may be the submission's own object
            os.write(2, text.encode("utf-8", "backslashreplace"))


def fresh_streams() -> None:
    """Bind sys.stdin, sys.stdout and sys.stderr anew to descriptors 0, 1 and 2."""
    sys.stdin = io.TextIOWrapper(
        io.BufferedReader(io.FileIO(0, "r", closefd=False)),
        encoding="utf-8", errors="surrogateescape",
    )  # fmt: skip
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(1, "w", closefd=False)),
        encoding="utf-8", errors="surrogateescape",
    )  # fmt: skip
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        encoding="utf-8", errors="backslashreplace", line_buffering=True,
    )  # fmt: skip


SAMPLE = """\
import sys
from collections import defaultdict, deque
def solve(n, values):
    seen = defaultdict(int)
    waiting = deque(range(n))
    while waiting:
        seen[waiting.popleft() % 3] += 1
    return max(sorted(seen.values())), [f"{v:d}" for v in values if v > 1]
class Table:
    def answer(self, n):
        return solve(n, [1, 2, 3])
line = sys.stdin.readline()
if not line:
    print(*solve(5, [int(x) for x in "1 2 3".split()])[1], Table().answer(3)[0])
"""
REHEARSALS = 12


def play() -> None:
    """Do what a job does, with a small program."""
    gc.enable()
    _run_program(b"import sys\nprint(len(sys.stdin.readline()) + 1)\n")


def rehearse() -> None:
    """Walk the paths that every job walks, before any job is forked.

    It fills caches, specialises bytecode and leaves the allocator settled, so that jobs write to
    fewer of the pages they share with the agent: a tenth of a job's cost.
    """
    sample = SAMPLE.encode()
    for _ in range(REHEARSALS):
        _run_program(sample)
    renew_streams()


def renew_streams() -> None:
    """Leave an agent's own standard streams as if nothing had been read or written."""
    for fd in range(3):
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
    fresh_streams()
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)


def _reseed() -> None:
    """Give a lone run its own random numbers; judged tests keep the agent's, for repeatability."""
    random = sys.modules.get("random")
    if random is not None:
        random.seed()


def _brief(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()[-2000:]


_os_write = os.write


def write(fd: int, data: bytes) -> None:
    """Write all of `data`, whatever the program has made of os.write. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[_os_write(fd, view) :]


def read(fd: int) -> bytes:
    """Whole content of a file descriptor that may be positioned anywhere."""
    size = os.lseek(fd, 0, os.SEEK_END)
    os.lseek(fd, 0, os.SEEK_SET)
    return os.pread(fd, size, 0) if size < 1 << 30 else _read_in_parts(fd, size)


def _read_in_parts(fd: int, size: int) -> bytes:
    """Return the whole content by several reads: one returns 2 GiB at most."""
    parts = []
    offset = 0
    while offset < size:
        part = os.pread(fd, 1 << 30, offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
    return b"".join(parts)
