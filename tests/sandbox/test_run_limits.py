"""Every limit of a run: hit when overrun, not hit below, and nothing left for the next job."""

import os

import pytest

from proctor import Execution, InputError, LimitHit, Limits, Pool, run

pytestmark = pytest.mark.user

MIB = 1 << 20
TOUCH = "data = bytearray(%d)\nfor at in range(0, len(data), 4096): data[at] = 1\n"


@pytest.fixture(autouse=True)
def _unharmed(cell_pool: Pool) -> "object":
    """Whatever a test did, the same cell runs an honest program after it."""
    yield
    done = run("print(input())", "fine", limits=Limits(processes=4), pool=cell_pool)
    assert (done.stdout, done.ok) == (b"fine\n", True), done


def go(source: str, pool: Pool, **limits: float) -> Execution:
    return run(source, limits=Limits(**({"cpu": 5.0} | limits)), pool=pool)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "import threading\nfor _ in range(4): threading.Thread(target=exec, args=('while 1: pass',)).start()\n"
        "while 1: pass",
        "import os\nos.fork(); os.fork()\nwhile True: pass",
        "import os\nwhile True:\n    if os.fork() == 0: os._exit(0)\n    os.wait()",
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nwhile True: pass",
        "'a' * 10 ** 8; exec('pass\\n' * 10 ** 7)",
        "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    ],
)  # fmt: skip
def test_cpu(source: str, cell_pool: Pool) -> None:
    done = go(source, cell_pool, cpu=0.3)
    assert done.limit is LimitHit.CPU, done
    assert not done.ok
    assert 0.3 < done.cpu < 5  # stopped at the limit and not at some backstop far behind it


def test_cpu_that_only_children_use_counts(cell_pool: Pool) -> None:
    orphans = (
        "import os, time\n"
        "for _ in range(2):\n"
        "    if os.fork() == 0:\n"
        "        if os.fork() == 0:\n"
        "            while True: pass\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "time.sleep(1000)\n"
    )
    assert go(orphans, cell_pool, cpu=0.3).limit is LimitHit.CPU


def test_cpu_limits_are_not_hit_below(cell_pool: Pool) -> None:
    source = "import time\nwhile time.process_time() < %s: pass\nprint('done')"
    done = go(
        "import time\nend = time.process_time() + 0.5\n"
        "while time.process_time() < end: pass\nprint('done')",
        cell_pool,
        cpu=1.5,
    )
    assert (done.stdout, done.limit) == (b"done\n", None), (done, source)


def test_kernel_s_own_cpu_limit_is_far_from_ours(cell_pool: Pool) -> None:
    """It counts ticks, which may run ahead of the clock that verdicts are passed by."""
    source = "import resource; print(*resource.getrlimit(resource.RLIMIT_CPU))"
    for cpu in (0.5, 20.0, 100.0):
        execution = run(source, limits=Limits(cpu=cpu), pool=cell_pool)
        assert all(float(word) >= 2 * cpu for word in execution.stdout.split())


def test_a_program_that_stops_right_after_the_limit_is_over_it(cell_pool: Pool) -> None:
    """Whether or not the watch looked in time: the facts decide."""
    source = (
        "import time\nend = time.process_time() + 0.35\n"
        "while time.process_time() < end: pass\nprint('done')"
    )
    assert go(source, cell_pool, cpu=0.3).limit is LimitHit.CPU


@pytest.mark.parametrize("source", ["import time; time.sleep(1000)", "while True: pass",
                                    "import signal; signal.pause()",
                                    "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"])  # fmt: skip
def test_wall(source: str, cell_pool: Pool) -> None:
    done = go(source, cell_pool, cpu=100.0, wall=0.3)
    assert done.limit is LimitHit.WALL, done
    assert done.wall >= 0.3


