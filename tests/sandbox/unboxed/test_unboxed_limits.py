"""What holds in cells without namespaces (see conftest.py): facts, limits, nothing that stays."""

import subprocess
from pathlib import Path

import pytest
from cells import Driver
from hungry import MIB, ORPHANS, SLEEP, SPIN, touch
from ways import NO_CAPABILITIES, WAYS

from elsewhere import Elsewhere

pytestmark = [pytest.mark.usefixtures("unharmed"), pytest.mark.sampled(2)]


def test_it_says_what_holds(way: str, cell: Driver) -> None:
    found = cell.ask("isolation")
    boxed, counted = way.startswith(NO_CAPABILITIES), way == "own users, counted"
    assert found["level"] == ("namespaces" if boxed else "landlock")
    assert found["arrangement"] == way.removesuffix(", counted")
    partial = set() if counted else {"memory", "cpu"}
    partial |= {"filesystem"} if boxed else {"filesystem", "processes"}
    for name, strength in found["strengths"].items():
        assert strength == ("partial" if name in partial else "full"), name
    how = found["how"]
    assert how["filesystem"].startswith("mount namespace" if boxed else "Landlock ABI ")
    assert ("a user of its own" in how["signals"]) is way.startswith("own users")
    assert ("PID namespace of the cell" in how["signals"]) is boxed
    assert ("control group" in how["processes"]) is counted
    assert how["memory"].startswith("control group" if counted else "sampling of the process tree")


@pytest.mark.parametrize(
    ("source", "ended"),
    [
        ("", (0, None)),
        ("import sys; sys.exit(3)", (3, None)),
        ("1 / 0", (1, None)),
        ("import os; os._exit(255)", (255, None)),
        ("import os; os.kill(os.getpid(), 9)", (None, 9)),
        ("import os; os.kill(os.getpid(), 15)", (None, 15)),
        ("import os; os.kill(0, 12)", (None, 12)),
        ("import os; os.abort()", (None, 6)),
        ("import ctypes; ctypes.string_at(0)", (None, 11)),
        ("import signal; signal.alarm(1); signal.pause()", (None, 14)),
    ],
)
def test_how_it_ended(source: str, ended: tuple[int | None, int | None], cell: Driver) -> None:
    done = cell.run(source)
    assert (done["exit_code"], done["signal"], done["limit"]) == (*ended, None), done


def test_input_and_output(cell: Driver) -> None:
    source = "import sys\nprint(sys.stdin.read().upper(), end='')\nprint('no', file=sys.stderr)"
    data = "grüße\n" * 50_000
    done = cell.run(source, data)
    assert (done["stdout"], done["stderr"]) == (data.upper(), "no\n")


# Each link burns a little and is never waited for by who started it.
CHAIN = (
    "import os, time\n"
    "r, w = os.pipe()\n"
    "for link in range(10):\n"
    "    if os.fork(): os._exit(0) if link else (os.close(w), os.read(r, 1), os._exit(0))\n"
    "    os.setsid(); end = time.process_time() + 0.05\n"
    "    while time.process_time() < end: pass\n"
)
DEAD_ORPHANS = (
    "import os, time\n"
    "for _ in range(6):\n"
    "    r, w = os.pipe()\n"
    "    if os.fork() == 0:\n"
    "        if os.fork() == 0:\n"
    "            while time.process_time() < 0.1: pass\n"
    "        os._exit(0)\n"
    "    os.close(w); os.wait(); os.read(r, 1); os.close(r)\n"
)
IGNORED = (
    "import os, signal, time\n"
    "try: signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    "except OSError: pass\n"
    "for _ in range(6):\n"
    "    r, w = os.pipe()\n"
    "    if os.fork() == 0:\n"
    "        while time.process_time() < 0.1: pass\n"
    "        os._exit(0)\n"
    "    os.close(w); os.read(r, 1); os.close(r)\n"
    "try:\n"
    "    while True: os.wait()\n"
    "except ChildProcessError: pass\n"
)


