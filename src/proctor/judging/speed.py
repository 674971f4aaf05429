"""CPU limits that mean the same on unlike machines.

A fixed piece of work, in Python and in C++, is run in cells; its CPU time is the machine's speed.
A machine that needs 1.3 times the reference's time gives programs 1.3 times their limit, between
LEAST and MOST times. How far that holds for a program depends on how much its work is like the
kernels': unlike machines differ by instruction, memory and cache.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Self

from proctor.errors import CompileFailed, InfraFault, InputError, NoLanguage
from proctor.judgement import Judgement, Machine
from proctor.judging.judges import Judges
from proctor.judging.per_problem import PerProblem
from proctor.judging.settings import JudgeSettings
from proctor.judging.under_way import changed
from proctor.languages.run import run
from proctor.limits import Limits
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

LEAST, MOST = 0.5, 2.0
"""Bounds of the number that limits are multiplied by: a machine out of them is another class."""
_RUNS = 15
"""Runs of each kernel, of which the fastest counts: whatever else the machine does slows it."""


@dataclass(frozen=True, slots=True)
class Speed:
    """CPU seconds that a machine needs for the kernels."""

    python: float
    native: float | None
    """CPU seconds for the compiled kernel; None where there is no C++ compiler."""

    @classmethod
    def of(cls, pool: Pool) -> Self:
        """Measure; takes a second or two. Raises InfraFault, PlatformError."""
        try:
            native = _fastest("kernel.cpp", "cpp", pool)
        except (NoLanguage, CompileFailed):
            native = None
        return cls(_fastest("kernel.py", "python", pool), native)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `PYTHON,NATIVE` in milliseconds, as `str` gives it. Raises InputError."""
        try:
            python, _, native = text.partition(",")
            found = cls(float(python) / 1000, float(native) / 1000 if native else None)
        except ValueError:
            found = cls(math.nan, None)
        for each in (found.python, found.native):
            if each is not None and not 0.0001 <= each <= 1000:
                raise InputError(
                    f"{text!r} is not a speed: give reference, here, or what"
                    " `proctor doctor --speed` prints, such as 29.5,31.0",
                    field="--normalise-cpu",
                )
        return found

    def __str__(self) -> str:
        native = "" if self.native is None else f",{1000 * self.native:.1f}"
        return f"{1000 * self.python:.1f}{native}"

    def factor(self, reference: Speed, language: str) -> float:
        """Return the number that limits of programs in a language are multiplied by here."""
        if language == "python" or self.native is None or reference.native is None:
            ratio = self.python / reference.python
        else:
            ratio = self.native / reference.native
        return round(min(max(ratio, LEAST), MOST), 3)


REFERENCE = Speed(0.0295, 0.031)
"""A core of an AMD EPYC (Zen 3) at 3.4 GHz, CPython 3.11.7, g++ 12.2, Linux 6.18."""


def _fastest(name: str, language: str, pool: Pool) -> float:
    source = files("proctor.judging.kernels").joinpath(name).read_text("utf-8")
    program, limits = Program(source, language), Limits(cpu=30.0)
    runs = [run(program, limits=limits, pool=pool) for _ in range(_RUNS)]
    if not all(each.ok for each in runs):
        raise InfraFault(f"{name}, which measures how fast this machine is, did not run to its end")
    return min(each.cpu for each in runs)


class NormalisedJudges:
    """Judges of one machine, with CPU limits as on the reference. Judgements say by what factor."""

    def __init__(self, judges: Judges, speed: Speed, reference: Speed, machine: Machine) -> None:
        self._judges, self._machine = judges, machine
        self._speed, self._reference = speed, reference
        self._problems: dict[float, PerProblem[Problem]] = {}

    @property
    def at_once(self) -> int:
        """Judgements to have under way at once."""
        return self._judges.at_once

    def version_of(self, language: str) -> str:
        """Return the version of a language's tools. Raises NoLanguage, InputError."""
        return self._judges.version_of(language)

    def surroundings(self) -> tuple[str, ...]:
        """Return digests of what verdicts depend on, with the reference whose CPU limits hold."""
        return tuple(f"{each}, CPU as {self._reference}" for each in self._judges.surroundings())

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        """Queue one judgement. See judging.judge.start."""
        language = program.language if isinstance(program, Program) else "python"
        factor = self._speed.factor(self._reference, language)
        limit = (problem.limits or settings.limits).cpu
        settings = replace(settings, limits=_scaled(settings.limits, factor))
        started = self._judges.start(self._scaled(problem, factor), program, settings, subtasks)

        def told(found: Judgement) -> Judgement:
            hangs = hangs_on_speed(found, limit, factor)
            return replace(found, machine=replace(self._machine, factor=factor, decisive=hangs))

        return changed(started, told)

    def _scaled(self, problem: Problem, factor: float) -> Problem:
        if problem.limits is None:
            return problem
        if factor not in self._problems:
            self._problems[factor] = PerProblem(lambda each: _with_limits(each, factor))
        return self._problems[factor].of(problem)


def hangs_on_speed(found: Judgement, limit: float, factor: float) -> bool:
    """Return True if the verdict could differ without the factor; `limit` is the CPU limit without.

    That holds for a program that passed, or failed in another way, but needed more than `limit`;
    and for one that was stopped at a lower limit.
    """
    if found.verdict is Verdict.TLE:
        return factor < 1
    return factor > 1 and any(test.cpu > limit for test in found.tests)


def _with_limits(problem: Problem, factor: float) -> Problem:
    assert problem.limits is not None
    return replace(problem, limits=_scaled(problem.limits, factor))


def _scaled(limits: Limits, factor: float) -> Limits:
    wall = None if limits.wall is None else limits.wall * factor
    return replace(limits, cpu=limits.cpu * factor, wall=wall)
