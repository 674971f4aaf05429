"""Judges at remote sites of any kind: the queue, packed problems, the loop that sends them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable
from concurrent.futures import Future
from itertools import count
from typing import Any, Self

from proctor.errors import InputError, NoLanguage, PoolClosed, ProctorError, must_be
from proctor.judgement import Judgement
from proctor.judging.dispatch import Dispatcher, PendingJudgement, QueueTimes
from proctor.judging.judges import SEVERAL
from proctor.judging.remote import PackedProblems, payload_of
from proctor.judging.settings import JudgeSettings
from proctor.loop_thread import LoopThread
from proctor.problem import Problem, check_problem
from proctor.program import Program

FIRST_AT_ONCE = 16
"""Judgements to have under way before any site is known."""


class RemoteJudges:
    """Base of Judges whose sites take packed judgements. Close it, or use `with`.

    All that is asynchronous runs in one event loop, in a thread.
    """

    what = "judges"
    """Name for messages."""

    def __init__(self, put: Callable[[bytes], Any] = bytes) -> None:
        """`put` hands a packed problem to a store that sites share; see PackedProblems."""
        self._dispatcher, self._ids = Dispatcher(), count()
        self._problems = PackedProblems(put)
        self._packing = threading.Lock()
        self._inbox: list[PendingJudgement] = []
        """Judgements that the event loop has not seen yet."""
        self._closed = False
        self._over: ProctorError | None = None
        """Why nothing is judged any more."""
        self._thread = LoopThread()

    @property
    def at_once(self) -> int:
        """Judgements to have under way at once: those that sites have, and as many that wait."""
        return 2 * sum(site.room for site in list(self._dispatcher.sites)) or FIRST_AT_ONCE

    @property
    def queue_times(self) -> QueueTimes:
        """Times that judgements have waited for a site."""
        return self._dispatcher.times

    @property
    def given_out_again(self) -> int:
        """Number of judgements that were lost with a site, and given to another."""
        return self._dispatcher.again

    def version_of(self, language: str) -> str:
        """Return the version of a language's tools; several, joined by SEVERAL, if sites differ.

        Raises NoLanguage where no site has it, InputError for an unknown one, Unreachable.
        """
        return self._thread.wait(self._versions(language))

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        """Queue one judgement.

        Its future raises what that of judging.judge.start does, and Unreachable if no site has
        judged for long. Raises PoolClosed, InputError for arguments of other types.
        """
        if self._closed:
            raise PoolClosed(f"the {self.what} is closed")
        check_problem(problem, program)
        must_be(JudgeSettings, settings, "settings")
        payload = payload_of(program, settings, subtasks)
        with self._packing:
            task = PendingJudgement(next(self._ids), self._problems.get(problem), payload, Future())
            self._inbox.append(task)
            first = len(self._inbox) == 1
        if first:  # else the loop has been called, and will take the whole inbox
            self._thread.call(self._queue)
        return task.future

    def close(self) -> None:
        """End judging; judgements that wait or are under way raise PoolClosed."""
        if self._closed:
            return
        self._closed = True
        self._thread.wait(self._end())
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _queue(self) -> None:
        with self._packing:
            tasks, self._inbox = self._inbox, []
        for task in tasks:
            self._dispatcher.add(task)
        if self._over is None:
            self._wake_all()
        else:
            self._dispatcher.fail_all(self._over)

    def _end_all(self, error: ProctorError) -> None:
        """Fail all judgements that wait or are under way, and those queued later, with an error."""
        self._over = error
        self._queue()

    def _wake_all(self) -> None:
        """Let sites take waiting judgements, now that there may be some for them."""
        raise NotImplementedError

    async def _versions(self, language: str) -> str:
        raise NotImplementedError

    async def _end(self) -> None:
        """End all that runs in the event loop."""
        raise NotImplementedError


async def agreed_version(
    asked: Iterable[Awaitable[str]], nobody: Callable[[], ProctorError]
) -> str:
    """Return the versions that sites report, joined by SEVERAL; an empty one counts as none.

    If no site reports one, raises a site's InputError or NoLanguage, else `nobody()`.
    """
    found = await asyncio.gather(*asked, return_exceptions=True)
    if versions := sorted({each for each in found if isinstance(each, str) and each}):
        return SEVERAL.join(versions)
    for each in found:
        if isinstance(each, InputError | NoLanguage):
            raise each
    raise nobody()
