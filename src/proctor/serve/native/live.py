"""A run whose output is told as it comes: the same at every native door."""

from collections.abc import Callable

from proctor.engine.engine import Asker, Engine
from proctor.engine.live import Stream
from proctor.engine.running import RunRequest
from proctor.serve.native import convert
from proctor.serve.native.gathering import Gathered
from proctor.serve.native.schema import Output, RunResult

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
