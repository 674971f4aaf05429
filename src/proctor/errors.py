"""Every error proctor raises on purpose.

::

    ProctorError                 has a stable `code` and an `exit_code` for the command line
    ├── UsageError               the caller's mistake                                (exit 2)
    │   ├── InputError           a file, line or field that cannot be used
    │   │   └── FileRefused      a session's file that cannot be read or written
    │   ├── SettingsError        settings that contradict each other or an earlier run
    │   └── Unauthorized         a server requires a token, or rejects the one sent
    ├── PlatformError            this machine lacks what was asked for             (exit 125)
    │   ├── UnsupportedPlatform  this level is not for this system or architecture
    │   │   └── MissingExtra     packages of one of proctor's extras are missing       (exit 2)
    │   ├── NoIsolation          no permitted sandbox works here
    │   │   └── LevelLacks       the isolation level in force cannot do this
    │   ├── NoInterpreter        no usable CPython for the cell
    │   └── NoLanguage           a language's compiler or interpreter is missing
    ├── CompileFailed            a program does not compile                          (exit 1)
    ├── SessionEnded             the session is over: closed, idle for too long, killed (exit 125)
    ├── Cancelled                the job was cancelled by its owner               (exit 125)
    ├── NotFound                 no such job, session or file of the caller's       (exit 2)
    │   └── UnknownProblem       a server does not keep the problem of this digest
    ├── Busy                     too much is waiting already; ask again later     (exit 125)
    ├── ModelFault               a model gave no usable reply                      (exit 125)
    │   ├── ModelUnreachable     nothing answers at its address, or the line breaks
    │   ├── ModelStalled         no whole reply in time
    │   ├── ModelRefused         the server answers with an error
    │   ├── ModelReplyBroken     its reply cannot be used: HTML, half a JSON, no choice, too long
    │   ├── ModelAbsent          a recording does not hold what is asked for
    │   └── AgentFault           an agent of the user's own failed
    └── InfraFault               our machinery failed; never the program's fault   (exit 125)
        ├── CellStartFailed      a cell did not come up
        ├── CellDied             a cell vanished while a job was in it
        ├── NotAllJudged         some of many programs could not be judged
        ├── PoolClosed           the pool was shut while work was waiting
        ├── Unreachable          no proctor at that address, or the line to it broke
        └── ReplyBroken          what answers there is no proctor of this version
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.execution import Execution


class ProctorError(Exception):
    """Base of all errors that proctor raises on purpose."""

    code = "proctor-error"
    """Name of the error for programs, such as `bad-input`; it does not change."""
    exit_code = 125
    """Exit code of the command line where this error ends a command."""


class UsageError(ProctorError):
    """The caller asked for something that cannot be done as asked: the caller's mistake."""

    code = "usage"
    exit_code = 2


class InputError(UsageError):
    """Input cannot be used; the message names file, line and field, the fault and the remedy."""

    code = "bad-input"

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.message = message
        """The fault and the remedy, without the place."""
        self.file = file
        """Name of the file, or None."""
        self.line = line
        """Number of the line, from 1, or None."""
        self.field = field
        """Path of the field, such as `limits.cpu`, or None."""
        super().__init__(str(self))

    def __str__(self) -> str:
        where = []
        if self.file is not None:
            where.append(self.file)
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.field is not None:
            option = self.field.startswith("--")
            where.append(self.field if option else f"field `{self.field}`")
        return f"{', '.join(where)}: {self.message}" if where else self.message


def must_be(kind: type | tuple[type, ...], value: object, field: str, hint: str = "") -> None:
    """Raise InputError for a value of another type."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(each.__name__ for each in kinds)
        raise InputError(f"must be {wanted}, not {type(value).__name__}{hint}", field=field)


class FileRefused(InputError):
    """A file in a session cannot be read or written; `errno` says why, as in errno(3)."""

    code = "file-refused"

    def __init__(self, message: str, *, file: str, errno: int) -> None:
        self.errno = errno
        super().__init__(message, file=file)


class SettingsError(UsageError):
    """Settings contradict each other, or those with which an output file was begun."""

    code = "bad-settings"


class Unauthorized(UsageError):
    """A server requires a token, or rejects the one that was sent."""

    code = "unauthorized"


class PlatformError(ProctorError):
    """This machine lacks something that was asked for."""

    code = "platform"


class UnsupportedPlatform(PlatformError):
    """proctor cannot run programs on this operating system or architecture."""

    code = "unsupported-platform"


class MissingExtra(UnsupportedPlatform):
    """Packages that an extra of proctor's brings are missing; the message says how to get them."""

    code = "missing-extra"
    exit_code = 2


