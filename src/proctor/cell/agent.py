"""The warm process inside a cell that every job is forked from.

It is payload-blind: source, input and output pass through it as descriptors only, so that a job,
which inherits a copy of this process's memory, finds nothing of the jobs before it there.
It is single-threaded and does one job at a time.
"""

import gc
import json
import linecache
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from proctor.cell import lockdown, python_job
from proctor.cell.parts import Parts
from proctor.cell.wire import CONTROL_FD, MAX_MESSAGE


def main() -> NoReturn:
    """Configure, say hello, serve until the host hangs up."""
    control = socket.socket(fileno=CONTROL_FD)
    control.send(b"?")  # by now we are in the control groups that the host has us join
    config = json.loads(control.recv(MAX_MESSAGE))
    log = os.dup(2)  # the host reads it when a cell dies; jobs do not get it
    try:
        lockdown.enter(config, [control.fileno()])
        _serve(control, config, log)
    except BaseException:  # noqa: BLE001 - the last words of a process that the host will replace
        os.write(log, traceback.format_exc().encode("utf-8", "backslashreplace"))
        os._exit(1)


def _serve(control: socket.socket, config: dict[str, Any], log: int) -> NoReturn:
    hello: dict[str, Any] = {
        "version": sys.version,
        "prefix": sys.base_prefix,
        "executable": sys.executable,
        "pid": os.getpid(),
    }
    sys.path.extend(config["paths"])
    _quiet_streams()  # now, since modules may keep the stream objects that they find
    for fd in (1, 2):
        os.dup2(log, fd)
    hello["missing"] = _warm_up(config["imports"])
    _forget_threads()
    hello.update(lockdown.prepare(config))
    _quiet_streams()
    parts = Parts()
    _leave_no_trace()
    python_job.rehearse()
    # Judged programs draw the same numbers in every cell, or verdicts would differ.
    python_job.reseed(0)
    gc.collect()
    gc.freeze()
    gc.disable()
    lockdown.lay_out_memory(python_job.play)
    lockdown.seal(config, hello)
    control.send(json.dumps(hello).encode())
    kind, function = lockdown.serve(control.fileno(), parts.get_ready)
    # From here on this is a job: its descriptors are in place, the agent's are closed.
    control.detach()
    python_job.run(kind, function, parts.get(kind, function != ""))


def _warm_up(modules: Sequence[str]) -> list[str]:
    """Import the modules that jobs will use; return those that could not be imported."""
    missing = []
    for name in modules:
        try:
            __import__(name)
        except ImportError:
            missing.append(name)
    return missing


def _forget_threads() -> None:
    """Forget threads that modules have started: no job has them. Raises RuntimeError.

    A job would wait at its end for one that is not a daemon.
    """
    others = [each for each in threading.enumerate() if each is not threading.current_thread()]
    lasting = [each.name for each in others if not each.daemon]
    if lasting:
        raise RuntimeError(f"a module that was imported has started a thread: {lasting[0]}")
    if others:
        threading._after_fork()  # type: ignore[attr-defined]  # noqa: SLF001 - no public twin


def _quiet_streams() -> None:
    """Put Python's standard streams on empty files.

    Jobs get their own files on descriptors 0-2 and go on using these stream objects, which is
    0.2 ms cheaper than building new ones. Memory files, not /dev/null, so that what the objects
    have noted of their file (seekable, at position 0) is true of the job's files too.
    """
    for fd in range(3):
        file = os.memfd_create("empty", os.MFD_CLOEXEC)
        os.dup2(file, fd)
        os.close(file)
    python_job.fresh_streams()


def _leave_no_trace() -> None:
    """Make the interpreter look as if it had been started for the job's program."""
    sys.path[:] = [entry for entry in sys.path if not entry.startswith("/proctor")]
    sys.argv = ["solution.py"]
    linecache.cache.pop("<string>", None)  # our own start, from Python 3.13 on
    signal.signal(signal.SIGINT, signal.default_int_handler)
