"""Every error proctor raises on purpose.

::

    ProctorError                 has a stable `code` and an `exit_code` for the command line
    ├── UsageError               the caller's mistake                                (exit 2)
    │   ├── InputError           a file, line or field that cannot be used
    │   └── SettingsError        settings that contradict each other or an earlier run
    ├── PlatformError            this machine lacks what was asked for             (exit 125)
    │   ├── UnsupportedPlatform  not Linux, or not an architecture we know
    │   ├── NoIsolation          no permitted sandbox works here
    │   └── NoInterpreter        no usable CPython for the cell
    └── InfraFault               our machinery failed; never the program's fault   (exit 125)
        ├── CellStartFailed      a cell did not come up
        ├── CellDied             a cell vanished while a job was in it
        └── PoolClosed           the pool was shut while work was waiting
"""


class ProctorError(Exception):
    """Base of all errors raised by proctor."""

    code = "proctor-error"
    exit_code = 125


class UsageError(ProctorError):
    """The caller asked for something that cannot be done as asked."""

    code = "usage"
    exit_code = 2


class InputError(UsageError):
    """Input that cannot be used: says which file, line and field, what is wrong, what to do."""

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
        self.file = file
        self.line = line
        self.field = field
        super().__init__(str(self))

    def __str__(self) -> str:
        where = []
        if self.file is not None:
            where.append(self.file)
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.field is not None:
            where.append(f"field `{self.field}`")
        return f"{', '.join(where)}: {self.message}" if where else self.message


class SettingsError(UsageError):
    """Settings that contradict each other, or those an output file was begun with."""

    code = "bad-settings"


class PlatformError(ProctorError):
    """This machine lacks something that was asked for."""

    code = "platform"


class UnsupportedPlatform(PlatformError):
    """proctor cannot run programs on this operating system or architecture."""

    code = "unsupported-platform"


class NoIsolation(PlatformError):
    """No permitted isolation level works here; the message names what is missing and the fix."""

    code = "no-isolation"


class NoInterpreter(PlatformError):
    """No interpreter that a cell could run under."""

    code = "no-interpreter"


class InfraFault(ProctorError):
    """Proctor's own machinery failed. Carries no score and is never a wrong answer."""

    code = "infra-fault"


class CellStartFailed(InfraFault):
    """A cell did not come up; the message carries what the box printed."""

    code = "cell-start-failed"


class CellDied(InfraFault):
    """A cell vanished while a job was in it."""

    code = "cell-died"


class PoolClosed(InfraFault):
    """The pool was closed while this work was waiting or running."""

    code = "pool-closed"
