"""Running one program once in a cell."""

import math
import os

from proctor.cell.wire import Kind, Request, Result
from proctor.errors import NoIsolation
from proctor.execution import Execution, LimitHit
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.agent_cell import AgentCell
from proctor.sandbox.clock import Clock, ContestClock
from proctor.sandbox.command import Command, Finished, Streams, harvested
from proctor.sandbox.machine import memfile
from proctor.sandbox.meter import Meter

_ONE_PROCESS_A_TEST = (Kind.RUN, Kind.SERVE_FORK, Kind.COMMAND, Kind.EXECUTE)
_JUDGED = (Kind.SERVE_FORK, Kind.SERVE_SHARED, Kind.SERVE_OFFICIAL)
_NO_CPU_LIMIT = 1 << 30  # seconds: RLIMIT_CPU counts a process's whole life, not one test's part


def request(
    kind: Kind, cell: AgentCell, limits: Limits, function: str = "", *, judged: bool = False
) -> Request:
    """Turn limits into a request; rlimits are backstops behind the host's clock.

    What takes tests is judged in any case.
    """
    return Request(
        kind,
        cpu=math.ceil(limits.cpu) + 2 if kind in _ONE_PROCESS_A_TEST else _NO_CPU_LIMIT,
        address_space=cell.address_space(limits),
        file_size=max(limits.output + 1, limits.disk),  # the one byte more proves an overrun
        processes=cell.process_limit(limits),
        stack=limits.stack,
        disk=cell.disk_to_mount(limits),
        function=function,
        judged=judged or kind in _JUDGED,
    )


def execute(cell: AgentCell, program: Program, stdin: bytes, limits: Limits) -> Execution:
    """Run a program in a cell; `queue` of the result is 0. Raises CellDied."""
    fds: list[int] = []
    try:
        fds.append(memfile.sealed_reader(stdin))  # one by one: any of them may be one too many
        fds.append(memfile.empty())
        fds.append(memfile.empty())
        fds.append(memfile.sealed(program.encoded()))
        cell.set_limits(limits)
        meter = Meter(cell)
        cell.submit(request(Kind.RUN, cell, limits), fds)
        hit = meter.wait([cell.control.fileno()], ContestClock(limits), limits)
        result = cell.result() if hit is None else cell.end_job()
        return facts(cell, meter, limits, result, hit, fds[1], fds[2])
    finally:
        for fd in fds:
            os.close(fd)


def execute_command(
    cell: AgentCell, command: Command, streams: Streams, limits: Limits, clock: Clock
) -> Finished:
    """Execute a program in a cell. Raises CellDied, and NoIsolation where it cannot be done."""
    own: list[int] = []
    try:
        if cell.single_use:
            raise NoIsolation("without proctor's C part cells can run nothing but Python")
        stdout = streams.stdout
        if isinstance(streams.stdin, bytes):
            own.append(stdin := memfile.sealed_reader(streams.stdin))
        else:
            stdin = streams.stdin
        if stdout is None:
            own.append(stdout := memfile.empty())
        own.append(stderr := memfile.empty())
        words = command.words(limits)
        own.append(what := memfile.sealed_reader(words or command.bundle()))
        fds = [stdin, stdout, stderr, what]
        if command.executable is not None:
            own.append(program := memfile.sealed_reader(command.executable))
            fds.append(program)
        harvest = -1
        if command.collect:
            own.append(harvest := memfile.empty())
            fds.append(harvest)
        cell.set_limits(limits)
        meter = Meter(cell)
        kind = Kind.COMMAND if words is None else Kind.EXECUTE
        job = request(kind, cell, limits, judged=command.judged)
        cell.submit(job, [*fds, *streams.inherit])
        if not streams.keep:
            streams.close()
            streams = Streams()
        hit = meter.wait([cell.control.fileno()], clock, limits)
        result = cell.result() if hit is None else cell.end_job()
        hung_up = streams.hung_up()
        captured = stdout if stdout in own else None
        execution = facts(cell, meter, limits, result, hit, captured, stderr)
        files = harvested(memfile.content(harvest, command.most + MIB)) if harvest >= 0 else {}
        return Finished(execution, files, hung_up)
    finally:
        streams.close()
        for fd in own:
            os.close(fd)


def facts(
    cell: AgentCell,
    meter: Meter,
    limits: Limits,
    result: Result,
    hit: LimitHit | None,
    stdout_fd: int | None,
    stderr_fd: int | None,
) -> Execution:
    """Put together what is known of a job that has ended; its output may have gone elsewhere."""
    stdout = b"" if stdout_fd is None else memfile.content(stdout_fd, limits.output + 1)
    stderr = b"" if stderr_fd is None else memfile.content(stderr_fd, limits.output + 1)
    cpu = meter.cpu(result.user + result.system)
    hit = hit or meter.limit_hit(limits, result.status, cpu, stdout, stderr)
    wall = result.wall_ns / 1e9
    if hit is LimitHit.WALL and limits.wall is not None:
        # The limit counts from when the program was asked for: on a busy machine, before it began.
        wall = max(wall, limits.wall)
    return Execution(
        exit_code=os.WEXITSTATUS(result.status) if os.WIFEXITED(result.status) else None,
        signal=os.WTERMSIG(result.status) if os.WIFSIGNALED(result.status) else None,
        stdout=stdout[: limits.output],
        stderr=stderr[: limits.output],
        cpu=cpu,
        wall=wall,
        memory=cell.peak(result.peak),
        queue=0.0,
        limit=hit,
        isolation=cell.isolation,
    )