@pytest.mark.slow
def test_idle(cell_pool: Pool) -> None:
    """Without a wall limit a program that does nothing at all is let go after five seconds."""
    done = go("print('before', flush=True)\nimport time; time.sleep(1000)", cell_pool, cpu=0.5)
    assert done.limit is LimitHit.IDLE, done
    assert done.stdout == b"before\n"
    assert done.wall >= 5
    assert done.cpu < done.wall - 4.5  # what it slept is not CPU time


@pytest.mark.cgroup
@pytest.mark.parametrize(
    "source",
    [
        TOUCH % (200 * MIB),
        "data = []\nwhile True: data.append('x' * 1000 + str(len(data)))",
        "import mmap\nm = mmap.mmap(-1, 200 << 20)\nfor at in range(0, len(m), 4096): m[at] = 1",
        "import os\nfd = os.memfd_create('x')\nwhile True: os.write(fd, bytes(1 << 20))",
        "'%s' * (10 ** 6)\nx = 'a' * (300 << 20)",
    ],
)
def test_memory_of_one_process(source: str, cell_pool: Pool) -> None:
    done = go(source, cell_pool, memory=64 * MIB, output=300 * MIB)
    assert done.limit is LimitHit.MEMORY, done
    if "control group" in done.isolation.guarantees["memory"].how:  # else it is sampled
        assert done.memory <= 64 * MIB + 4 * MIB


# Each child is far below the limit, all together are far above; the parent waits until all are full.
TREE = (
    "import os\nr, w = os.pipe()\nfull, tell = os.pipe()\n"
    "for _ in range(children := %d):\n"
    "    if os.fork() == 0:\n"
    "        os.close(w)\n"
    "        data = bytearray(%d)\n"
    "        for at in range(0, len(data), 4096): data[at] = 1\n"
    "        os.write(tell, b'x')\n"
    "        os.read(r, 1)\n"
    "        os._exit(0)\n"
    "os.close(r)\n"
    "for _ in range(children): os.read(full, 1)\n"
    "os.close(w)\n"
    "while True:\n"
    "    try: os.wait()\n"
    "    except ChildProcessError: break\n"
)


def test_memory_of_a_tree(cell_pool: Pool) -> None:
    done = go(TREE % (8, 20 * MIB), cell_pool, memory=64 * MIB)
    assert done.limit is LimitHit.MEMORY, done
    assert done.memory <= 64 * MIB + 4 * MIB


@pytest.mark.cgroup
def test_memory_of_a_modest_tree_is_no_offence(cell_pool: Pool) -> None:
    done = go(TREE % (3, 8 * MIB), cell_pool, memory=64 * MIB)
    assert done.ok, done
    assert 24 * MIB <= done.memory <= 64 * MIB


def test_memory_below_the_limit_is_all_usable(cell_pool: Pool) -> None:
    done = go(TOUCH % (100 * MIB) + "print(len(data))", cell_pool, memory=128 * MIB)
    assert done.ok, done
    assert 100 * MIB <= done.memory <= 128 * MIB


def test_a_memory_hit_is_not_the_next_programs(cell_pool: Pool) -> None:
    go(TOUCH % (200 * MIB), cell_pool, memory=64 * MIB)
    done = go("print(1)", cell_pool, memory=64 * MIB)
    assert (done.limit, done.stdout) == (None, b"1\n")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
