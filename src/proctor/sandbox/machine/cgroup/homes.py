"""Where groups may be made: our own group where that can be had, or one above it.

On v2 a group that has processes cannot pass controllers down (cgroup-v2.rst, "No Internal Process
Constraint"), and our own group has at least one: us. So where the group is ours to arrange, all
that is in it moves to a leaf beside the cells, and back when the last proctor leaves.
"""

import atexit
import contextlib
import errno
import logging
import os
import re
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from proctor.errors import InputError
from proctor.private_files import HeldByAnother, holders, open_alone, private_directory
from proctor.sandbox.machine import procfs
from proctor.sandbox.machine.cgroup.group import ENFORCED, PREFIX, members, write

_logger = logging.getLogger(__name__)
LEAF = PREFIX + "leaf"
"""Name of the child to which a group's own processes move; one for all proctors in the group."""
MANAGER_PATIENCE = 10.0
"""Time that the user's systemd has for an answer, in seconds; after that it is not asked again."""
_PASSED = ENFORCED | {"cpu"}
"""Controllers that are passed down where they can be."""
_ROUNDS = 20  # rounds of moving processes, which may fork meanwhile
_LOCK_WAIT = 5.0  # seconds; others hold the lock for a few system calls
_leaves: set[tuple[int, Path]] = set()
"""(our pid, home) of leaves that we made or live in."""


def own_groups() -> dict[str, Path]:
    """Our own group's directory per v1 controller, and under "" that of v2."""
    paths: dict[str, str] = {}
    try:
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            paths.update(dict.fromkeys(controllers.split(","), path))
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except (FileNotFoundError, PermissionError):
        return {}
    homes: dict[str, Path] = {}
    for line in mounts:
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _source, options = after.split(" ", 2)
        names = {"cgroup": options.split(","), "cgroup2": [""]}.get(kind, [])
        for name in names:
            if name in paths:
                inside = os.path.relpath(paths[name], root) if root != "/" else paths[name][1:]
                homes[name] = Path(point) / inside
    return homes


def lineage(group: Path) -> list[Path]:
    """A group and those above it, up to the root of its hierarchy or of our namespace."""
    found = [group]
    while (found[-1].parent / "cgroup.procs").exists():
        found.append(found[-1].parent)
    return found


def candidates(own: Path) -> list[Path]:
    """Groups in which we may make others, nearest first: our own and those above it."""
    if own.name == LEAF:
        own = own.parent
    # To join a child, we must be allowed to write to the group that it and our own have in common.
    return [group for group in lineage(own) if _writable(group) and _given(group)]


def ready(home: Path, own: Path) -> bool:
    """Make `home` pass its controllers down; return whether it now passes all of ENFORCED.

    To be called with `home` locked. Only our own group is changed: one above it is used unchanged
    or not at all.
    """
    if home in (own, own.parent if own.name == LEAF else own):
        _arrange(home)
    return passed_down(home) >= ENFORCED


def passed_down(home: Path) -> frozenset[str]:
    """Return the controllers, of those that cells use, that `home` passes down to its children."""
    try:
        return _PASSED.intersection((home / "cgroup.subtree_control").read_text().split())
    except OSError:
        return frozenset()


def _arrange(home: Path) -> None:
    """Enable controllers in our own group, moving its processes to the leaf if necessary."""
    missing = _PASSED.intersection((home / "cgroup.controllers").read_text().split())
    missing -= passed_down(home)
    is_root = not (home / "cgroup.type").exists()
    if (home / LEAF).is_dir():
        _leaves.add((os.getpid(), home))
    if not missing:
        return
    if not is_root and members(home):
        # Even "+pids" alone, which the kernel would take, must wait: it makes children threaded.
        if not _delegated(home):
            return
        with contextlib.suppress(FileExistsError):
            (home / LEAF).mkdir(mode=0o755)
        _leaves.add((os.getpid(), home))
        try:
            _move(home, home / LEAF)
        except OSError:
            dissolve(home)
            return
    for name in sorted(missing):
        with contextlib.suppress(OSError):
            write(home / "cgroup.subtree_control", f"+{name}")


def dissolve(home: Path) -> None:
    """Undo `_arrange`, unless `home` still has groups. To be called with `home` locked."""
    bury(home)
    if [group.name for group in home.iterdir() if group.is_dir()] != [LEAF]:
        return
    for name in sorted(passed_down(home)):
        write(home / "cgroup.subtree_control", f"-{name}")
    _move(home / LEAF, home)
    (home / LEAF).rmdir()


