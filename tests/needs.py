"""Needs of tests that a machine may not meet, by the names of their marks.

Each function returns a reason to skip, or None. conftest.py asks them for every test that is marked;
the marks are described in pyproject.toml.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import pytest

from proctor.errors import NoIsolation
from proctor.languages import registry
from proctor.sandbox.levels.bubblewrap import find_bwrap
from proctor.sandbox.machine import cgroup as control_groups

ROOT = Path(__file__).parents[1]
DATA = os.environ.get("PROCTOR_TEST_DATA", "")
SYSTEM_PYTHON = Path("/usr/bin/python3")
VM_TOOLS = ("qemu-system-x86_64", "mmdebstrap", "mke2fs")
BOTH_LEVELS = (pytest.param("namespaces", marks=pytest.mark.namespaces), "landlock")
"""Parameters of tests that hold at either level."""
ENGINES = {
    "docker": ("docker", "dockerd", "containerd", "runc"),
    "podman": ("podman", "runc", "conmon"),
}


def root() -> str | None:
    return None if os.geteuid() == 0 else "only root can arrange what is tried here"


@cache
def cgroup(version: str = "") -> str | None:
    if (
        version == "v1"
        and not {"memory", "pids", "cpuacct", ""} <= control_groups.own_groups().keys()
    ):
        return "this machine has no control groups v1 beside v2"
    group = control_groups.create()
    if group is None:
        return "no control group can be made here, so nothing counts all memory of a program"
    group.remove()
    return None


@cache
def namespaces() -> str | None:
    """Ask bubblewrap alone: a machine that has namespaces and a proctor that has none is a fault."""
    try:
        bwrap, libraries = find_bwrap()
    except NoIsolation as error:
        return str(error)
    box = [bwrap, "--unshare-user-try", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/"]
    env = {"LD_LIBRARY_PATH": libraries} if libraries else {}
    done = subprocess.run([*box, "/bin/true"], env=env, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return f"level namespaces cannot be had here: {done.stderr.strip()}"


@cache
def language(*families: str) -> str | None:
    here = {found.language.family for found in registry.available()}
    missing = [family for family in families if family not in here]
    return f"no tools for {', '.join(missing)} are installed" if missing else None


def compiler() -> str | None:
    return language("cpp")


def command(*names: str) -> str | None:
    missing = [name for name in names if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else None


def own_python() -> str | None:
    if Path(sys.executable).resolve() != SYSTEM_PYTHON.resolve():
        return None
    return f"the tests run under {SYSTEM_PYTHON} itself: no other interpreter to tell it from"


def tar_filters() -> str | None:
    if hasattr(tarfile, "data_filter"):
        return None
    return "this Python is older than 3.11.4, with which the one-file binary is built"


def docker() -> str | None:
    return root() or command(*ENGINES["docker"])


def podman() -> str | None:
    return root() or command(*ENGINES["podman"])


@cache
def package(*names: str) -> str | None:
    """Tell which of these distributions, named as on PyPI, are not installed."""
    missing = [name for name in names if not any(distributions(name=name))]
    return f"not installed: {', '.join(missing)} (`make dev` does it)" if missing else None


def redis() -> str | None:
    if missing := package("redis"):
        return missing
    return command("redis-server") and command("valkey-server")


def slurm() -> str | None:
    return root() or command("slurmctld", "slurmd", "sbatch", "srun", "scancel")


def browser() -> str | None:
    return command("chromium") and command("chromium-browser")


def kernel() -> str | None:
    if platform.machine() != "x86_64" or sys.version_info[:2] != (3, 11):
        return "the system inside has Python 3.11 for x86-64, and so must this be"
    return root() or command(*VM_TOOLS)


@cache
def typescript() -> str | None:
    if missing := command("node"):
        return missing
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if int(version[1:].partition(".")[0]) < 20:
        return f"node is {version}, not 20 or later"
    if (ROOT / "clients/typescript/node_modules/.bin/tsc").exists():
        return None
    return "`npm ci --prefix clients/typescript` has not been run"


def ray() -> str | None:
    return package("ray")


def data(path: str = "") -> str | None:
    if not DATA:
        return "PROCTOR_TEST_DATA is not set: no real problems and programs"
    return None if Path(DATA, path).exists() else f"PROCTOR_TEST_DATA holds no {path}"


def outside(name: str) -> str | None:
    variable = f"PROCTOR_TEST_{name}"
    return None if os.environ.get(variable) else f"{variable} is not set (see CONTRIBUTING.md)"


NEEDS: dict[str, Callable[..., str | None]] = {
    function.__name__: function
    for function in (
        root, cgroup, namespaces, language, compiler, command, own_python, tar_filters, docker, podman,
        redis, slurm, browser, kernel, typescript, data, outside, package, ray,
    )
}  # fmt: skip
REAL_PARTS = (
    "docker", "podman", "slurm", "browser", "kernel", "typescript", "outside", "ray", "package",
)  # fmt: skip
"""Marks of what takes minutes, or much to install."""
