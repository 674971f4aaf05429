"""Rounds of judging: which judge's verdicts count, and what that judge was.

A run's first judging is round 0, `proctor rejudge` begins another. So does going on with a run by
another version of proctor: one round's verdicts are all of one judge. Verdicts of earlier rounds
stay in the store.
"""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.version import __version__


class Round(msgspec.Struct, frozen=True):
    """One round of judging, and the judge of it."""

    number: int
    proctor: str
    """Version of proctor."""
    begun: str
    """ISO time, UTC."""
    judges: dict[str, str]
    """Keys in the store's judgements, by mode."""
    limits: dict[str, Any]
    """Limits of a test by mode, in seconds and bytes."""
    python: str | None
    packages: tuple[str, ...]
    preload: tuple[str, ...]
    host: dict[str, Any]


def rounds(store: RunStore) -> list[Round]:
    """Return all rounds that were begun, in order. Raises InputError."""
    try:
        return msgspec.convert(store.recall("rounds") or [], list[Round])
    except msgspec.ValidationError as error:
        raise InputError(f"its rounds of judging: {error}", file=str(store.directory)) from error


def begin_round(store: RunStore, settings: Settings) -> Round:
    """Begin the next round: from now on only its verdicts count."""
    made = rounds(store)
    number = len(made)
    begun = Round(
        number=number,
        proctor=__version__,
        begun=datetime.now(UTC).isoformat(timespec="seconds"),
        judges=settings.judges(number),
        limits={
            mode: msgspec.to_builtins(settings.judge_settings(mode).limits)
            for mode in settings.modes
        },
        python=settings.python,
        packages=settings.packages,
        preload=settings.preload,
        host=host(),
    )
    store.remember({"rounds": msgspec.to_builtins([*made, begun])})
    return begun


def judges_to_use(store: RunStore, settings: Settings) -> dict[str, str]:
    """Return the keys to judge under, by mode: those of the latest round if its judge is this one.

    Otherwise, or if there is no round yet, begin a new round and return its keys.
    """
    made = rounds(store)
    if made and made[-1].judges == settings.judges(made[-1].number):
        return made[-1].judges
    return begin_round(store, settings).judges


def host() -> dict[str, Any]:
    """Describe the machine, which times depend on."""
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
