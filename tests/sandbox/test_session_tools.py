"""What sessions offer to tools: commands side by side, whole trees ended, files with reasons."""

import errno
import threading
from collections.abc import Iterator

import pytest

from proctor import Execution, Limits, Pool, Session, SessionEnded, open_session
from proctor.errors import CellStartFailed, FileRefused, InputError, NoIsolation
from proctor.sandbox import workspace
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.levels import bubblewrap
from proctor.sandbox.machine import interpreter
from waiting import until

MIB = 1 << 20
LIMITS = Limits(cpu=10.0, wall=120.0, memory=256 * MIB, processes=32, disk=8 * MIB, output=MIB)
LIVING = "import os\nprint(sum(name.isdigit() for name in os.listdir('/proc')))"
# Two generations that leave their process group, one of them an orphan.
HIDING = "setsid sh -c 'sleep 1000 & sleep 1000' & (setsid sleep 1000 &); touch up; sleep 1000; :"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session(limits=LIMITS, for_tools=True) as opened:
        assert opened.run(workspace.MAKE_TMP).ok
        yield opened


def living(session: Session) -> int:
    return int(session.run(LIVING).stdout)


@pytest.mark.namespaces
def test_directory_and_environment(session: Session) -> None:
    session.write("place/x", "y")
    done = session.command(["sh", "-c", "ls; echo $A"], cwd="place", env={"A": "b c"})
    assert done.stdout == b"x\nb c\n"
    session.write("bin/tool", "#!/bin/sh\necho mine\n")
    assert session.command(["chmod", "+x", "bin/tool"]).ok
    found = session.command(["tool"], env={"PATH": "/box/work/bin:/usr/bin:/bin"})
    assert found.stdout == b"mine\n"
    lost = session.command(["ls"], cwd="absent")
    assert (lost.exit_code, lost.stderr) == (127, b"absent: No such file or directory\n")
    refused = session.command(["place/x"])
    assert (refused.exit_code, refused.stderr) == (126, b"place/x: Permission denied\n")


@pytest.mark.parametrize("env", [{"A=B": "c"}, {"": "c"}, {"A": "\0"}])
def test_no_such_environment(session: Session, env: dict[str, str]) -> None:
    with pytest.raises(InputError, match="environment"):
        session.command(["true"], env=env)
    with pytest.raises(InputError, match="itself"):
        session.start("print(1)", env={"A": "b"})


def test_programs_that_are_waited_for_run_side_by_side(session: Session) -> None:
    done: list[Execution] = []
    writer = threading.Thread(
        target=lambda: done.append(
            session.command(["sh", "-c", "mkfifo pipe && echo through > pipe"])
        )
    )
    writer.start()
    waiting = "import os\nwhile not os.path.exists('pipe'): pass\nprint(open('pipe').read())"
    assert session.run(waiting).stdout == b"through\n\n"
    writer.join()
    assert done[0].ok


@pytest.mark.namespaces
@pytest.mark.parametrize("how", ["limit", "kill"])
def test_a_program_is_ended_with_all_it_started(session: Session, how: str) -> None:
    before = living(session)
    session.command(["rm", "-f", "up"])
    if how == "limit":
        done = session.command(["sh", "-c", HIDING], wall=0.5)
        assert (done.limit, done.signal) == ("wall", 9)
    else:
        background = session.start(["sh", "-c", HIDING])
        assert session.run("import os\nwhile not os.path.exists('up'): pass").ok
        assert background.kill().signal == 9
    assert living(session) == before


@pytest.mark.namespaces
def test_a_fork_bomb_is_ended_whole(session: Session) -> None:
    before = living(session)
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    assert session.run(bomb, wall=0.5).limit == "wall"
    assert living(session) == before


def test_who_waits_can_be_relieved(session: Session) -> None:
    background = session.start(["sleep", "1000"])
    done: list[Execution] = []
    waiting = threading.Thread(target=lambda: done.append(background.wait()))
    waiting.start()
    assert background.kill().signal == 9
    waiting.join()
    assert done[0].signal == 9


