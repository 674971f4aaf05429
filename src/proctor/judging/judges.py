"""Interface of things that judge: a pool here, servers, a cluster, a cache before any of them."""

from collections.abc import Collection
from concurrent.futures import Future
from typing import Protocol

from proctor.judgement import Judgement
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem
from proctor.program import Program

SEVERAL = "; "
"""Text that stands between versions where machines differ."""


class Judges(Protocol):
    """Makes judgements, many at once. Methods may be called from any thread."""

    @property
    def at_once(self) -> int:
        """Judgements to have under way at once: enough to keep all cells busy. It may change."""

    def version_of(self, language: str) -> str:
        """Return the version of a language's tools, all versions where machines differ (SEVERAL).

        Raises NoLanguage where no machine has it, InputError for a language that is not known.
        """

    def surroundings(self) -> tuple[str, ...]:
        """Return a digest of all that a verdict depends on where it is made, besides versions.

        That is isolation, architecture, packages and such; several digests where machines differ,
        none if it is not known.
        """

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        """Queue one judgement. It and the future raise the errors that judging.judge.start lists.

        Cancelling the future of a judgement that has not begun takes it back.
        """