SIGCHLD = (
    "import ctypes, os, signal\n"
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    "pid = os.fork() or os._exit(7)\n"
    "try: print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    "except ChildProcessError: print('unwaited')\n"
    "old = (ctypes.c_uint64 * 32)(*[5] * 32)\n"
    "print(ctypes.CDLL(None).sigaction(signal.SIGCHLD, None, old), old[0])\n"
)


def test_what_sigchld_does_can_be_changed_where_all_cpu_time_counts(way: str, cell: Driver) -> None:
    """Elsewhere it does not fail either: Node.js and Go would end over it."""
    done = cell.run(SIGCHLD, processes=4)
    counted = way == "own users, counted"
    ignored, default = "unwaited\n0 1\n", "7\n0 0\n"
    assert done["stdout"] == (ignored if counted else default), done


@pytest.mark.parametrize(
    "source",
    [SPIN, "import os\nos.fork(); os.fork()\n" + SPIN, ORPHANS, CHAIN, DEAD_ORPHANS, IGNORED,
     "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
     "    except (OSError, ValueError): pass\n" + SPIN,
     "import threading\nfor _ in range(4): threading.Thread(target=exec, args=('while 1: pass',)).start()\n"],
    ids=["spin", "forks", "orphans", "chain", "dead orphans", "unwaited", "signals", "threads"],
)  # fmt: skip
def test_cpu_time_is_that_of_all_however_they_ended(source: str, cell: Driver) -> None:
    done = cell.run(source, cpu=0.3)
    assert done["limit"] == "cpu", done
    assert 0.3 < done["cpu"] < 5


@pytest.mark.parametrize("source", [DEAD_ORPHANS, IGNORED], ids=["dead orphans", "unwaited"])
def test_cpu_time_is_not_counted_twice(source: str, cell: Driver) -> None:
    done = cell.run(source, cpu=10.0)
    assert (done["exit_code"], done["limit"]) == (0, None), done
    assert 0.55 < done["cpu"] < 1.2


def test_cpu_time_of_one_test_is_not_the_nexts(cell: Driver) -> None:
    """Many tests, each with orphans that use four tenths of the limit."""
    source = DEAD_ORPHANS + "print(input())"
    tests = [(f"{n}\n", f"{n}\n") for n in range(4)]
    assert cell.verdict(source, *tests, cpu=1.5) == "AC"
    assert cell.verdict(source, *tests, cpu=0.4) == "TLE"


# Touched before the forks: each child's resident set shows all of it.
SHARED = (
    "import os, time\n" + touch(60 * MIB) + "for _ in range(5):\n"
    "    if os.fork() == 0: time.sleep(0.5); os._exit(0)\n"
    "for _ in range(5): os.wait()\n"
)
TREE = (
    "import os, time\n"
    "for _ in range(6):\n"
    "    if os.fork() == 0:\n"
    "        " + touch(40 * MIB).replace("\n", "\n        ") + "time.sleep(1000)\n"
    "time.sleep(1000)\n"
)  # fmt: skip
HIDDEN = "import ctypes\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"  # PR_SET_DUMPABLE


@pytest.mark.parametrize(
    "source",
    [touch(300 * MIB) + SLEEP, TREE, HIDDEN + touch(300 * MIB) + SLEEP, HIDDEN + TREE],
    ids=["one", "tree", "undumpable", "undumpable tree"],
)
def test_memory_is_that_of_all(source: str, cell: Driver) -> None:
    done = cell.run(source, memory=100 * MIB)
    assert done["limit"] == "memory", done


@pytest.mark.parametrize("hidden", ["", HIDDEN], ids=["", "undumpable"])
def test_what_is_shared_is_counted_once(hidden: str, cell: Driver) -> None:
    done = cell.run(SHARED, memory=150 * MIB)
    assert (done["exit_code"], done["limit"]) == (0, None), done
    lasting = SHARED.replace("sleep(0.5)", "sleep(1000)")
    assert cell.run(hidden + lasting, memory=50 * MIB)["limit"] == "memory"