def bury(home: Path) -> None:
    """Delete groups in `home` whose proctor is gone; one with a process still in it stays.

    Those of other PID namespaces stay, too: who is alive there cannot be seen from here, and no
    process is in a group while its cell starts.
    """
    for group in home.glob(f"{PREFIX}*-*-{procfs.pid_namespace()}-*"):
        pid, started = group.name.removeprefix(PREFIX).split("-")[:2]
        if pid.isdigit() and str(procfs.start_time(int(pid))) != started:
            with contextlib.suppress(OSError):
                group.rmdir()


def _move(source: Path, target: Path) -> None:
    """Move all processes of one group to another, none if one of them is not ours.

    Ours are those of our user. The leaf has no limit and stays below every limit there was, so
    nothing changes for them but the name of their group.
    """
    for _ in range(_ROUNDS):
        pids = members(source)
        if not pids:
            return
        if not all(_is_ours(pid) for pid in pids):
            raise PermissionError(errno.EPERM, "processes of others are in the group", str(source))
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                write(target / "cgroup.procs", str(pid))
    raise OSError(errno.EBUSY, "processes keep coming", str(source))


def _is_ours(pid: int) -> bool:
    """Return whether a process runs as our user; number 0 is one in a namespace above ours."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return pid != 0  # it has just ended
    owner = re.search(r"^Uid:\t\d+\t(\d+)", status, re.MULTILINE)
    return owner is not None and int(owner[1]) == os.geteuid()


def _writable(group: Path) -> bool:
    needed = (group, group / "cgroup.procs", group / "cgroup.subtree_control")
    return all(os.access(path, os.W_OK, effective_ids=True) for path in needed)


def _given(group: Path) -> bool:
    """Return whether groups may be made here without interfering with a user's systemd.

    A user may write to all groups of his systemd manager, but the manager may change those that it
    did not delegate. Root need not ask: container engines make groups beside systemd's too.
    """
    below_manager = any(name.startswith("user@") for name in group.parts)
    return os.geteuid() == 0 or not below_manager or _delegated(group)


def _delegated(home: Path) -> bool:
    """Return whether the group was delegated to us, processes included."""
    above = lineage(home)
    below_manager = any(name.startswith("user@") for name in home.parts)
    for group in above:
        if group.name.startswith("user@"):
            return False  # marked too, but given to the user's systemd and not to us
        for name in ("user.delegate", "trusted.delegate"):  # systemd's mark
            with contextlib.suppress(OSError):
                if os.getxattr(group, name) == b"1":
                    return True
        if below_manager and group.suffix in (".scope", ".service"):
            return _delegated_by_manager(group.name)
    # Else root is given only the root of a container's namespace (on the host there are groups
    # above to use instead), and an ordinary user any directory that somebody made his.
    return len(above) == 1 if os.geteuid() == 0 else True


@cache
def _delegated_by_manager(unit: str) -> bool:
    """Ask the user's systemd, which leaves no mark where it is older than 254 or so."""
    place = f"/run/user/{os.geteuid()}"
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ["/usr/bin/systemctl", "--user", "show", "--property=Delegate", "--value", unit],
            env={"XDG_RUNTIME_DIR": place}, timeout=MANAGER_PATIENCE,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        return done.stdout == b"yes\n"
    return False


@contextlib.contextmanager
def locked(home: Path) -> Iterator[None]:
    """Keep other proctors from arranging `home` at the same time.

    Raises OSError; if the lock cannot be had, with a warning, since cells then have no group.
    """
    import fcntl  # missing on Windows, where this module is loaded but this is never called

    fd = _opened_lock(home)
    try:
        deadline = time.monotonic() + _LOCK_WAIT
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    held = holders(os.fstat(fd).st_ino)
                    _logger.warning(
                        "the control group %s is locked by %s: cells go without it",
                        home, HeldByAnother(held, usurped=False),
                    )  # fmt: skip
                    raise
                time.sleep(0.01)
        yield
    finally:
        os.close(fd)


def _opened_lock(home: Path) -> int:
    """Open what stands for a group's lock: if possible, what its owner alone can open.

    Anybody who can open a file can lock it, and any user can open a group's directory. Not all
    groups have the file by which a group is killed: root's and those of old kernels do not.
    """
    with contextlib.suppress(OSError):
        kill = home / "cgroup.kill"
        about = kill.stat()
        if about.st_uid == os.geteuid() and not about.st_mode & 0o077:
            return os.open(kill, os.O_WRONLY | os.O_CLOEXEC)
    with contextlib.suppress(InputError, OSError, RuntimeError):
        about = home.stat()
        place = private_directory() / f"cgroup-{about.st_dev}-{about.st_ino}.lock"
        return open_alone(place)
    return os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


@atexit.register  # at import, hence before any pool's: at exit it runs after their cells are gone
def _leave() -> None:
    for pid, home in _leaves:
        if pid == os.getpid():
            with contextlib.suppress(OSError), locked(home):
                dissolve(home)
