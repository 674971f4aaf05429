"""Real container engines of the tests' own: private daemons and stores, a base image made here.

The base image is made of this machine's Python and what it loads, since no registry can be reached.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from waiting import PATIENCE, until, until_none

BASE = "localhost/proctor-test-base:1"
COMMAND = str(Path(sysconfig.get_path("scripts"), "proctor"))
_LEFT_OUT = ("test", "__pycache__", "idlelib", "site-packages", "dist-packages", "config-*",
             "tkinter", "lib2to3", "turtledemo")  # fmt: skip
_COMMANDS = ("sh", "mkdir", "rm", "cat")
_WHEELS_EXPECT = ("pthread.so.0", "dl.so.2", "rt.so.1", "util.so.1", "m.so.6", "gcc_s.so.1",
                  "stdc++.so.6")  # fmt: skip
"""Libraries that wheels from the index may be linked with: every system has them."""


# Runs a daemon until our end of its standard input is closed, if only because we were killed.
GUARDIAN = """
import subprocess, sys, threading
daemon = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
threading.Thread(target=lambda: (sys.stdin.read(), daemon.terminate()), daemon=True).start()
sys.exit(daemon.wait())
"""


@dataclass(frozen=True)
class Engine:
    """An engine that is up, with the image built in it."""

    kind: str
    env: Mapping[str, str]
    """What points proctor and the engine's own command at it."""
    path: str
    runtimes: tuple[str, ...] = field(default=())

    @contextlib.contextmanager
    def selected(self, **more: str) -> Iterator[None]:
        """Point this process at the engine."""
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment(**more))
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.path, *arguments], env={**os.environ, **self.env}, capture_output=True,
            text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def proctor(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end, with this engine."""
        return subprocess.run(
            [COMMAND, *arguments], env=self.environment(**more), capture_output=True, text=True,
            timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def environment(self, **more: str) -> dict[str, str]:
        """Our environment, but of proctor's variables only those that select the engine."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PROCTOR_")}
        return kept | {"COLUMNS": "200", "NO_COLOR": "1", **self.env, **more}

    def containers(self) -> list[str]:
        """Names of all containers of proctor's, running or not."""
        listed = self.call(
            "ps", "--all", "--filter", "label=proctor.owner", "--format", "{{.Names}}"
        )
        assert listed.returncode == 0, listed.stderr
        return listed.stdout.split()

    def until_none_is_left(self) -> None:
        until_none(self.containers)


def make_base(root: Path) -> None:
    """Lay out a root file system with Python and a shell."""
    for path in map(Path, ("/bin", "/lib", "/lib32", "/lib64")):
        if path.is_symlink():
            (root / path.name).symlink_to(path.readlink())
            (root / path.readlink()).mkdir(parents=True, exist_ok=True)
    python = Path(sys.base_prefix, "bin", f"python3.{sys.version_info[1]}").resolve()
    stdlib = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    _copy_tree(stdlib, root)
    wanted = [python, *(Path(shutil.which(name) or name) for name in _COMMANDS)]
    for program in wanted:
        _copy_program(program, root)
    for library in (*stdlib.glob("lib-dynload/*.so"),):
        for needed in _libraries(library):
            _copy(needed, root)
    system = next(each for each in _libraries(python) if each.name.startswith("libc."))
    for library in (system.with_name(f"lib{name}") for name in _WHEELS_EXPECT):
        if library.exists():
            _copy(library, root)
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    link = root / "usr/bin/python3"
    if not link.exists():
        link.symlink_to(python)
    for name in ("tmp", "proc", "sys", "dev", "etc"):
        (root / name).mkdir(exist_ok=True)
    for path in root.rglob("*"):  # an interpreter in root's home is for everybody in here
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


def _copy_tree(source: Path, root: Path) -> None:
    target = root / source.relative_to("/")
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))


def _copy_program(program: Path, root: Path) -> None:
    _copy(program, root)
    for library in _libraries(program):
        _copy(library, root)


