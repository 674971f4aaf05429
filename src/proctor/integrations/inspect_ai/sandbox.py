"""The sandbox provider `proctor`: each sample gets a session of its own.

The contract is that of SandboxEnvironment's docstrings in inspect_ai 0.3.285, and its
`util/_sandbox/self_check.py`.
"""

import contextlib
import errno
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, TypeVar, overload

import anyio
import anyio.to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    concurrency,
    sandboxenv,
)
from pydantic import BaseModel

from proctor.errors import FileRefused, InfraFault, SessionEnded, UsageError
from proctor.execution import TIME_LIMITS, Execution, LimitHit
from proctor.integrations.inspect_ai.config import FILES, SandboxConfig, resolved
from proctor.integrations.inspect_ai.pools import begin_task, end_task, open_sandbox_session
from proctor.sandbox.levels.bubblewrap import USER
from proctor.sandbox.pool import available_cpus
from proctor.sandbox.session import Session

T = TypeVar("T")

SANDBOXES_PER_CPU = 16
"""Sandboxes for each CPU: many, since one that waits for a model, which is slow, holds four
processes and some 20 MB but no CPU. COMMANDS_PER_CPU bounds commands."""
COMMANDS_PER_CPU = 2
"""Commands under way for each CPU: one that uses it, and one that waits for something else."""
FILE_WALL = 300.0
"""Seconds that reading or writing a file may take: it may turn out to be a pipe."""


