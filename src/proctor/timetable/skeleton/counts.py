"""Linear sums over the model's variables that can also be evaluated on a solution.

An objective is recomputed from a solution's variables, since a search may leave an auxiliary
variable of the objective above what it stands for. So the sums are kept, beside the solver's own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model
from ortools.sat.python import cp_model_helper as helper

Var = cp_model.IntVar
Literal = helper.Literal
"""A variable of 0 or 1, or the negation of one, whose index is ~ that of the variable."""


@dataclass(frozen=True, slots=True)
class Count:
    """A sum: constant + weight x variable + ...; the variables are 0 or 1."""

    variables: tuple[Var, ...] = ()
    weights: tuple[int, ...] = ()
    constant: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.variables + other.variables,
            self.weights + other.weights,
            self.constant + other.constant,
        )

    def __sub__(self, other: "Count") -> "Count":
        return self + other.times(-1)

    def times(self, factor: int) -> "Count":
        return Count(
            self.variables, tuple(factor * each for each in self.weights), factor * self.constant
        )

    def plus(self, number: int) -> "Count":
        return Count(self.variables, self.weights, self.constant + number)

    @property
    def expression(self) -> cp_model.LinearExpr:
        return cp_model.LinearExpr.weighted_sum(self.variables, self.weights) + self.constant

    @property
    def highest(self) -> int:
        return self.constant + sum(each for each in self.weights if each > 0)

    @property
    def lowest(self) -> int:
        return self.constant + sum(each for each in self.weights if each < 0)

    def value(self, values: Sequence[int]) -> int:
        """Return the sum in a solution, whose values are by the variables' index."""
        pairs = zip(self.variables, self.weights, strict=True)
        return self.constant + sum(weight * values[each.index] for each, weight in pairs)


def holds(literal: Literal, values: Sequence[int]) -> bool:
    """Return whether a literal is true in a solution."""
    index = literal.index
    return bool(values[index]) if index >= 0 else not values[~index]


def count(literals: Iterable[Literal]) -> Count:
    """Return how many of these are true."""
    variables: list[Var] = []
    weights: list[int] = []
    constant = 0
    for each in literals:
        if isinstance(each, Var):
            variables.append(each)
            weights.append(1)
        else:
            variables.append(positive(each))
            weights.append(-1)
            constant += 1
    return Count(tuple(variables), tuple(weights), constant)


def positive(literal: Literal) -> Var:
    """Return the variable of a literal."""
    found = literal if literal.index >= 0 else ~literal
    assert isinstance(found, Var)
    return found


def total(counts: Iterable[Count]) -> Count:
    """Return the sum of counts."""
    variables: list[Var] = []
    weights: list[int] = []
    constant = 0
    for each in counts:
        variables += each.variables
        weights += each.weights
        constant += each.constant
    return Count(tuple(variables), tuple(weights), constant)
