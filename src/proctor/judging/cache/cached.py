"""Judges that remember judgements, and of equal ones under way make only one.

A judgement is handed out again if the program cannot reach chance or time, by its source, or if
judging it twice gave the same; one that ever came out differently is made each time.
"""

from __future__ import annotations

import logging
import platform
import threading
import time
from collections.abc import Collection
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache

from proctor.errors import InfraFault, InputError, NoLanguage, must_be
from proctor.judgement import Judgement, Machine
from proctor.judging.cache.keeping import Unkept, unkept
from proctor.judging.cache.keys import content_key, judgement_key, languages_of
from proctor.judging.cache.remembered import RememberedVerdicts
from proctor.judging.cache.repeatable import Chance, chance_in
from proctor.judging.cache.sealing import ENOUGH, Remembered
from proctor.judging.cache.tally import CacheTally
from proctor.judging.judges import SEVERAL, Judges
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem, check_problem
from proctor.program import Program
from proctor.sandbox.machine import cpus
from proctor.verdict import Verdict

FRESH = 60.0
"""Seconds for which languages' versions are assumed not to change."""
_NOTING = 4
"""Threads that look at judgements and put them into the store."""
_logger = logging.getLogger(__name__)


_Circumstances = tuple[tuple[tuple[str, str], ...], str]
"""Languages with the versions of their tools, and surroundings."""


@dataclass(slots=True, eq=False)
class _Asked:
    """One judgement that was requested, and all who wait for it."""

    content: bytes
    problem: Problem
    program: Program
    settings: JudgeSettings
    key: bytes | None = None
    """Key in the store; None if there is none."""
    before: Remembered | None = None
    """Entry of the store, where the judgement is made again."""
    waiting: list[Future[Judgement]] = field(default_factory=list)
    inner: Future[Judgement] | None = None


