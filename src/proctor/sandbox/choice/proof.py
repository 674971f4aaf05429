"""Proof that a way to isolate works here: real jobs in a real cell, remembered for the boot.

Only the way to try is remembered; every cell still proves itself when it starts.
"""

import contextlib
import hashlib
import json
import os
import secrets
import sys
import time
from pathlib import Path

from proctor import cell
from proctor.errors import InfraFault, InputError, PlatformError
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.choice import enforcement
from proctor.sandbox.machine import plain_file
from proctor.variables import base_directory
from proctor.version import __version__

_ANSWER = "proctor"
_PROBE = Program(f"import sys\nprint({_ANSWER!r}, sys.version_info[0])\n")
_SWITCHES = (
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
)
_INSTALLED = ("/etc/apparmor.d", "/usr/bin/bwrap")  # which a remedy may change
_STATUS = ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Uid", "Gid")
_FAILURES_HOLD = 600.0  # seconds
_SOON = 10.0  # seconds: a failure that took longer may come from a busy machine; not remembered
_KEPT = 64  # entries; a machine has few circumstances
_LARGEST = MIB  # bytes of the file of them


def failure(
    backend: Backend, setup: CellSetup, *, asked_for: bool = True, believe: bool = True
) -> str | None:
    """Return why this does not work here, or None if it does; from memory if it was tried.

    Unless `believe` is true, a remembered failure is not believed, but tried again. That something
    is not installed is not remembered, since it is quick to find out and to mend. Only that of a
    container engine is, for some minutes, since an engine takes a second to answer; it is tried
    again, too, if the level was asked for by name.
    """
    key = _key(backend, setup)
    lately = f"{key} lately"
    known = _remembered()
    if key in known and (believe or not known[key]):
        return known[key] or None
    if lately in known and believe and not asked_for:
        return known[lately]
    began = time.monotonic()
    try:
        found = _attempt(backend, setup)
    except PlatformError as error:
        if backend.level == "container":
            _remember({**known, lately: str(error)})
        return str(error)
    if found is None or time.monotonic() - began < _SOON:
        _remember({**known, key: found or ""})
    return found


def _attempt(backend: Backend, setup: CellSetup) -> str | None:
    """Run jobs in a new cell; return what went wrong. Raises PlatformError."""
    with contextlib.ExitStack() as held:
        try:
            opened = held.enter_context(contextlib.closing(backend.open_cell(setup, 0)))
            done = opened.run(_PROBE, b"", Limits(cpu=5.0))
            if not done.ok or done.stdout != f"{_ANSWER} 3\n".encode():
                return f"a program that prints one line ended otherwise: {done}"
            for overrun in enforcement.overruns(done.isolation):
                if opened.spent:
                    held.close()
                    opened = held.enter_context(contextlib.closing(backend.open_cell(setup, 0)))
                done = opened.run(overrun.program, b"", overrun.limits)
                failed = enforcement.failure(overrun, done)
                if failed is not None:
                    return failed
        except InfraFault as error:
            return str(error)
    return None


def remembers_failures() -> bool:
    """Return whether any failure is remembered."""
    return any(_remembered().values())


def forget() -> None:
    """Drop remembered proofs, after a cell did not start although its proof said that it would."""
    with contextlib.suppress(OSError, RuntimeError):
        _place().unlink()


def _key(backend: Backend, setup: CellSetup) -> str:
    """Return a short string that differs with everything the outcome may depend on."""
    status = _text("/proc/self/status").splitlines()
    facts = [
        __version__, __file__, sys.executable,
        setup.interpreter.executable, setup.interpreter.version, setup.interpreter.prefix,
        backend.level, backend.arrangement,
        *map(_text, _SWITCHES),
        *(line for line in status if line.split(":")[0] in _STATUS),
        *(_link(f"/proc/self/ns/{name}") for name in ("user", "mnt", "pid")),
        *_mounts(), str(_landlock()),
        _text("/proc/self/attr/current"),
        *map(_changed, [*_INSTALLED, *_c_part()]),
    ]  # fmt: skip
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:32]


def _landlock() -> int:
    """Return the kernel's Landlock ABI, which a filter can hide from us; 0 without the C part."""
    try:
        from proctor.cell import _lockdown
    except ImportError:
        return 0
    return _lockdown.landlock_abi()


def _mounts() -> list[str]:
    """Return mounts at / and below /proc and /sys, without the numbers that change.

    Numbers of namespaces are soon reused: two containers may have had the same.
    """
    lines = [line.split()[2:] for line in _text("/proc/self/mountinfo").splitlines()]
    return [
        " ".join(line) for line in lines if line[2] == "/" or line[2].startswith(("/proc", "/sys"))
    ]


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip("\0\n ")
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""


def _c_part() -> list[str]:
    return sorted(map(str, Path(cell.__file__).parent.glob("_lockdown*.so")))


def _changed(path: str) -> str:
    try:
        return str(Path(path).stat().st_mtime_ns)
    except OSError:
        return ""


def _place() -> Path:
    """Return the file of remembered proofs. Raises RuntimeError for a user without a home."""
    return base_directory("XDG_CACHE_HOME", "~/.cache") / "proctor" / "isolation.json"


def _remembered() -> dict[str, str]:
    if not hasattr(os, "geteuid"):  # the owner of a file is not known
        return {}
    try:
        # In a home that is another user's, a pipe may stand there, or a link to what does not end.
        place = _place()
        data = plain_file.read(str(place), _LARGEST, own=True)
        written = place.lstat().st_mtime
        known = json.loads(data)
    except (InputError, OSError, ValueError, RuntimeError):
        return {}
    if not isinstance(known, dict):
        return {}
    # A failure may have been temporary (no process or memory left), and would lead to a weaker
    # level; that a level works is proved again by every cell.
    stale = not 0 <= time.time() - written < _FAILURES_HOLD
    return {
        key: value
        for key, value in known.items()
        if isinstance(value, str) and not (value and stale)
    }


def _remember(known: dict[str, str]) -> None:
    if not hasattr(os, "geteuid"):
        return
    with contextlib.suppress(OSError, RuntimeError):  # a speed-up only
        place = _place()
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # By its descriptor: root may be given the home of another user, who can plant links there.
        directory = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(directory).st_uid == os.geteuid():
                _write(directory, place.name, json.dumps(dict(list(known.items())[-_KEPT:])))
        finally:
            os.close(directory)


def _write(directory: int, name: str, text: str) -> None:
    """Put a file into a directory, whole or not at all."""
    fresh = f"{name}.{secrets.token_hex(8)}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
    try:
        with os.fdopen(fd, "w") as file:
            file.write(text)
        os.replace(fresh, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(fresh, dir_fd=directory)
        raise
