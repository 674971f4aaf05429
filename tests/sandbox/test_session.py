"""Sessions: what lasts between calls, what does not, and how they end."""

import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor import Limits, Pool, Session, SessionEnded, open_pool, open_session, run
from proctor.errors import Cancelled, InputError, UsageError
from proctor.sandbox.stop import Stop
from waiting import PATIENCE

pytestmark = pytest.mark.user

MIB = 1 << 20
LIMITS = Limits(cpu=10.0, memory=256 * MIB, processes=16, disk=8 * MIB, output=4 * MIB)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session(limits=LIMITS) as opened:
        yield opened


def test_the_workspace_lasts_and_state_does_not(session: Session) -> None:
    first = session.run("x = 1\nopen('note', 'w').write('kept')\nprint(input())", "in\n")
    assert (first.exit_code, first.stdout) == (0, b"in\n")
    second = session.run("print(open('note').read(), 'x' in globals())")
    assert second.stdout == b"kept False\n"


@pytest.mark.namespaces
def test_programs_of_a_session_share_a_loopback_interface_and_dev_shm() -> None:
    serve = (
        "import socket\nlistener = socket.create_server(('', 8377))\nprint('up', flush=True)\n"
        "listener.accept()[0].sendall(b'hello')\n"
    )
    ask = "import socket; print(socket.create_connection(('localhost', 8377)).recv(9))"
    with open_session(limits=Limits(loopback=True, disk=MIB)) as opened:
        server = opened.start(serve)
        while server.stdout != b"up\n":
            assert server.poll() is None
        assert opened.run(ask).stdout == b"b'hello'\n"
        assert server.wait().ok
        assert opened.run("open('/dev/shm/kept', 'w')").ok
        assert opened.run("import os; print(os.listdir('/dev/shm'))").stdout == b"['kept']\n"


def test_files_go_in_and_out(session: Session) -> None:
    content = bytes(range(256)) * 4000
    session.write("deep/er/data.bin", content)
    assert session.read("deep/er/data.bin") == content
    assert session.files()["deep/er/data.bin"] == len(content)
    done = session.run("import hashlib; print(len(open('deep/er/data.bin', 'rb').read()))")
    assert done.stdout == f"{len(content)}\n".encode()


@pytest.mark.parametrize("path", ["absent", "/etc/passwd", "../../etc/shadow", "deep"])
def test_what_cannot_be_read_is_an_error(session: Session, path: str) -> None:
    session.write("deep/file", b"")
    with pytest.raises(InputError, match=path):
        session.read(path)


@pytest.mark.parametrize("path", ["", "nul\0", "/usr/x", "../outside", "/proc/self/x"])
def test_nothing_is_written_outside(session: Session, path: str) -> None:
    with pytest.raises(InputError):
        session.write(path, b"x")
    assert not Path("/usr/x").exists()


def test_a_link_leads_no_further_than_the_box(session: Session, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    assert session.run(f"import os; os.symlink({str(secret)!r}, 'link')").ok
    with pytest.raises(InputError, match="link"):
        session.read("link")
    assert "link" not in session.files()


def test_the_workspace_is_bounded(session: Session) -> None:
    with pytest.raises(InputError, match="big"):
        session.write("big", bytes(9 * MIB))
    assert session.run("import os; os.unlink('big')").ok


def test_commands(session: Session) -> None:
    session.write("names", "b\na\n")
    done = session.command(["sort", "names"])
    assert (done.exit_code, done.stdout) == (0, b"a\nb\n")
    assert session.command(["cat"], "piped").stdout == b"piped"
    absent = session.command(["no-such-program"])
    assert (absent.exit_code, absent.stderr) == (
        127, b"no-such-program: No such file or directory\n",
    )  # fmt: skip
    with pytest.raises(InputError, match="list of words"):
        session.command([])


def test_output_is_told_as_it_comes(session: Session) -> None:
    """The command reads a pipe that is closed only when its first line has come."""
    reads, writes = os.pipe()
    told: list[tuple[int, bytes]] = []

    def on_output(which: int, data: bytes) -> None:
        if not told:
            os.close(writes)
        told.append((which, data))

    with io.FileIO(reads) as pipe:
        words = ["sh", "-c", "echo one; cat; echo two >&2"]
        done = session.command(words, pipe, on_output=on_output)
    assert (done.stdout, done.stderr) == (b"one\n", b"two\n")
    assert told == [(1, b"one\n"), (2, b"two\n")]
    long = "import sys; sys.stdout.write('x' * 10_000)"
    assert session.run(long, on_output=on_output).ok
    assert b"".join(data for _, data in told[2:]) == b"x" * 10_000


def test_output_of_a_cell_is_told_as_it_comes(session: Session) -> None:
    told: list[tuple[int, bytes]] = []
    endless = "print('one')\nimport time; time.sleep(1000)"

    def on_output(which: int, data: bytes) -> None:
        told.append((which, data))
        stop.set()

    with Stop() as stop, pytest.raises(Cancelled):
        session.run_cell(endless, stop=stop, on_output=on_output)
    assert told == [(1, b"one\n")]
    assert session.run_cell("print('two')").stdout == b"two\n"
    assert told == [(1, b"one\n")]


def test_background_programs_run_on(session: Session) -> None:
    counting = session.start(
        "import os, sys\nprint('ready', flush=True)\nos.mkfifo('pipe')\n"
        "print(open('pipe').read(), flush=True)\nos.unlink('pipe')\nsys.exit(3)"
    )
    wait = "import os\nwhile not os.path.exists('pipe'): pass\nopen('pipe', 'w').write('word')"
    assert counting.poll() is None
    assert session.run(wait).ok
    done = counting.wait()
    assert (done.exit_code, done.stdout) == (3, b"ready\nword\n")
    assert counting.poll() == done
    assert counting.stdout == done.stdout


@pytest.mark.namespaces
def test_a_background_program_is_killed_with_its_group(session: Session) -> None:
    background = session.start("import os, time\nos.fork()\ntime.sleep(1000)")
    assert background.kill().signal == 9
    left = session.run(
        "import os\nprint([p for p in os.listdir('/proc') if p.isdigit() and int(p) != 1])"
    )
    assert left.ok


def test_what_a_program_leaves_running_goes_on(session: Session) -> None:
    session.run("import os\nif os.path.exists('flag'): os.unlink('flag')")
    daemon = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n"
        "    while not os.path.exists('go'): time.sleep(0.01)\n"
        "    open('flag', 'w').close()\n    os._exit(0)\n"
    )
    assert session.run(daemon).ok
    session.write("go", b"")
    assert session.run("import os\nwhile not os.path.exists('flag'): pass").ok


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        ("while True: pass", "cpu"),
        ("import os\nos.fork()\nwhile True: pass", "cpu"),
        ("import time\ntime.sleep(1000)", "wall"),
        ("import sys\nwhile True: sys.stdout.write('x' * 100000)", "output"),
        ("data = []\nwhile True: data.append(bytearray(b'x' * 1000000))", "memory"),
    ],
)
def test_limits_hold_and_the_session_goes_on(session: Session, source: str, limit: str) -> None:
    # What hits another limit than that of CPU time may take a while to get there.
    cpu, wall = (0.5 if limit == "cpu" else 10.0), (0.5 if limit == "wall" else 60.0)
    done = session.run(source, cpu=cpu, wall=wall)
    assert done.limit == limit, done
    assert session.run("print(1)").stdout == b"1\n"


