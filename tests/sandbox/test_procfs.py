"""What /proc says of real processes, awkward names and vanished ones included."""

import os
import time

from children import StartChild, line

from proctor.sandbox.machine import procfs

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
    assert process.waited() >= 0
    process.close()
    assert process.waited() == 0
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
    assert procfs.run_delays([pid]) == []
    assert procfs.resident_bytes([pid], 0) == 0
    process = procfs.Process(pid)
    assert (process.cpu(), process.waited()) == (0.0, 0.0)
    process.close()


def test_a_process_that_goes_while_it_is_watched(child: StartChild) -> None:
    program = child(WAIT)
    line(program.stdout)
    process = procfs.Process(program.pid)
    program.kill()
    program.wait()
    assert (process.cpu(), process.waited()) == (0.0, 0.0)
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


def test_run_delays_are_one_figure_per_task(child: StartChild) -> None:
    program = child(
        "import sys, threading\n"
        "hold = threading.Event()\n"
        "for _ in range(3): threading.Thread(target=hold.wait, daemon=True).start()\n" + WAIT
    )
    line(program.stdout)
    delays = procfs.run_delays([program.pid, gone()])
    assert delays is not None
    assert len(delays) == 4
    assert all(delay >= 0 for delay in delays)


def test_resident_bytes_count_what_was_touched(child: StartChild) -> None:
    source = "data = bytearray(%d)\nfor at in range(0, len(data), 4096): data[at] = 1\n" + WAIT
    small, big = child(source % MIB), child(source % (40 * MIB))
    line(small.stdout), line(big.stdout)
    one, other = procfs.resident_bytes([small.pid], 0), procfs.resident_bytes([big.pid], 0)
    assert 0 < one < 30 * MIB
    assert 38 * MIB <= other - one <= 42 * MIB
    together = procfs.resident_bytes([small.pid, big.pid, gone()], 0)
    assert abs(together - one - other) < MIB
