"""Obstacles to each isolation level here, and the exact remedies."""

import importlib.util
import platform
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.errors import NoIsolation

_SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0",
     "sysctl -w kernel.unprivileged_userns_clone=1"),
)  # fmt: skip
_APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
PROC_REMEDY = "mount its own there: mount -t proc proc /proc, or unshare --mount-proc"
FOREIGN_PROC = (
    "/proc is not that of this PID namespace, so no program's time or memory could be known:"
    f" {PROC_REMEDY}"
)
"""Reason and remedy where our processes have other numbers in /proc, or there is none."""
PROFILE = Path(__file__).with_name("apparmor") / "proctor-bwrap"
"""An AppArmor profile that lets bubblewrap make user namespaces."""


def remedies(levels: Sequence[str]) -> list[str]:
    """Return what an administrator can do so that one of `levels` works, best first."""
    found: list[str] = []
    if "namespaces" in levels:
        found += _for_namespaces()
    if "landlock" in levels:
        found += _for_landlock()
    if "container" in levels:
        found += _for_containers()
    return found


def blocked_user_namespaces() -> tuple[str, str] | None:
    """Return the switch that forbids user namespaces and what turns it, if one is set."""
    for path, bad, remedy in _SWITCHES:
        if text(path) == bad:
            return f"{path} is {bad}", f"as root: {remedy}"
    if text(_APPARMOR) == "1":
        remedy = (
            f"as root: cp {PROFILE} /etc/apparmor.d/ && apparmor_parser -r"
            " /etc/apparmor.d/proctor-bwrap   (or, for every program: sysctl -w"
            " kernel.apparmor_restrict_unprivileged_userns=0)"
        )
        return f"{_APPARMOR} is 1 (AppArmor)", remedy
    return None


def in_container() -> bool:
    """Return whether this seems to be a container: engines filter system calls or mask /proc.

    The engines' marks alone prove nothing: they are left in virtual machines made from images.
    """
    marked = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    if marked and "Seccomp:\t2" in text("/proc/self/status"):
        return True
    mounted = {line.split()[4] for line in text("/proc/self/mountinfo").splitlines()}
    return bool(mounted & {"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/acpi"})


def _for_namespaces() -> Iterator[str]:
    from proctor.sandbox.levels.bubblewrap import find_bwrap

    try:
        find_bwrap()
    except NoIsolation as error:
        yield f"namespaces: {error}"
    blocked = blocked_user_namespaces()
    if blocked is not None:
        yield f"namespaces: {blocked[0]}; {blocked[1]}"
    if in_container():
        yield (
            "namespaces: this looks like a container; if its profile forbids them, start it with"
            " docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
            " --security-opt systempaths=unconfined, in Kubernetes with securityContext:"
            " {seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}}"
        )


def _for_landlock() -> Iterator[str]:
    if importlib.util.find_spec("proctor.cell._lockdown") is None:
        yield "landlock: install a C compiler and Python's headers, then reinstall proctor"
        return
    from proctor.cell import _lockdown

    abi = _lockdown.landlock_abi()
    if not abi:
        yield (
            "landlock: the kernel offers none; Linux 5.13 or newer has it, if booted with landlock"
            " among the modules of lsm="
        )
    elif abi < 6:
        yield (
            f"landlock: kernel {platform.release()} has Landlock ABI {abi}; Linux 6.12 has scopes"
            " (ABI 6). On older ones run as root with CAP_SETUID and CAP_SETGID (docker run without"
            " --user and without --cap-drop does)"
        )


def _for_containers() -> Iterator[str]:
    if shutil.which("docker") is None and shutil.which("podman") is None:
        yield "container: install docker or podman, then run: proctor image build"


def text(path: str) -> str:
    """Return the content of a small file of the kernel's; empty if it cannot be read."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
