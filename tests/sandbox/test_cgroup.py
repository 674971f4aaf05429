"""Control groups, the real ones: v1 with its controllers, v2 without.

Needs root on a machine that has both hierarchies, as CI's has. For v2 with controllers see tests/vm.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from children import Child, StartChild, line

from proctor import Limits, Pool, Program, open_pool, run
from proctor.errors import CellDied
from proctor.languages.run import RunRequest, start
from proctor.sandbox.machine import cgroup, procfs
from proctor.sandbox.machine.cgroup import scope
from waiting import until

pytestmark = [pytest.mark.root, pytest.mark.cgroup("v1"), pytest.mark.user]
MIB = 1 << 20
JOIN = "import sys\nfor path in sys.argv[1:]:\n    with open(path, 'w') as f: f.write('0')\n"
IDLE = JOIN + "print('in', flush=True)\nsys.stdin.read()\n"
BURN = JOIN + "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\n"
ALLOCATE = (
    JOIN + "data = bytearray(%d)\nfor at in range(0, len(data), 4096): data[at] = 1\n"
    "print('touched', flush=True)\nsys.stdin.read()\n"
)


def finish(child: Child) -> int:
    assert child.stdin is not None
    child.stdin.close()
    return child.wait()


def owner(serial: str) -> str:
    """A name no other group has, of the form create() gives."""
    return owned_by(os.getpid(), procfs.start_time(os.getpid()), serial)


def owned_by(pid: int, started: int | None, serial: object) -> str:
    return f"proctor-{pid}-{started}-{procfs.pid_namespace()}-{serial}"


@pytest.fixture
def v1() -> Iterator[cgroup.V1Group]:
    homes = cgroup.own_groups()
    names = ("memory", "pids", "cpuacct", "cpu")
    group = cgroup.V1Group({name: homes[name] / owner("v1") for name in names})
    yield group
    group.remove()


@pytest.fixture
def v2() -> Iterator[cgroup.V2Group]:
    group = cgroup.V2Group(cgroup.own_groups()[""], owner("v2"))
    yield group
    group.remove()


@pytest.fixture(params=["v1", "v2"])
def group(request: pytest.FixtureRequest) -> cgroup.Group:
    made: cgroup.Group = request.getfixturevalue(request.param)
    return made


def test_own_groups_have_us() -> None:
    homes = cgroup.own_groups()
    assert {"memory", "pids", "cpuacct", ""} <= homes.keys()
    for home in homes.values():
        assert str(os.getpid()) in (home / "cgroup.procs").read_text().split()


def test_create_takes_the_strongest_kind() -> None:
    group = cgroup.create()
    assert group is not None
    try:
        assert group.kind == "cgroup v1"
        assert group.controls == {"memory", "pids", "cpu"}
        other = cgroup.create()
        assert other is not None
        assert set(other.join_files()).isdisjoint(group.join_files())
        other.remove()
    finally:
        group.remove()


def test_members_are_counted_and_nobody_else(group: cgroup.Group, child: StartChild) -> None:
    assert group.pids() == []
    inside, outside = child(IDLE, *group.join_files()), child(IDLE)
    line(inside.stdout), line(outside.stdout)
    assert group.pids() == [inside.pid]
    finish(inside)
    assert group.pids() == []


def test_cpu_time_of_the_dead_counts(group: cgroup.Group, child: StartChild) -> None:
    before = group.cpu()
    burner = child(BURN, *group.join_files())
    assert line(burner.stdout) == "done"
    assert group.cpu() - before >= 0.25  # what it burnt, bar starting up
    finish(burner)
    after = group.cpu()
    assert 0.25 <= after - before < 5
    assert group.cpu() == after, "nobody is in it, nothing is used"


def test_all_of_a_cell_has_a_third_of_another_groups_share(child: StartChild) -> None:
    """Outside of such a group each session has its own share: many would keep the host waiting."""
    group = cgroup.create()
    assert group is not None
    try:
        joined = [Path(file) for file in group.join_files()]
        daemon = child("import os\nos.setsid()\n" + IDLE, *map(str, joined))
        line(daemon.stdout)
        (home,) = (file.parent for file in joined if (file.parent / "cpu.shares").exists())
        assert (home / "cpu.shares").read_text() == "337\n"
        assert str(daemon.pid) in (home / "cgroup.procs").read_text().split()
        finish(daemon)
    finally:
        group.remove()
    assert not home.exists()


def test_memory_and_its_peak(v1: cgroup.V1Group, child: StartChild) -> None:
    v1.limit(500 * MIB, 50)
    program = child(ALLOCATE % (50 * MIB), *v1.join_files())
    assert line(program.stdout) == "touched"
    assert 50 * MIB <= v1.memory() <= 100 * MIB
    finish(program)
    assert v1.memory() < 50 * MIB
    assert v1.peak() >= 50 * MIB
    v1.reset_peak()
    assert v1.peak() < 50 * MIB
    assert v1.oom_kills() == 0


def test_too_much_memory_is_a_kill_that_is_counted(v1: cgroup.V1Group, child: StartChild) -> None:
    v1.limit(40 * MIB, 50)
    for kills in (1, 2):
        program = child(ALLOCATE % (80 * MIB), *v1.join_files())
        assert line(program.stdout) == ""
        assert program.wait() == -signal.SIGKILL
        assert v1.oom_kills() == kills
    assert v1.peak() <= 40 * MIB


def test_memory_of_several_counts_together(v1: cgroup.V1Group, child: StartChild) -> None:
    v1.limit(60 * MIB, 50)
    children = [child(ALLOCATE % (25 * MIB), *v1.join_files()) for _ in range(3)]
    for program in children:  # each alone is well within the limit; who is killed, and when, varies
        line(program.stdout)
    assert v1.oom_kills() >= 1


def test_limits_go_up_and_down(v1: cgroup.V1Group) -> None:
    """With memory and memsw, each direction needs its own order."""
    home = Path(v1.join_files()[0]).parent
    for size in (100 * MIB, 200 * MIB, 50 * MIB, 51 * MIB, 50 * MIB, 50 * MIB):
        v1.limit(size, 20)
        assert int((home / "memory.limit_in_bytes").read_text()) == size
        total = home / "memory.memsw.limit_in_bytes"
        assert not total.exists() or int(total.read_text()) == size


def test_too_many_processes_are_refused(v1: cgroup.V1Group, child: StartChild) -> None:
    v1.limit(500 * MIB, 10)
    program = child(
        JOIN + "import os\nn = 1\n"
        "try:\n"
        "    while n < 100:\n"
        "        if os.fork() == 0: sys.stdin.read(); os._exit(0)\n"
        "        n += 1\n"
        "except BlockingIOError: print(n, flush=True)\n"
        "sys.stdin.read()\n",
        *v1.join_files(),
    )
    assert line(program.stdout) == "10"
    finish(program)


def test_v2_without_controllers_still_has_the_clock(v2: cgroup.V2Group) -> None:
    assert "cpu" in v2.controls
    v2.limit(MIB, 1)  # nothing to enforce them with, and no reason to fail
    v2.reset_peak()
    if "memory" not in v2.controls:
        assert (v2.memory(), v2.peak(), v2.oom_kills()) == (0, 0, 0)


def test_removing_a_v2_group_ends_what_is_in_it(v2: cgroup.V2Group, child: StartChild) -> None:
    home = Path(v2.join_files()[0]).parent
    program = child(IDLE, *v2.join_files())
    assert line(program.stdout) == "in"
    v2.remove()
    assert program.wait() == -signal.SIGKILL
    assert not home.exists()
    v2.remove()


def test_removing_leaves_no_directory_and_no_descriptor(child: StartChild) -> None:
    before = set(os.listdir("/proc/self/fd"))
    group = cgroup.create()
    assert group is not None
    homes = [Path(path).parent for path in group.join_files()]
    program = child(BURN, *group.join_files())
    finish(program)
    group.remove()
    assert not any(home.exists() for home in homes)
    program.stdout.close()  # type: ignore[union-attr]
    assert set(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("cpu", [{}, {"cpu": "cpuacct"}], ids=["without cpu", "cpu,cpuacct"])
def test_a_group_that_cannot_be_made_whole_leaves_nothing(
    tmp_path: Path, cpu: dict[str, str]
) -> None:
    """Plain directories stand in for a hierarchy without the files."""
    before = set(os.listdir("/proc/self/fd"))
    places = {name: name for name in ("memory", "pids", "cpuacct")} | cpu
    homes = {name: tmp_path / place for name, place in places.items()}
    with pytest.raises(OSError, match="cpu.shares" if cpu else "cpuacct.usage"):
        cgroup.V1Group(homes)
    assert list(tmp_path.iterdir()) == []
    assert set(os.listdir("/proc/self/fd")) == before


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


@pytest.mark.slow
def test_a_group_taken_away_is_a_dead_cell() -> None:
    """Out of its group, a cell is neither bounded nor counted: its job is tried on another."""
    with open_pool(cells=1) as pool:
        pool.submit(lambda cell, waited: None).result()
        first: Any = pool._live[0]
        homes = first.group._homes
        busy = "import time\nwhile time.process_time() < 1: pass\nprint('right')"
        job = start(RunRequest(Program(busy)), pool)
        until(first.job_pids)
        while homes["pids"].exists():
            for home in homes.values():
                for pid in (home / "cgroup.procs").read_text().split() if home.exists() else []:
                    with contextlib.suppress(ProcessLookupError):
                        (home.parent / "cgroup.procs").write_text(pid)
                with contextlib.suppress(OSError):
                    home.rmdir()
        done = job.result()
        assert (done.stdout, done.limit) == (b"right\n", None)
        assert pool._live[0] is not first


def test_reading_what_is_gone_is_a_dead_cell(v1: cgroup.V1Group, v2: cgroup.V2Group) -> None:
    for group in (v1, v2):
        with pytest.raises(CellDied, match="the cell is not in it any more"):
            group.check()  # nobody has joined
        for path in group.join_files():
            Path(path).parent.rmdir()
        for look in (group.cpu, group.check, group.pids):
            with pytest.raises(CellDied, match="the cell's control group was taken away"):
                look()
    for look in (v1.memory, v1.peak, v1.oom_kills, v1.reset_peak):
        with pytest.raises(CellDied):
            look()


def test_a_tree_ends_when_one_of_it_is_killed_for_memory(pool: Pool) -> None:
    """Not when the clock would have ended the rest."""
    program = (
        "import os, time\nif os.fork() == 0: kept = b'x' * (200 << 20)\nwhile True: time.sleep(1)\n"
    )
    done = run(program, limits=Limits(memory=64 * MIB, cpu=600.0, wall=3600.0), pool=pool)
    assert done.limit == "memory"
    assert (done.exit_code, done.signal) == (None, signal.SIGKILL)


def test_sweep_removes_groups_of_dead_owners_only(child: StartChild) -> None:
    me, started = os.getpid(), procfs.start_time(os.getpid())
    other = child(IDLE)
    line(other.stdout)
    dead = dead_pid()
    doomed = [owned_by(dead, started, 0), owned_by(dead, 1, 7), owned_by(other.pid, 1, 0)]
    # One of another PID namespace, whose cell is just starting, was taken for one left behind.
    elsewhere = f"proctor-{dead}-{started}-{procfs.pid_namespace() + 1}-0"
    spared = [
        owner("sweep"), owned_by(other.pid, procfs.start_time(other.pid), 3), "proctor-", elsewhere,
        f"proctor-mine-{me}", f"not{owned_by(dead, 1, 0)}",
    ]  # fmt: skip
    homes = cgroup.own_groups()
    places = [homes["memory"], homes["pids"], homes["cpuacct"], homes[""]]
    try:
        for place in places:
            for name in [*doomed, *spared]:
                (place / name).mkdir()
        cgroup.sweep()
        for place in places:
            assert [name for name in doomed if (place / name).exists()] == []
            assert [name for name in spared if not (place / name).exists()] == []
    finally:
        for place in places:
            for name in [*doomed, *spared]:
                if (place / name).exists():
                    (place / name).rmdir()


def test_sweep_waits_for_the_last_process(child: StartChild) -> None:
    """A dead owner's box may take a moment to go; its group is for the next sweep then."""
    home = cgroup.own_groups()["pids"] / owned_by(dead_pid(), 1, 0)
    while True:  # another proctor on this machine may sweep it before somebody is in it
        home.mkdir(exist_ok=True)
        program = child(IDLE, str(home / "cgroup.procs"))
        if line(program.stdout) == "in":
            break
    cgroup.sweep()
    assert home.exists()
    assert program.poll() is None
    finish(program)
    cgroup.sweep()
    assert not home.exists()


def test_a_scope_that_no_cell_entered_has_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that did not start in time is cleared away like any other, and another is started."""
    monkeypatch.setattr(scope, "_works", lambda: True)
    assert scope.ScopedGroup("never entered").pids() == []


READ_ONLY = """
import sys, time
from proctor.sandbox.machine.cgroup import V1Group, own_groups
waits = []
time.sleep = waits.append
names = ("memory", "pids", "cpuacct")
try:
    V1Group({name: own_groups()[name] / "none" for name in names})
except OSError as error:
    print(error.strerror, len(waits))
"""


def test_a_mount_that_is_read_only_is_not_waited_for() -> None:
    """Docker mounts control groups so; waiting would delay the start of each cell by seconds."""
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, str(cgroup.own_groups()["memory"]),
         sys.executable, "-c", READ_ONLY],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "Read-only file system 0\n", done
