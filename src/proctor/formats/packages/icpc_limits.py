"""Limits of an ICPC/Kattis package, and how a time limit that it does not state is worked out."""

import re
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import located
from proctor.formats.packages.files import Tree
from proctor.formats.packages.model import Timing, whole
from proctor.limits import MIB, Limits

FILE = "problem.yaml"
DEFAULT_TIME = 10.0
"""CPU seconds where the package states no limit and it has not been worked out."""
SCRATCH = 64 * MIB
"""Bytes that a submission may write where `allow_file_writing` is set."""

_INI = re.compile(r"^[^\S\n]*+timelimit\s*+=\s*+['\"]?([^'\"\s]*)", re.MULTILINE)
_NEWER_LIMITS = {"time_multipliers", "time_resolution"}
_LEGACY_LIMITS = {"time_multiplier", "time_safety_margin"}


class _Multipliers(msgspec.Struct, forbid_unknown_fields=True):
    ac_to_time_limit: float = 2.0
    time_limit_to_tle: float = 1.5


class IcpcLimits(msgspec.Struct, forbid_unknown_fields=True):
    """`limits` of problem.yaml, in either version."""

    time_limit: float | None = None
    time_multiplier: float = 5.0
    time_safety_margin: float = 2.0
    time_multipliers: _Multipliers = msgspec.field(default_factory=_Multipliers)
    time_resolution: float = 1.0
    memory: float = 2048
    output: float = 8
    code: float | None = None
    compilation_time: float | None = None
    compilation_memory: float | None = None
    validation_time: float | None = None
    validation_memory: float | None = None
    validation_output: float | None = None
    validation_passes: int = 2


def of_version(tree: Tree, raw: dict[str, Any], *, legacy: bool) -> dict[str, Any]:
    """The settings without the limits that its format does not have; these are noted."""
    limits = raw.get("limits")
    if not isinstance(limits, dict):
        return raw
    foreign = _NEWER_LIMITS if legacy else _LEGACY_LIMITS
    for key in foreign & limits.keys():
        tree.notes(f"{FILE}: limits.{key} is not of this format and was left out")
    return {**raw, "limits": {key: limits[key] for key in limits if key not in foreign}}


def timing(tree: Tree, limits: IcpcLimits, *, legacy: bool) -> tuple[Timing, float]:
    """Return how the time limit is found, and the seconds to begin with. Raises InputError."""
    if limits.time_limit is not None:
        seconds: float | None = limits.time_limit
        place, field = FILE, "limits.time_limit"
    else:
        place, text = _time_limit_file(tree)
        field = "timelimit"
        try:
            seconds = float(text) if text else None
        except ValueError as error:
            what = f"not a number of seconds: {text!r}"
            raise InputError(what, file=tree.shown(place), field=field) from error
    if seconds is not None and not 0 < seconds < 1e6:
        raise InputError("must be more than zero seconds", file=tree.shown(place), field=field)
    multiplier, margin = limits.time_multiplier, limits.time_safety_margin
    if not legacy:
        multiplier = limits.time_multipliers.ac_to_time_limit
        margin = limits.time_multipliers.time_limit_to_tle
    if not (multiplier >= 1 and margin >= 1 and limits.time_resolution > 0):
        raise InputError(
            "multipliers must be at least 1, the resolution above 0",
            file=tree.shown(FILE),
            field="limits",
        )
    timing = Timing(seconds is not None, multiplier, margin, limits.time_resolution)
    return timing, DEFAULT_TIME if seconds is None else seconds


def _time_limit_file(tree: Tree) -> tuple[str, str]:
    if tree.is_file(".timelimit"):
        return ".timelimit", tree.text(".timelimit").strip()
    if tree.is_file("domjudge-problem.ini"):
        match = _INI.search(tree.text("domjudge-problem.ini"))
        return "domjudge-problem.ini", match[1] if match else ""
    return FILE, ""


def limits(tree: Tree, given: IcpcLimits, seconds: float, *, writes: bool) -> Limits:
    """Return the limits on a submission; `writes` allows it files. Raises InputError."""
    disk = SCRATCH if writes else 0
    memory, output = given.memory * MIB, given.output * MIB
    try:
        # The stack gets the memory limit, as on Kattis and DOMjudge.
        size, most = whole(memory, "limits.memory"), whole(output, "limits.output")
        return Limits(seconds, memory=size, output=most, disk=disk, stack=size)
    except InputError as error:
        raise located(error, tree.root / FILE, None) from error
