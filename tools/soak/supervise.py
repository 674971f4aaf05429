"""The supervisor: workers and what keeps the CPUs busy, shift after shift, then the last census."""

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from unittest import mock

import census
from shift import Order, Tally

from proctor.sandbox.machine import cgroup, scratch, users
from proctor.sandbox.pool import available_cpus

OVERSUBSCRIPTION = 10
"""Jobs and burners per CPU in a storm."""
_HERE = Path(__file__).parent
_BURN = "while True: pass"
_LOST = "the worker ended in the middle of its shift"
_ROLES = {
    "first": (),
    "many descriptors": ("--many-descriptors",),
    "other": (),
    "full disk": ("--full-disk",),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """A kind of shift."""

    name: str
    harm: bool = False
    storm: bool = False
    """More jobs and burners than there are CPUs, in several processes."""
    full_disk: bool = False
    kill_host: bool = False
    """Whether one of the other workers is killed in the middle."""


CYCLE = (
    Kind("faults", harm=True),
    Kind("storm", storm=True),
    Kind("storm and faults", harm=True, storm=True, kill_host=True),
    Kind("full disk", harm=True, full_disk=True),
)


@dataclasses.dataclass(slots=True)
class Done:
    """What became of one worker's shift."""

    level: str
    kind: str
    worker: str
    tally: Tally


class Worker:
    """A worker process, its directory for temporary files, and what it is asked to do."""

    def __init__(self, *arguments: str) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="proctor-soak-"))
        places = dict.fromkeys(("TMPDIR", "HOME", "XDG_CACHE_HOME"), str(self.directory))
        self.process = subprocess.Popen(
            [sys.executable, str(_HERE / "worker.py"), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | places,
        )  # fmt: skip

    def order(self, order: Order) -> None:
        """Begin a shift."""
        assert self.process.stdin is not None
        print(json.dumps(dataclasses.asdict(order)), file=self.process.stdin, flush=True)

    def tally(self) -> Tally | None:
        """Wait for its end; None if the worker is gone."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return Tally(**json.loads(line)) if line else None

    def close(self) -> list[str]:
        """End the worker; return what it left in its directory."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        with mock.patch.object(tempfile, "tempdir", str(self.directory)):
            scratch.sweep()  # as the next pool would, if the worker was killed
        known = {self.directory / "proctor", self.directory / "proctor" / "isolation.json"}
        left = [f"file {path}" for path in self.directory.rglob("*") if path not in known]
        shutil.rmtree(self.directory)
        return left


class Soak:
    """Works shifts at one level until the time is up."""

    def __init__(self, level: str, seed: int) -> None:
        self.done: list[Done] = []
        self.left: list[str] = []
        self._level, self._seed = level, seed
        self._cpus = available_cpus()
        self._shifts = 0
        self._workers: dict[str, Worker] = {}
        self._pids: list[int] = []

    def work(self, seconds: float, tell: Callable[[Done], None]) -> None:
        """Work for about that long, every kind of shift at least once."""
        until = time.monotonic() + seconds
        each = min(max(seconds / (3 * len(CYCLE)), 1.0), 15.0)
        try:
            while True:
                for kind in CYCLE:
                    if kind.full_disk and not users.has_capability(users.CAP_SYS_ADMIN):
                        continue
                    self._shift(kind, each, tell)
                if time.monotonic() >= until:
                    break
        finally:
            for role in list(self._workers):
                self._retire(role)
        census.wake()
        self.left += census.leftovers((), ())
        cgroup.sweep()  # as the next pool would: a host that is killed leaves empty groups
        for pid in self._pids:
            self.left += [f"control group {path}" for path in census.groups_of(pid)]

    def _worker(self, role: str) -> Worker:
        """Return the worker of that name; all but the first lack something."""
        if role not in self._workers:
            self._workers[role] = worker = Worker(*_ROLES[role])
            self._pids.append(worker.process.pid)
        return self._workers[role]

    def _retire(self, role: str) -> None:
        self.left += self._workers.pop(role).close()

    def _shift(self, kind: Kind, seconds: float, tell: Callable[[Done], None]) -> None:
        self._shifts += 1
        seed = f"{self._seed}/{self._level}/{self._shifts}"
        jobs, cells = self._cpus + 1, self._cpus + 1
        roles = ["full disk"] if kind.full_disk else ["first"]
        if kind.storm:
            roles += ["many descriptors", "other"]
            jobs = OVERSUBSCRIPTION * self._cpus
            cells = max(jobs * 2 // 3 // len(roles), 1)
        workers = {role: self._worker(role) for role in roles}
        with _burners(jobs - len(roles) * cells):
            for role, worker in workers.items():
                worker.order(Order(self._level, f"{seed}/{role}", seconds, cells, kind.harm))
            if kind.kill_host:
                time.sleep(Random(seed).uniform(0.5, 1.0) * seconds)
                workers["other"].process.kill()
            for role, worker in workers.items():
                tally = worker.tally()
                if tally is None:
                    self._retire(role)
                    killed = kind.kill_host and role == "other"
                    tally = Tally(faults={"host killed": 1}) if killed else Tally(broken=[_LOST])
                self.done.append(Done(self._level, kind.name, role, tally))
                tell(self.done[-1])


@contextlib.contextmanager
def _burners(number: int) -> Iterator[None]:
    """Keep that many processes computing, each in a session of its own as a stranger's would be."""
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            burner = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BURN], start_new_session=True
            )
            stack.enter_context(burner)
            stack.callback(burner.send_signal, signal.SIGKILL)
        yield
