"""A request to execute, checked in Piston's order and refused in its words.

Contract: `get_job` of engineer-man/piston's api/src/api/v2.js. Its texts are parsed by clients.
"""

import posixpath
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.limits import MOST_DISK, MOST_OUTPUT, MOST_PROCESSES, Limits, physical_memory
from proctor.program import Program
from proctor.service.http.piston.runtimes import Runtime, RuntimeKind, choose
from proctor.service.http.piston.settings import (
    COMPILE_TIME,
    MEMORY,
    RUN_TIME,
    UNLIMITED_TIME,
    PistonSettings,
)

_ENCODINGS = ("base64", "hex")
_CONSTRAINTS = tuple(
    f"{stage}_{what}"
    for what in ("memory_limit", "timeout", "cpu_time")
    for stage in ("compile", "run")
)


class Refused(Exception):
    """An invalid request: answered with status 400 and `{message}`."""


class NotJson(Refused):
    """A body that is not JSON: answered with status 400, `{stack}` and `{message}`."""


def decoded(text: bytes | str) -> Any:
    """Decode JSON. Raises NotJson."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotJson(f"SyntaxError: {error}") from error
    except RecursionError as error:
        raise NotJson("SyntaxError: brackets within brackets, too many of them") from error


@dataclass(frozen=True, slots=True)
class PistonJob:
    """A request to execute that has been checked."""

    runtime: Runtime
    name: str
    """Name of the program's own file: the first that is text."""
    source: str
    files: Mapping[str, bytes]
    """The other files, by path."""
    stdin: bytes
    args: tuple[str, ...]
    asked: Mapping[str, float]
    """Limits that the request names: run_timeout and so on."""
    settings: PistonSettings
    texts: tuple[str, ...] = ()
    """Names of all files that are text."""

    @property
    def seconds(self) -> float:
        """CPU seconds for the run."""
        return self._seconds("run", RUN_TIME)

    @property
    def compile_seconds(self) -> float:
        """CPU seconds for compiling."""
        return self._seconds("compile", COMPILE_TIME)

    def _seconds(self, stage: str, usual: int) -> float:
        """Return the lower of the request's two time limits; of the configured ones if it has none.

        Both count CPU seconds: wall time would blame the program for a busy machine.
        """
        names = (f"{stage}_timeout", f"{stage}_cpu_time")
        asked = [self.asked[name] for name in names if name in self.asked]
        if not asked:
            asked = [self.settings.most(name) for name in names if self.settings.most(name) > 0]
            asked = asked or [usual]
        return min([value for value in asked if value > 0] + [UNLIMITED_TIME]) / 1000

    @property
    def memory(self) -> int:
        """Bytes of memory for the run."""
        asked = self.asked.get("run_memory_limit", self.settings.run_memory_limit)
        return min(int(asked) if asked >= 1 else MEMORY, physical_memory())

    @property
    def compile_memory(self) -> int:
        """Bytes of memory for compiling by a package."""
        asked = self.asked.get("compile_memory_limit", self.settings.compile_memory_limit)
        return min(int(asked) if asked >= 1 else MEMORY, physical_memory())

    @property
    def limits(self) -> Limits:
        """Limits of the run; where Piston would set none, the highest that the engine allows."""
        settings = self.settings
        return Limits(
            cpu=self.seconds,
            memory=self.memory,
            output=min(settings.output_max_size, MOST_OUTPUT),
            processes=min(settings.max_process_count, MOST_PROCESSES),
            disk=min(settings.max_file_size, MOST_DISK),
        )

    def program(self) -> Program:
        """Return the program to run. Raises InputError."""
        return Program(self.source, self.runtime.language_id, self.name, self.files)


def parsed(body: Any, known: Sequence[Runtime], settings: PistonSettings) -> PistonJob:
    """Check a decoded body. Raises Refused, InputError."""
    if not isinstance(body, dict):
        body = {}
    language, version, files = body.get("language"), body.get("version"), body.get("files")
    if not language or not isinstance(language, str):
        raise Refused("language is required as a string")
    if not version or not isinstance(version, str):
        raise Refused("version is required as a string")
    if not isinstance(files, list):
        raise Refused("files is required as an array")
    for number, file in enumerate(files):
        if not isinstance(file, dict) or not isinstance(file.get("content"), str):
            raise Refused(f"files[{number}].content is required as a string")
    named = {_name(file, number): file for number, file in enumerate(files)}
    runtime = choose(known, language, version, named)
    if runtime is None:
        raise Refused(f"{language}-{version} runtime is unknown")
    main = next((name for name, file in named.items() if _is_text(file)), None)
    if main is None:
        raise Refused("files must include at least one utf8 encoded file")
    settings = settings.of(runtime.language, runtime.limit_overrides)
    asked = _asked(body, settings)
    others = {name: _content(name, file) for name, file in named.items() if name != main}
    stdin = body.get("stdin") or ""
    if not isinstance(stdin, str):
        raise Refused("stdin must be a string")
    return PistonJob(
        runtime,
        main,
        named[main]["content"],
        others,
        _with_newline(stdin).encode("utf-8", "surrogatepass"),
        _args(body.get("args")),
        asked,
        settings,
        tuple(name for name, file in named.items() if _is_text(file)),
    )


def _asked(body: Mapping[str, Any], settings: PistonSettings) -> dict[str, float]:
    asked: dict[str, float] = {}
    for name in _CONSTRAINTS:
        value = body.get(name)
        if not value:  # 0 and false count as not given, as in Piston
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(f"If specified, {name} must be a number")
        most = settings.most(name)
        if most > 0 and value > most:
            raise Refused(f"{name} cannot exceed the configured limit of {most}")
        if most > 0 and value < 0:
            raise Refused(f"{name} must be non-negative")
        asked[name] = value
    return asked


def _args(given: Any) -> tuple[str, ...]:
    if not given:
        return ()
    if not isinstance(given, list):
        raise Refused("args must be an array of strings")
    return tuple(each if isinstance(each, str) else msgspec.json.encode(each).decode()
                 for each in given)  # fmt: skip


def _with_newline(stdin: str) -> str:
    return stdin if stdin.endswith("\n") else stdin + "\n"


def _is_text(file: Mapping[str, Any]) -> bool:
    return file.get("encoding") not in _ENCODINGS


def _name(file: Mapping[str, Any], number: int) -> str:
    """Return a file's path relative to the working directory. Raises Refused."""
    name = file.get("name") or f"file{number}.code"
    if not isinstance(name, str):
        raise Refused(f"files[{number}].name must be a string")
    relative = posixpath.normpath(name.lstrip("/") or ".")
    if relative in {".", ".."} or relative.startswith("../"):
        raise Refused(f'File path "{name}" tries to escape parent directory: {relative}')
    return relative


def _content(name: str, file: Mapping[str, Any]) -> bytes:
    content: str = file["content"]
    try:
        match file.get("encoding"):
            case "base64":
                return b64decode(content, validate=True)
            case "hex":
                return bytes.fromhex(content)
            case _:
                return content.encode("utf-8", "surrogatepass")
    except ValueError as error:
        raise InputError(f"{name!r} is not {file['encoding']}: {error}", field="files") from error


def is_plain(job: PistonJob) -> bool:
    """Return True if the job is a run, not a judgement."""
    return job.runtime.kind in {RuntimeKind.PLAIN, RuntimeKind.PACKAGE}
