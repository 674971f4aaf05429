"""A loopback interface and /dev/shm of a program's own: what they are good for, and their end.

What gets through them is tried by `proctor selftest`: the attacks whose limits say `loopback`.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor import (
    JudgeSettings,
    LimitHit,
    Limits,
    Pool,
    Problem,
    Program,
    Test,
    judge,
    open_pool,
    run,
)
from proctor.errors import InputError, NoIsolation, UsageError
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Command, Streams
from proctor.sandbox.container.size import size_for
from proctor.sandbox.levels.bubblewrap import Bubblewrap, arrangements
from proctor.sandbox.pool import Job
from proctor.sandbox.process_cell import ProcessCell
from waiting import PATIENCE

pytestmark = [pytest.mark.namespaces, pytest.mark.user]

MIB = 1 << 20
LIMITS = Limits(loopback=True, processes=16)
TALK = """
import socket, threading
def serve():
    end, _ = listener.accept()
    end.sendall(end.recv(100).upper())
    end.close()
listener = socket.create_server(("", 8377))
threading.Thread(target=serve).start()
with socket.create_connection(("localhost", 8377)) as client:
    client.sendall(b"hello")
    print(client.recv(100).decode())
"""
FORKED = """
import multiprocessing
from multiprocessing import shared_memory
def square(number): return number * number
with multiprocessing.Pool(2) as pool:
    print(pool.map(square, range(4)))
