"""Programs in real containers: what they may use, what they reach, what they leave behind."""

import os
from pathlib import Path

import pytest
from engines import Engine

import proctor
from proctor import Execution, JudgeSettings, Limits, Pool, Problem, Test
from proctor.execution import GUARANTEES
from proctor.sandbox.pool import open_pool


def run(pool: Pool, source: str, stdin: bytes = b"", **limits: float) -> Execution:
    return proctor.run(source, stdin, limits=Limits(**limits), pool=pool)  # type: ignore[arg-type]


def test_a_program_runs_and_its_facts_come_back(pool: Pool) -> None:
    done = run(pool, "import sys\nprint(input()[::-1])\nsys.stderr.write('e')\nsys.exit(3)", b"abc")
    assert (done.stdout, done.stderr, done.exit_code, done.limit) == (b"cba\n", b"e", 3, None)
    assert 0 < done.cpu < 5
    assert done.memory > 1 << 20
    assert run(pool, "import os; os.kill(os.getpid(), 11)").signal == 11


def test_any_bytes_cross(pool: Pool) -> None:
    data = bytes(range(256)) * 20_000
    done = run(pool, "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", data)
    assert done.stdout == data


def test_it_says_what_holds(pool: Pool) -> None:
    isolation = run(pool, "pass").isolation
    assert isolation.level == "container"
    assert set(isolation.guarantees) == set(GUARANTEES)
    strengths = {name: held.strength for name, held in isolation.guarantees.items()}
    assert strengths["filesystem"] == strengths["network"] == strengths["output"] == "full"
    assert "none" not in strengths.values()


LIMITED = {
    "cpu": ("while True: pass", {"cpu": 0.3}),
    "wall": ("import time; time.sleep(60)", {"wall": 0.5}),
    "idle": ("import time; time.sleep(60)", {"cpu": 0.3}),
    "memory": ("x = []\nwhile True: x.append(bytearray(1 << 20))", {"memory": 200 << 20}),
    "output": ("while True: print('x' * 1000)", {"output": 1 << 20}),
}


@pytest.mark.parametrize("limit", LIMITED)
def test_limits_hold(pool: Pool, limit: str) -> None:
    source, limits = LIMITED[limit]
    done = run(pool, source, **limits)
    assert done.limit == limit
    assert len(done.stdout) <= 1 << 20
    assert run(pool, "print('next')").stdout == b"next\n"


def test_what_is_within_a_limit_is_not_stopped(pool: Pool) -> None:
    done = run(pool, "x = bytearray(150 << 20)\nprint(len(x))", memory=200 << 20)
    assert done.stdout == b"157286400\n"
    assert done.memory > 150 << 20


def test_a_job_may_ask_for_more_than_the_container_was_started_with(pool: Pool) -> None:
    source = """
import threading
go = threading.Event()
for _ in range(150):
    threading.Thread(target=go.wait).start()
print(threading.active_count())
go.set()
"""
    assert run(pool, source).stdout != b"151\n"
    assert run(pool, source, processes=200).stdout == b"151\n"
    assert run(pool, "print(len(bytearray(1600 << 20)))", memory=2 << 30).ok


ORPHAN = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {work}
    os._exit(0)
os.wait()
print("ended", flush=True)
{wait}
"""


def test_cpu_of_orphans_counts(pool: Pool) -> None:
    source = ORPHAN.format(work="while True: pass", wait="time.sleep(60)")
    assert run(pool, source, cpu=0.5).limit == "cpu"


def test_daemons_do_not_meet_the_next_program(pool: Pool) -> None:
    assert run(pool, ORPHAN.format(work="time.sleep(600)", wait="")).stdout == b"ended\n"
    count = "import os\nprint(sum(n.isdigit() for n in os.listdir('/proc')))"
    with_them = run(pool, count).stdout
    assert with_them in {b"0\n", run(pool, count).stdout}


BOMB = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
"""


def test_a_fork_bomb_ends_with_its_program(pool: Pool) -> None:
    assert run(pool, BOMB, cpu=1.0).limit in {"cpu", "processes"}
    assert run(pool, "print('next')").stdout == b"next\n"


def test_nothing_is_writable_and_no_network_is_there(pool: Pool) -> None:
    source = """
import os, socket
written = []
for top, _, _ in [*os.walk("/", topdown=True)][:20000]:
    if top.startswith(("/proc", "/sys")):
        continue
    try:
        os.close(os.open(top + "/left", os.O_CREAT | os.O_WRONLY))
        written.append(top)
    except OSError:
        pass
print(written)
for family in (socket.AF_INET, socket.AF_INET6):
    try:
        s = socket.socket(family, socket.SOCK_STREAM)
        s.settimeout(5)
        s.connect(("1.1.1.1" if family == socket.AF_INET else "2606:4700::1111", 53))
        print("connected")
    except OSError as error:
        print("refused")
"""
    assert run(pool, source).stdout == b"[]\nrefused\nrefused\n"