def _copy(path: Path, root: Path) -> None:
    """Copy a file to its own place, and where a link in its path leads."""
    target = root / path.relative_to("/")
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path.resolve(), target)


def _libraries(path: Path) -> list[Path]:
    listed = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
    words = [word for line in listed.stdout.splitlines() for word in line.split()]
    return [Path(word) for word in words if word.startswith("/") and ":" not in word]


def import_base(engine: Engine, place: Path) -> None:
    root = place / "root"
    root.mkdir()
    make_base(root)
    archive = place / "base.tar"
    subprocess.run(["tar", "-C", str(root), "-cf", str(archive), "."], check=True)
    done = engine.call("import", str(archive), BASE)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(root)
    archive.unlink()


@contextlib.contextmanager
def docker(place: Path) -> Iterator[Engine]:
    """A docker daemon of its own; knows runsc if that is installed."""
    runtimes = {}
    if shutil.which("runsc"):
        flags = ["--platform=ptrace", "--ignore-cgroups", "--network=none"]
        runtimes["runsc"] = {"path": shutil.which("runsc"), "runtimeArgs": flags}
    settings = place / "daemon.json"
    settings.write_text(json.dumps({"runtimes": runtimes}))
    with contextlib.ExitStack() as stack:
        for driver in ("overlay2", "vfs"):
            home = Path(tempfile.mkdtemp(prefix="proctor-docker-"))  # sockets want a short path
            stack.callback(shutil.rmtree, home, ignore_errors=True)
            daemon = _daemon(home, settings, driver)
            stack.callback(_stop, daemon)
            env = {"DOCKER_HOST": f"unix://{home}/socket", "PROCTOR_CONTAINER_ENGINE": "docker"}
            engine = Engine("docker", env, shutil.which("docker") or "docker", tuple(runtimes))
            if _comes_up(daemon, lambda e=engine: e.call("version").returncode == 0):  # type: ignore[misc]
                break
        else:
            pytest.fail(f"dockerd did not come up: {(home / 'log').read_text()[-3000:]}")
        yield engine


def _daemon(home: Path, settings: Path, driver: str) -> "subprocess.Popen[bytes]":
    with (home / "log").open("wb") as log:
        return subprocess.Popen(
            [
                sys.executable, "-c", GUARDIAN,
                "dockerd", "--config-file", str(settings), "--host", f"unix://{home}/socket",
                "--data-root", str(home / "data"), "--exec-root", str(home / "exec"),
                "--pidfile", str(home / "pid"), "--storage-driver", driver, "--bridge=none",
                "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false",
            ],
            stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def _comes_up(daemon: "subprocess.Popen[bytes]", up: Callable[[], bool]) -> bool:
    return until(lambda: up() or daemon.poll() is not None) and daemon.poll() is None


def _stop(daemon: "subprocess.Popen[bytes]") -> None:
    assert daemon.stdin is not None
    daemon.stdin.close()
    daemon.wait(PATIENCE)


@contextlib.contextmanager
def podman(place: Path) -> Iterator[Engine]:
    """A podman with a store of its own. It needs no daemon."""
    home = Path(tempfile.mkdtemp(prefix="proctor-podman-"))
    command = place / "podman"
    command.write_text(
        "#!/bin/sh\n"
        f"exec {shutil.which('podman')} --root {home}/root --runroot {home}/run --tmpdir {home}/tmp"
        " --storage-driver overlay --events-backend none --cgroup-manager cgroupfs --runtime runc"
        ' "$@"\n'
    )
    command.chmod(0o755)
    engine = Engine("podman", {"PROCTOR_CONTAINER_ENGINE": str(command)}, str(command))
    try:
        yield engine
    finally:
        engine.call("rm", "--all", "--force")
        engine.call("rmi", "--all", "--force")
        subprocess.run(["umount", "--recursive", f"{home}/root/overlay"], capture_output=True)
        shutil.rmtree(home, ignore_errors=True)
