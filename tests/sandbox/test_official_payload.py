"""Official mode: short inputs and outputs travel in messages, long ones in files."""

import os

import pytest

from proctor import Limits, Pool, Program
from proctor.cell.wire import IN_MESSAGE, Kind
from proctor.execution import LimitHit
from proctor.sandbox.cell import Cell, TestRun
from proctor.sandbox.clock import UpstreamClock
from proctor.sandbox.machine import memfile

SIZES = [0, 300_000, 1, IN_MESSAGE, IN_MESSAGE + 1, IN_MESSAGE - 1, 200_000, 2]


def runs_of(pool: Pool, source: str, inputs: list[bytes | int], limits: Limits) -> list[TestRun]:
    def job(cell: Cell, _queued: float) -> list[TestRun]:
        clock = UpstreamClock(limits.cpu)
        with cell.serve(Kind.SERVE_OFFICIAL, Program(source), "", limits, clock) as serving:
            return [serving.test(each, clock) for each in inputs]

    return pool.submit(job).result()


@pytest.mark.parametrize("in_file", [False, True])
def test_any_length_arrives_whole_after_any_other(cell_pool: Pool, *, in_file: bool) -> None:
    echo = "import sys\nsys.stdout.write(sys.stdin.read())"
    contents = [bytes(97 + (i + size) % 26 for i in range(size)) for size in SIZES]
    inputs: list[bytes | int] = list(map(memfile.sealed, contents)) if in_file else [*contents]
    runs = runs_of(cell_pool, echo, inputs, Limits(cpu=5.0))
    assert [run.stdout for run in runs] == contents
    assert all(run.exit_code == 0 and run.limit is None for run in runs)
    for fd in inputs:
        if isinstance(fd, int):
            os.close(fd)


@pytest.mark.parametrize("most", [1000, 100_000])
def test_an_output_beyond_its_limit_is_seen_and_leaves_nothing_behind(
    cell_pool: Pool, most: int
) -> None:
    source = "print('x' * int(input()))"
    sizes = [most * 2, 10, most - 1, most]  # and a newline
    given: list[bytes | int] = [b"%d\n" % size for size in sizes]
    runs = runs_of(cell_pool, source, given, Limits(cpu=5.0, output=most))
    assert [run.limit for run in runs] == [LimitHit.OUTPUT, None, None, LimitHit.OUTPUT]
    assert [len(run.stdout) for run in runs] == [most, 11, most, most]


def test_what_is_written_past_the_messages_is_no_output(cell_pool: Pool) -> None:
    source = "import os\nn = int(input())\nif n == 1:\n    os.write(5, b'y' * 10)\nprint(n)"
    runs = runs_of(cell_pool, source, [b"1", b"2"], Limits(cpu=5.0))
    assert [run.stdout for run in runs] == [b"1\n", b"2\n"]
