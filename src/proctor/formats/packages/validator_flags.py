"""Flags of the default output validator of Kattis and DOMjudge."""

import math
from collections.abc import Sequence
from dataclasses import replace

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.grading import Comparison, Match

DEFAULT = Comparison(match=Match.TOKENS, case_sensitive=False)
"""Comparison without flags: tokens, in any case, blank space of no matter."""

_SWITCHES = ("case_sensitive", "space_change_sensitive")
_TOLERANCES = ("float_tolerance", "float_relative_tolerance", "float_absolute_tolerance")


def comparison(flags: Sequence[str], base: Comparison = DEFAULT) -> Comparison:
    """The comparison that flags ask for, on top of `base`.

    Contract: Kattis problem package format, "Default Output Validator Specification". Raises
    InputError for a flag it does not know, or a tolerance that is not a number.
    """
    result, rest = base, list(flags)
    while rest:
        flag = rest.pop(0)
        if flag == "case_sensitive":
            result = replace(result, case_sensitive=True)
        elif flag == "space_change_sensitive":
            result = replace(result, space_sensitive=True)
        elif flag in _TOLERANCES:
            epsilon = _tolerance(flag, rest.pop(0) if rest else None)
            if flag != "float_relative_tolerance":
                result = replace(result, absolute=epsilon)
            if flag != "float_absolute_tolerance":
                result = replace(result, relative=epsilon)
        else:
            hint = did_you_mean(flag, (*_SWITCHES, *_TOLERANCES))
            raise InputError(f"the default validator has no flag {flag!r}{hint}")
    return result


def _tolerance(flag: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError as error:
        raise InputError(f"{flag} must be followed by a number, not {text!r}") from error
    if not 0 <= value < math.inf:
        raise InputError(f"{flag} must be a number from 0 on, not {text!r}")
    return value