def test_the_end_of_a_session_reaches_who_waits() -> None:
    with open_session(limits=LIMITS) as opened:
        caught: list[str] = []

        def wait() -> None:
            try:
                opened.run("open('begun', 'w').close()\nimport time\ntime.sleep(1000)")
            except SessionEnded as error:
                caught.append(str(error))

        waiting = threading.Thread(target=wait)
        waiting.start()
        until(lambda: "begun" in opened.files())
        opened.close()
        waiting.join()
        assert caught == ["the session was closed"]


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("absent", errno.ENOENT),
        ("/etc", errno.EISDIR),
        pytest.param("closed", errno.EACCES, marks=pytest.mark.namespaces),
        pytest.param("/etc/shadow", errno.ENOENT, marks=pytest.mark.namespaces),
        ("large", errno.EFBIG),
        ("closed/x", errno.ENOTDIR),
    ],
)
def test_why_a_file_cannot_be_read(session: Session, path: str, number: int) -> None:
    session.run("import os\nopen('closed', 'w').close()\nos.chmod('closed', 0)")
    session.write("large", bytes(100))
    with pytest.raises(FileRefused, match=path) as told:
        session.read(path, most=99)
    assert told.value.errno == number
    assert session.read("large", most=100) == bytes(100)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        (".", errno.EISDIR),
        ("/usr/x", errno.EROFS),
        pytest.param("kept", errno.EACCES, marks=pytest.mark.namespaces),
        ("kept/x", errno.EEXIST),
    ],
)
def test_why_a_file_cannot_be_written(session: Session, path: str, number: int) -> None:
    session.run("import os\nopen('kept', 'a').close()\nos.chmod('kept', 0o400)")
    with pytest.raises(FileRefused) as told:
        session.write(path, b"x")
    # A level's own refusal may come before that of the file system.
    assert told.value.errno in {number, errno.EACCES, errno.ENOTDIR}


def test_a_pipe_does_not_hold_up_who_reads_it(session: Session) -> None:
    assert session.command(["mkfifo", "endless"]).ok
    with pytest.raises(FileRefused) as told:
        session.read("endless", wall=0.3)
    assert told.value.errno == errno.ETIMEDOUT


@pytest.mark.namespaces
def test_a_cell_for_tools_has_what_tools_expect(session: Session) -> None:
    assert session.command(["whoami"]).stdout == b"cell\n"
    session.write("/tmp/deep/x", "y")
    assert session.command(["cat", "/var/tmp/deep/x"]).stdout == b"y"
    assert session.run("import tempfile; print(tempfile.mkdtemp()[:5])").stdout == b"/tmp/\n"
    names = session.command(["cut", "-d:", "-f1", "/etc/passwd"]).stdout.split()
    assert names == [b"root", b"cell"]
    with pytest.raises(FileRefused):
        session.write("/etc/passwd", "root::0:0::/:\n")


def test_another_cell_has_nothing_for_tools() -> None:
    with open_session(limits=LIMITS) as opened:
        assert not opened.command(["cat", "/etc/passwd"]).ok
        with pytest.raises(FileRefused):
            opened.write("/tmp/x", "y")


def test_trees_are_ended_without_namespaces_too() -> None:
    with open_session(isolation="landlock", limits=LIMITS, for_tools=True) as opened:
        done = opened.command(["sh", "-c", HIDING.replace("touch up; ", "")], wall=0.5)
        assert done.limit == "wall"
        assert opened.run("print(1)").stdout == b"1\n"
        assert not opened._pool._live[0].job_pids()[1:]  # its first process is the session's own


@pytest.mark.parametrize(
    "arrangement", bubblewrap.arrangements(), ids=[made.name for made in bubblewrap.arrangements()]
)
def test_every_arrangement_can_have_cells_for_tools(arrangement: bubblewrap.Arrangement) -> None:
    backend = bubblewrap.Bubblewrap(arrangement)
    found = interpreter.choose(None, private_files=backend.private_files)
    with Pool(backend, CellSetup(found, for_tools=True), 1) as pool:
        try:
            opened = open_session(pool=pool, limits=LIMITS)
        except (CellStartFailed, NoIsolation) as error:
            pytest.skip(f"not here: {error}")
        with opened:
            assert opened.run(workspace.MAKE_TMP).ok
            assert opened.command(["whoami"]).stdout == b"cell\n"
            opened.write("/tmp/x", "y")
            assert opened.read("/var/tmp/x") == b"y"
            assert opened.command(["head", "-c1", "/etc/ld.so.cache"]).ok
            done = opened.command(["sh", "-c", HIDING.replace("touch up; ", "")], wall=0.5)
            assert done.limit == "wall"
            assert len(pool._live[0].job_pids()) <= 2  # the stub and the session's first process
