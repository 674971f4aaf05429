"""What a Python job does once it is locked down. From here on the submission may do anything."""

import atexit
import builtins
import contextlib
import gc
import io
import json
import linecache
import os
import signal
import socket
import sys
import threading
import traceback
import types
from types import CodeType
from typing import NoReturn

from proctor.cell import lcb_io, lcb_load, lockdown, plain_data
from proctor.cell.lcb_process import Disguise
from proctor.cell.wire import TEST, Kind, Reply, Request, Tag, receive

SOURCE_NAME = "solution.py"
SOURCE_FD = 3
FEED_FD = 4
RESULT_FD = 3  # of a forked test: where a function's encoded result goes
FUNCTION_RECURSION_LIMIT = 50_000  # what the platforms of function-call problems run with
_COMPILE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def run(request: Request, base: dict[str, object], disguise: Disguise) -> NoReturn:
    """Entry point of every job.

    `base` is the import preamble's namespace; `disguise` is on for official jobs only.
    """
    gc.enable()
    source = _read(SOURCE_FD)
    os.close(SOURCE_FD)
    if request.kind is Kind.RUN:
        _run_once(source)
    feed = socket.socket(fileno=FEED_FD)
    if request.kind is Kind.SERVE_OFFICIAL:
        _serve_official(feed, source, request.function, base, disguise)
    try:
        code = compile(source, SOURCE_NAME, "exec", dont_inherit=True)
    except _COMPILE_ERRORS as error:
        feed.send(Reply(Tag.UNLOADABLE, _brief(error)).encode())
        os._exit(0)
    feed.send(Reply(Tag.READY).encode())
    if request.kind is Kind.SERVE_FORK:
        _serve_fork(feed, code, request.function, base)
    _serve_shared(feed, code, request.function, base)


def _run_once(source: bytes) -> NoReturn:
    try:
        code = compile(source, SOURCE_NAME, "exec", dont_inherit=True)
    except _COMPILE_ERRORS as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        sys.stderr.flush()
        os._exit(1)
    _reseed()
    os._exit(_finish(_execute(code, source)))


def _serve_fork(
    feed: socket.socket, code: CodeType, function: str, base: dict[str, object]
) -> NoReturn:
    """Fork one process per test. The submission never runs in this one."""
    lockdown.hide_from_tests()
    gc.collect()
    gc.freeze()
    while True:
        message, fds = receive(feed, 4)
        if message != TEST:
            os._exit(0)
        pid = lockdown.fork_test(fds[:3], fds[3:])
        if pid == 0:
            if function:
                os._exit(_finish(_call(code, function, base)))
            os._exit(_finish(_execute(code, b"")))
        for fd in fds:
            os.close(fd)
        _, status, usage = os.wait4(pid, 0)
        _kill_leftovers()
        reply = Reply(Tag.ENDED, "", status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024)
        feed.send(reply.encode())


def _kill_leftovers() -> None:
    """End whatever a test left running, so that it cannot meet the next test.

    The kernel lets no fork slip past a pending SIGKILL, so this ends; in a PID namespace -1 means
    everything but ourselves and the init. Outside one (level `none`) it would hit strangers.
    """
    if os.getppid() != 0:
        return
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            return
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        os.sched_yield()


def _serve_shared(
    feed: socket.socket, code: CodeType, function: str, base: dict[str, object]
) -> NoReturn:
    """Run the tests one after the other in this process, each with fresh globals and streams."""
    while True:
        message, fds = receive(feed, 4)
        if message != TEST:
            os._exit(0)
        for target, fd in enumerate(fds[:3]):
            os.dup2(fd, target)
            os.close(fd)
        if fds[3:]:
            os.dup2(fds[3], RESULT_FD)
            os.close(fds[3])
        fresh_streams()
        status = _call(code, function, base) if function else _execute(code, b"")
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        status = _flush_all(status)
        feed.send(Reply(Tag.RETURNED, str(status)).encode())


def _serve_official(
    feed: socket.socket,
    source: bytes,
    function: str,
    base: dict[str, object],
    disguise: Disguise,
) -> NoReturn:
    """Load the program as lcb_runner does, then give it one test's input at a time."""
    send, leave = feed.send, os._exit  # the program may replace what modules hold
    text = source.decode("utf-8", "surrogatepass")
    disguise.preload(text)
    try:
        program = lcb_load.load(text, function or None, base)
    except Exception as error:  # noqa: BLE001 - upstream reports every Exception, so do we
        send(Reply(Tag.UNLOADABLE, _safe_str(error)).encode())
        leave(0)
    send(Reply(Tag.READY).encode())
    while True:
        message, fds = receive(feed, 2)
        if message != TEST:
            leave(0)
        send(_official_test(program, *fds).encode())


