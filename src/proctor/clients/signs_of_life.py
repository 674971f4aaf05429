"""Waiting for the answer to a job, which may take any time, for as long as the server lives.

Such an answer comes when the job ends, and nothing before it: a server that is gone looks the same
as one that works. So it is asked something else now and then.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from proctor.bounded_http import WHOLE

SILENCE = 60.0
"""Seconds without a byte after which a server is gone that promises one every 10 s."""
GONE_AFTER = WHOLE
"""Seconds without a sign of life after which a server is gone."""
LOOK_EVERY = 60.0
"""Seconds between two looks at a server, and for one look."""
T = TypeVar("T")


async def while_alive(work: Coroutine[Any, Any, T], look: Callable[[], Awaitable[bool]]) -> T:
    """Await work for as long as `look` returns True, for a sign of life, now and then.

    Raises TimeoutError if there is none for GONE_AFTER.
    """
    tasks: list[asyncio.Task[Any]] = [asyncio.ensure_future(work)]
    try:
        if not (await asyncio.wait(tasks, timeout=LOOK_EVERY))[0]:
            tasks.append(asyncio.ensure_future(_watch(look)))
            await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
        ended = next(task for task in tasks if task.done())
        found: T = ended.result()
        return found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _watch(look: Callable[[], Awaitable[bool]]) -> NoReturn:
    """Look now and then. Raises TimeoutError once there is no sign of life for too long."""
    heard = time.monotonic() - LOOK_EVERY
    while True:
        alive = False
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY):
                alive = await look()
        now = time.monotonic()
        if alive:
            heard = now
        elif now - heard >= GONE_AFTER:
            raise TimeoutError(f"has given no sign of life for {GONE_AFTER:g} s")
        await asyncio.sleep(LOOK_EVERY)
