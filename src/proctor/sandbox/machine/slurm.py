"""Jobs of a Slurm cluster, as its command squeue lists them."""

import shutil
import subprocess

from proctor.errors import InfraFault, PlatformError

PATIENCE = 30.0
"""Seconds that squeue may take: its controller may be busy, or away."""


def running_jobs() -> list[tuple[str, str]]:
    """Return the name and the nodes of each running job, of all users.

    Nodes are as Slurm writes them, node7 or node[1-3]. Raises PlatformError where there is no
    squeue, InfraFault if it does not answer.
    """
    squeue = shutil.which("squeue")
    if squeue is None:
        raise PlatformError("squeue is not on PATH: Slurm can be asked only where its commands are")
    try:
        done = subprocess.run(
            [squeue, "--noheader", "--states=RUNNING", "--format=%j %N %T"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=PATIENCE, check=False,
        )  # fmt: skip
    except OSError as error:
        raise PlatformError(f"{squeue} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise InfraFault(f"squeue has not answered for {PATIENCE:.0f} s") from error
    if done.returncode != 0:
        raise InfraFault(f"squeue failed, exit code {done.returncode}: {done.stderr.strip():.500}")
    jobs = []
    for line in done.stdout.splitlines():
        words = line.rsplit(maxsplit=2)  # names may have blanks
        if len(words) == 3:
            jobs.append((words[0], words[1]))
    return jobs