def _official_test(
    program: lcb_io.StdioProgram | lcb_io.CallProgram, test_input: int, output: int
) -> Reply:
    text = _read(test_input).decode("utf-8", "surrogatepass")
    os.close(test_input)
    try:
        try:
            _write(output, program.run(text))
        except lcb_io.HarnessFailure:
            raise
        except Exception as error:  # noqa: BLE001 - upstream reports every Exception, so do we
            return Reply(Tag.RAISED, lcb_io.error_text(error))
    except lcb_io.HarnessFailure as failure:
        return Reply(Tag.UNLOADABLE, str(failure))
    finally:
        os.close(output)
    return Reply(Tag.RETURNED)


def _safe_str(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a hostile __str__
        return type(error).__name__


def _execute(code: CodeType, source: bytes) -> int:
    """Run a program as __main__; returns the exit code CPython would end with."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    main.__dict__["__file__"] = SOURCE_NAME
    sys.modules["__main__"] = main
    try:
        exec(code, main.__dict__)
    except SystemExit as stop:
        return _exit_code(stop)
    except BaseException as error:  # noqa: BLE001 - this is the interpreter's outermost frame
        _print_exception(error, source)
        return 1
    return 0


def _call(code: CodeType, function: str, base: dict[str, object]) -> int:
    """Load the program after the import preamble, call its function, write the result."""
    sys.setrecursionlimit(FUNCTION_RECURSION_LIMIT)
    module = types.ModuleType("solution")
    module.__dict__.update(base)
    module.__dict__["__name__"] = "solution"
    sys.modules["solution"] = module
    arguments = os.fdopen(0, "rb", closefd=False).read()
    encode, parse = plain_data.encode, json.loads  # before the program may replace them
    try:
        exec(code, module.__dict__)
        owner = module.__dict__.get("Solution")
        target = getattr(owner() if owner is not None else module, function)
        lines = arguments.decode("utf-8", "surrogatepass").strip().split("\n")
        result = target(*[parse(line) for line in lines])
        _write(RESULT_FD, encode(result))
    except SystemExit as stop:
        return _exit_code(stop)
    except BaseException as error:  # noqa: BLE001 - as in _execute
        _print_exception(error, b"")
        return 1
    return 0


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF
    sys.stderr.write(f"{stop.code}\n")
    return 1


def _finish(status: int) -> int:
    """What the interpreter does on its way out: threads, atexit handlers, flush."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - no public twin
        atexit._run_exitfuncs()  # noqa: SLF001 - no public twin
    except BaseException as error:  # noqa: BLE001 - as in _execute
        _print_exception(error, b"")
    return _flush_all(status)


def _flush_all(status: int) -> int:
    """Flush the streams; like CPython, end with 120 if output was lost."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001 - the stream may be the submission's own object
            status = status or 120
    return status


def _print_exception(error: BaseException, source: bytes) -> None:
    """Print a traceback without our own frames, with source lines if there is a source."""
    if source:
        text = source.decode("utf-8", "replace")
        linecache.cache[SOURCE_NAME] = (len(text), None, text.splitlines(True), SOURCE_NAME)
    first = error.__traceback__.tb_next if error.__traceback__ is not None else None
    try:
        traceback.print_exception(type(error), error, first)
    except BaseException:  # noqa: BLE001 - a hostile __str__ must not change the exit code
        os.write(2, f"{type(error).__name__}\n".encode("utf-8", "replace"))


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


def _reseed() -> None:
    """Give a lone run its own random numbers; judged tests keep the agent's, for repeatability."""
    random = sys.modules.get("random")
    if random is not None:
        random.seed()


def _brief(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()[-2000:]


_os_write = os.write


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[_os_write(fd, view) :]


def _read(fd: int) -> bytes:
    """Whole content of a file descriptor that may be positioned anywhere."""
    size = os.fstat(fd).st_size
    return os.pread(fd, size, 0) if size < 1 << 30 else _read_in_parts(fd, size)


def _read_in_parts(fd: int, size: int) -> bytes:
    """One read returns 2 GiB at most."""
    parts = []
    offset = 0
    while offset < size:
        part = os.pread(fd, 1 << 30, offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
    return b"".join(parts)
