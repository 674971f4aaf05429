"""Containers come and go with their proctor, however it ends; and the image they start from."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import engines
import pytest
from engines import COMMAND, Engine

from proctor.sandbox.container import engine as engine_module
from proctor.sandbox.container import owners
from proctor.version import __version__
from waiting import PATIENCE, until, until_none

BUSY = """
import proctor
with proctor.open_pool(isolation="container", cells=1) as pool:
    proctor.run("print(1)", pool=pool)
    print("up", flush=True)
    proctor.run("while True: pass", limits=proctor.Limits(cpu=600), pool=pool)
"""

TELLING = {"PYTHONFAULTHANDLER": "1"}


def busy(engine: Engine) -> "subprocess.Popen[str]":
    """A proctor in the middle of a job."""
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY], env=engine.environment(**TELLING), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n", process.stderr.read() if process.stderr else ""
    return process


def end(process: "subprocess.Popen[str]") -> str:
    """What it said until its end; one that has no end is asked where its threads are."""
    try:
        return process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        raise AssertionError(process.communicate(timeout=PATIENCE)[1]) from None
    finally:
        process.kill()


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT", "SIGKILL to all"])
def test_a_proctor_that_ends_leaves_no_container(engine: Engine, how: str) -> None:
    before = set(engine.containers())
    process = busy(engine)
    assert set(engine.containers()) - before
    below = children_of(process.pid)
    process.send_signal(signal.SIGINT if how == "SIGINT" else signal.SIGKILL)
    if how.endswith("all"):
        for pid in below:
            os.kill(pid, signal.SIGKILL)
    end(process)
    until_none(lambda: set(engine.containers()) - before)


def children_of(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(") ")[2].split()[1]) == parent:
                found.append(int(entry.name))
    return found


def test_a_client_that_is_killed_costs_a_retry(engine: Engine) -> None:
    """Two attempts are two containers; killing the client of each ends the job with a fault."""
    process = busy(engine)
    first = children_of(process.pid)
    for pid in first:
        os.kill(pid, signal.SIGKILL)
    second = until(lambda: [pid for pid in children_of(process.pid) if pid not in first])
    os.kill(process.pid, signal.SIGINT)
    assert second
    end(process)


def test_ctrl_c_on_the_command(engine: Engine, tmp_path: Path) -> None:
    program = tmp_path / "spin.py"
    program.write_text("print('up', flush=True)\nwhile True: pass\n")
    before = set(engine.containers())
    process = subprocess.Popen(
        [COMMAND, "run", "--isolation", "container", "--cpu", "600s", str(program)],
        env=engine.environment(**TELLING), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    until(lambda: set(engine.containers()) - before or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    end(process)
    assert process.returncode == 130
    until_none(lambda: set(engine.containers()) - before)


def test_what_a_dead_proctor_left_is_swept_and_nothing_else(engine: Engine) -> None:
    labels = owners.labels()
    dead = [label.replace(f"={os.getpid()}-", f"={os.getpid()}-0") for label in labels]
    elsewhere = [*dead[:2], "--label", f"{owners.HOST}=another-machine"]
    names = {"proctor-live": labels, "proctor-dead": dead, "proctor-elsewhere": elsewhere}
    for name, each in names.items():
        made = engine.call(
            "create", "--pull", "never", "--network", "none", "--ulimit", "nproc=4096:4096",
            "--ulimit", "nofile=1024:1024", "--name", name, *each, engines.BASE, "true",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
    try:
        with engine.selected():
            assert owners.sweep(engine_module.find()) == ["proctor-dead"]
        assert {"proctor-live", "proctor-elsewhere"} <= set(engine.containers())
        assert "proctor-dead" not in engine.containers()
    finally:
        engine.call("rm", "--force", "proctor-live", "proctor-elsewhere")


def test_the_command_line(engine: Engine, tmp_path: Path) -> None:
    program = tmp_path / "hello.py"
    program.write_text("import sys\nprint('hello', sys.version_info[0])\n")
    done = engine.proctor("run", "--isolation", "container", str(program))
    assert (done.stdout, done.returncode) == ("hello 3\n", 0), done.stderr
    done = engine.proctor("run", "--min-isolation", "container", "--json", str(program))
    assert json.loads(done.stdout)["isolation"]["level"] in {"namespaces", "container"}


def test_the_demo(engine: Engine) -> None:
    done = engine.proctor("demo", "--subset", "fixture", "--isolation", "container")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all 20 verdicts are as labelled" in done.stdout


def test_the_self_test_is_clean(engine: Engine) -> None:
    done = engine.proctor("selftest", "--isolation", "container", "--json")
    report = json.loads(done.stdout)
    through = [each for each in report["attacks"] if each["status"] == "through"]
    assert [(each["name"], each["happened"]) for each in through] == []
    assert (done.returncode, report["clean"], report["left"]) == (0, True, [])


def test_doctor_tries_it(engine: Engine) -> None:
    report = json.loads(engine.proctor("doctor", "--json").stdout)
    (level,) = [each for each in report["levels"] if each["level"] == "container"]
    assert level["works"], level
    assert level["isolation"]["guarantees"]["network"]["strength"] == "full"


def test_the_image_is_shown(engine: Engine) -> None:
    done = engine.proctor("image", "show")
    assert done.returncode == 0, done.stderr
    name = f"{engine.kind} localhost/proctor:{__version__}"
    assert done.stdout.startswith(name)
    assert done.stdout.endswith(f"): proctor {__version__}, this one\n")
    row = json.loads(engine.proctor("image", "show", "--json").stdout)
    assert (row["engine"], row["version"], row["current"]) == (engine.kind, __version__, True)


def test_an_image_that_is_missing(engine: Engine, tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text("pass")
    image = {"PROCTOR_CONTAINER_IMAGE": "localhost/nothing:here"}
    done = engine.proctor("run", "--isolation", "container", str(program), **image)
    assert done.returncode == 125
    assert (
        "image localhost/nothing:here is missing: build it with `proctor image build`"
        in done.stderr
    )
    shown = engine.proctor("image", "show", "--tag", "localhost/nothing:here")
    assert (shown.returncode, shown.stdout) == (
        1, f"{engine.kind} has no image localhost/nothing:here: proctor image build\n",
    )  # fmt: skip
    assert engine.proctor("image", "show", "--json", **image).stdout == "null\n"


def test_an_image_without_proctor(engine: Engine, tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text("pass")
    done = engine.proctor(
        "run", "--isolation", "container", str(program), PROCTOR_CONTAINER_IMAGE=engines.BASE
    )
    assert done.returncode == 125
    assert f"image {engines.BASE} holds no proctor" in done.stderr
    shown = engine.proctor("image", "show", "--tag", engines.BASE)
    assert shown.returncode == 1
    assert "no proctor that it names, another than this" in shown.stdout


def test_an_image_of_another_proctor(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(
        f"FROM localhost/proctor:{__version__}\nUSER 0\n"
        "RUN echo '# changed' >> /opt/proctor/proctor/limits.py\n"
        "LABEL proctor.digest=0\n"
    )
    other = "localhost/proctor-test-other:1"
    assert engine.call("build", "--tag", other, str(tmp_path)).returncode == 0
    program = tmp_path / "p.py"
    program.write_text("pass")
    done = engine.proctor(
        "run", "--isolation", "container", str(program), PROCTOR_CONTAINER_IMAGE=other
    )
    assert done.returncode == 125
    assert "was built from another proctor than this" in done.stderr
    assert engine.proctor("image", "show", "--tag", other).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--base", "localhost/proctor-no-such-base:1"], 125, "build failed"),
        (["--base", "--privileged"], 2, "cannot be an image's name"),
        (["--tag", "two words"], 2, "cannot be an image's name"),
        (["--engine", "lxc"], 2, "'lxc' is not known"),
        (["--engine", "/nowhere/docker"], 125, "no such command"),
    ],
)
def test_builds_that_cannot_be(engine: Engine, arguments: list[str], code: int, said: str) -> None:
    done = engine.proctor("image", "build", *arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert done.stdout == ""


ELSEWHERE = """
import sys, msgspec, rich.console, subprocess, tempfile, asyncio, concurrent.futures, importlib.util
sys.platform = {platform!r}
import os, socket, select, time, signal
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource", "pwd", "grp", "termios"):
            raise ModuleNotFoundError(name)
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for module, names in (
    (os, "memfd_create register_at_fork geteuid getuid pidfd_open sched_getaffinity MFD_CLOEXEC"
         " O_CLOEXEC fork killpg pread mkfifo sysconf getpgid setsid"),
    (socket, "AF_UNIX CMSG_SPACE SCM_RIGHTS SO_PASSCRED CMSG_LEN SOCK_SEQPACKET"),
    (select, "poll epoll"), (time, "clock_gettime"), (signal, "pthread_sigmask SIGKILL"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
import proctor
with proctor.open_pool(cells=2) as pool:
    done = proctor.run("import sys; print(input(), sys.platform)", "hi", pool=pool)
    assert done.isolation.level == "container"
    print(done.stdout.decode().strip())
    big = proctor.Test("7" * 100_000, "100000")
    problem = proctor.Problem("p", (proctor.Test("ab", "2"), big))
    for mode in ("standard", "official"):
        settings = proctor.JudgeSettings(mode)
        for source in ("print(len(input()))", "print(1)"):
            print(proctor.judge(problem, source, settings=settings, pool=pool).verdict)
"""


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_on_other_systems_it_is_the_level(engine: Engine, platform: str, tmp_path: Path) -> None:
    """With the platform's name, and without what only Linux or only Unix has in Python."""
    command = tmp_path / f"{engine.kind}.exe"
    command.write_text(f'#!/bin/sh\nexec {engine.path} "$@"\n')
    command.chmod(0o755)
    env = engine.environment(PATHEXT=".exe", PATH=f"{tmp_path}:{os.environ['PATH']}")
    env["PROCTOR_CONTAINER_ENGINE"] = str(command)
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE.format(platform=platform)], env=env,
        capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["hi linux", "AC", "WA", "AC", "WA"], done.stderr
