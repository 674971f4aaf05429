"""A process that works shifts on request, one JSON line in and one out, until its input closes."""

import ctypes
import dataclasses
import json
import logging
import os
import resource
import signal
import sys
import tempfile
from pathlib import Path

import census
from programs import corpus, own, with_disk
from shift import Order, Shift

_CLONE_NEWNS = 0x00020000
_MS_REC, _MS_PRIVATE = 1 << 14, 1 << 18


def main() -> None:
    """Serve until the supervisor hangs up."""
    census.adopt_orphans()
    # A shell starts background processes with SIGINT ignored, and shifts press Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.getLogger("proctor").addHandler(logging.NullHandler())  # the tally has it all
    if "--full-disk" in sys.argv:
        fill_the_disk()
    if "--many-descriptors" in sys.argv:
        open_many()
    cases = [*own(), *corpus()]
    for line in sys.stdin:
        order = Order(**json.loads(line))
        extra = [with_disk()] if order.level == "namespaces" else []
        tally = Shift(order, cases + extra).work()
        print(json.dumps(dataclasses.asdict(tally)), flush=True)


def open_many() -> None:
    """Have more descriptors open than select(2) can name, as servers do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    null = os.open(os.devnull, os.O_RDONLY)
    while os.dup(null) < 1100:
        pass


def fill_the_disk() -> None:
    """Let every file that is not this process's alone lie on a disk without a free byte."""
    libc = ctypes.CDLL(None, use_errno=True)
    where = os.environ["TMPDIR"].encode()
    for done in (
        libc.unshare(_CLONE_NEWNS),
        libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None),
        libc.mount(b"soak", where, b"tmpfs", 0, b"size=4k,nr_inodes=2"),
    ):
        if done:
            raise OSError(ctypes.get_errno(), "cannot mount a disk to fill")
    Path(os.fsdecode(where), "full").write_bytes(b"x" * 4096)
    for name in ("HOME", "XDG_CACHE_HOME"):
        os.environ[name] = os.fsdecode(where)
    tempfile.tempdir = None


if __name__ == "__main__":
    main()
