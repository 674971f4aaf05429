"""Locks on files, by which two programs that run at once could tell each other something."""

import re
from collections.abc import Callable, Iterator

import pytest

from proctor import JudgeSettings, Limits, Pool, Program, open_pool, open_session, run
from proctor.errors import InputError, SettingsError
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Command, Script, Streams
from proctor.sandbox.directory_job import DirectoryJob, ignore
from proctor.sandbox.stop import Stop

pytestmark = pytest.mark.user

LIMITS = Limits(disk=16 << 20)
TRY = """
import fcntl, os, struct
places = [os.__file__, "/dev/null", "/usr/lib"]
write = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0)
read = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0)
ways = {
    "flock": lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "shared flock": lambda fd: fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "unlock": lambda fd: fcntl.flock(fd, fcntl.LOCK_UN),
    "lockf": lambda fd: os.lockf(fd, os.F_TLOCK, 1),
    "is it locked": lambda fd: fcntl.fcntl(fd, fcntl.F_GETLK, write),
    "read lock": lambda fd: fcntl.fcntl(fd, fcntl.F_SETLK, read),
    "of the open file": lambda fd: fcntl.fcntl(fd, 37, read),
    "is the open file locked": lambda fd: fcntl.fcntl(fd, 36, write),
    "lease": lambda fd: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "notice": lambda fd: fcntl.fcntl(fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS),
}
got = []
for place in places:
    fd = os.open(place, os.O_RDWR if place == "/dev/null" else os.O_RDONLY)
    for name, way in ways.items():
        try:
            way(fd)
            got.append(f"{name} of {place}")
        except OSError:
            pass
print("got", got)
"""
DATABASE = """
import sqlite3
with sqlite3.connect("a.db") as one, sqlite3.connect("a.db") as other:
    one.execute("create table t(v)")
    one.execute("insert into t values (42)")
    one.commit()
    print(other.execute("select v from t").fetchone())
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(cells=1) as opened:
        yield opened


def ran(cell: Cell) -> bytes:
    return cell.run(Program(TRY), b"", LIMITS).stdout


def scripted(cell: Cell) -> bytes:
    script = Script(Program(TRY), "main.py")
    return cell.run_script(script, Streams(), LIMITS, ContestClock(LIMITS)).stdout


def executed(cell: Cell) -> bytes:
    command = Command(("/usr/bin/env", "python3", "-c", TRY))
    done = cell.execute(command, Streams(), LIMITS, ContestClock(LIMITS))
    return done.execution.stdout + done.execution.stderr


def solved(cell: Cell) -> bytes:
    """Run the program as a solver is run."""
    job = DirectoryJob(Program(TRY, name="main.py"), "result.json", re.compile("none"))
    stop = Stop()
    try:
        return cell.run_in_directory(job, LIMITS, stop, ignore).execution.stdout
    finally:
        stop.close()


@pytest.mark.parametrize("way", [ran, scripted, executed, solved])
def test_no_run_gets_locks_unasked(pool: Pool, way: Callable[[Cell], bytes]) -> None:
    assert pool.do(lambda cell, _queued: way(cell)) == b"got []\n"


@pytest.mark.command("flock")
def test_compiling_gets_none_either(pool: Pool) -> None:
    """A build script is code of the program's, too, and so is what some compilers execute."""
    build = "flock -n /dev/null true && got=locked\necho echo ${got:-none} > run"
    done = run(Program(build, "build-run"), limits=LIMITS, pool=pool)
    assert done.stdout == b"none\n", done


def test_who_asks_gets_them(pool: Pool) -> None:
    done = run(DATABASE, limits=Limits(disk=16 << 20, locks=True), pool=pool)
    assert (done.stdout, done.stderr) == (b"(42,)\n", b"")


def test_a_database_that_is_refused_locks_says_so_at_once(pool: Pool) -> None:
    done = run(DATABASE, limits=LIMITS, pool=pool)
    assert done.exit_code == 1
    assert b"disk I/O error" in done.stderr
    unlocked = DATABASE.replace('"a.db"', '"file:a.db?nolock=1", uri=True')
    assert run(unlocked, limits=LIMITS, pool=pool).stdout == b"(42,)\n"


def test_sessions_have_them_unless_they_ask_for_none() -> None:
    for limits, said in ((LIMITS, b"(42,)\n"), (Limits(disk=16 << 20, locks=False), b"")):
        with open_session(limits=limits) as session:
            assert session.run(DATABASE).stdout == said


def test_judged_programs_cannot_ask() -> None:
    with pytest.raises(SettingsError, match="no locks"):
        JudgeSettings(limits=Limits(locks=True))


def test_a_test_that_asks_for_them_is_refused(pool: Pool) -> None:
    limits = Limits(locks=True)

    def job(cell: Cell, _queued: float) -> None:
        command = Command(("/usr/bin/env", "true"), judged=True)
        cell.execute(command, Streams(), limits, ContestClock(limits))

    with pytest.raises(InputError, match="no locks"):
        pool.do(job)


def test_only_true_and_false_are_answers() -> None:
    with pytest.raises(InputError, match="true or false"):
        Limits(locks=1)  # type: ignore[arg-type]
