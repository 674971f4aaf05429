"""What this machine offers, and whether the default level really works: it runs a job."""

import importlib.util
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import ProctorError
from proctor.execution import Isolation
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox import cgroup, interpreter, policy
from proctor.sandbox.run import open_pool, run

_ANSWER = "proctor"
_PROBE = f"import sys\nprint({_ANSWER!r}, sys.version_info[0])\n"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    name: str
    ok: bool
    found: str
    remedy: str = ""
    """What to do about it, if it is missing and matters."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `proctor doctor` says."""

    works: bool
    """Whether the default level ran a real job and returned its output."""
    level: str
    findings: tuple[Finding, ...]
    isolation: Isolation | None
    error: str = field(default="")


def examine() -> Report:
    """Look at everything a cell needs, then run a job in one."""
    findings = (
        _system(),
        _c_part(),
        _bwrap(),
        _user_namespaces(),
        _landlock(),
        _seccomp(),
        _cgroups(),
        _schedstat(),
        _interpreter(),
    )
    level = os.environ.get("PROCTOR_ISOLATION") or policy.LEVELS[0]
    try:
        with open_pool(cells=1) as pool:
            done = run(Program(_PROBE), limits=Limits(cpu=5.0), pool=pool)
    except ProctorError as error:
        return Report(False, level, findings, None, str(error))
    works = done.ok and done.stdout == f"{_ANSWER} 3\n".encode()
    complaint = "" if works else f"the probe job ended wrongly: {done}"
    return Report(works, level, findings, done.isolation, complaint)


def _system() -> Finding:
    known = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    return Finding(
        "system", known, f"{platform.system()} {platform.release()} {platform.machine()}",
        "" if known else "cells need Linux on x86-64 or aarch64: use a virtual machine",
    )  # fmt: skip


def _c_part() -> Finding:
    present = importlib.util.find_spec("proctor.cell._lockdown") is not None
    return Finding(
        "C part", present, "loaded" if present else "missing: one fresh, weaker box per job",
        "" if present else "install a C compiler and Python headers, then reinstall proctor",
    )  # fmt: skip


def _bwrap() -> Finding:
    from proctor.sandbox.bubblewrap import find_bwrap

    try:
        return Finding("bubblewrap", True, find_bwrap()[0])
    except ProctorError as error:
        return Finding("bubblewrap", False, "missing", str(error))


def _user_namespaces() -> Finding:
    blocked = {
        "/proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=10000"),
        "/proc/sys/kernel/unprivileged_userns_clone": (
            "0", "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
            "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    }  # fmt: skip
    for path, (bad, remedy) in blocked.items():
        if _text(path) == bad:
            return Finding("user namespaces", False, f"{path} is {bad}", remedy)
    return Finding("user namespaces", True, "allowed")


def _landlock() -> Finding:
    try:
        from proctor.cell import _lockdown
    except ImportError:
        return Finding("Landlock", False, "not known without the C part")
    abi = _lockdown.landlock_abi()
    remedy = "" if abi else "a second wall only: boot with lsm=landlock,... on Linux 5.13 or newer"
    return Finding("Landlock", bool(abi), f"ABI {abi}" if abi else "not offered", remedy)


def _seccomp() -> Finding:
    actions = _text("/proc/sys/kernel/seccomp/actions_avail")
    return Finding("seccomp", "errno" in actions, actions or "not offered")


def _cgroups() -> Finding:
    group = cgroup.create()
    if group is None:
        return Finding(
            "control groups", False, "none that we may use: per-process limits and sampling",
            "run as root, or in a delegated subtree: systemd-run --user --scope -p Delegate=yes",
        )  # fmt: skip
    try:
        return Finding("control groups", True, f"{group.kind}: {', '.join(sorted(group.controls))}")
    finally:
        group.remove()


def _schedstat() -> Finding:
    present = Path("/proc/self/schedstat").exists()
    return Finding(
        "schedstat", present, "offered" if present else "not offered: idle limits are coarser"
    )


def _interpreter() -> Finding:
    try:
        chosen = interpreter.default()
    except ProctorError as error:
        return Finding("interpreter", False, "none", str(error))
    return Finding("interpreter", True, f"{chosen.executable} {chosen.version.split()[0]}")


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
