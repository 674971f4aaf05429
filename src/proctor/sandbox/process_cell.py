"""A cell of the processes of this machine, in a box that is started here."""

import os
from collections.abc import Callable
from functools import partial

from proctor.cell.wire import Kind
from proctor.errors import NoIsolation
from proctor.execution import Execution
from proctor.limits import MIB, Limits
from proctor.program import ON_COMMAND_LINE, Program
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.clock import Clock, ContestClock
from proctor.sandbox.command import Command, Finished, Script, Streams, harvested
from proctor.sandbox.directory_job import DirectoryJob, DirectoryResult, JobListener
from proctor.sandbox.directory_run import run_in_directory
from proctor.sandbox.machine import memfile
from proctor.sandbox.meter import Meter
from proctor.sandbox.output import Tail
from proctor.sandbox.pipe_ends import PipeEnds
from proctor.sandbox.serving import AgentServing
from proctor.sandbox.stop import Stop


class ProcessCell(AgentProcess):
    """A warm sandbox on this machine that runs one job at a time; see the Cell protocol."""

    def run(self, program: Program, stdin: bytes, limits: Limits) -> Execution:
        """Run a program once; `queue` of the result is 0. Raises CellDied."""
        fds: list[int] = []
        try:
            fds.append(memfile.sealed_reader(stdin))  # one by one: opening any of them may fail
            fds.append(memfile.empty())
            fds.append(memfile.empty())
            fds.append(memfile.sealed(source := program.encoded()))
            self.set_limits(limits)
            meter = Meter(self)
            kind = Kind.STRING if program.name == ON_COMMAND_LINE else Kind.RUN
            self.submit(self.request(kind, limits, source=source), fds)
            hit = meter.wait([self.control.fileno()], ContestClock(limits), limits)
            result = self.result() if hit is None else self.end_job()
            return meter.execution(limits, result, hit, fds[1], fds[2])
        finally:
            for fd in fds:
                os.close(fd)

    def run_script(
        self, script: Script, streams: Streams, limits: Limits, clock: Clock
    ) -> Execution:
        """Run a program once, with arguments and streams of its own. Raises CellDied."""
        own: list[int] = []
        try:
            stdin = streams.stdin
            if isinstance(stdin, bytes):
                own.append(stdin := memfile.sealed_reader(stdin))
            own.append(stdout := memfile.empty())
            own.append(stderr := memfile.empty())
            own.append(source := memfile.sealed(script.encoded()))
            self.set_limits(limits)
            meter = Meter(self)
            job = self.request(Kind.SCRIPT, limits, source=script.program.encoded())
            self.submit(job, [stdin, stdout, stderr, source])
            tail = _tail(streams, (stdout, stderr), limits)
            streams.close()
            streams = Streams()
            hit = meter.wait([self.control.fileno()], clock, limits, look=_teller(tail))
            result = self.result() if hit is None else self.end_job()
            if tail is not None:
                tail.tell()
            return meter.execution(limits, result, hit, stdout, stderr)
        finally:
            streams.close()
            for fd in own:
                os.close(fd)

    def execute(self, command: Command, streams: Streams, limits: Limits, clock: Clock) -> Finished:
        """Execute a program that is not the cell's Python. Raises CellDied and NoIsolation."""
        own: list[int] = []
        ends = PipeEnds(streams)
        try:
            if self.single_use:
                raise NoIsolation("without proctor's C part cells can run nothing but Python")
            ends.open()
            stdin, stdout = ends.given.stdin, ends.given.stdout
            if isinstance(stdin, bytes):
                own.append(stdin := memfile.sealed_reader(stdin))
            if stdout is None:
                own.append(stdout := memfile.empty())
            own.append(stderr := memfile.empty())
            words = command.words(limits)
            own.append(what := memfile.sealed_reader(words or command.bundle()))
            fds = [stdin, stdout, stdout if command.merged else stderr, what]
            if command.executable is not None:
                own.append(program := memfile.sealed_reader(command.executable))
                fds.append(program)
            harvest = -1
            if command.collect:
                own.append(harvest := memfile.empty())
                fds.append(harvest)
            self.set_limits(limits)
            meter = Meter(self)
            kind = Kind.COMMAND if words is None else Kind.EXECUTE
            job = self.request(kind, limits, judged=command.judged, only_cpu=command.only_cpu)
            self.submit(job, [*fds, *ends.given.inherit])
            tail = _tail(streams, (stdout, stderr), limits)
            ends.handed_over()
            ending = partial(self.ending, collects=bool(command.collect))
            look = partial(ends.follow, ending) if streams.keep else _teller(tail)
            hit = meter.wait([self.control.fileno()], clock, limits, look=look)
            result = self.result() if hit is None else self.end_job()
            if tail is not None:
                tail.tell()
            hung_up = ends.hung_up()
            captured = stdout if stdout in own else None
            execution = meter.execution(limits, result, hit, captured, stderr)
            files = harvested(memfile.content(harvest, command.most + MIB)) if harvest >= 0 else {}
            return Finished(execution, files, hung_up, ends.let_go)
        finally:
            ends.close()
            for fd in own:
                os.close(fd)

    def run_in_directory(
        self, job: DirectoryJob, limits: Limits, stop: Stop, hear: JobListener
    ) -> DirectoryResult:
        """Run a program in a directory that is looked into. Raises CellDied and NoIsolation."""
        return run_in_directory(self, job, limits, stop, hear)

    def serve(
        self, kind: Kind, program: Program, function: str, limits: Limits, clock: Clock
    ) -> AgentServing:
        """Load a program that is to take tests, under `clock`. Raises CellDied."""
        return AgentServing(self, kind, program, function, limits, clock)


def _tail(streams: Streams, files: tuple[int, int], limits: Limits) -> Tail | None:
    if streams.on_output is None:
        return None
    return Tail(files, limits.output, streams.on_output)


def _teller(tail: Tail | None) -> Callable[[], None] | None:
    return None if tail is None else tail.tell
