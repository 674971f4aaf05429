"""Official mode: a program is loaded and run as lcb_runner does, all its tests in one process."""

import os
import socket
import sys
from typing import NoReturn

from proctor.cell import lcb_io, lcb_load, python_job
from proctor.cell.lcb_process import Disguise
from proctor.cell.wire import IN_MESSAGE, TEST, Reply, Tag, receive

_OUTPUT_FD = 5  # where outputs go that are too long for a message
_base = lcb_load.preamble()
disguise = Disguise()
"""The process state of lcb_runner, which an agent puts on before it forks such a job."""


def rehearse() -> None:
    """Walk the paths that every such job walks; see python_job.rehearse."""
    disguise.put_on()
    for _ in range(python_job.REHEARSALS):
        lcb_load.rehearse(python_job.SAMPLE)
    disguise.take_off()
    sys.setrecursionlimit(1000)
    python_job.renew_streams()


def serve(feed: socket.socket, source: bytes, function: str) -> NoReturn:
    """Load the program as lcb_runner does, then give it one test's input at a time."""
    send, leave = feed.send, os._exit  # the program may replace what modules hold
    text = source.decode("utf-8", "surrogatepass")
    disguise.preload(text)
    try:
        program = lcb_load.load(text, function or None, _base)
    except Exception as error:  # noqa: BLE001 - upstream reports every Exception, so do we
        send(Reply(Tag.UNLOADABLE, _safe_str(error)).encode())
        leave(0)
    send(python_job.READY)
    while True:
        message, fds = receive(feed, 1)
        if not message.startswith(TEST):
            leave(0)
        given = message[1:]  # no len() here and below: the program may have replaced it
        for fd in fds:
            given = python_job.read(fd)
            os.close(fd)
        send(_test(program, given).encode())


def _test(program: lcb_io.StdioProgram | lcb_io.CallProgram, given: bytes) -> Reply:
    text = given.decode("utf-8", "surrogatepass")
    try:
        try:
            output = program.run(text)
            if not output[IN_MESSAGE:]:
                return Reply(Tag.OUTPUT, output=output)
            python_job.write(_OUTPUT_FD, output)
        except lcb_io.HarnessFailure:
            raise
        except Exception as error:  # noqa: BLE001 - upstream reports every Exception, so do we
            return Reply(Tag.RAISED, lcb_io.error_text(error))
    except lcb_io.HarnessFailure as failure:
        return Reply(Tag.UNLOADABLE, str(failure))
    return Reply(Tag.RETURNED)


def _safe_str(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a hostile __str__
        return type(error).__name__
