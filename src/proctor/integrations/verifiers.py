"""verifiers: a runtime over a session, and a reward for its tasks.

The contracts are those of verifiers 0.4 (verifiers/v1): `Runtime` in runtimes/base.py, and what a
task's `@vf.reward` method may return. Its list of runtimes is closed, so the caller makes this one
and lends it: `agent.run(task, runtime=box)`, `task.score(trace, runtime=box)`,
`task.validate(box)`. A session has no network: of harnesses, which mostly call the model from
within their runtime, only those that call it from the host can use one.
"""

import asyncio
import shlex
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic_config import BaseConfig
from verifiers.v1.errors import SandboxError
from verifiers.v1.runtimes import ProgramResult, Runtime, SubprocessRuntimeInfo, register

from proctor.errors import InfraFault, InputError, ProctorError
from proctor.integrations.grading import CompletionGrader
from proctor.integrations.rows import FIELDS
from proctor.limits import GIB, MIB, Limits
from proctor.sandbox.pool import Pool
from proctor.sandbox.session import Session, open_session

_KILLED = 137
"""Exit code of a command that overran a limit, as a shell reports a child ended by SIGKILL."""


class ProctorConfig(BaseConfig):  # type: ignore[misc]  # verifiers is not typed
    """Limits of a runtime's session. Seconds and bytes."""

    type: Literal["proctor"] = "proctor"
    cpu: float = 60.0
    """CPU seconds of each command."""
    memory: int = GIB
    disk: int = 256 * MIB
    output: int = 64 * MIB
    processes: int = 64
    idle: float = 3600.0
    """Seconds after which an unused session ends."""


class ProctorRuntime(Runtime):  # type: ignore[misc]
    """Commands and files in a session's workspace. `async with` starts and stops it."""

    def __init__(
        self,
        config: ProctorConfig | None = None,
        name: str | None = None,
        *,
        pool: Pool | None = None,
    ) -> None:
        """`pool` lends the session's cell; without one the session starts its own."""
        super().__init__(name)
        self.config = config or ProctorConfig()
        # Traces can be written and read back only with one of verifiers' own kinds of this; here
        # the one that says least: a runtime of this machine, without an image.
        self.info = SubprocessRuntimeInfo()
        self._pool = pool
        self._session: Session | None = None
        register(self)

    async def start(self) -> None:
        """Open the session. Raises SandboxError."""
        config = self.config
        limits = Limits(
            cpu=config.cpu, memory=config.memory, disk=config.disk, output=config.output,
            processes=config.processes,
        )  # fmt: skip
        try:
            self._session = await asyncio.to_thread(
                lambda: open_session(limits=limits, idle=config.idle, pool=self._pool)
            )
        except ProctorError as error:
            raise SandboxError(f"no session: {error}") from error
        self.info.id = f"proctor:{self.name}"

    def cleanup(self) -> None:
        """End the session with all that runs in it. Idempotent."""
        if self._session is not None:
            self._session.close()

    async def run(self, argv: list[str], env: dict[str, str]) -> ProgramResult:
        """Run a command in the workspace. Raises SandboxError if the session is over.

        What overruns a limit ends with exit code 137, and stderr says which.
        """
        words = self._words(argv, env)
        try:
            done = await asyncio.to_thread(self._opened().command, words)
        except ProctorError as error:
            raise SandboxError(str(error)) from error
        stderr = done.stderr.decode("utf-8", "replace")
        code = done.exit_code if done.exit_code is not None else 128 + (done.signal or 0)
        if done.limit is not None:
            code, stderr = _KILLED, f"{stderr}\nended: it overran its {done.limit} limit\n"
        return ProgramResult(code, done.stdout.decode("utf-8", "replace"), stderr)

    async def run_background(self, argv: list[str], env: dict[str, str], log: str) -> None:
        """Start a command and let it run, its output in the workspace's file `log`."""
        words = self._words(["sh", "-c", f'exec "$@" >{shlex.quote(log)} 2>&1', "sh", *argv], env)
        try:
            await asyncio.to_thread(self._opened().start, words)
        except ProctorError as error:
            raise SandboxError(str(error)) from error

    async def write(self, path: str, data: bytes) -> None:
        """Put a file into the workspace. Raises SandboxError."""
        try:
            await asyncio.to_thread(self._opened().write, path, data)
        except ProctorError as error:
            raise SandboxError(str(error)) from error

    async def _read(self, path: str, max_bytes: int | None = None) -> bytes:
        try:
            if max_bytes is None:
                return await asyncio.to_thread(self._opened().read, path)
            words = ["head", "-c", str(max_bytes), "--", path]
            done = await asyncio.to_thread(self._opened().command, words)
        except ProctorError as error:
            raise SandboxError(str(error)) from error
        if not done.ok:
            raise SandboxError(f"read {path!r}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
        return done.stdout

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.stop()

    def _opened(self) -> Session:
        if self._session is None:
            raise SandboxError("the runtime has not been started")
        return self._session

    def _words(self, argv: list[str], env: dict[str, str]) -> list[str]:
        values = self.process_env(env)
        return ["env", *(f"{name}={value}" for name, value in values.items()), *argv]


async def code_reward(task: Any, trace: Any, **options: Any) -> float:
    """Judge a trace's last reply against the tests that the task's data holds.

    For a task's `@vf.reward` method. The data's fields are the columns of rows.task_of; options are
    those of make_code_reward. Raises InputError and InfraFault for faults, which fail the trace:
    verifiers has no other word for "does not count". Raises SettingsError.
    """
    grader = _grader(tuple(sorted(options.items())))
    row: Mapping[str, Any] = {name: getattr(task, name, None) for name in FIELDS}
    reply = trace.last_reply or ""  # None if the model has only called tools
    (graded,) = await asyncio.to_thread(grader.grade, [row], [reply])
    if graded.reward is None:
        kind = InfraFault if graded.verdict == "INFRA_FAULT" else InputError
        raise kind(f"{graded.verdict}: {graded.message}")
    return graded.reward


@lru_cache(maxsize=16)
def _grader(options: tuple[tuple[str, Any], ...]) -> CompletionGrader:
    return CompletionGrader(**dict(options))