value = multiprocessing.Value("i", 3)
with value.get_lock(): value.value += 1
memory = shared_memory.SharedMemory(create=True, size=100)
memory.buf[:2] = b"hi"
other = shared_memory.SharedMemory(memory.name)
print(value.value, bytes(other.buf[:2]))
memory.unlink()
"""
ASKED = "import socket\nsocket.socket()"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(cells=1) as opened:
        yield opened


def said(source: str, pool: Pool, limits: Limits = LIMITS) -> str:
    done = run(source, limits=limits, pool=pool)
    assert done.ok, done
    return done.stdout.decode()


def test_a_server_and_its_client(pool: Pool) -> None:
    assert said(TALK, pool) == "HELLO\n"


def test_datagrams_and_ipv6(pool: Pool) -> None:
    source = (
        "import socket\nfor host, family in (('127.0.0.1', 2), ('::1', 10)):\n"
        "    a, b = (socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) for _ in 'ab')\n"
        "    a.bind((host, 8377)); b.sendto(b'hello', a.getsockname()[:2]); print(a.recv(9))\n"
    )
    assert said(source, pool) == "b'hello'\n" * 2


def test_multiprocessing(pool: Pool) -> None:
    assert said(FORKED, pool) == "[0, 1, 4, 9]\n4 b'hi'\n"


def test_every_process_may_ask_for_sockets_of_one_interface(pool: Pool) -> None:
    source = (
        "import os, socket\nlistener = socket.create_server(('', 8377))\n"
        "for _ in range(4):\n    if os.fork() == 0:\n"
        "        end = socket.create_connection(('127.0.0.1', 8377))\n"
        "        end.sendall(b'x'); os._exit(0)\n"
        "print(*(listener.accept()[0].recv(1) for _ in range(4)))\n"
    )
    assert said(source, pool) == " ".join(["b'x'"] * 4) + "\n"


def test_who_does_not_ask_gets_neither(pool: Pool) -> None:
    for source in (ASKED, "open('/dev/shm/x', 'w')"):
        done = run(source, pool=pool)
        assert done.exit_code == 1
        assert b"not supported by protocol" in done.stderr or b"No such file" in done.stderr
    assert said("import os; print(os.path.exists('/dev/shm'))", pool, Limits()) == "False\n"


def test_a_program_after_another_finds_nothing_of_it(pool: Pool) -> None:
    """Not even that a port was in use, which a closed connection would tell for a minute."""
    source = TALK + "open('/dev/shm/left', 'w')\n"
    for _ in range(3):
        assert said("import os; print(os.listdir('/dev/shm'))\n" + source, pool) == "[]\nHELLO\n"


def test_two_programs_at_once_do_not_share_a_port() -> None:
    """Each listens, then both try to reach the other: the word to go on comes by their input."""
    source = (
        "import socket\nlistener = socket.create_server(('', 8377))\nlistener.setblocking(False)\n"
        "print('listening', flush=True)\ninput()\nsocket.create_connection(('127.0.0.1', 8377))\n"
        "listener.accept()\ntry: listener.accept()\nexcept BlockingIOError: print('alone')\n"
    )
    ends = [[os.pipe() for _ in "io"] for _ in range(2)]
    with open_pool(cells=2) as two:

        def job(given: int, printed: int) -> Job[int | None]:
            command = Command(("/usr/bin/env", "python3", "-c", source))
            streams = Streams(given, printed)
            return lambda cell, _queued: (
                cell.execute(command, streams, LIMITS, ContestClock(LIMITS)).execution.exit_code
            )

        done = two.submit_together([job(to[0], of[1]) for to, of in ends])
        for _, (reader, _) in ends:
            assert os.read(reader, 100) == b"listening\n"
        for (_, writer), (reader, _) in ends:
            os.write(writer, b"\n")
            assert os.read(reader, 100) == b"alone\n"
        assert [each.result() for each in done] == [0, 0]
        for (_, writer), (reader, _) in ends:
            os.close(writer)
            os.close(reader)


def test_dev_shm_counts_as_memory(pool: Pool) -> None:
    source = (
        "import itertools\nfor n in itertools.count():\n"
        "    open(f'/dev/shm/{n}', 'wb').write(bytes(1 << 20))\n"
    )
    done = run(source, limits=Limits(loopback=True, memory=32 * MIB), pool=pool)
    if "control group" in done.isolation.guarantees["memory"].how:
        assert done.limit is LimitHit.MEMORY
    else:
        assert b"No space left" in done.stderr


def test_an_executed_program_has_them_too(pool: Pool) -> None:
    def job(cell: Cell, _queued: float) -> str:
        source = TALK + "open('/dev/shm/x', 'w')"
        command = Command(("/usr/bin/env", "python3", "-c", source))
        limits = Limits(loopback=True, memory=256 * MIB)
        done = cell.execute(command, Streams(), limits, ContestClock(limits)).execution
        return (done.stdout + done.stderr).decode()

    assert pool.do(job) == "HELLO\n"


def test_a_program_that_is_stopped_takes_its_broker_with_it(pool: Pool) -> None:
    limits = Limits(loopback=True, cpu=0.2)
    assert run(ASKED + "\nwhile True: pass", limits=limits, pool=pool).limit is LimitHit.CPU
    cell = pool._live[0]
    assert isinstance(cell, ProcessCell)
    assert cell.job_pids() == []
    assert said(TALK, pool) == "HELLO\n"


def test_many_threads_ask_at_once(pool: Pool) -> None:
    source = (
        "import socket, threading\nmade = []\n"
        "def make():\n    for _ in range(20): made.append(socket.socket())\n"
        "threads = [threading.Thread(target=make) for _ in range(8)]\n"
        "for each in threads: each.start()\nfor each in threads: each.join()\nprint(len(made))\n"
    )
    assert said(source, pool) == "160\n"


def test_a_process_has_no_more_descriptors_for_them_than_for_files(pool: Pool) -> None:
    source = (
        "import socket\nmade = []\ntry:\n    while True: made.append(socket.socket())\n"
        "except OSError as error: print(error.strerror, len(made) < 256)\n"
    )
    assert said(source, pool) == "Too many open files True\n"


def test_judged_programs_get_none(pool: Pool) -> None:
    """Ports carry a note from one test to the next."""
    with pytest.raises(UsageError, match="loopback"):
        JudgeSettings(limits=LIMITS)
    problem = Problem("echo", (Test("", "1\n"),), limits=LIMITS)
    with pytest.raises(UsageError, match="loopback"):
        judge(problem, Program("print(1)"), pool=pool)


@pytest.mark.parametrize("value", [1, "yes", None])
def test_it_is_true_or_false(value: object) -> None:
    with pytest.raises(InputError, match="must be true or false"):
        Limits(loopback=value)  # type: ignore[arg-type]


def test_a_container_says_that_it_has_none() -> None:
    with pytest.raises(NoIsolation, match="limits.loopback"):
        size_for(LIMITS)


def test_level_landlock_says_that_it_has_none() -> None:
    with open_pool(isolation="landlock", cells=1) as opened:
        with pytest.raises(NoIsolation, match=r"limits.loopback: this cell \(level landlock\)"):
            run("print(1)", limits=LIMITS, pool=opened)
        assert run("print(1)", pool=opened).ok


@pytest.mark.root
def test_who_cannot_make_networks_says_so(pool: Pool) -> None:
    """In an arrangement without a user namespace the agent has no right to set up an interface."""
    for arranged in arrangements():
        cell = Bubblewrap(arranged).open_cell(pool.setup, 0)
        try:
            assert cell.loopback == arranged.user_namespace
            if not cell.loopback:
                with pytest.raises(NoIsolation, match="with a user namespace"):
                    cell.run(Program(TALK), b"", LIMITS)
            assert b"not supported by protocol" in cell.run(Program(ASKED), b"", Limits()).stderr
        finally:
            cell.close()


WATCHED = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000), 8)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)), 16)
libc.prctl(38, 1, 0, 0, 0)
number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
if libc.syscall(number, 1, 8, program) < 0: sys.exit(os.strerror(ctypes.get_errno()))
from proctor import Limits, open_pool, run
from proctor.errors import NoIsolation
with open_pool(cells=1, isolation="namespaces") as pool:
    done = run("import socket\\nsocket.socket()", pool=pool)
    print(done.exit_code, b"not supported by protocol" in done.stderr)
    try:
        run("print(1)", limits=Limits(loopback=True), pool=pool)
    except NoIsolation as error:
        print(str(error)[:15])
"""


def test_where_somebody_else_answers_system_calls_there_are_no_sockets() -> None:
    """The kernel lets one listener only answer for a process, such as that of a container's host."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == ("1 True\nlimits.loopback\n", "")


@pytest.mark.root
def test_the_key_of_the_sockets_is_nowhere_in_what_jobs_are_forked_from(pool: Pool) -> None:
    """One of its parts may be there by chance, two of them are not."""
    assert said(TALK, pool) == "HELLO\n"
    cell = pool._live[0]
    assert isinstance(cell, ProcessCell)
    scanned = 0
    for pid in cell._own:
        there = {path.name for path in Path(f"/proc/{pid}/fd").iterdir() if is_key(path)}
        for number in there:
            key = Path(f"/proc/{pid}/fd/{number}").read_bytes()
            parts = {key[at : at + 4] for at in range(0, len(key), 4)}
            assert len(parts) == 3
            memory = written_memory(pid)
            assert sum(part in memory for part in parts) < 2
            scanned += len(memory)
    assert scanned > MIB


def is_key(path: Path) -> bool:
    return os.readlink(path).startswith("/memfd:key")


def written_memory(pid: int) -> bytes:
    found = b""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, mode, *_ = line.split()
            low, high = (int(end, 16) for end in span.split("-"))
            if "w" in mode:
                found += os.pread(memory.fileno(), high - low, low)
    return found
