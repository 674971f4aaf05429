"""Compiling programs in a cell, once each, to something that can be executed."""

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from proctor.errors import CompileFailed, InputError
from proctor.execution import LimitHit
from proctor.languages import naming, registry
from proctor.languages.cache import Cache
from proctor.languages.headers import Headers
from proctor.languages.language import InstalledLanguage, Language, expand
from proctor.limits import MIB, Limits
from proctor.program import Program, check_relative
from proctor.sandbox.command import Command, Finished, disk_for
from proctor.sandbox.executor import Executor

_SHOWN = 64 * 1024  # bytes of what a compiler says that are kept
_MOST = 256 * MIB  # bytes of a compiled program


_locks: dict[str, threading.Lock] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Built:
    """A program that is ready to run."""

    found: InstalledLanguage
    files: Mapping[str, bytes]
    """Files that the compiler made; the sources, in a language without one."""
    values: Mapping[str, str]
    """Values of the placeholders that come from the source; see naming.values."""
    digest: str
    """Digest of all that went into it."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables to set for its runs, besides the language's."""
    assertions: bool = False
    """True to evaluate assertions in its runs, in a language that needs settings for that."""

    def command(
        self,
        args: Sequence[str] = (),
        *,
        memory: int,
        files: Mapping[str, bytes] | None = None,
        collect: tuple[str, ...] = (),
        directories: tuple[str, ...] = (),
        most: int = 64 * MIB,
        judged: bool = False,
    ) -> Command:
        """Return the command that runs it, with further files in its directory.

        `memory` is its limit in bytes; `judged` says that a verdict will be passed on it.
        """
        run = self.found.language.run
        values: dict[str, str | Sequence[str]] = {
            **self.found.tools,
            **self.values,
            "memory_mb": str(memory // MIB),
            "assertions": self.found.language.assertions.run if self.assertions else (),
        }
        own = dict(self.files)
        executable = own.pop(run.executable) if run.executable else None
        return Command(
            (*expand(run.command, values), *args),
            executable,
            {**(files or {}), **own},
            directories,
            {**run.environment, **self.environment},
            collect,
            most,
            judged,
        )

    def limits(self, limits: Limits, command: Command, writes: int = 0) -> Limits:
        """Return `limits` with room for its runtime, its own files and `writes` bytes more."""
        run = self.found.language.run
        return replace(
            limits,
            memory=limits.memory + run.memory,
            processes=limits.processes + run.processes,
            disk=disk_for(command, limits.disk + writes),
        )


class Compiler:
    """Compiles programs, each once as long as the cache keeps it."""

    def __init__(
        self, execute: Executor, cache: Cache | None = None, headers: Headers | None = None
    ) -> None:
        """`execute` runs the compilers: executor.in_pool(pool), or in_cell(cell)."""
        self._execute, self._cache, self._headers = execute, cache or Cache(), headers

    def build(
        self,
        program: Program,
        *,
        stub_files: Mapping[str, bytes] | None = None,
        flags: Sequence[str] = (),
        cpu: float | None = None,
        assertions: bool = False,
    ) -> Built:
        """Compile a program together with a task's own files, which win over its own.

        `cpu`: CPU seconds that it may take; default: those of the language's definition.
        `assertions`: evaluate them, in a language that does not do so by itself.

        Raises CompileFailed, InputError (unknown language), NoLanguage (not on this machine),
        InfraFault.
        """
        found = registry.find(registry.get(program.language))
        language = found.language
        own = naming.own_name(language, program)
        files = {**program.files, own: program.encoded(), **(stub_files or {})}
        if assertions:
            flags = [*flags, *language.assertions.flags]
            files |= {name: text.encode() for name, text in language.assertions.files.items()}
        entry = _entry(language, own, stub_files or {})
        for name in files:
            check_relative(name)
        digest = _digest(found, files, entry, flags)
        sources = {
            name: data.decode("utf-8", "replace")
            for name, data in files.items()
            if naming.is_source(language, name)
        }
        if own not in sources:
            raise InputError(
                f"{own!r} is not a file of {language.name} ({', '.join(language.extensions)})",
                field="name",
            )
        values = naming.values(language, entry, sources)
        if language.compile is None:
            return Built(found, files, values, digest, assertions=assertions)
        with _one_at_a_time(digest):
            outputs = self._cache.get(digest)
            if outputs is None:
                outputs = self._compile(found, files, own, list(sources), values, flags, cpu)
                self._cache.put(digest, outputs)
        return Built(found, outputs, values, digest, assertions=assertions)

    def _compile(
        self,
        found: InstalledLanguage,
        files: Mapping[str, bytes],
        own: str,
        sources: list[str],
        values: Mapping[str, str],
        flags: Sequence[str],
        cpu: float | None,
    ) -> dict[str, bytes]:
        language = found.language
        sources.sort(key=lambda name: name != own)
        if self._headers is not None:
            flags = [
                *flags,
                *self._headers.flags(self._execute, found, identity(found), files[own], flags),
            ]
        finished = run_compiler(self._execute, found, files, sources, values, flags, cpu)
        if language.compile is not None and not language.compile.outputs:
            return dict(files)
        if language.run.executable and language.run.executable not in finished.files:
            raise failed("the compiler made no program", finished)
        if not finished.files:
            raise failed("the compiler made nothing", finished)
        return dict(finished.files)


def run_compiler(
    execute: Executor,
    found: InstalledLanguage,
    files: Mapping[str, bytes],
    sources: Sequence[str],
    values: Mapping[str, str],
    flags: Sequence[str],
    cpu: float | None = None,
) -> Finished:
    """Run a language's compiler in a cell. Raises CompileFailed, InfraFault."""
    compile_ = found.language.compile
    assert compile_ is not None
    words: dict[str, str | Sequence[str]] = {
        **found.tools,
        **values,
        "flags": list(flags),
        "sources": list(sources),
    }
    command = Command(
        tuple(expand(compile_.command, words)),
        files=files,
        environment=dict(compile_.environment),
        collect=compile_.outputs,
        most=_MOST,
    )
    limits = Limits(
        cpu=cpu or compile_.cpu,
        memory=compile_.memory,
        output=16 * MIB,
        processes=compile_.processes,
        disk=disk_for(command, compile_.disk),
        locks=compile_.locks,
    )
    finished = execute(command, b"", limits)
    execution = finished.execution
    if execution.limit is not None:
        raise failed(f"compiling exceeded its {limit_name(execution.limit)} limit", finished)
    if execution.exit_code != 0:
        if b"File size limit exceeded" in execution.stderr:  # gcc reports it as a bug of its own
            what = "compiling exceeded its limit on the size of a file"
            raise CompileFailed(what, "", execution)
        raise failed("the program does not compile", finished)
    return finished


def limit_name(limit: LimitHit) -> str:
    """Return the name of a limit that a compiler has hit."""
    return {LimitHit.CPU: "CPU time", LimitHit.IDLE: "idle time"}.get(limit, limit.value)


def failed(message: str, finished: Finished) -> CompileFailed:
    """Return the error for a compiler's run that failed."""
    return CompileFailed(message, compiler_messages(finished), finished.execution)


def compiler_messages(finished: Finished) -> str:
    """Return a compiler's messages without the names of directories inside the cell."""
    execution = finished.execution
    data = (execution.stdout + execution.stderr)[:_SHOWN]
    text = data.decode("utf-8", "replace")
    return re.sub(r"(?:/box/work|/\S*/proctor-scratch-[^/\s]*/work)/", "", text)


def _one_at_a_time(digest: str) -> threading.Lock:
    """Return this process's lock for a digest; another process may compile the same at once."""
    with _lock:
        if len(_locks) > 4096:
            for key in [key for key, lock in _locks.items() if not lock.locked()]:
                del _locks[key]
        return _locks.setdefault(digest, threading.Lock())


def _entry(language: Language, own: str, stub_files: Mapping[str, bytes]) -> str:
    """Return the file to start: a task's own main file, if it has one, else the submission's."""
    mains = [name for name in stub_files if naming.is_source(language, name)]
    return language.source if language.source in mains else next(iter(mains), own)


def identity(found: InstalledLanguage) -> str:
    """Return a name for a language as it is defined and installed here."""
    definition = msgspec.json.encode((found.language, dict(found.tools), dict(found.versions)))
    return hashlib.sha256(definition).hexdigest()


def _digest(
    found: InstalledLanguage, files: Mapping[str, bytes], entry: str, flags: Sequence[str]
) -> str:
    """Return a name for all that a compiled program depends on."""
    described = {
        "language": identity(found),
        "entry": entry,
        "flags": list(flags),
        "files": sorted((name, hashlib.sha256(data).hexdigest()) for name, data in files.items()),
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
