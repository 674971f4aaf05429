"""Rules over counts, hard or at a cost, and the objective that the costs add up to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from .counts import Count, Literal, count, holds
from .logic import Logic


@dataclass(frozen=True, slots=True)
class Limit:
    """An upper limit on a count, in force while `when` is true."""

    count: Count
    most: int
    when: Literal | None

    def units(self, values: Sequence[int]) -> int:
        """Return how far a solution exceeds the limit."""
        if self.when is not None and not holds(self.when, values):
            return 0
        return max(0, self.count.value(values) - self.most)

    @property
    def highest(self) -> int:
        return max(0, self.count.highest - self.most)


@dataclass(frozen=True, slots=True)
class PenaltyPart:
    """A part of the objective: the excess over a limit, or that some limit is broken at all."""

    weight: Fraction
    limits: list[Limit]
    once: bool
    """True if it costs the weight once, however many limits are broken and by how much."""
    variable: Count
    """Stand-in for it in the solver's objective, never below its true value."""
    own: bool
    """True if the generated program added it, not the input."""

    def value(self, values: Sequence[int]) -> Fraction:
        units = sum(each.units(values) for each in self.limits)
        return self.weight * (min(units, 1) if self.once else units)

    @property
    def indices(self) -> set[int]:
        """Return the variables, by index, that it depends on."""
        literals = [each.when.index for each in self.limits if each.when is not None]
        return {*literals, *(var.index for each in self.limits for var in each.count.variables)}

    @property
    def highest(self) -> Fraction:
        return self.weight * (1 if self.once else sum(each.highest for each in self.limits))


@dataclass(slots=True)
class Penalties:
    """All parts of the objective."""

    logic: Logic
    parts: list[PenaltyPart] = field(default_factory=list)

    def value(self, values: Sequence[int], *, own: bool = False) -> Fraction:
        """Return what a solution costs by the input's parts, or by those of the program."""
        return sum((each.value(values) for each in self.parts if each.own == own), Fraction(0))

    @property
    def own_at_most(self) -> Fraction:
        """Most that the program's own parts can add to the solver's objective."""
        return sum((each.highest for each in self.parts if each.own), Fraction(0))

    @property
    def priced(self) -> list[tuple[Fraction, Count]]:
        """Return weights and what the solver sums for them."""
        return [(each.weight, each.variable) for each in self.parts]

    def rule(self, weight: float | None, *, own: bool = False) -> "Rule":
        """Return a rule that costs this much a unit; None for one that must be kept."""
        exact = None if weight is None else Fraction(str(weight))
        return Rule(self, exact, own)


@dataclass(frozen=True, slots=True)
class Rule:
    """A requirement of a constraint, stated in the same way whether it is hard or soft."""

    penalties: Penalties
    weight: Fraction | None
    own: bool = False
    when: Literal | None = None
    """Condition under which it applies; None if it always does."""
    broken: PenaltyPart | None = None
    """Part that is broken as a whole, where it does not matter by how much."""

    @property
    def hard(self) -> bool:
        return self.weight is None

    @property
    def plain(self) -> bool:
        """True if it does not stand within another constraint."""
        return self.when is None and self.broken is None

    def at_most(self, what: Count, most: int, when: Literal | None = None) -> None:
        """Limit a count, while `when` is true: every unit above breaks the rule once."""
        if what.highest <= most:
            return
        limit = Limit(what, most, self._both(when))
        if self.broken is not None:
            self.broken.limits.append(limit)
            self._hold(limit, Count(), ~self.broken.variable.variables[0])
        elif self.weight is None:
            self._hold(limit, Count())
        elif self.weight:
            self._price(limit, self.weight)

    def _both(self, when: Literal | None) -> Literal | None:
        if self.when is None or when is None:
            return when if self.when is None else self.when
        return self.penalties.logic.all([self.when, when])

    def _hold(self, limit: Limit, excess: Count, *unless: Literal) -> None:
        model = self.penalties.logic.model
        over = limit.count - excess
        # Where nothing is left to decide, the solver's interface makes no constraint of it.
        held = model.add(over.expression <= limit.most) if over.variables else model.add_bool_or([])
        conditions = [*unless] if limit.when is None else [limit.when, *unless]
        if conditions:
            held.only_enforce_if(*conditions)

    def _price(self, limit: Limit, weight: Fraction) -> None:
        if limit.when is None and limit.count.lowest >= limit.most:
            stands = limit.count.plus(-limit.most)
        else:
            excess = self.penalties.logic.model.new_int_var(0, limit.highest, "")
            stands = Count((excess,), (1,))
            self._hold(limit, stands)
        self.penalties.parts.append(PenaltyPart(weight, [limit], False, stands, self.own))

    def at_least(self, what: Count, least: int, when: Literal | None = None) -> None:
        """Demand a count: every unit below breaks the rule once."""
        self.at_most(what.times(-1), -least, when)

    def exactly(self, what: Count, number: int, when: Literal | None = None) -> None:
        """Fix a count: every unit off the number breaks the rule once."""
        self.at_most(what, number, when)
        self.at_least(what, number, when)

    def never(self, what: Count, when: Literal | None = None) -> None:
        """Forbid a count: every unit breaks the rule once."""
        self.at_most(what, 0, when)

    def within(self, condition: Literal) -> "Rule":
        """Return a rule within this one: kept while the condition holds, or broken once."""
        inner = replace(self, when=self._both(condition))
        if self.weight is None or self.broken is not None:
            return inner
        literal = self.penalties.logic.model.new_bool_var("")
        part = PenaltyPart(self.weight, [], True, count([literal]), self.own)
        if self.weight:
            self.penalties.parts.append(part)
        return replace(inner, broken=part)
