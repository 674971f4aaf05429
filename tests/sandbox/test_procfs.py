"""What /proc says of real processes, awkward names and vanished ones included."""

import os
import time

import pytest
from children import StartChild, line

from proctor.sandbox.machine import procfs

pytestmark = pytest.mark.user

MIB = 1 << 20
WAIT = "import sys; print('ready', flush=True); sys.stdin.read()"


def gone() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def test_cpu_seconds_of_another_process(child: StartChild) -> None:
    program = child(
        "import sys, threading, time\n"
        "def burn():\n"
        "    while time.thread_time() < 0.1: pass\n"
        "threads = [threading.Thread(target=burn) for _ in range(2)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print(time.process_time(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    said = float(line(program.stdout))
    assert said >= 0.2
    assert said <= procfs.cpu_seconds(program.pid) < said + 1
    process = procfs.Process(program.pid)
    assert process.cpu() >= said
    assert set(process.main_thread()) == {program.pid}
    process.close()
    assert process.main_thread() == {}
    process.close()


def test_cpu_seconds_of_ourselves_are_our_own_clock() -> None:
    before = time.process_time()
    seen = procfs.cpu_seconds(os.getpid())
    assert before <= seen <= time.process_time()


def test_a_process_that_is_gone_has_nothing() -> None:
    pid = gone()
    assert procfs.cpu_seconds(pid) == 0.0
    assert procfs.start_time(pid) is None
    assert procfs.descendants(pid) == []
    assert procfs.tasks([pid]) == {pid: procfs.Task("")}
    assert procfs.resident_bytes([pid], 0) == 0
    process = procfs.Process(pid)
    assert (process.cpu(), process.main_thread()) == (0.0, {})
    process.close()


def test_a_process_that_goes_while_it_is_watched(child: StartChild) -> None:
    program = child(WAIT)
    line(program.stdout)
    process = procfs.Process(program.pid)
    program.kill()
    program.wait()
    assert (process.cpu(), process.main_thread()) == (0.0, {})
    process.close()


def test_start_times_tell_processes_apart(child: StartChild) -> None:
    mine = procfs.start_time(os.getpid())
    program = child(WAIT)
    line(program.stdout)
    theirs = procfs.start_time(program.pid)
    assert mine is not None
    assert theirs is not None
    assert theirs >= mine
    assert procfs.start_time(os.getpid()) == mine


def test_names_that_imitate_the_format_change_nothing(child: StartChild) -> None:
    """A program names itself; `stat` shows the name between brackets, unescaped."""
    program = child(
        "import os, sys\n"
        "open('/proc/self/comm', 'w').write('a) R 1 1 (b) S')\n"
        "pid = os.fork()\n"
        "if pid == 0: sys.stdin.read(); os._exit(0)\n"
        "print(pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    grandchild = int(line(program.stdout))
    assert procfs.descendants(program.pid) == [grandchild]
    assert program.pid in procfs.descendants(os.getpid())
    assert procfs.start_time(program.pid) == procfs.start_time(program.pid)
    started = procfs.start_time(program.pid)
    assert started is not None
    assert started > 1


def test_descendants_are_the_whole_tree(child: StartChild) -> None:
    program = child(
        "import os, sys\n"
        "r, w = os.pipe()\n"
        "for _ in range(2):\n"
        "    if os.fork() == 0:\n"
        "        if os.fork() == 0: os.setsid()\n"
        "        os.write(w, b'%d ' % os.getpid())\n"
        "        sys.stdin.read(); os._exit(0)\n"
        "pids = b''\n"
        "while pids.count(b' ') < 4: pids += os.read(r, 100)\n"
        "print(pids.decode(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    pids = {int(pid) for pid in line(program.stdout).split()}
    assert len(pids) == 4
    assert set(procfs.descendants(program.pid)) == pids


def test_tasks_are_threads_of_processes_that_live(child: StartChild) -> None:
    program = child(
        "import sys, threading\n"
        "hold = threading.Event()\n"
        "for _ in range(3): threading.Thread(target=hold.wait, daemon=True).start()\n" + WAIT
    )
    line(program.stdout)
    found = procfs.tasks([program.pid])
    assert len(found) == 4
    assert program.pid in found
    assert all(task.cpu > 0 and task.turns > 0 and task.waited >= 0 for task in found.values())


def test_who_ends_amid_a_look_was_not_at_rest(
    child: StartChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has run since the look began, and with it whoever waited for it."""
    program = child(WAIT)
    line(program.stdout)
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: [*listed(path), str(gone())])
    found = procfs.tasks([program.pid])
    assert [task.at_rest for name, task in found.items() if name != program.pid] == [False]


def test_who_computes_is_never_seen_at_rest(child: StartChild) -> None:
    """On a CPU or not: the test itself may have taken it."""
    program = child("print('ready', flush=True)\nwhile True: pass")
    line(program.stdout)
    for _ in range(100):
        (task,) = procfs.tasks([program.pid]).values()
        assert not task.at_rest


def test_who_sleeps_is_at_rest_and_its_figures_stand_still(child: StartChild) -> None:
    program = child("print('ready', flush=True)\nimport signal\nsignal.pause()")
    line(program.stdout)
    while not (before := procfs.tasks([program.pid]))[program.pid].at_rest:
        os.sched_yield()
    assert procfs.tasks([program.pid]) == before


def test_the_clock_of_a_process_at_rest_is_the_sum_of_its_threads(child: StartChild) -> None:
    """To the nanosecond: what it has beyond that, threads have used that ended."""
    program = child(
        "import sys, threading, time\n"
        "def burn():\n"
        "    while time.thread_time() < 0.01: pass\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "t = threading.Thread(target=burn); t.start(); t.join()\n"
        "print('joined', flush=True)\n"
        "sys.stdin.readline()\n",
    )
    line(program.stdout)
    assert ended(program.pid) == 0
    assert program.stdin is not None
    program.stdin.write("\n")
    program.stdin.flush()
    line(program.stdout)
    assert ended(program.pid) >= 10_000_000


def ended(pid: int) -> int:
    """Nanoseconds of a process's threads that have ended, once it is at rest."""
    while True:
        before = procfs.tasks([pid])
        clock = round(procfs.cpu_seconds(pid) * 1e9)
        if all(task.at_rest for task in before.values()) and procfs.tasks([pid]) == before:
            return clock - sum(task.cpu for task in before.values())


def test_resident_bytes_count_what_was_touched(child: StartChild) -> None:
    source = "data = bytearray(%d)\nfor at in range(0, len(data), 4096): data[at] = 1\n" + WAIT
    small, big = child(source % MIB), child(source % (40 * MIB))
    line(small.stdout), line(big.stdout)
    one, other = procfs.resident_bytes([small.pid], 0), procfs.resident_bytes([big.pid], 0)
    assert 0 < one < 30 * MIB
    assert 38 * MIB <= other - one <= 42 * MIB
    together = procfs.resident_bytes([small.pid, big.pid, gone()], 0)
    assert abs(together - one - other) < MIB
