"""Sending a signal to the program that a cell runs, and to no other process."""

import os
import signal

from proctor.errors import CellDied, InfraFault
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.machine import procfs


def signal_program(cell: AgentProcess, number: int) -> bool:
    """Send a signal to the job's first process; False if it has not started, or has ended.

    To be called before the job's result is received. Raises InfraFault if it may not be sent one.
    """
    try:
        pid = _program(cell.job_pids())
        if pid is None:
            return False
        process = os.pidfd_open(pid)
    except (CellDied, OSError):
        return False
    try:
        # Only if `pid` is still a process of the job: numbers are reused.
        if pid not in cell.job_pids():
            return False
        signal.pidfd_send_signal(process, number)
    except (CellDied, ProcessLookupError):
        return False
    except OSError as error:
        raise InfraFault(f"the program cannot be sent a signal: {error}") from error
    finally:
        os.close(process)
    return True


def catches(cell: AgentProcess, number: int) -> bool:
    """Return whether the job's first process has a handler for a signal. Raises nothing."""
    try:
        pid = _program(cell.job_pids())
    except CellDied:
        return False
    return pid is not None and procfs.catches(pid, number)


def _program(pids: list[int]) -> int | None:
    """Return the process that was executed: a child of the agent, which is not one of `pids`.

    Where the job has PID numbers of its own, number 1 is proctor's, and only reaps.
    """
    known = set(pids)
    first = [pid for pid in pids if procfs.parent(pid) not in known]
    return next((pid for pid in sorted(first) if procfs.own_number(pid) != 1), None)
