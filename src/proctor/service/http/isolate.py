"""Endings of runs in the words of isolate, the sandbox behind Piston and Judge0."""

from proctor.execution import LimitHit

TIME_MESSAGES = {
    LimitHit.CPU: "Time limit exceeded",
    LimitHit.WALL: "Time limit exceeded (wall clock)",
    LimitHit.IDLE: "Time limit exceeded (wall clock)",
}
"""Messages for limits on time."""


def limit_message(limit: LimitHit) -> str:
    """Return the message for a limit that was hit, other than those on time."""
    return f"{limit} limit exceeded".capitalize()


def exit_message(code: int) -> str:
    """Return the message for an exit code that is not 0."""
    return f"Exited with error status {code}"


def signal_message(number: int) -> str:
    """Return the message for a signal that ended a program."""
    return f"Caught fatal signal {number}"
