"""The job of a Python program that works in a directory: its files are put there first.

The host gets a descriptor of the directory before any of the program runs, and reads through it
what the program leaves, even after all processes of the job have ended.

The bundle has the format of native_job.py, with this head:

    head: {"name": file name of the program, "environment": {name: value, in which {work} is the
           working directory}, "progress": bool, "compile": bool, "files": [[name, size], ...]; the
           first is the program}

Descriptor 4 is the feed, over which the directory's descriptor is sent and then, if `compile` is
set, the report of compiling.py as JSON: a program that does not compile is not run. Descriptor 5,
if `progress` is set, takes the program's lines of progress; the program finds it as descriptor 3.
"""

import json
import os
import socket
import sys
from typing import Any

from proctor.cell import compiling, native_job
from proctor.cell.wire import DIRECTORY, send

_FEED_FD, _PROGRESS_FD, _PROGRESS_TARGET = 4, 5, 3


def prepare() -> tuple[bytes, str]:
    """Put everything in place; return the program's source and name."""
    bundle = native_job.BUNDLE_FD
    (length,) = native_job.LENGTH.unpack(os.pread(bundle, native_job.LENGTH.size, 0))
    head: dict[str, Any] = json.loads(os.pread(bundle, length, native_job.LENGTH.size))
    start = native_job.LENGTH.size + length
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    feed = socket.socket(fileno=_FEED_FD)
    send(feed, DIRECTORY, [here])
    os.close(here)
    native_job.place(head["files"], start)
    source = os.pread(bundle, head["files"][0][1], start)
    os.close(bundle)
    if head["compile"]:
        said = compiling.look(source, head["name"])
        send(feed, json.dumps(said).encode(), [])
        if said["error"] is not None:
            os._exit(0)
    feed.close()
    if head["progress"]:
        os.dup2(_PROGRESS_FD, _PROGRESS_TARGET)  # inheritable
        os.close(_PROGRESS_FD)
    work = os.getcwd()
    os.environ.update(HOME=work, TMPDIR=work, PWD=work)
    for name, value in head["environment"].items():
        os.environ[name] = value.replace("{work}", work)
    sys.argv[:] = [head["name"]]
    sys.path.insert(0, work)
    # So that what the program has printed is in the file, whatever ends it.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return source, head["name"]
