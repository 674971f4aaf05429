"""How a judgement is to be made."""

from dataclasses import dataclass
from typing import Literal, get_args

from proctor.errors import SettingsError, must_be
from proctor.limits import GIB, LIMITS_HINT, MIB, TEST_LIMITS, Limits

Mode = Literal["standard", "official"]
Stop = Literal["first", "crash", "never"]
Codes = Literal["upstream", "ports"]

OFFICIAL_LIMITS = Limits(cpu=6.0, memory=4 * GIB, stack=8 * MIB)
"""Upstream sets no memory limit, but speaks of 4 GB; its stack is the usual one."""


def default_limits(mode: str) -> Limits:
    """Limits for a mode if the caller names none."""
    return OFFICIAL_LIMITS if mode == "official" else TEST_LIMITS


@dataclass(frozen=True, slots=True, repr=False)
class JudgeSettings:
    """Settings of a judgement that may change its verdict, besides program and problem.

    Raises SettingsError for values that contradict each other, InputError for one of another type.
    """

    mode: Mode = "standard"
    """`standard` for the rules of a contest judge, `official` for those of lcb_runner."""
    limits: Limits = None  # type: ignore[assignment]  # filled in below: it depends on the mode
    """Limits of each test, where the problem states none. In official mode `cpu` is lcb_runner's
    time-out. Default: 6 s of CPU; in official mode also 4 GiB of memory and 8 MiB of stack."""
    stop: Stop = "crash"
    """Test after which judging ends: "crash", the first in which the program crashes or overruns a
    limit; "first", the first that it does not pass; "never", the last. The verdict is the same in
    all cases, that of the first failure. Beware of "first" for rewards: there a further test tells
    the program that all its answers so far were right."""
    fast: bool = False
    """Standard mode: run tests in one process, and alone again from the first that crashes there
    or overruns a limit. A wrong answer is final."""
    tolerance: float | None = None
    """Standard mode: absolute or relative error allowed in numbers, from 0 to below 1. Where an
    integer is expected the error is less than a half, too: no other integer is right."""
    codes: Codes = "upstream"
    """Official mode: error codes of lcb_runner itself ("upstream"), or of its ports."""

    def __post_init__(self) -> None:
        for name, choices in (("mode", Mode), ("stop", Stop), ("codes", Codes)):
            if getattr(self, name) not in get_args(choices):
                wanted = " or ".join(get_args(choices))
                raise SettingsError(f"{name} is {wanted}, not {getattr(self, name)!r}")
        if self.limits is None:
            object.__setattr__(self, "limits", default_limits(self.mode))
        must_be(Limits, self.limits, "limits", LIMITS_HINT)
        must_be(bool, self.fast, "fast")
        if self.tolerance is not None:
            must_be((float, int), self.tolerance, "tolerance")
        if self.limits.disk:
            raise SettingsError("judged programs get no disk: it would carry state between tests")
        if self.limits.loopback:
            raise SettingsError("judged programs get no loopback interface: ports carry state too")
        if self.limits.locks:
            raise SettingsError("judged programs get no locks: they carry notes between programs")
        if self.tolerance is not None and not 0 <= self.tolerance < 1:
            raise SettingsError(f"tolerance is a number from 0 to below 1, not {self.tolerance}")
        if self.mode == "official" and (self.fast or self.tolerance is not None):
            raise SettingsError("official mode reproduces lcb_runner: no --fast, no tolerance")
        if self.mode == "standard" and self.codes != "upstream":
            raise SettingsError("error codes exist in official mode only")

    def __repr__(self) -> str:
        """Return what is not the usual, exactly."""
        facts = (
            self.mode,
            f"limits {self.limits!r}" if self.limits != default_limits(self.mode) else "",
            f"stop {self.stop}" if self.stop != "crash" else "",
            "fast" if self.fast else "",
            f"tolerance {self.tolerance!r}" if self.tolerance is not None else "",
            f"codes {self.codes}" if self.codes != "upstream" else "",
        )
        return f"<JudgeSettings {', '.join(filter(None, facts))}>"