class NoIsolation(PlatformError):
    """No permitted isolation level works here; the message names what is missing and the fix."""

    code = "no-isolation"


class LevelLacks(NoIsolation):
    """The isolation level cannot do this; the message says what it can do, and which level can."""

    code = "level-lacks"


class NoInterpreter(PlatformError):
    """No interpreter was found that a cell could run under."""

    code = "no-interpreter"


class CompileFailed(ProctorError):
    """A program does not compile; `output` holds the compiler's messages."""

    code = "compile-failed"
    exit_code = 1

    def __init__(
        self, message: str, output: str = "", execution: "Execution | None" = None
    ) -> None:
        self.output = output
        self.execution = execution
        """The compiler's run, if it came to that."""
        super().__init__(message)


class NoLanguage(PlatformError):
    """A language's tools are not installed; the message says which, and how to get them."""

    code = "no-language"


class SessionEnded(ProctorError):
    """The session has ended; the message says why."""

    code = "session-ended"


class Cancelled(ProctorError):
    """The job was cancelled by its owner; it has no result."""

    code = "cancelled"


class NotFound(ProctorError):
    """No job, session or session's file of the caller's has that name."""

    code = "not-found"
    exit_code = 2


class UnknownProblem(NotFound):
    """A server does not keep the problem that a judgement names; it must be sent again."""

    code = "unknown-problem"


class Busy(ProctorError):
    """The queue is full; `retry_after` says when to try again."""

    code = "busy"

    def __init__(self, message: str, retry_after: float) -> None:
        self.retry_after = retry_after
        """Time after which there may be room, in seconds."""
        super().__init__(message)


class ModelFault(ProctorError):
    """A model gave no usable reply: neither its programs nor proctor are to blame."""

    code = "model-fault"

    def __init__(
        self,
        message: str,
        *,
        passing: bool = True,
        retry_after: float | None = None,
        busy: bool = False,
    ) -> None:
        self.passing = passing
        """True if a retry may help."""
        self.retry_after = retry_after
        """Seconds to wait before the next request, if the server says so."""
        self.busy = busy
        """True if too many requests at once may be the cause."""
        super().__init__(message)


class ModelUnreachable(ModelFault):
    """Nothing answers at the model's address, or the connection broke."""

    code = "model-unreachable"


class ModelStalled(ModelFault):
    """The model's server did not send a whole reply in time."""

    code = "model-stalled"


class ModelRefused(ModelFault):
    """The model's server answered with an error."""

    code = "model-refused"


class ModelReplyBroken(ModelFault):
    """The model's server sent something that is not a reply."""

    code = "model-reply-broken"


class ModelAbsent(ModelFault):
    """A recording does not hold the generation that is asked for."""

    code = "model-absent"

    def __init__(self, message: str) -> None:
        super().__init__(message, passing=False)


class AgentFault(ModelFault):
    """An agent of the user's own failed, or did what an agent must not."""

    code = "agent-error"

    def __init__(self, message: str) -> None:
        super().__init__(message, passing=False)


class InfraFault(ProctorError):
    """Proctor's own machinery failed. Carries no score and is never a wrong answer."""

    code = "infra-fault"


class CellStartFailed(InfraFault):
    """A cell did not come up; the message carries what the box printed."""

    code = "cell-start-failed"


class CellDied(InfraFault):
    """A cell vanished while a job was in it."""

    code = "cell-died"


class NotAllJudged(InfraFault):
    """Some of many programs could not be judged; the results of the others are attached."""

    code = "not-all-judged"

    def __init__(self, message: str, results: Any = None, metadata: Any = None) -> None:
        self.results, self.metadata = results, metadata
        """Results in the form that the call returns, None for each program that was not judged."""
        super().__init__(message)


class PoolClosed(InfraFault):
    """The pool was closed while this work was waiting or running."""

    code = "pool-closed"


class Unreachable(InfraFault):
    """A server or daemon of proctor's is not there, or the connection broke before its answer."""

    code = "unreachable"


class ReplyBroken(InfraFault):
    """A server or daemon sent something that is not an answer of proctor's."""

    code = "reply-broken"
