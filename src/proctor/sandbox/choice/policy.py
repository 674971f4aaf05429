"""The choice of an isolation level: the strongest that proves itself. Never a silent fallback."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor import config
from proctor.errors import (
    NoInterpreter,
    NoIsolation,
    PlatformError,
    SettingsError,
    UnsupportedPlatform,
)
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.choice import proof
from proctor.sandbox.choice.remedies import FOREIGN_PROC
from proctor.sandbox.machine import interpreter, procfs
from proctor.sandbox.machine.interpreter import Interpreter

LEVELS = ("namespaces", "container", "landlock", "none")
"""Isolation levels, strongest first."""
DEFAULT_ORDER = LEVELS[:-1]


def default_order() -> tuple[str, ...]:
    """Return the levels to try if none is configured: off Linux there is only one."""
    return DEFAULT_ORDER if sys.platform == "linux" else ("container",)


@dataclass(frozen=True, slots=True)
class Choice:
    """A level that works here, and the interpreter its cells run under."""

    backend: Backend
    interpreter: Interpreter


@dataclass(frozen=True, slots=True)
class LevelAttempt:
    """The outcome of trying one way to get a level."""

    level: str
    arrangement: str
    failure: str
    """The reason why it does not work; empty if it does."""


def choose(
    level: str | None = None,
    minimum: str | None = None,
    python: str | None = None,
) -> Choice:
    """Choose the backend and the interpreter to run programs with.

    A level that is asked for by name is used or refused. Without one (argument, then
    PROCTOR_ISOLATION) the first of the configured order (else of the default one) that runs a real
    job is taken, down to `minimum` (argument, then PROCTOR_MIN_ISOLATION, then configuration).
    Raises SettingsError for unknown or contradicting levels, NoIsolation, and NoInterpreter.
    """
    order, minimum = wanted(level, minimum)
    # Remembered failures may be over: they may lead to another level, but never to a refusal.
    for believe in (True, False) if proof.remembers_failures() else (True,):
        attempts: list[LevelAttempt] = []
        for backend in _ways(order, attempts):
            found = _try(backend, python, asked_for=len(order) == 1, believe=believe)
            if isinstance(found, Choice):
                return found
            attempts.append(LevelAttempt(backend.level, backend.arrangement, found))
    raise NoIsolation(_refusal(order, minimum, attempts))


def _try(backend: Backend, python: str | None, *, asked_for: bool, believe: bool) -> Choice | str:
    """Return the choice of this backend, or why it does not work. Raises NoInterpreter."""
    try:
        chosen = interpreter_for(backend, python)
    except NoInterpreter as error:
        if python is not None:
            raise
        return str(error)
    failure = proof.failure(backend, CellSetup(chosen), asked_for=asked_for, believe=believe)
    return failure or Choice(backend, chosen)


def interpreter_for(backend: Backend, python: str | None) -> Interpreter:
    """Return the interpreter that cells of this level run under. Raises NoInterpreter."""
    if backend.level == "container":
        return interpreter.in_image(python)
    return interpreter.choose(python, private_files=backend.private_files)


def wanted(level: str | None, minimum: str | None) -> tuple[tuple[str, ...], str | None]:
    """Return the levels to try, in order, and the weakest acceptable one, if one was named."""
    settings, file = config.load().isolation, config.path()
    named, named_by = _first(
        (level, ""), (os.environ.get("PROCTOR_ISOLATION"), "PROCTOR_ISOLATION")
    )
    least, least_by = _first(
        (minimum, ""),
        (os.environ.get("PROCTOR_MIN_ISOLATION"), "PROCTOR_MIN_ISOLATION"),
        (settings.minimum, f"minimum in {file}"),
    )
    order = (named,) if named else settings.backends or default_order()
    order_by = named_by if named or not settings.backends else f"backends in {file}"
    for each, by in (
        *((each, order_by) for each in order),
        *([(least, least_by)] if least else []),
    ):
        if each not in LEVELS:
            raise SettingsError(
                f"isolation level {each!r}{_source(by)} is not one of {', '.join(LEVELS)}"
            )
    if not least:
        return tuple(order), None
    strong = tuple(each for each in order if LEVELS.index(each) <= LEVELS.index(least))
    if not strong:
        raise SettingsError(
            f"isolation level {', '.join(order)}{_source(order_by)} was asked for, but at least"
            f" {least}{_source(least_by)} is demanded: ask for a stronger level or lower the"
            " minimum"
        )
    return strong, least


def _first(*given: tuple[str | None, str]) -> tuple[str, str]:
    """Return the first value that is set, and who set it ("" for the caller)."""
    return next(((value, by) for value, by in given if value), ("", ""))


def _source(by: str) -> str:
    return f" ({by})" if by else ""


def _ways(order: Sequence[str], attempts: list[LevelAttempt]) -> Iterator[Backend]:
    """Yield every way to get each level; note in `attempts` the levels that cannot be tried."""
    for level in order:
        try:
            yield from ways(level)
        except PlatformError as error:
            if len(order) == 1:
                raise
            attempts.append(LevelAttempt(level, "", str(error)))


def ways(level: str) -> Iterator[Backend]:
    """Yield the ways to get one level, best first. Raises PlatformError."""
    if sys.platform != "linux" and level in {"namespaces", "landlock", "none"}:
        raise UnsupportedPlatform(
            f"level {level} needs Linux (x86-64 or aarch64); elsewhere there is level container,"
            " with docker or podman"
        )
    if level != "container" and not procfs.shows_us():
        raise NoIsolation(FOREIGN_PROC)
    if level == "namespaces":
        from proctor.sandbox.levels.bubblewrap import Bubblewrap, arrangements

        yield from map(Bubblewrap, arrangements())
    elif level == "landlock":
        from proctor.sandbox.levels.landlock import Landlock

        yield Landlock()
    elif level == "none":
        _permit_none()
        from proctor.sandbox.levels.unsafe import Unsafe

        yield Unsafe()
    else:
        from proctor.sandbox.container.level import Container

        yield Container()


def _permit_none() -> None:
    if os.environ.get("PROCTOR_PRODUCTION") == "1":
        raise NoIsolation("level none is refused while PROCTOR_PRODUCTION=1")
    if os.environ.get("PROCTOR_ALLOW_UNSAFE") != "1":
        raise NoIsolation(
            "level none runs programs with no isolation at all; set PROCTOR_ALLOW_UNSAFE=1 to"
            " accept that, on a machine you can lose"
        )


def last_line(failure: str) -> str:
    """Return the essence of a failure: of a traceback, the exception."""
    lines = failure.strip().splitlines()
    if len(lines) < 2:
        return failure.strip()
    return f"{lines[0].removesuffix(': Traceback (most recent call last):')}: {lines[-1].strip()}"


def _refusal(order: Sequence[str], minimum: str | None, attempts: Sequence[LevelAttempt]) -> str:
    from proctor.sandbox.choice.remedies import remedies

    which = f"none of {', '.join(order)} works here"
    if len(order) == 1:
        which = f"level {order[0]} does not work here"
    lines = [f"no isolation: {which}" + (f" (minimum {minimum})" if minimum else "")]
    for attempt in attempts:
        way = f" ({attempt.arrangement})" if attempt.arrangement else ""
        lines.append(f"  {attempt.level}{way}: {last_line(attempt.failure)}")
    found = remedies(order)
    if found:
        lines.append("what would help:")
        lines += [f"  {remedy}" for remedy in found]
    return "\n".join(lines)