class CachedJudges:
    """Judges that ask others for the judgements that they do not remember.

    Of equal judgements that are requested while one of them is under way only that one is made,
    even where nothing is remembered; it goes on as long as anybody waits for it.
    """

    def __init__(
        self,
        judges: Judges,
        remembered: RememberedVerdicts | None = None,
        *,
        verify: float = 0.0,
        tally: CacheTally | None = None,
    ) -> None:
        """Put a cache before `judges`; use `open_cached` for one that remembers.

        `verify` is the share of remembered judgements that are made again, from 0 to 1; which
        ones depends on their keys alone.
        """
        self.judges, self.tally = judges, tally or CacheTally()
        self._remembered, self._verify = remembered, verify
        self._notes = ThreadPoolExecutor(_NOTING, thread_name_prefix="proctor-cache")
        self._lock = threading.Lock()
        self._under_way: dict[bytes, _Asked] = {}
        """Judgements under way, by the key of their content."""
        self._circumstances: dict[frozenset[str], tuple[float, _Circumstances | None]] = {}
        """By languages, with the monotonic time when they were looked up."""

    @property
    def at_once(self) -> int:
        """Judgements to have under way at once."""
        return self.judges.at_once

    def version_of(self, language: str) -> str:
        """Return the version of a language's tools. Raises what the judges raise."""
        return self.judges.version_of(language)

    def surroundings(self) -> tuple[str, ...]:
        """Return digests of all that verdicts depend on, besides versions, where they are made."""
        return self.judges.surroundings()

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        """Return the judgement remembered or under way, or queue one. Raises as `Judges.start`."""
        check_problem(problem, program)
        must_be(JudgeSettings, settings, "settings")
        if not isinstance(program, Program):
            program = Program(program)
        try:
            content = content_key(problem, program, settings, subtasks)
        except InputError:  # a test's file is gone: a fault of the task, which judging finds
            self.tally.count("misses")
            self.tally.count_unkept(Unkept.FILES)
            return self.judges.start(problem, program, settings, subtasks)
        own: Future[Judgement] = Future()
        with self._lock:
            asked = self._under_way.get(content)
            if first := asked is None:
                asked = _Asked(content, problem, program, settings)
                self._under_way[content] = asked
            asked.waiting.append(own)
        own.add_done_callback(lambda done: self._leave(asked, done))
        if first:
            self._begin(asked, subtasks)
        else:
            self.tally.count("shared")
        return own

    def close(self) -> None:
        """Close the store: judgements that are still under way are not remembered."""
        self._notes.shutdown()
        if self._remembered is not None:
            self._remembered.close()

    def _begin(self, asked: _Asked, subtasks: Collection[str] | None) -> None:
        """Look a judgement up, or start making it."""
        try:
            known = self._looked_up(asked)
            if known is None:
                inner = self.judges.start(asked.problem, asked.program, asked.settings, subtasks)
        except BaseException as error:
            self._end(asked, error)
            raise
        if known is not None:
            self._end(asked, known)
            return
        asked.inner = inner  # nobody can leave before this: the first caller has no future yet
        inner.add_done_callback(lambda done: self._made(asked, done))

    def _looked_up(self, asked: _Asked) -> Judgement | None:
        """Return the remembered judgement; None if there is none or it is to be verified."""
        if self._remembered is not None:
            asked.key = self._key(asked)
            asked.before = None if asked.key is None else self._remembered.get(asked.key)
        if asked.before is None or asked.key is None or asked.before.agreed < ENOUGH:
            self.tally.count("misses")
            return None
        self.tally.count("hits")
        if int.from_bytes(asked.key[:8], "big") < self._verify * 2**64:
            return None
        return _handed_out(asked.before.judgement)

    def _key(self, asked: _Asked) -> bytes | None:
        """Return the key in the store; None if there can be none. Counts machines that differ."""
        try:
            languages = frozenset(languages_of(asked.problem, asked.program))
            circumstances = self._circumstances_of(languages)
        except (InputError, NoLanguage, InfraFault):  # judging will report it
            return None
        if circumstances is None:
            self.tally.count_unkept(Unkept.MACHINES)
            return None
        return judgement_key(asked.content, *circumstances)

    def _circumstances_of(self, languages: frozenset[str]) -> _Circumstances | None:
        """Return versions and surroundings; None where machines differ, or it is not known."""
        now = time.monotonic()
        at, known = self._circumstances.get(languages, (-FRESH, None))
        if now - at < FRESH:
            return known
        known = None
        if len(surroundings := self.judges.surroundings()) == 1:
            versions = tuple((each, self.judges.version_of(each)) for each in sorted(languages))
            if not any(SEVERAL in version for _, version in versions):
                known = versions, surroundings[0]
        self._circumstances[languages] = now, known
        return known

    def _made(self, asked: _Asked, done: Future[Judgement]) -> None:
        """Remember a judgement that was made, and hand it over."""
        if done.cancelled():
            self._end(asked, CancelledError())
            return
        if (error := done.exception()) is not None:
            self._end(asked, error)
            return
        judgement = done.result()
        if asked.key is None or self._remembered is None:
            self._end(asked, judgement)
            return
        try:
            # Not in a cell's thread: this looks at programs, and a server may be slow.
            self._notes.submit(self._note, asked, asked.key, self._remembered, judgement)
        except RuntimeError:  # the cache is closed, or the process ends
            self._end(asked, judgement)

    def _note(
        self, asked: _Asked, key: bytes, remembered: RememberedVerdicts, made: Judgement
    ) -> None:
        outcome = made
        try:
            outcome = self._noted(asked, key, remembered, made)
        finally:
            self._end(asked, outcome)

    def _noted(
        self, asked: _Asked, key: bytes, remembered: RememberedVerdicts, made: Judgement
    ) -> Judgement:
        """Remember a judgement if allowed; return it, or instead of a fault the remembered one."""
        before, chance = asked.before, _chance(asked, made)
        reason = unkept(made, asked.problem.limits or asked.settings.limits)
        if reason is None and chance is Chance.OPEN:
            reason = Unkept.CHANCE
        verified = before is not None and before.agreed >= ENOUGH
        if before is not None and verified and reason is Unkept.FAULT:
            return _handed_out(before.judgement)  # a fault says nothing about the program
        agreed = _agreed(before, made, chance)
        if verified:
            self.tally.count("verified")
        if verified and not agreed:
            self.tally.count("differing")
            _logger.warning(
                "cache: problem %r comes out as %s, not as was remembered; it is judged each time"
                " from now on; key %s", asked.problem.id, made.verdict.value, key.hex(),
            )  # fmt: skip
        if reason is not None and verified:
            remembered.drop(key)
        elif reason is None and (before is None or agreed != before.agreed):
            machine = made.machine or _this_machine()
            remembered.put(key, Remembered(replace(made, machine=machine), agreed))
        if reason is None and agreed < ENOUGH:
            reason = Unkept.ONCE if agreed else Unkept.CHANCE
        if reason is not None:
            self.tally.count_unkept(reason)
        return made

    def _leave(self, asked: _Asked, done: Future[Judgement]) -> None:
        """Cancel the judgement if `done` was cancelled and was the last that waited for it."""
        if not done.cancelled():
            return
        with self._lock:
            if done not in asked.waiting:  # the judgement has ended
                return
            asked.waiting.remove(done)
            if asked.waiting:
                return
            del self._under_way[asked.content]
        if asked.inner is not None:
            asked.inner.cancel()

    def _end(self, asked: _Asked, outcome: Judgement | BaseException) -> None:
        """Hand the outcome to all who wait for it."""
        with self._lock:
            if self._under_way.get(asked.content) is asked:
                del self._under_way[asked.content]
            waiting, asked.waiting = asked.waiting, []
        for future in waiting:
            if not isinstance(outcome, Judgement | Exception) or isinstance(
                outcome, CancelledError
            ):
                future.cancel()
            elif future.set_running_or_notify_cancel():
                if isinstance(outcome, Judgement):
                    future.set_result(outcome)
                else:
                    future.set_exception(outcome)


def _chance(asked: _Asked, made: Judgement) -> Chance:
    if made.verdict in (Verdict.CE, Verdict.NC):  # it has not run
        return Chance.NONE
    try:
        return chance_in(asked.problem, asked.program)
    except InfraFault:  # the program cannot be looked at
        return Chance.OPEN


def _agreed(before: Remembered | None, made: Judgement, chance: Chance) -> int:
    """Return how many judgements agree with this one, itself among them; 0 if any differed."""
    if before is None:
        return ENOUGH if chance is Chance.NONE else 1
    if not before.agreed or _outcome(before.judgement) != _outcome(made):
        return 0
    return ENOUGH


def _outcome(judgement: Judgement) -> tuple[object, ...]:
    """Return the parts of a judgement that must be the same each time."""
    tests = [(each.name, each.verdict, each.score, each.message) for each in judgement.tests]
    subtasks = [(each.name, each.verdict, each.score) for each in judgement.subtasks]
    return judgement.verdict, judgement.score, judgement.points, tests, subtasks


def _handed_out(judgement: Judgement) -> Judgement:
    machine = None if judgement.machine == _this_machine() else judgement.machine
    return replace(judgement, machine=machine, remembered=True)


@cache
def _this_machine() -> Machine:
    return Machine(platform.node(), cpus.model())
