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
_SHM = "/box/ipc/shm"
"""Where /dev/shm leads if the job has one of its own (mount_shm in lockdown.c). Where it has none,
/dev/shm may be the machine's: nothing of a job must be left there."""
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
        _keep_lines(source, STRING_NAME)
        part.serve(feed, source, function)
    _keep_lines(source, SOURCE_NAME)
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
    status = _finish(_run_program(source, name))
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    _leave(status)


def _run_program(source: bytes, name: str = SOURCE_NAME) -> int:
    """Compile and run a program, without what follows its end; returns its exit code."""
    _keep_lines(source, name)
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except compiling.ERRORS as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        sys.stderr.flush()
        return 1
    reseed(None)
    return _execute(code, name, _main_file(source, name))


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
    except OSError:  # there is none at this level
        return name
    return path


def _keep_lines(source: bytes, name: str) -> None:
    """Keep a program's lines, which tracebacks and warnings read, and not the rehearsal's."""
    if name == SOURCE_NAME:  # a lazy entry: decoded only when read
        linecache.cache[name] = (lambda: source.decode("utf-8", "replace"),)
        return
    linecache.cache.pop(SOURCE_NAME, None)
    if name != STRING_NAME:  # lazy entries are ignored if the file exists, even if unreadable
        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)


def _serve_fork(test: Callable[[], int]) -> NoReturn:
    """Fork one process per test. The submission never runs in this one."""
    gc.collect()
    gc.freeze()
    lockdown.serve_tests(FEED_FD)
    _leave(_finish(test()))


def _serve_shared(feed: socket.socket, test: Callable[[], int]) -> NoReturn:
    """Run the tests one after the other in this process, each with fresh globals and streams.

    The process ends with the first test that has exit handlers or threads, of its own or of a
    module: what ends them would show in the next test. The host then runs the others in processes
    of their own.
    """
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
        status = test()
        last = atexit._ncallbacks() or _may_have_threads()  # noqa: SLF001 - no public twin
        if last:
            status = _finish(status)
        else:  # a whole collection would cost a third of a test
            sys.modules.pop("__main__", None)
            status = _flush_all(status)
        feed.send(Reply(Tag.RETURNED, str(status)).encode())
        if last:
            _leave(0)


def _execute(code: CodeType, name: str = SOURCE_NAME, file: str = SOURCE_NAME) -> int:
    """Run a program as __main__; returns the exit code CPython would end with."""
    main = empty_main()
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


def empty_main() -> types.ModuleType:
    """Return the module in which a program begins."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __annotations__={})
    return main


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


def _finish(status: int, *, rehearsal: bool = False) -> int:
    """Do what the interpreter does when it exits: end threads, run atexit handlers, flush.

    A rehearsal only looks whether there are threads and handlers: they are for jobs to end.
    """
    try:
        if _may_have_threads() and not rehearsal:
            threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - no public twin
        if atexit._ncallbacks() and not rehearsal:  # noqa: SLF001 - no public twin
            atexit._run_exitfuncs()  # noqa: SLF001 - no public twin
    except BaseException as error:  # noqa: BLE001 - as in _execute
        print_exception(error)
    status = _flush_all(status)
    # Files that the program opened on its output and never closed are flushed when collected.
    sys.modules.pop("__main__", None)
    gc.collect()
    return _flush_all(status)


def _may_have_threads() -> bool:
    """Return whether there is a thread to wait for: threading's end writes to seventy pages."""
    # Private names, for want of public twins.
    held = threading._limbo or getattr(threading, "_threading_atexits", None)  # type: ignore[attr-defined]  # noqa: SLF001
    return bool(held) or len(threading._active) > 1  # type: ignore[attr-defined]  # noqa: SLF001


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


_BUFFERS: tuple[Any, ...] = (io.BufferedReader, io.BufferedWriter, io.BufferedWriter)
_STREAMS: list[tuple[Any, ...]] = [
    (name, *(kind.__new__(kind) for kind in (buffer, io.FileIO, io.TextIOWrapper)))
    for name, buffer in zip(("stdin", "stdout", "stderr"), _BUFFERS, strict=True)
]
"""Name, buffer, file and text of each standard stream."""


def fresh_streams() -> None:
    """Bind sys.stdin, sys.stdout and sys.stderr anew to descriptors 0, 1 and 2.

    They stay the same objects, and only begin anew: modules that are loaded may have kept them.
    """
    for fd, (name, buffer, file, text) in enumerate(_STREAMS):
        for each in (buffer, file, text):
            vars(each).clear()
        mode = "w" if fd else "r"
        io.FileIO.__init__(file, fd, mode, closefd=False)
        file.name = f"<{name}>"
        type(buffer).__init__(buffer, file)
        io.TextIOWrapper.__init__(
            text, buffer, encoding="utf-8", line_buffering=fd == 2,
            errors="backslashreplace" if fd == 2 else "surrogateescape",
        )  # fmt: skip
        text.mode = mode
        vars(sys).update({name: text, f"__{name}__": text})


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
    """Do what a job does, with a small program. Only for a process that then ends."""
    gc.enable()
    _finish(_run_program(b"import sys\nprint(len(sys.stdin.readline()) + 1)\n"))


def rehearse() -> None:
    """Walk the paths that every job walks, before any job is forked.

    It fills caches, specialises bytecode and leaves the allocator settled, so that jobs write to
    fewer of the pages they share with the agent: a tenth of a job's cost. Exit handlers are not
    run: those of imported modules are for jobs, which would find threading at its end.
    """
    sample = SAMPLE.encode()
    for _ in range(REHEARSALS):
        _finish(_run_program(sample), rehearsal=True)
    renew_streams()


def renew_streams() -> None:
    """Leave an agent's own standard streams as if nothing had been read or written."""
    for fd in range(3):
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
    fresh_streams()


def reseed(seed: int | None) -> None:
    """Seed the random numbers that modules share; None: unlike any other job's."""
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None:
            module.seed(seed)


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
