"""A run whose output is told as it comes: the same at every native door."""

from collections.abc import Callable

from proctor.service.engine import Asker, Engine
from proctor.service.http.native import convert
from proctor.service.http.native.gathering import Gathered
from proctor.service.http.native.schema import Output, RunResult
from proctor.service.live import Stream
from proctor.service.running import RunRequest

Tell = Callable[[Stream, Output], None]


async def run_live(engine: Engine, asked: RunRequest, asker: Asker, tell: Tell) -> RunResult:
    """Run one program; all that it writes is told, and the result's own output is empty.

    Raises what Engine.live and LiveRun.result raise.
    """
    async with engine.live(asked, asker) as run:
        run.close_stdin()
        told = Gathered(lambda stream, data: tell(stream, convert.output(data)))
        try:
            async for stream, data in run.output():
                told.add(stream, data)
        finally:
            told.flush()
        return convert.run_result(await run.result())
