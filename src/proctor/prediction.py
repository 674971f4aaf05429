"""Questions for one value: the submission is not a program but a prediction, graded by a call."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CallTask:
    """A call of a function whose code is known; its result or its arguments are predicted."""

    code: str
    function: str
    call: str
    """The call in Python, such as `f([1], k=2)`."""
    output: str
    """The call's result, in Python."""
    wanted: Literal["output", "input"] = "output"
    lcb: bool = False
    """True if the code runs after lcb_runner's imports."""

    @property
    def arguments(self) -> str:
        """Arguments of the call, as written."""
        return self.call.removeprefix(f"{self.function}(").removesuffix(")")


@dataclass(frozen=True, slots=True)
class AssertionTask:
    """A call of a function whose code is not known; its result is predicted as an assertion."""

    call: str
    output: str
    """The call's result, as JSON."""
