"""Verdicts: the field's names for the outcome of a program."""

from enum import StrEnum


class Verdict(StrEnum):
    """Outcome of one test or of one whole judgement; equal to its text: `Verdict.AC == "AC"`.

    All but the last two are about the program. The names are those of contest judges.
    """

    AC = "AC"
    """Accepted."""
    PA = "PA"
    """Partly accepted: a score between none and all. Only in contest problems that give such."""
    WA = "WA"
    """Wrong answer."""
    PE = "PE"
    """Presentation error, only where a checker says so."""
    TLE = "TLE"
    """CPU time limit exceeded."""
    ILE = "ILE"
    """Idleness limit exceeded: the wall clock ran out while the CPU clock did not."""
    MLE = "MLE"
    """Memory limit exceeded."""
    OLE = "OLE"
    """Output limit exceeded."""
    RE = "RE"
    """Runtime error: exit code, signal or exception."""
    CE = "CE"
    """The program does not compile."""
    NC = "NC"
    """No code: there was nothing to judge."""
    SK = "SK"
    """Skipped: not run because an earlier test decided."""
    TASK_FAULT = "TASK_FAULT"
    """The problem is broken (no tests, unreadable tests). Carries no score."""
    INFRA_FAULT = "INFRA_FAULT"
    """Proctor's machinery failed. Carries no score."""

    @property
    def passed(self) -> bool:
        """True if this is a pass."""
        return self is Verdict.AC

    @property
    def is_fault(self) -> bool:
        """True if this says nothing about the program and must not be scored."""
        return self in (Verdict.TASK_FAULT, Verdict.INFRA_FAULT)