@sandboxenv(name="proctor")
class ProctorSandboxEnvironment(SandboxEnvironment):
    """A cell leased for a sample: commands and files, no network, one user."""

    def __init__(self, session: Session, config: SandboxConfig) -> None:
        super().__init__()
        self._session, self._config = session, config
        # A thread waits for each command; the event loop's own are too few, and serve others too.
        self._threads = anyio.CapacityLimiter(max(config.processes, 64))

    @classmethod
    async def task_init(cls, task_name: str, config: BaseModel | str | None) -> None:
        """Check at once that such cells can be started. Raises PlatformError, UsageError."""
        del task_name
        settings = resolved(config)
        await anyio.to_thread.run_sync(lambda: begin_task(settings))

    @classmethod
    async def task_cleanup(
        cls, task_name: str, config: BaseModel | str | None, cleanup: bool
    ) -> None:
        # Also without `cleanup`: cells do not outlive this process anyway.
        del task_name, cleanup
        settings = resolved(config)
        await anyio.to_thread.run_sync(lambda: end_task(settings))

    @classmethod
    async def sample_init(
        cls, task_name: str, config: BaseModel | str | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Lease a cell. The sample's metadata, which may hold answers, goes nowhere near it."""
        del task_name, metadata
        settings = resolved(config)
        session = await anyio.to_thread.run_sync(lambda: open_sandbox_session(settings))
        return {"default": cls(session, settings)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: BaseModel | str | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        del task_name, config, interrupted
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                session = environment.as_type(ProctorSandboxEnvironment)._session  # noqa: SLF001
                await anyio.to_thread.run_sync(session.close)

    @classmethod
    def default_concurrency(cls) -> int | None:
        return SANDBOXES_PER_CPU * available_cpus()

    @classmethod
    def config_files(cls) -> list[str]:
        return list(FILES)

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return SandboxConfig.model_validate(config)

    def default_polling_interval(self) -> float:
        return 0.2

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002 - inspect_ai's name
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Execute a command; limits hold for it and for all processes that end with it, together.

        It is not retried after a timeout: here a command that was slow was slow by itself.
        """
        del timeout_retry
        await self._check_user(user)
        async with _turn(concurrency):
            done = await self._executed(cmd, _encoded(input), cwd, env, timeout)
        return _result(done, cmd, cwd, timeout, self._config)

    async def _executed(
        self,
        cmd: list[str],
        data: bytes,
        cwd: str | None,
        env: dict[str, str] | None,
        wall: float | None,
    ) -> Execution:
        try:
            # Not interrupted: a program that has started must be known, so that it can be ended.
            running = await self._in_thread(
                lambda: self._session.start(cmd, data, wall=wall, cwd=cwd, env=env), lasting=True
            )
            try:
                return await self._in_thread(running.wait)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), contextlib.suppress(SessionEnded, InfraFault):
                    await self._in_thread(running.kill, lasting=True)
                raise
        except (SessionEnded, InfraFault) as error:
            raise SandboxUnavailableError(str(error)) from error
        except UsageError as error:
            if type(error) is not UsageError:  # a subclass: the command itself is wrong
                raise
            raise SandboxUnavailableError(str(error)) from error  # too many processes

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = _encoded(contents)
        await self._on_file(file, lambda: self._session.write(file, data, wall=FILE_WALL))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
        try:
            read = await self._on_file(
                file, lambda: self._session.read(file, most=most, wall=FILE_WALL)
            )
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise OutputLimitExceededError(limit, None) from error
            raise
        return read.decode() if text else read

    async def _on_file(self, file: str, act: Callable[[], T]) -> T:
        try:
            return await self._in_thread(act)
        except FileRefused as error:
            number = errno.EACCES if error.errno == errno.EROFS else error.errno
            raise OSError(number, os.strerror(number), file) from error
        except (SessionEnded, InfraFault) as error:
            raise SandboxUnavailableError(str(error)) from error

    async def _check_user(self, user: str | None) -> None:
        """Accept the only user there is, by name or number."""
        if user is None or user == USER:
            return
        if user.isdecimal():
            done = await self._in_thread(lambda: self._session.run("import os; print(os.getuid())"))
            if done.stdout.strip() == user.encode():
                return
        raise SandboxUserUnsupportedError(
            f"a cell has one user, {USER!r}: commands cannot be executed as {user!r}"
        )

    async def _in_thread(self, act: Callable[[], T], *, lasting: bool = False) -> T:
        return await anyio.to_thread.run_sync(
            act, abandon_on_cancel=not lasting, limiter=self._threads
        )


def _turn(wanted: bool) -> AbstractAsyncContextManager[object]:
    if not wanted:
        return contextlib.nullcontext()
    turn: AbstractAsyncContextManager[object] = concurrency(
        "proctor commands", COMMANDS_PER_CPU * available_cpus()
    )
    return turn


def _encoded(content: str | bytes | None) -> bytes:
    return content.encode() if isinstance(content, str) else content or b""


def _result(
    done: Execution,
    cmd: list[str],
    cwd: str | None,
    timeout: float | None,
    config: SandboxConfig,
) -> ExecResult[str]:
    most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
    stdout, stderr = (_tail(stream, most) for stream in (done.stdout, done.stderr))
    if done.limit in TIME_LIMITS:
        bounds = {LimitHit.WALL: timeout or config.wall, LimitHit.CPU: config.cpu}
        seconds = f"{bounds[done.limit]:g} s of {done.limit} time" if done.limit in bounds else ""
        slow = TimeoutError(f"the command was ended after {seconds or 'too long a rest'}")
        slow.truncated_output = stdout + stderr  # type: ignore[attr-defined] # as inspect_ai's own
        raise slow
    if done.limit is LimitHit.OUTPUT:
        raise OutputLimitExceededError(f"{config.output} bytes", stdout + stderr)
    if done.exit_code == 126 and stderr in {
        f"{what}: Permission denied\n" for what in (cmd[0], cwd)
    }:
        raise PermissionError(errno.EACCES, stderr.strip(), cmd[0])
    code = done.exit_code if done.exit_code is not None else 128 + (done.signal or 0)
    if done.limit is not None:
        stderr += f"\n(the sandbox's {done.limit} limit was hit)\n"
    return ExecResult(success=code == 0, returncode=code, stdout=stdout, stderr=stderr)


def _tail(stream: bytes, most: int) -> str:
    return stream[-most:].decode("utf-8", "replace")