@pytest.mark.parametrize(
    ("source", "refusal"),
    [
        ("import os\nfd = os.memfd_create('x')\nwhile True: os.write(fd, bytes(1 << 20))",
         "[Errno 38] Function not implemented"),
        ("import mmap\nm = mmap.mmap(-1, 300 << 20)\nfor at in range(0, len(m), 4096): m[at] = 1",
         "[Errno 1] Operation not permitted"),
    ],
    ids=["memory file", "shared mapping"],
)  # fmt: skip
def test_memory_that_may_belong_to_no_process_is_counted_or_refused(
    source: str, refusal: str, way: str, cell: Driver
) -> None:
    done = cell.run(source, memory=64 * MIB, output=500 * MIB)
    if way == "own users, counted":
        assert done["limit"] == "memory", done
    else:
        assert done["exit_code"] == 1
        assert refusal in done["stderr"]


def test_an_allocation_that_fails_is_the_programs_own(cell: Driver) -> None:
    source = "try: bytearray(10 << 40)\nexcept MemoryError: print('too much')"
    done = cell.run(source, memory=100 * MIB)
    assert (done["stdout"], done["limit"]) == ("too much\n", None), done


def test_output(cell: Driver) -> None:
    done = cell.run("while True: print('x' * 1000)", output=10_000)
    assert (done["limit"], len(done["stdout"])) == ("output", 10_000)
    done = cell.run("print('x' * 9_999)", output=10_000)
    assert (done["limit"], done["exit_code"]) == (None, 0)


def test_wall(cell: Driver) -> None:
    assert cell.run(SLEEP, wall=0.3)["limit"] == "wall"


def test_processes(way: str, cell: Driver) -> None:
    """Where the kernel would count our user's others too, the host counts, and ends the program."""
    source = (
        "import os, signal\nn = 1\n"
        "try:\n"
        "    while n < 500:\n"
        "        if os.fork() == 0: signal.pause()\n"
        "        n += 1\n"
        "except OSError: pass\n"
        "print(n, flush=True)\n" + SLEEP
    )
    done = cell.run(source, processes=20, wall=2.0)
    if way == "scopes":
        assert done["limit"] == "processes", done
    else:
        assert 20 <= int(done["stdout"]) <= 28, done
    few = "import os\nfor _ in range(10):\n    if os.fork() == 0: os._exit(0)\nprint('ok')"
    assert cell.run(few, processes=20)["stdout"] == "ok\n"


CROWD = (
    "import sys, threading\n"
    "threading.stack_size(32768)\n"
    "for _ in range(1500): threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    "print('here', flush=True); sys.stdin.read()\n"
)


def test_threads_of_the_same_user_elsewhere_leave_a_program_its_own(
    way: str, fresh: Driver, library: Path
) -> None:
    """RLIMIT_NPROC counts them where jobs have no user of their own: another cell counts anew."""
    crowd = Elsewhere(library, names=WAYS[way])
    command, env = crowd.command("-c", CROWD), crowd.environment({})
    source = (
        "import os, threading\n"
        "thread = threading.Thread(target=print, args=(input(),)); thread.start(); thread.join()\n"
        "if os.fork() == 0: os._exit(0)\n"
        "os.wait()\n"
    )
    assert fresh.run("")["exit_code"] == 0  # the cell is up, and has counted
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        done = fresh.run(source, "one", processes=4)
        verdict = fresh.verdict(source, ("one", "one"), ("two", "two"))
        process.communicate()
    assert (done["stdout"], done["exit_code"]) == ("one\n", 0), done
    assert verdict == "AC"


@pytest.mark.parametrize(
    "bomb",
    [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass",
        "import os\nwhile True:\n    try:\n        if os.fork(): os._exit(0)\n    except OSError: pass",
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0: time.sleep(1000)\n        os._exit(0)",
        "import os, signal\nos.fork(); os.fork(); os.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["fork", "setsid", "parents die", "daemons", "stopped"],
)  # fmt: skip
def test_nothing_of_a_program_stays(bomb: str, cell: Driver) -> None:
    """`unharmed` looks for what is left."""
    done = cell.run(bomb, cpu=0.5, wall=1.0, processes=20, memory=128 * MIB)
    assert done["exit_code"] == 0 or done["limit"], done
