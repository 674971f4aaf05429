"""The report of `proctor doctor`: abilities of this machine, and a real job at each level."""

import importlib.util
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import ProctorError
from proctor.execution import Isolation
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy, proof, remedies
from proctor.sandbox.machine import cgroup, procfs


@dataclass(frozen=True, slots=True)
class MachineFact:
    """One ability of the machine that was examined."""

    name: str
    ok: bool
    found: str
    remedy: str = ""
    """The way to get it, if it is missing and matters."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """The outcome of trying one level, each way to get it in turn."""

    level: str
    works: bool
    arrangement: str
    """The way that works."""
    failures: tuple[str, ...]
    """Failures of the ways tried before it, or of all."""
    remedies: tuple[str, ...]
    """Measures that would make it work, if nothing does."""
    isolation: Isolation | None


@dataclass(frozen=True, slots=True)
class MachineReport:
    """The answer of `proctor doctor`."""

    works: bool
    """True if the level that would be used ran a real job and returned its output."""
    level: str
    """The level that would be used; empty if there is none."""
    interpreter: str
    findings: tuple[MachineFact, ...]
    levels: tuple[LevelReport, ...]
    isolation: Isolation | None
    error: str = field(default="")


def examine() -> MachineReport:
    """Examine everything a cell needs, then run a job in a cell of every level."""
    proof.forget()
    looks = (
        _system, _proc, _c_part, _bwrap, _user_namespaces, _landlock, _seccomp, _cgroups, _schedstat
    )  # fmt: skip
    findings = tuple(look() for look in (looks if sys.platform == "linux" else looks[:1]))
    levels = tuple(try_level(level) for level in policy.default_order())
    try:
        choice = policy.choose()
        cell = choice.backend.open_cell(CellSetup(choice.interpreter), 0)
    except ProctorError as error:
        return MachineReport(False, "", "", findings, levels, None, str(error))
    cell.close()
    found = choice.interpreter.executable or "the image's python3"
    if choice.interpreter.version:  # else known in the container only
        found += f" {choice.interpreter.version.split()[0]}"
    return MachineReport(True, choice.backend.level, found, findings, levels, cell.isolation)


def try_level(level: str) -> LevelReport:
    """Try every way to get one level until one works."""
    failures: list[str] = []
    try:
        for backend in policy.ways(level):
            way = backend.arrangement
            try:
                chosen = policy.interpreter_for(backend, None)
                setup = CellSetup(chosen)
                failure = proof.failure(backend, setup)
                if failure is None:
                    cell = backend.open_cell(setup, 0)
                    cell.close()
                    found = tuple(failures)
                    return LevelReport(level, True, way, found, (), cell.isolation)
            except ProctorError as error:
                failure = str(error)
            failures.append(f"{way}: {failure}" if way else failure)
    except ProctorError as error:
        failures.append(str(error))
    found = tuple(remedies.remedies([level]))
    return LevelReport(level, False, "", tuple(failures), found, None)


def _system() -> MachineFact:
    known = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    return MachineFact(
        "system", known, f"{platform.system()} {platform.release()} {platform.machine()}",
        "" if known else "only level container works here: install docker or podman",
    )  # fmt: skip


def _proc() -> MachineFact:
    if procfs.shows_us():
        return MachineFact("/proc", True, "that of this PID namespace")
    return MachineFact("/proc", False, "not that of this PID namespace", remedies.PROC_REMEDY)


def _c_part() -> MachineFact:
    present = importlib.util.find_spec("proctor.cell._lockdown") is not None
    return MachineFact(
        "C part", present, "loaded" if present else "missing: one fresh, weaker box per job",
        "" if present else "install a C compiler and Python headers, then reinstall proctor",
    )  # fmt: skip


def _bwrap() -> MachineFact:
    from proctor.sandbox.levels.bubblewrap import find_bwrap

    try:
        return MachineFact("bubblewrap", True, find_bwrap()[0])
    except ProctorError as error:
        return MachineFact("bubblewrap", False, "missing", str(error))


def _user_namespaces() -> MachineFact:
    blocked = remedies.blocked_user_namespaces()
    if blocked is not None:
        return MachineFact("user namespaces", False, *blocked)
    return MachineFact("user namespaces", True, "no switch forbids them")


def _landlock() -> MachineFact:
    try:
        from proctor.cell import _lockdown
    except ImportError:
        return MachineFact("Landlock", False, "not known without the C part")
    abi = _lockdown.landlock_abi()
    remedy = "" if abi else "boot with lsm=landlock,... on Linux 5.13 or newer"
    return MachineFact("Landlock", bool(abi), f"ABI {abi}" if abi else "not offered", remedy)


def _seccomp() -> MachineFact:
    actions = remedies.text("/proc/sys/kernel/seccomp/actions_avail")
    return MachineFact("seccomp", "errno" in actions, actions or "not offered")


def _cgroups() -> MachineFact:
    group = cgroup.create()
    if group is None:
        return MachineFact(
            "control groups", False, "none that we may use: per-process limits and sampling",
            cgroup.remedy(),
        )  # fmt: skip
    try:
        found = f"{group.kind}: {', '.join(sorted(group.controls))}"
        complete = group.controls >= cgroup.ENFORCED
        return MachineFact("control groups", complete, found, "" if complete else cgroup.remedy())
    finally:
        group.remove()


def _schedstat() -> MachineFact:
    present = Path("/proc/self/schedstat").exists()
    return MachineFact(
        "schedstat", present, "offered" if present else "not offered: idle limits are coarser"
    )