class TestOutput:
    def test_exactly_the_limit_is_allowed(self, stream: str, cell_pool: Pool) -> None:
        done = go(f"import sys; sys.{stream}.write('x' * 10000)", cell_pool, output=10_000)
        assert done.ok, done
        assert getattr(done, stream) == b"x" * 10_000

    def test_one_byte_more_is_not(self, stream: str, cell_pool: Pool) -> None:
        done = go(f"import sys; sys.{stream}.write('x' * 10001)", cell_pool, output=10_000)
        assert done.limit is LimitHit.OUTPUT, done
        assert getattr(done, stream) == b"x" * 10_000

    @pytest.mark.parametrize(
        "flood",
        [
            "while True: f.write('line of text\\n')",
            "f.write('x' * 10 ** 7)",
            "import os\nwhile True: os.write(f.fileno(), b'y' * 65536)",
            "import os\nos.fork(); os.fork()\nwhile True: os.write(f.fileno(), b'y' * 65536)",
            "import os\nos.pwrite(f.fileno(), b'x', 100_000)",  # a hole, and one byte too far
            "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
            "while True: f.write('line of text\\n')",
        ],
    )
    def test_floods(self, stream: str, flood: str, cell_pool: Pool) -> None:
        done = go(f"import sys\nf = sys.{stream}\n{flood}", cell_pool, output=100_000)
        assert done.limit in (LimitHit.OUTPUT, LimitHit.CPU), done
        assert len(done.stdout) <= 100_000
        assert len(done.stderr) <= 100_000
        assert done.memory < 64 * MIB

    def test_a_caught_error_changes_nothing(self, stream: str, cell_pool: Pool) -> None:
        source = f"import os, sys\ntry: os.write(sys.{stream}.fileno(), b'x' * 200)\nfinally: os._exit(0)"
        done = go(source, cell_pool, output=100)
        assert done.limit is LimitHit.OUTPUT, done


COUNT = (
    "import os, signal\nn = 1\n"
    "try:\n"
    "    while n < 500:\n"
    "        if os.fork() == 0: signal.pause()\n"
    "        n += 1\n"
    "except OSError as error: pass\n"
    "print(n)\n"
)
COUNT_THREADS = (
    "import threading\nhold, n = threading.Event(), 1\n"
    "try:\n"
    "    while n < 500:\n"
    "        threading.Thread(target=hold.wait, daemon=True).start()\n"
    "        n += 1\n"
    "except RuntimeError: pass\n"
    "hold.set(); print(n)\n"
)


@pytest.mark.namespaces
@pytest.mark.parametrize("count", [COUNT, COUNT_THREADS], ids=["processes", "threads"])
@pytest.mark.parametrize("limit", [4, 20])
def test_processes_and_threads_are_limited(count: str, limit: int, cell_pool: Pool) -> None:
    done = go(count, cell_pool, processes=limit, memory=512 * MIB)
    assert limit <= int(done.stdout) <= limit + 8, done  # a few of ours count too


@pytest.mark.parametrize(
    "bomb",
    [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass",
        "import threading\ndef go():\n    while True:\n        try: threading.Thread(target=go).start()\n"
        "        except RuntimeError: pass\ngo()",
        "import os\nwhile True:\n    try:\n        if os.fork(): os._exit(0)\n    except OSError: pass",
    ],
    ids=["fork", "setsid", "threads", "parents die"],
)  # fmt: skip
def test_bombs_are_contained(bomb: str, cell_pool: Pool) -> None:
    done = go(bomb, cell_pool, cpu=0.5, wall=20.0, processes=20, memory=128 * MIB)
    assert done.exit_code == 0 or not done.ok
    assert cell_pool._live[0].job_pids() == []


@pytest.mark.skipif(os.nice(0) < 0, reason="jobs are to inherit a negative nice value")
def test_short_turns_are_the_agents_alone(cell_pool: Pool) -> None:
    done = go("import os; print(os.sched_getscheduler(0))", cell_pool)
    assert done.stdout == b"0\n"
    policies = {os.sched_getscheduler(pid) for pid in cell_pool._live[0]._own}  # type: ignore[attr-defined]
    assert os.SCHED_RESET_ON_FORK in policies


# Tries to leave something everywhere; prints where it could.
WRITE = (
    "import os\n"
    "for place in ('.', '/', '/tmp', '/box', '/box/work', '/dev', '/dev/shm', '/var/tmp', '/etc',\n"
    "              '/usr', '/proctor', '/proc', '/proc/self', '/run', '/root', os.path.dirname(os.__file__)):\n"
    "    for make in (lambda p: open(p, 'w').write('left'), os.mkdir, os.mkfifo,\n"
    "                 lambda p: os.symlink('/', p), lambda p: os.open(place, os.O_TMPFILE | os.O_RDWR)):\n"
    "        try: make(os.path.join(place, 'left'))\n"
    "        except OSError: continue\n"
    "        print(place)\n"
)


