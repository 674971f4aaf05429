"""Programs of a problem's author that make inputs or check them: generators and validators."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from proctor.errors import CompileFailed, InputError
from proctor.execution import LimitHit
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import LIMITS
from proctor.languages.compiler import Built
from proctor.program import Program

_TIMES = frozenset({LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE})
_SAID = 500  # characters of its output that a message shows


@dataclass(frozen=True, slots=True)
class InputRefusal:
    """A validator's refusal of an input."""

    why: str
    too_slow: bool = False
    """True if it did not end in its time."""


@dataclass(frozen=True, slots=True)
class InputProgram:
    """A generator or validator, compiled; it runs where graders do."""

    built: Built
    who: str
    """Its name in messages."""

    @classmethod
    def compiled(
        cls, program: Program, who: str, environment: JudgingEnvironment
    ) -> "InputProgram":
        """Compile it. Raises InputError if it does not compile, NoLanguage, InfraFault."""
        try:
            return cls(environment.compile_grader(program), who)
        except CompileFailed as error:
            raise InputError(f"the {who} does not compile\n{error.output}") from error

    def make(self, environment: JudgingEnvironment, args: tuple[str, ...]) -> bytes:
        """Return the input that it prints. Raises InputError if it fails, InfraFault."""
        command = self.built.command(args, memory=LIMITS.memory)
        limits = self.built.limits(replace(LIMITS, output=256 << 20), command)
        execution = environment.run_grader(command, b"", limits).execution
        if execution.ok:
            return execution.stdout
        how = _ended(execution.limit, execution.signal, execution.exit_code)
        raise InputError(f"the {self.who} called with {' '.join(args)!r} {how}"
                         + _said(execution.stderr))  # fmt: skip

    def refusal(
        self,
        environment: JudgingEnvironment,
        data: bytes,
        accepting: Collection[int],
        args: tuple[str, ...] = (),
    ) -> InputRefusal | None:
        """Return why it does not accept an input, which it gets on stdin; None if it accepts.

        `accepting` are the exit codes that mean acceptance. Raises InfraFault.
        """
        command = self.built.command(args, memory=LIMITS.memory)
        limits = self.built.limits(LIMITS, command)
        execution = environment.run_grader(command, data, limits).execution
        if execution.limit is None and execution.exit_code in accepting:
            return None
        how = _ended(execution.limit, execution.signal, execution.exit_code)
        why = f"the {self.who} {how}" + _said(execution.stderr or execution.stdout)
        return InputRefusal(why, execution.limit in _TIMES)


def _ended(limit: object, signal: int | None, exit_code: int | None) -> str:
    if limit is not None:
        return f"exceeded its {limit} limit"
    if signal is not None:
        return f"was ended by signal {signal}"
    return f"ended with exit code {exit_code}"


def _said(output: bytes) -> str:
    said = output.decode("utf-8", "replace").strip()[:_SAID]
    return f": {said}" if said else ""