def test_the_hosts_environment_and_files_are_not_there(pool: Pool, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    source = f"""
import os
print(os.path.exists({str(secret)!r}), sorted(os.environ))
for pid in os.listdir("/proc") if os.access("/proc", os.R_OK) else []:
    for name in ("environ", "mem", "fd/1"):
        try:
            print(pid, open(f"/proc/{{pid}}/{{name}}", "rb").read(1)) if pid != str(os.getpid()) else 0
        except OSError:
            pass
"""
    done = run(pool, source)
    assert done.stdout.startswith(b"False ["), done
    assert done.stdout.count(b"\n") == 1, done.stdout
    assert b"PROCTOR" not in done.stdout
    assert b"DOCKER" not in done.stdout


KILLERS = [
    "import os, signal\nos.kill(1, signal.SIGKILL)\nprint('still here')",
    "import os, signal\nfor p in (os.getppid(), -1): os.kill(p, signal.SIGKILL)",
    "import os, signal\nos.kill(1, signal.SIGSTOP)",
]


@pytest.mark.parametrize("source", KILLERS)
def test_a_program_that_goes_for_its_cell_harms_itself_only(pool: Pool, source: str) -> None:
    try:
        run(pool, source)
    except proctor.InfraFault:  # where no wall but the container is to be had
        assert run(pool, "pass").isolation.guarantees["signals"].gap
    assert run(pool, "print('next')").stdout == b"next\n"


def test_disk_is_private_bounded_and_gone(pool: Pool) -> None:
    write = "open('f', 'wb').write(b'x' * {size})\nprint(len(open('f', 'rb').read()))"
    assert run(pool, write.format(size=1 << 20), disk=2 << 20).stdout == b"1048576\n"
    assert run(pool, write.format(size=3 << 20), disk=2 << 20).exit_code == 1
    deep = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\nprint('deep')"
    done = run(pool, deep, disk=64 << 20)
    assert done.stdout == b"deep\n" or done.limit == "disk"
    assert run(pool, "import os\nprint(os.listdir('.'))", disk=2 << 20).stdout == b"[]\n"
    assert run(pool, write.format(size=1)).exit_code == 1


RIGHT, WRONG, BROKEN = "print(int(input()) + 1)", "print(1)", "print("
PROBLEM = Problem("add-one", (Test("1", "2"), Test("2", "3"), Test("-4", "-3")))
MODES = {
    "standard": JudgeSettings("standard"),
    "fast": JudgeSettings("standard", fast=True),
    "official": JudgeSettings("official"),
}


@pytest.mark.parametrize("mode", MODES)
def test_verdicts(pool: Pool, mode: str) -> None:
    settings = MODES[mode]
    verdicts = [
        str(proctor.judge(PROBLEM, source, settings=settings, pool=pool).verdict)
        for source in (RIGHT, WRONG, BROKEN)
    ]
    assert verdicts == ["AC", "WA", "RE" if mode == "official" else "CE"]


@pytest.mark.parametrize("mode", MODES)
def test_verdicts_of_functions_and_limits(pool: Pool, mode: str) -> None:
    problem = Problem("twice", (Test("1", "2"), Test("21", "42")), function="twice")
    limits = Limits(cpu=0.5)
    settings = JudgeSettings(MODES[mode].mode, fast=MODES[mode].fast, limits=limits)
    right = "class Solution:\n    def twice(self, n): return 2 * n"
    slow = right.replace("return", "\n        while n > 20: pass\n        return")
    assert proctor.judge(problem, right, settings=settings, pool=pool).verdict == "AC"
    late = proctor.judge(problem, slow, settings=settings, pool=pool)
    assert late.verdict == "TLE"


def test_packages_and_preloaded_modules(engine: Engine, tmp_path: Path) -> None:
    directory = tmp_path / "with, comma"
    directory.mkdir()
    directory.chmod(0o755)
    for parent in directory.parents[:3]:  # pytest's own; /tmp stays open to everybody
        os.chmod(parent, parent.stat().st_mode | 0o755)
    (directory / "brought.py").write_text("VALUE = 42\n")
    with engine.selected():
        with open_pool(
            isolation="container", cells=1, packages=(str(directory),), preload=("brought",)
        ) as pool:
            assert run(pool, "import brought; print(brought.VALUE)").stdout == b"42\n"
        with (
            open_pool(isolation="container", cells=1, preload=("absent",)) as pool,
            pytest.raises(proctor.InfraFault, match="cannot import absent in the cell"),
        ):
            run(pool, "pass")


@pytest.mark.outside("GVISOR")
def test_gvisor(gvisor: Pool) -> None:
    done = run(gvisor, "print(input()[::-1])", b"abc")
    assert done.stdout == b"cba\n"
    assert "gVisor" in done.isolation.guarantees["kernel"].how
    assert run(gvisor, "while True: pass", cpu=0.5).limit == "cpu"
    for settings in MODES.values():
        for source, verdict in ((RIGHT, "AC"), (WRONG, "WA")):
            judged = proctor.judge(PROBLEM, source, settings=settings, pool=gvisor)
            assert judged.verdict == verdict


FORGERY = """
import os
for n in range(3, 12):
    try:
        os.write(os.open(f"/proc/1/fd/{n}", os.O_WRONLY), %r)
    except OSError:
        pass
print("tried")
"""


@pytest.mark.outside("GVISOR")
def test_who_writes_to_our_stream_from_inside_is_not_believed(gvisor: Pool) -> None:
    """This gVisor lets programs open what process 1 has open."""
    import io

    from proctor.sandbox.container import frames

    facts = {"exit_code": 0, "signal": None, "cpu": 0.0, "wall": 0.0, "memory": 0, "limit": None}
    stream = io.BytesIO()
    frames.write(stream, {**facts, "spent": False, "token": "0" * 32}, [b"forged", b""])
    with pytest.raises(proctor.InfraFault, match="proctor's own process"):
        run(gvisor, FORGERY % stream.getvalue())
    assert run(gvisor, "print('next')").stdout == b"next\n"
