"""What programs in cells without namespaces (see conftest.py) reach, and their verdicts."""

import os
from pathlib import Path

import pytest
from cells import Driver
from hungry import MIB, ORPHANS, SLEEP, SPIN, touch
from ways import driver

from waiting import until

pytestmark = [pytest.mark.usefixtures("unharmed"), pytest.mark.sampled(2)]


LOOK = "import os; print(os.listdir('.'), os.path.exists('f'))\n"


def test_disk_is_bounded_by_looking_and_gone_with_the_job(cell: Driver) -> None:
    write = "open('f', 'wb').write(bytes({size})); import os; os.mkdir('d'); open('d/g', 'w')\n"
    done = cell.run(write.format(size=MIB) + "print(sorted(os.listdir('.')))", disk=2 * MIB)
    assert (done["stdout"], done["limit"]) == ("['d', 'f']\n", None), done
    assert cell.run(LOOK, disk=MIB)["stdout"] == "[] False\n"
    done = cell.run(write.format(size=5 * MIB) + SLEEP, disk=2 * MIB)
    assert done["limit"] == "disk", done
    assert cell.run(LOOK, disk=MIB)["stdout"] == "[] False\n"


def test_nothing_can_be_written_and_no_file_is_opened_that_is_not_the_runtimes(
    cell: Driver,
) -> None:
    source = (
        "import os\n"
        "for place in ('.', '/', '/tmp', '/dev', '/dev/shm', '/var/tmp', '/etc', '/proc/self',\n"
        "              '/run', '/root', '/usr', os.path.dirname(os.__file__)):\n"
        "    for make in (lambda p: open(p, 'w'), os.mkdir, os.mkfifo,\n"
        "                 lambda p: os.symlink('/', p), lambda p: os.chmod(place, 0o777)):\n"
        "        try: make(os.path.join(place, 'left'))\n"
        "        except OSError: continue\n"
        "        print('wrote', place)\n"
        "for path in ('/etc/passwd', '/etc/hostname', '/proc/1/environ', '/proc/self/mem',\n"
        "             '/proc/version', '/dev/tty', '/dev/kmsg', '/sys/kernel/uevent_seqnum'):\n"
        "    try: open(path, 'rb')\n"
        "    except OSError: continue\n"
        "    print('read', path)\n"
    )
    done = cell.run(source)
    assert (done["stdout"], done["stderr"]) == ("", "")


def test_other_processes_are_out_of_reach(cell: Driver, way: str, library: Path) -> None:
    """The host's, another cell's, the keeper and the agent."""
    with driver(way, library) as other:
        other.ask("start", source=SLEEP)
        until(lambda: other.ask("pids")["job"])
        theirs = other.ask("pids")
        mine = cell.ask("pids")["own"]
        targets = [os.getpid(), cell.pid, *mine, *theirs["own"], *theirs["job"]]
        source = (
            "import os, resource\n"
            f"for pid in {targets!r}:\n"
            "    for attack in (lambda: os.kill(pid, 0), lambda: os.kill(pid, 9),\n"
            "                   lambda: os.killpg(pid, 9), lambda: os.pidfd_open(pid) and 1 / 0,\n"
            "                   lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0)),\n"
            "                   lambda: os.sched_setaffinity(pid, {0}),\n"
            "                   lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),\n"
            "                   lambda: os.sched_setscheduler(pid, 3, os.sched_param(0))):\n"
            "        try: attack()\n"
            "        except (OSError, ZeroDivisionError): continue\n"
            "        print('reached', pid, targets.index(pid))\n"
            "try: os.kill(-1, 9)\n"
            "except OSError: pass\n"
        )
        assert cell.run(source)["stdout"] == ""
        still = other.ask("pids")
        assert (still["own"], still["job"]) == (theirs["own"], theirs["job"])
        assert cell.ask("pids")["own"] == mine


MODES = [("standard", False), ("standard", True), ("official", False)]


@pytest.mark.parametrize(("mode", "fast"), MODES)
def test_verdicts(mode: str, fast: bool, cell: Driver) -> None:
    tests = [("1 2\n", "3\n"), ("2 3\n", "5\n")]
    programs = {
        "print(sum(map(int, input().split())))": "AC",
        "print(0)": "WA",
        "raise ValueError": "RE",
        SPIN: "TLE",
        ORPHANS: "TLE",
        touch(300 * MIB) + SLEEP: "MLE",
    }
    for source, verdict in programs.items():
        if mode == "official" and source == ORPHANS:
            continue  # takes os.fork away
        got = cell.verdict(source, *tests, mode=mode, fast=fast, cpu=0.4, memory=100 * MIB)
        assert got == verdict, source


@pytest.mark.parametrize(("mode", "fast"), MODES)
def test_functions(mode: str, fast: bool, cell: Driver) -> None:
    source = "class Solution:\n    def double(self, x): return x * 2\n"
    tests = [("4", "8"), ("[1]", "[1, 1]")]
    assert cell.verdict(source, *tests, mode=mode, fast=fast, function="double") == "AC"
    wrong = source.replace("* 2", "* 3")
    assert cell.verdict(wrong, *tests, mode=mode, fast=fast, function="double") == "WA"


@pytest.mark.parametrize("fast", [False, True])
def test_what_one_test_leaves_never_meets_the_next(fast: bool, cell: Driver) -> None:
    """What the first starts would kill the others; they last long enough for it to try."""
    source = (
        "import os, signal, time\n"
        "if input() == 'first':\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        for number in range(1, 65):\n"
        "            try: signal.signal(number, signal.SIG_IGN)\n"
        "            except (OSError, ValueError): pass\n"
        "        while True:\n"
        "            try: os.kill(-1, signal.SIGKILL)\n"
        "            except OSError: pass\n"
        "            time.sleep(0.001)\n"
        "    os._exit(0)\n"
        "time.sleep(0.2)\n"
        "print('alive')\n"
    )
    tests = [("second\n", "alive\n"), ("first\n", ""), ("third\n", "alive\n")]
    assert cell.verdict(source, tests[0], tests[2], fast=fast) == "AC"
    verdict, message, judged = cell.ask("judge", source=source, tests=tests, fast=fast)
    assert verdict in ("AC", "RE"), message
    if verdict == "RE":
        assert judged == 2, "whose own attack it was"
        quiet = source.replace("os.kill(-1, signal.SIGKILL)", "os.kill(-1, 0)")
        assert cell.verdict(quiet, *tests, fast=fast) == "AC"
