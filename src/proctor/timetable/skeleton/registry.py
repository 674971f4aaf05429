"""The registry of kinds of constraints that can be modelled."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .params import ParamsReader
from .penalties import Rule

if TYPE_CHECKING:
    from .model import Timetable

Kind = Callable[["Timetable", Rule, ParamsReader], None]
KINDS: dict[str, Kind] = {}


def kind(*names: str) -> Callable[[Kind], Kind]:
    """Register a function as the model of a kind.

    It reads all parameters first, and raises `BadParams` or `Unsupported` before it adds anything.
    Then it says by the rule's methods what must hold; how often that is broken is what the
    validator counts as units of penalty.
    """

    def enter(function: Kind) -> Kind:
        for name in names:
            KINDS[name] = function
        return function

    return enter
