"""Runs the program that each language's definition brings, in a cell, as submissions are run."""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import CompileFailed, InfraFault, NoLanguage
from proctor.execution import Execution
from proctor.languages import registry
from proctor.languages.cache import Cache
from proctor.languages.compiler import Compiler
from proctor.languages.language import Language
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy
from proctor.sandbox.executor import Executor, in_pool
from proctor.sandbox.pool import Pool

_LIMITS = Limits()
_SHOWN = 2000  # characters of what went wrong


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """The outcome of one language's self-test."""

    language: Language
    complaint: str = ""
    """Description of the failure; empty if there was none."""
    missing: bool = False
    """True if the only trouble is that the language is not installed."""
    cpu: float = 0.0
    """CPU seconds of the run, compiling not included."""

    @property
    def passed(self) -> bool:
        """True if the program printed what it must."""
        return not self.complaint


def selftest(
    languages: Iterable[Language], *, isolation: str | None = None
) -> Iterator[LanguageResult]:
    """Compile and run the self-tests, one by one. Nothing comes from the cache, or goes into it.

    Raises PlatformError where cells cannot be had.
    """
    choice = policy.choose(isolation, None, None)
    setup = CellSetup(choice.interpreter, directories=registry.reads())
    with (
        tempfile.TemporaryDirectory(prefix="proctor-selftest-") as scratch,
        Pool(choice.backend, setup, 1) as pool,
    ):
        execute = in_pool(pool)
        compiler = Compiler(execute, Cache(Path(scratch)))
        for language in languages:
            yield _test(language, compiler, execute)


def _test(language: Language, compiler: Compiler, execute: Executor) -> LanguageResult:
    try:
        built = compiler.build(Program(language.selftest.source, language.id))
    except NoLanguage as error:
        return LanguageResult(language, str(error), missing=True)
    except CompileFailed as error:
        return LanguageResult(language, f"{error}\n{error.output[-_SHOWN:]}".strip())
    except InfraFault as error:
        return LanguageResult(language, str(error))
    command = built.command(memory=_LIMITS.memory)
    limits = built.limits(_LIMITS, command)

    try:
        execution = execute(command, language.selftest.input.encode(), limits).execution
    except InfraFault as error:
        return LanguageResult(language, str(error))
    return LanguageResult(language, _complaint(language, execution), cpu=execution.cpu)


def _complaint(language: Language, execution: Execution) -> str:
    stderr = execution.stderr.decode(errors="replace")[-_SHOWN:]
    if execution.limit is not None:
        return f"it hit its limit: {execution.limit.value}\n{stderr}".strip()
    if execution.exit_code != 0:
        how = f"signal {execution.signal}" if execution.signal else f"code {execution.exit_code}"
        return f"it ended with {how}\n{stderr}".strip()
    printed = execution.stdout.decode(errors="replace")
    wanted = language.selftest
    if not (wanted.part and wanted.output in printed) and printed != wanted.output:
        return f"it printed {printed[:_SHOWN]!r}, not {wanted.output!r}"
    return ""
