"""Answers in Piston's form, and one field that is proctor's own, `limit`."""

import msgspec


class Stage(msgspec.Struct, frozen=True):
    """Outcome of compiling, or of running."""

    stdout: str = ""
    stderr: str = ""
    output: str = ""
    """All of stdout, then all of stderr."""
    code: int | None = None
    """Exit code; None if a signal ended the program."""
    signal: str | None = None
    message: str | None = None
    status: str | None = None
    """Status as isolate has it: RE, SG, TO; OL and EL for too much on stdout and stderr."""
    cpu_time: int | None = None
    """CPU time in ms."""
    wall_time: int | None = None
    """Wall time in ms."""
    memory: int | None = None
    """Peak memory in bytes."""
    limit: str | None = None
    """The limit that was hit. Proctor's own field."""


class ExecuteResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """Outcome of a request."""

    run: Stage
    language: str
    version: str
    compile: Stage | None = None


class RuntimeInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of /runtimes."""

    language: str
    version: str
    aliases: tuple[str, ...] | None = None
    runtime: str | None = None


class PackageJson(msgspec.Struct, frozen=True):
    """One entry of /packages."""

    language: str
    language_version: str
    installed: bool
