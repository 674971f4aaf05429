"""Flaky verdicts: the same program judged differently.

They are found in two ways: samples of one problem that are the same program, and samples that were
judged more than once. Neither needs a run of its own. Faults are no verdicts and do not count.
"""

from dataclasses import dataclass, field

from proctor.reports.records import SampleRecord
from proctor.reports.tallies import Mode, verdict_of
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class FlakyProgram:
    """A program that got more than one verdict."""

    samples: tuple[int, ...]
    """Numbers of the samples that are this program."""
    verdicts: tuple[Verdict, ...]

    @property
    def matters(self) -> bool:
        """True if the program passed once and failed once."""
        return len({each.passed for each in self.verdicts}) > 1


@dataclass(frozen=True, slots=True)
class FlakyVerdicts:
    """Programs of a run whose verdicts vary, by problem."""

    problems: dict[str, tuple[FlakyProgram, ...]]
    """Problem id -> its programs with more than one verdict."""
    same_program: int
    """Number of samples that are the same program as an earlier one of their problem."""
    judged_again: int
    """Number of samples that were judged in more than one round."""

    @property
    def worst(self) -> list[tuple[str, tuple[FlakyProgram, ...]]]:
        """The problems, beginning with those where a program passed and failed."""
        return sorted(self.problems.items(), key=lambda each: (not _matters(each[1]), each[0]))

    @property
    def mattering(self) -> int:
        """Number of problems where a program passed and failed."""
        return sum(_matters(programs) for programs in self.problems.values())


def _matters(programs: tuple[FlakyProgram, ...]) -> bool:
    return any(each.matters for each in programs)


@dataclass(slots=True)
class _ProgramVerdicts:
    samples: list[int] = field(default_factory=list)
    verdicts: set[Verdict] = field(default_factory=set)


class FlakyDetector:
    """Finds programs whose verdicts vary, while samples come in."""

    def __init__(self, mode: Mode) -> None:
        """Begin with no samples; verdicts are those by the rules of `mode`."""
        self._mode = mode
        self._programs: dict[tuple[str, str], _ProgramVerdicts] = {}
        self._same_program = 0
        self._judged_again = 0

    def add(self, record: SampleRecord) -> None:
        """Count a sample."""
        official = self._mode is Mode.OFFICIAL
        earlier = record.earlier_official if official else record.earlier_standard
        last = verdict_of(record, self._mode)
        made = {each for each in (*earlier, last) if each is not None and not each.is_fault}
        self._judged_again += bool(earlier)
        # Without a digest, a sample is a program of its own, which no other sample has.
        if not made or (not record.program and len(made) == 1):
            return
        key = (record.problem_id, record.program or f"sample {record.sample}")
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = _ProgramVerdicts()
        else:
            self._same_program += 1
        program.samples.append(record.sample)
        program.verdicts |= made

    def found(self) -> FlakyVerdicts:
        """Return what the samples so far show."""
        problems: dict[str, tuple[FlakyProgram, ...]] = {}
        for (problem_id, _), program in sorted(self._programs.items()):
            if len(program.verdicts) > 1:
                unsure = FlakyProgram(tuple(program.samples), tuple(sorted(program.verdicts)))
                problems[problem_id] = (*problems.get(problem_id, ()), unsure)
        return FlakyVerdicts(problems, self._same_program, self._judged_again)
