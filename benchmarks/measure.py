"""Measured processes in control groups of their own, asked in turn, and what comes of it."""

import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

WORK = Path(__file__).parent / "work"
INTERPRETER = getattr(sys, "_base_executable", sys.executable)
"""The interpreter that cells run under too: yardsticks without a virtual environment's site."""


_serial = itertools.count()


class Group:
    """A control group around one measured process and all that it starts, cells included."""

    def __init__(self) -> None:
        """Raise OSError where the host lets us have none."""
        name, homes = f"proctor-bench-{os.getpid()}-{next(_serial)}", _homes()
        self._directories: list[Path] = []
        self._memory: Path | None = None
        self._peak: Path | None = None
        if "cpuacct" in homes:
            self._cpu, self._v1 = homes["cpuacct"] / name / "cpuacct.usage", True
            wanted = [homes[kind] for kind in ("cpuacct", "memory") if kind in homes]
            if "memory" in homes:
                self._memory = homes["memory"] / name / "memory.usage_in_bytes"
                self._peak = homes["memory"] / name / "memory.max_usage_in_bytes"
        elif "" in homes:
            self._cpu, self._v1 = homes[""] / name / "cpu.stat", False
            wanted = [homes[""]]
            self._memory = homes[""] / name / "memory.current"
        else:
            raise OSError("no control groups")
        for home in wanted:
            (home / name).mkdir()
            self._directories.append(home / name)
        if self._memory is not None and not self._memory.exists():  # v2 without this controller
            self._memory = None

    def join(self) -> None:
        """Put the calling process into the group."""
        for directory in self._directories:
            (directory / "cgroup.procs").write_text("0")

    def cpu(self) -> float:
        text = self._cpu.read_text()
        return int(text) / 1e9 if self._v1 else int(text.split()[1]) / 1e6

    def reset_peak(self) -> None:
        if self._peak is not None:
            self._peak.write_text("0")

    def memory(self) -> int:
        """Bytes in use, of the whole tree; 0 if unknown."""
        return int(self._memory.read_text()) if self._memory is not None else 0

    def peak(self) -> int:
        """Most bytes in use at once since the last reset, of the whole tree; 0 if unknown."""
        return int(self._peak.read_text()) if self._peak is not None else 0

    def remove(self) -> None:
        for directory in self._directories:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    for child in [*directory.glob("*/"), directory]:
                        child.rmdir()
                    break
                time.sleep(0.02)


def processes(pid: int) -> list[int]:
    """Return the process and all its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found = [pid]
    for process in found:
        found += sorted(children.get(process, ()))
    return found


def _homes() -> dict[str, Path]:
    """Our own control group's directory per v1 controller, and under "" that of v2."""
    paths: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    homes: dict[str, Path] = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _source, options = after.split(" ", 2)
        names = {"cgroup": options.split(","), "cgroup2": [""]}.get(kind, [])
        for name in names:
            if name in paths:
                homes[name] = Path(point) / os.path.relpath(paths[name], root)
    return homes


@dataclass
class Answer:
    """What one request cost."""

    walls: list[float]
    """Seconds per job, one figure per call."""
    cpu: float
    """CPU seconds of the whole process tree, all calls together."""
    result: Any


class Worker:
    """One measured process, which does jobs on request."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.group: Group | None = None
        with contextlib.suppress(OSError):
            self.group = Group()
        # Before the exec, so that cells make their own groups inside this one.
        join = self.group.join if self.group is not None else None
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            cwd=WORK, preexec_fn=join,  # noqa: PLW1509 - there are no threads
        )  # fmt: skip
        if self._read() != "ready":
            self.close()
            raise RuntimeError(f"{' '.join(argv)} did not come up")

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self, calls: int, **argument: Any) -> Answer:
        assert self._process.stdin is not None
        before = self.group.cpu() if self.group is not None else 0.0
        print(json.dumps({"calls": calls, **argument}), file=self._process.stdin, flush=True)
        line = self._read()
        if not line:
            raise RuntimeError("a measured process ended; its complaint is above")
        answer = json.loads(line)
        # Without a group, what the process waited for must do: nothing of a live cell.
        cpu = self.group.cpu() - before if self.group is not None else answer["cpu"]
        return Answer(answer["walls"], cpu, answer["result"])

    def close(self) -> None:
        self._process.communicate()  # it ends with its input
        if self.group is not None:
            self.group.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass
class Variant:
    """One contestant and its figures so far."""

    name: str
    worker: Worker
    jobs_a_call: int = 1
    calls: int = 1
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    """CPU seconds per job, one figure per round."""

    def calibrate(self, seconds: float, least: int) -> None:
        """Warm up, and choose how many calls fill a round's slice."""
        self.worker.ask(2)
        wall = statistics.median(self.worker.ask(3).walls) * self.jobs_a_call
        self.calls = max(least, min(int(seconds / wall), 2000))

    def round(self) -> None:
        answer = self.worker.ask(self.calls)
        self.walls += answer.walls
        self.cpus.append(answer.cpu / (self.calls * self.jobs_a_call))

    def figures(self, *yardsticks: "Variant") -> dict[str, Any]:
        """Return what it cost, and the ratio of CPU to each yardstick's, round by round."""
        cpu = statistics.median(self.cpus)
        return {
            "name": self.name,
            "p50_ms": quantile(self.walls, 0.5) * 1e3,
            # Of calls that do many jobs only the mean is known, so no percentile of one job.
            "p99_ms": quantile(self.walls, 0.99) * 1e3 if self.jobs_a_call == 1 else None,
            "cpu_ms": cpu * 1e3,
            "per_core": 1 / cpu,
            "ratios": [
                spread(
                    [mine / theirs for mine, theirs in zip(self.cpus, yardstick.cpus, strict=True)]
                )
                for yardstick in yardsticks
            ],
            "jobs": len(self.walls) * self.jobs_a_call,
        }


def interleave(variants: Sequence[Variant], rounds: int) -> None:
    """Round-robin, back and forth, so that what else the machine does hits all alike."""
    for number in range(rounds):
        for variant in variants if number % 2 == 0 else variants[::-1]:
            variant.round()


def spread(values: Sequence[float]) -> list[float]:
    """Return the tenth, the median and the ninetieth percentile: of few values least and most."""
    return [quantile(values, 0.1), statistics.median(values), quantile(values, 0.9)]


def quantile(values: Sequence[float], q: float) -> float:
    return sorted(values)[min(int(q * len(values)), len(values) - 1)]


def data_directory() -> Path | None:
    """The data sets of others (see the project's tests), here or beside the checkout, if at all."""
    path = Path(os.environ.get("PROCTOR_TEST_DATA") or WORK.parents[2] / "shared/data")
    return path if path.is_dir() else None
