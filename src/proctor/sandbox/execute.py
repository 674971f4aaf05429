"""Running one program once in a cell."""

import math
import os

from proctor.cell.wire import Kind, Request
from proctor.execution import Execution
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox import memfile
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.meter import Meter

_ONE_PROCESS_A_TEST = (Kind.RUN, Kind.SERVE_FORK)
_NO_CPU_LIMIT = 1 << 30  # seconds: RLIMIT_CPU counts a process's whole life, not one test's part


def request(kind: Kind, cell: Cell, limits: Limits, function: str = "") -> Request:
    """Turn limits into a request; rlimits are backstops behind the host's clock."""
    return Request(
        kind,
        cpu=math.ceil(limits.cpu) + 2 if kind in _ONE_PROCESS_A_TEST else _NO_CPU_LIMIT,
        address_space=cell.address_space(limits),
        file_size=max(limits.output + 1, limits.disk),  # the one byte more proves an overrun
        processes=limits.processes + 4,
        stack=limits.stack,
        disk=limits.disk,
        function=function,
    )


def execute(cell: Cell, program: Program, stdin: bytes, limits: Limits) -> Execution:
    """Run a program in a cell; `queue` of the result is 0. Raises CellDied."""
    fds: list[int] = []
    try:
        fds += [memfile.sealed_reader(stdin), memfile.empty(), memfile.empty()]
        fds.append(memfile.sealed(program.encoded()))
        cell.set_limits(limits)
        meter = Meter(cell)
        cell.submit(request(Kind.RUN, cell, limits), fds)
        hit = meter.wait([cell.control.fileno()], ContestClock(limits), limits)
        result = cell.result() if hit is None else cell.end_job()
        stdout, stderr = (memfile.content(fd, limits.output + 1) for fd in fds[1:3])
    finally:
        for fd in fds:
            os.close(fd)
    cpu = meter.cpu(result.user + result.system)
    hit = hit or meter.limit_hit(limits, result.status, cpu, stdout, stderr)
    return Execution(
        exit_code=os.WEXITSTATUS(result.status) if os.WIFEXITED(result.status) else None,
        signal=os.WTERMSIG(result.status) if os.WIFSIGNALED(result.status) else None,
        stdout=stdout[: limits.output],
        stderr=stderr[: limits.output],
        cpu=cpu,
        wall=result.wall_ns / 1e9,
        memory=cell.peak(result.peak),
        queue=0.0,
        limit=hit,
        isolation=cell.isolation,
    )
