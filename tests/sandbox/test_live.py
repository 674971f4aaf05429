"""Runs that are talked to: what comes when, signals, ends, bounds, and what is left afterwards."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from proctor.errors import InputError
from proctor.execution import LimitHit
from proctor.languages.run import RunRequest
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.service.engine import Engine, open_engine
from proctor.service.live import LiveRun, OutputStream
from waiting import until_true

pytestmark = pytest.mark.user

T = TypeVar("T")
LIMITS = Limits(cpu=5.0, memory=256 * MIB, output=4 * MIB, disk=4 * MIB)
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    opened = open_engine(cells=1)
    yield opened
    opened.close()


def live(
    engine: Engine, source: str, act: Callable[[LiveRun], Awaitable[T]], *, language: str = "python",
    stdin: bytes = b"", limits: Limits = LIMITS, args: tuple[str, ...] = (),
) -> T:  # fmt: skip
    """Run it and do something with it."""
    request = RunRequest(
        Program(source, language), stdin, args=args, environment=UNBUFFERED, limits=limits
    )

    async def main() -> T:
        async with engine.live(request) as run:
            return await act(run)

    return asyncio.run(main())


async def read_all(run: LiveRun) -> dict[OutputStream, bytes]:
    found = {OutputStream.STDOUT: b"", OutputStream.STDERR: b""}
    async for stream, data in run.output():
        found[stream] += data
    return found


async def line(run: LiveRun) -> bytes:
    """The next line of stdout, which comes in one piece."""
    found = b""
    async for stream, data in run.output():
        assert stream is OutputStream.STDOUT
        found += data
        if found.endswith(b"\n"):
            break
    return found


def test_a_conversation(engine: Engine) -> None:
    """Each line is answered before the next is written, so nothing waits for the end."""
    source = (
        "import sys\nprint('hello', sys.argv[1])\n"
        "for line in sys.stdin:\n    print(line.strip()[::-1])\nprint('bye', file=sys.stderr)\nsys.exit(4)"
    )

    async def talk(run: LiveRun) -> None:
        assert await run.compiled() is None
        assert await line(run) == b"hello you\n"
        for word in (b"abc", b"xyz"):
            run.write(word + b"\n")
            assert await line(run) == word[::-1] + b"\n"
        run.close_stdin()
        assert await read_all(run) == {OutputStream.STDOUT: b"", OutputStream.STDERR: b"bye\n"}
        ran = await run.result()
        assert ran.execution is not None
        assert (ran.execution.exit_code, ran.execution.limit) == (4, None)

    live(engine, source, talk, args=("you",))


@pytest.mark.compiler
def test_a_compiled_program(engine: Engine) -> None:
    source = '#include <cstdio>\nint main() { int n; while (std::scanf("%d", &n) == 1) { std::printf("%d\\n", 2 * n); std::fflush(stdout); } }'

    async def talk(run: LiveRun) -> None:
        compilation = await run.compiled()
        assert compilation is not None
        assert compilation.ok
        assert await line(run) == b"14\n"
        run.write(b"8\n")
        assert await line(run) == b"16\n"
        run.close_stdin()
        await read_all(run)
        execution = (await run.result()).execution
        assert execution is not None
        assert execution.ok

    live(engine, source, talk, language="cpp", stdin=b"7\n")


@pytest.mark.compiler
def test_what_does_not_compile(engine: Engine) -> None:
    async def talk(run: LiveRun) -> None:
        compilation = await run.compiled()
        assert compilation is not None
        assert not compilation.ok
        assert "main.cpp" in compilation.output
        assert await read_all(run) == {OutputStream.STDOUT: b"", OutputStream.STDERR: b""}
        assert (await run.result()).execution is None

    live(engine, "int main( {", talk, language="cpp")


def test_much_goes_through_both_ways(engine: Engine) -> None:
    data = os.urandom(3 * MIB)
    source = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())"

    async def talk(run: LiveRun) -> bytes:
        run.write(data)
        run.close_stdin()
        await run.drain()
        return (await read_all(run))[OutputStream.STDOUT]

    assert live(engine, source, talk) == data


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
def test_signals_reach_the_program(engine: Engine, number: int) -> None:
    source = (
        "import signal, sys\n"
        "def tell(number, frame):\n    print('got', number)\n    sys.exit(7)\n"
        f"signal.signal({int(number)}, tell)\nprint('ready')\nwhile True: signal.pause()"
    )

    async def talk(run: LiveRun) -> None:
        assert await line(run) == b"ready\n"
        assert await run.signal(number)
        assert (await read_all(run))[OutputStream.STDOUT] == f"got {int(number)}\n".encode()
        execution = (await run.result()).execution
        assert execution is not None
        assert execution.exit_code == 7
        assert not await run.signal(number)

    live(engine, source, talk)


def test_a_signal_that_is_not_caught_ends_it(engine: Engine) -> None:
    source = "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('ready')\ntime.sleep(60)"

    async def talk(run: LiveRun) -> None:
        assert await line(run) == b"ready\n"
        assert await run.signal(signal.SIGKILL)
        await read_all(run)
        execution = (await run.result()).execution
        assert execution is not None
        assert (execution.signal, execution.limit) == (signal.SIGKILL, None)

    live(engine, source, talk)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_is_bounded(engine: Engine, stream: str) -> None:
    source = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"

    async def talk(run: LiveRun) -> None:
        found = await read_all(run)
        assert sorted(map(len, found.values())) == [0, LIMITS.output]
        execution = (await run.result()).execution
        assert execution is not None
        assert execution.limit is LimitHit.OUTPUT

    live(engine, source, talk)


def test_cpu_time_is_bounded(engine: Engine) -> None:
    async def talk(run: LiveRun) -> None:
        assert (await read_all(run))[OutputStream.STDOUT] == b"on\n"
        execution = (await run.result()).execution
        assert execution is not None
        assert execution.limit is LimitHit.CPU

    live(engine, "print('on')\nwhile True: pass", talk, limits=Limits(cpu=0.3))


def test_nobody_reads(engine: Engine) -> None:
    """What is written then waits in the program, not here; and it ends when it is left."""

    async def talk(run: LiveRun) -> None:
        assert await run.compiled() is None

    for _ in range(3):  # and the cell is as good as before
        live(engine, "while True: print('x' * 1000)", talk)


def called(marker: str) -> int:
    """Processes on this machine that have the marker among their arguments."""
    count = 0
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            count += marker.encode() in file.read_bytes().split(b"\0")
    return count


def test_leaving_ends_it_with_all_that_it_started(engine: Engine) -> None:
    marker = f"left-{os.getpid()}"
    source = "import os, signal\nfor _ in range(2): os.fork()\nprint(1)\nsignal.pause()"

    async def talk(run: LiveRun) -> None:
        said = b""
        async for _, data in run.output():
            said += data
            if said.count(b"1") == 4:
                break
        assert called(marker) >= 4

    live(engine, source, talk, args=(marker,))
    assert called(marker) == 0


def test_a_program_that_closes_its_input(engine: Engine) -> None:
    async def talk(run: LiveRun) -> None:
        assert await line(run) == b"closed\n"
        run.write(b"x" * (2 * MIB))  # nobody reads it: it is lost, and nobody waits
        await run.drain()
        run.close_stdin()
        assert await run.signal(signal.SIGTERM)
        await read_all(run)
        execution = (await run.result()).execution
        assert execution is not None
        assert execution.signal == signal.SIGTERM

    live(engine, "import os, signal\nos.close(0)\nprint('closed')\nsignal.pause()", talk)


def test_cancelled_while_it_runs(engine: Engine) -> None:
    async def main() -> None:
        started = asyncio.Event()

        async def one() -> None:
            async with engine.live(
                RunRequest(Program("print(1, flush=True)\nwhile True: pass"))
            ) as run:
                await line(run)
                started.set()
                await run.result()

        task = asyncio.create_task(one())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert engine.admission.running == 0
        again = await engine.run(RunRequest(Program("print(2)")))
        assert again.execution is not None
        assert again.execution.stdout == b"2\n"

    asyncio.run(main())


def test_cancelled_while_it_waits_for_a_place(engine: Engine) -> None:
    async def main() -> None:
        async with engine.live(RunRequest(Program("input()"))):
            waiting = asyncio.create_task(engine.live(RunRequest(Program(""))).__aenter__())
            await until_true(lambda: engine.admission.waiting)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert engine.admission.running == 0

    asyncio.run(main())


def test_an_unknown_language(engine: Engine) -> None:
    async def talk(run: LiveRun) -> None:
        assert await run.compiled() is None
        with pytest.raises(InputError):
            await run.result()

    live(engine, "", talk, language="klingon")


def test_descriptors_are_given_back(engine: Engine) -> None:
    async def talk(run: LiveRun) -> None:
        await read_all(run)

    live(engine, "print(1)", talk)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        live(engine, "print(1)", talk)
    assert len(os.listdir("/proc/self/fd")) <= before
