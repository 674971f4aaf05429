"""The registry of constraint kinds, each with its parameters and its check.

A new kind is one function with `@checker` in a module of `kinds/`. Its docstring says what the
kind means and appears in the reference; `unit` says what each unit of penalty is.

A parameter's name means the same in every kind: `teacher`, `classes`, `day`, ... (see
`vocabulary.py`). A constraint that names something unknown to the input cannot be checked; if it is
hard, the validation fails. The same goes for parameters that are missing, of the wrong type, or
unknown: each may change the meaning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec

from proctor.json_values import convert_json
from proctor.timetable.schedule import Lesson, Schedule
from proctor.timetable.vocabulary import CannotCheck, Vocabulary

AtLeast0 = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
AtLeast1 = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Names = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
Periods = Annotated[tuple[int, ...], msgspec.Meta(min_length=1)]


class Params(
    msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True
):
    """Parameters of a kind."""


class NoParams(Params, frozen=True):
    """The parameters of a kind that has none."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One way in which a timetable breaks a constraint."""

    message: str
    lessons: Sequence[Lesson] = ()
    units: float = 1
    """Units of penalty, as the kind counts them."""


Check = Callable[[Schedule, Any], Iterable[Breach]]
P = TypeVar("P", bound=Params)


@dataclass(frozen=True, slots=True)
class ConstraintKind:
    """A kind of constraint."""

    name: str
    family: str
    """Name of the module that defines it, such as `teachers`."""
    params: type[Params]
    check: Check
    meaning: str
    unit: str


KINDS: dict[str, ConstraintKind] = {}
"""All kinds, once `proctor.timetable.kinds` is imported."""


def checker(
    name: str, params: type[P], *, unit: str
) -> Callable[
    [Callable[[Schedule, P], Iterable[Breach]]], Callable[[Schedule, P], Iterable[Breach]]
]:
    """Register a kind; the decorated check yields breaches, and may raise CannotCheck."""

    def register(
        check: Callable[[Schedule, P], Iterable[Breach]],
    ) -> Callable[[Schedule, P], Iterable[Breach]]:
        if name in KINDS:
            raise ValueError(f"the kind {name} is registered twice")
        family = check.__module__.rpartition(".")[2]
        meaning = " ".join((check.__doc__ or "").split())
        KINDS[name] = ConstraintKind(name, family, params, check, meaning, unit)
        return check

    return register


def decode(
    kind: str, params: Mapping[str, Any], vocabulary: Vocabulary
) -> tuple[ConstraintKind, Any]:
    """Return a kind and its decoded parameters; raises CannotCheck for unknown ones."""
    found = KINDS.get(kind)
    if found is None:
        raise CannotCheck("no such kind is known")
    try:
        return found, convert_json(vocabulary.known(params), found.params)
    except msgspec.ValidationError as error:
        raise CannotCheck(f"its params are wrong: {error}") from None


def findings(kind: str, params: Mapping[str, Any], schedule: Schedule) -> Iterator[Breach]:
    """Yield a schedule's breaches of one constraint; raises CannotCheck, perhaps midway."""
    found, decoded = decode(kind, params, schedule.vocabulary)
    yield from found.check(schedule, decoded)


# A former name, kept until 1.0.
Finding = Breach
