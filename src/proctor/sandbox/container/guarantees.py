"""Guarantees of a container: the engine's walls, as seen from inside, and those of its cell."""

from proctor.execution import Guarantee, Isolation, Strength
from proctor.sandbox.container import crossing
from proctor.sandbox.container.frames import Fields

LEVEL = "container"
GVISOR = "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"
"""The name that gVisor's kernel gives itself (pkg/sentry/syscalls/linux/linux64.go)."""


def isolation(hello: Fields) -> Isolation:
    """Return the guarantees of a container by its hello. Raises BadFrame."""
    inner = crossing.guarantees_from_json(hello.object("guarantees"))
    level = hello.text("level")
    layers = "" if level in {"filter", "none"} else f", level {level} inside"
    return Isolation(
        LEVEL,
        {
            "filesystem": Guarantee(
                Strength.FULL, f"container: the image alone, read-only{_same(inner, 'filesystem')}"
            ),
            "network": _network(hello, inner["network"]),
            "processes": _processes(inner["processes"], layers),
            "signals": _signals(inner["signals"], layers),
            "memory": _memory(hello),
            "cpu": _cpu(hello, inner["cpu"]),
            "output": inner["output"],
            "kernel": _kernel(hello, inner["kernel"]),
        },
    )


def _same(inner: dict[str, Guarantee], name: str) -> str:
    held = inner[name]
    return "" if held.strength is Strength.NONE else f"; inside: {held.how}"


def _network(hello: Fields, inner: Guarantee) -> Guarantee:
    if hello.flag("interfaces"):
        return Guarantee(
            Strength.NONE, "the container has network interfaces that were not asked for"
        )
    within = "" if inner.strength is Strength.NONE else f"; inside: {inner.how}"
    return Guarantee(Strength.FULL, f"container without a network{within}")


def _processes(inner: Guarantee, layers: str) -> Guarantee:
    how = f"PID namespace of the container, pids limit{layers}"
    if inner.strength is Strength.FULL:
        return Guarantee(Strength.FULL, how)
    return Guarantee(
        Strength.PARTIAL, how, "the cell's own processes, and no others, are visible to programs"
    )


def _signals(inner: Guarantee, layers: str) -> Guarantee:
    how = f"PID namespace of the container{layers}"
    if inner.strength is Strength.FULL:
        return Guarantee(Strength.FULL, how)
    return Guarantee(
        Strength.PARTIAL,
        how,
        "a program can end its own cell, which is an infrastructure fault",
    )


def _cpu(hello: Fields, inner: Guarantee) -> Guarantee:
    if hello.text("kernel").startswith(GVISOR):
        gap = "gVisor counts as CPU time what a process waits for a CPU on a busy machine"
        return Guarantee(Strength.PARTIAL, inner.how, gap)
    return inner


def _memory(hello: Fields) -> Guarantee:
    if not hello.flag("memory_seen"):
        return Guarantee(
            Strength.PARTIAL,
            "the engine's limit, sampling of the process tree, RLIMIT_AS",
            "whether the runtime enforces the engine's limit cannot be seen from inside",
        )
    return Guarantee(
        Strength.PARTIAL,
        "the container's control group, sampled; the engine's limit above it",
        "what is used between two samples (0.005 to 0.03 s), up to the engine's limit",
    )


def _kernel(hello: Fields, inner: Guarantee) -> Guarantee:
    if hello.text("kernel").startswith(GVISOR):
        return Guarantee(Strength.FULL, "gVisor: programs reach a kernel of its own")
    if inner.strength is Strength.FULL:
        return Guarantee(Strength.FULL, f"{inner.how}; no capabilities")
    if hello.flag("filter"):
        return Guarantee(
            Strength.PARTIAL,
            "the engine's seccomp profile; no capabilities",
            "system calls that this profile permits and proctor's own filter would not",
        )
    return Guarantee(Strength.PARTIAL, "no capabilities", "no seccomp filter is in force")