def test_without_disk_nothing_is_writable(cell_pool: Pool) -> None:
    done = go(WRITE, cell_pool)
    assert (done.stdout, done.stderr, done.exit_code) == (b"", b"", 0)


def test_with_disk_only_the_working_directory_and_dev_shm_are(cell_pool: Pool) -> None:
    done = go(WRITE, cell_pool, disk=MIB)
    assert set(done.stdout.split()) <= {b".", b"/box/work", b"/dev/shm"}, done
    assert done.stdout
    assert done.stderr == b""


FILL = (
    "import errno, os\ntotal = 0\n"
    "try:\n"
    "    for n in range(1000):\n"
    "        with open(f'f{n}', 'wb') as f: total += f.write(bytes(65536))\n"
    "except OSError as error: print(errno.errorcode[error.errno])\n"
    "print(total)\n"
)


@pytest.mark.namespaces
def test_disk_holds_what_was_asked_for_and_no_more(cell_pool: Pool) -> None:
    done = go(FILL, cell_pool, disk=MIB)
    code, total = done.stdout.split()
    assert code == b"ENOSPC"
    assert MIB - 65536 <= int(total) <= MIB
    one = go(
        "f = open('x', 'wb'); print(f.write(bytes(900 << 10))); f.close()\n"
        "print(len(open('x', 'rb').read()))",
        cell_pool,
        disk=MIB,
        output=1000,
    )
    assert one.stdout == b"921600\n921600\n", one


@pytest.mark.namespaces
def test_the_number_of_files_is_bounded_too(cell_pool: Pool) -> None:
    source = (
        "n = 0\n"
        "try:\n"
        "    while n < 100000:\n"
        "        open(f'{n}', 'w').close(); n += 1\n"
        "except OSError: pass\n"
        "print(n)\n"
    )
    assert int(go(source, cell_pool, disk=MIB).stdout) < 1000


@pytest.mark.namespaces
def test_nothing_on_disk_is_left_for_the_next_job(cell_pool: Pool) -> None:
    look = "import os; print(os.listdir('.'), os.path.exists('/box/work/secret'), os.getcwd())"
    leave = "import os\nopen('secret', 'w').write('x'); os.mkdir('d'); open('d/s', 'w')\n" + look
    first = go(leave, cell_pool, disk=MIB)
    assert first.stdout in (
        b"['d', 'secret'] True /box/work\n",
        b"['secret', 'd'] True /box/work\n",
    )
    for disk in (MIB, 0, MIB):
        assert go(look, cell_pool, disk=disk).stdout == b"[] False /box/work\n"


@pytest.mark.cgroup
def test_disk_counts_as_memory_and_is_given_back(cell_pool: Pool) -> None:
    """The scratch space lies in memory: a job cannot use it to have twice its share."""
    source = "f = open('x', 'wb')\nfor _ in range(40): f.write(bytes(1 << 20))\nf.flush()\n"
    over = go(source + TOUCH % (40 * MIB), cell_pool, disk=64 * MIB, memory=64 * MIB)
    assert over.limit is LimitHit.MEMORY, over
    for _ in range(3):
        done = go(source + "print('kept')", cell_pool, disk=64 * MIB, memory=64 * MIB)
        assert (done.stdout, done.limit) == (b"kept\n", None), done


@pytest.mark.parametrize(
    ("field", "value"),
    [("cpu", -1), ("cpu", 0), ("cpu", float("nan")), ("cpu", float("inf")), ("cpu", "1"),
     ("cpu", None), ("cpu", True), ("wall", 0), ("wall", -2.0), ("memory", 0), ("output", -5),
     ("processes", 0), ("disk", -1), ("stack", 0)],
)  # fmt: skip
def test_limits_that_make_no_sense_are_refused(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"field `limits.{field}`"):
        Limits(**{field: value})  # type: ignore[arg-type]
