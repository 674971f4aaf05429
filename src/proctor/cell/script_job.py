"""The job of a Python program that is started as from a shell: with a name, and with arguments.

They travel with the source and not in the request: the agent sees neither. Integers are big-endian:

    length of the head, 4 bytes | head, JSON | source

    head: {"argv": [name, argument, ...], "line_buffered": bool}
"""

import json
import os
import sys
from typing import Any

from proctor.cell import native_job, python_job


def prepare() -> tuple[bytes, str]:
    """Put arguments and streams in place; return the program's source and name."""
    data = python_job.read(python_job.SOURCE_FD)
    (length,) = native_job.LENGTH.unpack_from(data)
    start = native_job.LENGTH.size + length
    head: dict[str, Any] = json.loads(data[native_job.LENGTH.size : start])
    os.close(python_job.SOURCE_FD)
    sys.argv[:] = head["argv"]
    # The program's input may be a pipe; the agent's streams are made for files.
    python_job.fresh_streams()
    if head["line_buffered"]:
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return data[start:], head["argv"][0]
