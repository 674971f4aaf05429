"""Control groups of version 1: one hierarchy per controller."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from proctor.sandbox.levels.launcher import CPU_WEIGHT
from proctor.sandbox.machine.cgroup.group import (
    Descriptors,
    field,
    gone,
    members,
    read,
    remove,
    write,
)

CONTROLLERS = ("memory", "pids", "cpuacct")
_TCP_MEMORY = 64 << 20
"""Bytes of TCP's buffers, which version 1 counts apart from memory: the machine has few for all."""


class V1Group(Descriptors):
    """Children of our own groups in the v1 hierarchies memory, pids, cpuacct and, if given, cpu."""

    kind = "cgroup v1"
    controls = frozenset({"memory", "pids", "cpu"})

    def __init__(self, homes: Mapping[str, Path]) -> None:
        super().__init__()
        self._homes = homes
        self._places = list(dict.fromkeys(homes.values()))  # cpu and cpuacct are often one
        self._limits = (sys.maxsize, 0)  # a new group has no memory limit
        try:
            for home in self._places:
                home.mkdir(mode=0o755)
            if "cpu" in homes:
                write(homes["cpu"] / "cpu.shares", str(1024 * CPU_WEIGHT // 100))
            tcp = homes["memory"] / "memory.kmem.tcp.limit_in_bytes"
            if tcp.exists():
                write(tcp, str(_TCP_MEMORY))
            self._cpu = self._keep(homes["cpuacct"] / "cpuacct.usage")
            self._usage = self._keep(homes["memory"] / "memory.usage_in_bytes")
            self._peak = self._keep(homes["memory"] / "memory.max_usage_in_bytes", os.O_RDWR)
            self._oom = self._keep(homes["memory"] / "memory.oom_control")
            self._processes = self._keep(homes["pids"] / "pids.current")
        except OSError:
            self.remove()
            raise

    def join_files(self) -> list[str]:
        return [str(home / "cgroup.procs") for home in self._places]

    def holds(self, pid: int) -> bool:
        return all(pid in members(home) for home in self._places)

    def limit(self, memory: int, processes: int) -> None:
        if (memory, processes) == self._limits:
            return
        home = self._homes["memory"]
        # memsw may never be below memory, so the order depends on the direction.
        names = ["memory.limit_in_bytes"]
        if (home / "memory.memsw.limit_in_bytes").exists():
            names.insert(0 if memory > self._limits[0] else 1, "memory.memsw.limit_in_bytes")
        for name in names:
            write(home / name, str(memory))
        write(self._homes["pids"] / "pids.max", str(processes))
        self._limits = (memory, processes)

    def cpu(self) -> float:
        return int(read(self._cpu)) / 1e9

    def memory(self) -> int:
        return int(read(self._usage))

    def reset_peak(self) -> None:
        try:
            os.pwrite(self._peak, b"0", 0)
        except OSError as error:
            gone(error)

    def peak(self) -> int:
        return int(read(self._peak))

    def most_seen(self) -> int:
        return 0  # the peak is always known

    def oom_kills(self) -> int:
        # With memory and memsw limits equal, failcnt stays 0 after a kill; oom_kill counts it.
        return field(read(self._oom), b"oom_kill")

    def check(self) -> None:
        if not int(read(self._processes)):
            gone()

    def pids(self) -> list[int]:
        try:
            return members(self._homes["pids"])
        except OSError as error:
            gone(error)

    def remove(self) -> None:
        self._close()
        for home in self._places:
            remove(home)
