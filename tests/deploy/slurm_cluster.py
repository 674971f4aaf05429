"""A Slurm cluster on this machine: one controller, two nodes of four CPUs, two partitions.

What runs in `low` is preempted for `high`, told so as `--signal` says, and queued again.
"""

import contextlib
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from waiting import PATIENCE, until

NODES = ("n0", "n1")

_SETTINGS = """\
ClusterName=proctor
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool-%n
SlurmctldPidFile={place}/controller.pid
SlurmdPidFile={place}/%n.pid
SlurmctldLogFile={place}/controller.log
SlurmdLogFile={place}/%n.log
SlurmctldParameters=preempt_send_user_signal
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
ReturnToService=2
MpiDefault=none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName={nodes[0]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=64000
NodeName={nodes[1]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 RealMemory=64000
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 GraceTime={patience}
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF
"""


@dataclass(frozen=True)
class Cluster:
    environment: dict[str, str]

    def call(self, *command: str, cwd: Path | None = None) -> str:
        """Run a command to its end, and return what it writes."""
        done = subprocess.run(
            command, env=self.environment, cwd=cwd, capture_output=True, text=True,
            timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout.strip()

    def states(self, job: str) -> dict[str, str]:
        """Return the states of a job, or of an array's tasks, that are known still, by their ids."""
        command = ("squeue", "--noheader", "--array", "--format=%i %T", "--states=all")
        lines = self.call(*command).splitlines()
        return dict(line.split() for line in lines if re.split("[_ ]", line)[0] == job)

    def wait_for_end(self, job: str) -> None:
        until(lambda: not set(self.states(job).values()) & {"PENDING", "RUNNING", "COMPLETING"})

    def end_all(self) -> None:
        if jobs := _said(self.environment, "squeue", "--noheader", "--format=%A"):
            self.call("scancel", *jobs)
        until(lambda: not _said(self.environment, "squeue", "--noheader", "--format=%A"))


@contextlib.contextmanager
def running(place: Path) -> Iterator[Cluster]:
    """Start the cluster in an empty directory; end it and what runs in it."""
    (place / "state").mkdir()
    settings = place / "slurm.conf"
    host = socket.gethostname().partition(".")[0]
    settings.write_text(
        _SETTINGS.format(
            host=host, ports=_free_ports(3), place=place, nodes=NODES, patience=round(PATIENCE)
        )
    )
    environment = {**os.environ, "SLURM_CONF": str(settings)}
    cluster = Cluster(environment)
    commands = [["slurmctld", "-D"], *(["slurmd", "-D", "-N", node] for node in NODES)]
    with contextlib.ExitStack() as stack:
        for command in commands:
            stack.enter_context(_daemon(command, environment, place / "out"))
        ready = ("sinfo", "--noheader", "--Node", "--partition=low", "--format=%T")
        # It is not up at once, and the nodes have to be heard of.
        until(lambda: _said(environment, *ready) == ["idle"] * len(NODES))
        try:
            yield cluster
        finally:
            cluster.end_all()


@contextlib.contextmanager
def _daemon(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    # It ends with us, however we end.
    guarded = ["setpriv", "--pdeathsig", "TERM", *command]
    with log.open("a") as written:
        daemon = subprocess.Popen(
            guarded, env=environment, stdin=subprocess.DEVNULL, stdout=written, stderr=written,
        )  # fmt: skip
    try:
        yield
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE)


def _said(environment: dict[str, str], *command: str) -> list[str]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout.split()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