def test_too_many_programs_are_refused(session: Session) -> None:
    started = []
    sleep = "import time\ntime.sleep(1000)"
    with pytest.raises(UsageError, match="cannot start another program"):  # noqa: PT012
        while True:
            started.append(session.start(sleep))
    assert len(started) >= 10
    for background in started:
        background.kill()
    assert session.run("print(1)").ok


def test_a_session_can_be_ended_from_inside_and_says_so() -> None:
    with open_session(limits=LIMITS) as opened:
        with pytest.raises(SessionEnded, match="ended"):
            opened.run("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
        with pytest.raises(SessionEnded, match="ended"):
            opened.run("print(1)")


def test_an_unused_session_ends() -> None:
    with open_session(limits=LIMITS, idle=0.2) as opened:
        assert opened.run("print(1)").ok
        opened._over.result(timeout=PATIENCE)
        with pytest.raises(SessionEnded, match=r"not used for 0\.2 s"):
            opened.run("print(1)")


def test_a_closed_session_says_so() -> None:
    opened = open_session(limits=LIMITS)
    opened.close()
    opened.close()
    with pytest.raises(SessionEnded, match="closed"):
        opened.read("x")


def test_a_leased_cell_is_given_back_clean() -> None:
    with open_pool(cells=1) as pool:
        first = run("print(1)", pool=pool)
        cell = pool._live[0]
        with open_session(pool=pool, limits=LIMITS) as leased:
            leased.write("secret", "of the session")
            leased.start("import time\ntime.sleep(1000)")
            assert leased.isolation == first.isolation
        after = run("import os; print(os.listdir('.'))", limits=LIMITS, pool=pool)
        assert after.stdout == b"[]\n"
        assert pool._live[0] is cell
        assert cell.job_pids() == []


def test_a_pool_that_closes_ends_its_sessions() -> None:
    pool = open_pool(cells=1)
    leased = open_session(pool=pool, limits=LIMITS)
    pool.close()
    with pytest.raises(SessionEnded):
        leased.run("print(1)")
    leased.close()


def test_calls_from_many_threads_take_turns(session: Session) -> None:
    answers: list[bytes] = []

    def ask(number: int) -> None:
        answers.append(session.run(f"print({number})").stdout)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [f"{n}\n".encode() for n in range(8)]


def test_no_descriptors_are_left_behind() -> None:
    def use() -> int:
        with open_session(limits=LIMITS) as opened:
            opened.write("x", b"1")
            opened.start("import time\ntime.sleep(1000)")
            opened.start("pass")
        return len(os.listdir("/proc/self/fd"))

    assert use() == use()


def test_without_namespaces_too() -> None:
    with open_session(isolation="landlock", limits=LIMITS) as opened:
        opened.write("deep/x", "y")
        assert opened.run("print(open('deep/x').read())").stdout == b"y\n"
        assert opened.files() == {"deep/x": 1}
        place = Path(opened.run("import os; print(os.getcwd())").stdout.decode().strip())
        assert place.parent.exists()
        assert opened.command(["ls"]).stdout == b"deep\n"
    assert not place.parent.exists()


@pytest.mark.root  # at level none the limit of processes is that of the whole user
def test_level_none_has_a_directory_for_each_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    with open_session(isolation="none", limits=LIMITS) as opened:
        opened.write("names.txt", "Ada")
        place = Path(opened.run("import os; print(os.getcwd())").stdout.decode().strip())
        assert opened.read("names.txt") == b"Ada"
        assert place.is_dir()
    assert not place.exists()


def test_in_a_session_the_host_is_no_nearer(session: Session, pool: Pool) -> None:
    source = (
        "import os, socket\nprint(sorted(os.environ), os.path.exists('/etc/passwd'))\n"
        "try: socket.socket(socket.AF_INET)\nexcept OSError: print('no network')\n"
        "print(len(os.listdir('/proc/self/fd')))"
    )
    inside = session.run(source)
    alone = run(source, pool=pool, limits=LIMITS)
    assert inside.stdout == alone.stdout
    assert b"no network" in inside.stdout
