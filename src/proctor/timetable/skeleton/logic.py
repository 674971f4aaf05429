"""Variables that stand for `or` and `and` of others, each made once."""

from collections.abc import Iterable

from ortools.sat.python import cp_model

from .counts import Literal


class Logic:
    """The variables of this kind of one model. They follow from the others."""

    def __init__(self, model: cp_model.CpModel) -> None:
        self.model = model
        self.true = model.new_constant(1)
        self._any: dict[frozenset[int], Literal] = {}
        self._of: dict[int, frozenset[int]] = {}

    def any(self, literals: Iterable[Literal]) -> Literal:
        """Return a variable that is true exactly if one of these is; a false one for none."""
        found = {each.index: each for each in literals}
        if self.true.index in found or any(~each.index in found for each in found.values()):
            return self.true
        found.pop((~self.true).index, None)
        if not found:
            return ~self.true
        if len(found) == 1:
            return next(iter(found.values()))
        key = frozenset(found)
        known = self._any.get(key)
        if known is None:
            known = self._any[key] = self.model.new_bool_var("")
            self._of[known.index] = key
            self.model.add_bool_or(*found.values(), ~known)
            for each in found.values():
                self.model.add_implication(each, known)
        return known

    def all(self, literals: Iterable[Literal]) -> Literal:
        """Return a variable that is true exactly if all of these are; a true one for none."""
        return ~self.any(~each for each in literals)

    def sources(self, indices: Iterable[int]) -> set[int]:
        """Return the variables, by index, that these variables stand for, at any depth."""
        found: set[int] = set()
        waiting = [index if index >= 0 else ~index for index in indices]
        while waiting:
            index = waiting.pop()
            if index not in found:
                found.add(index)
                waiting += [each if each >= 0 else ~each for each in self._of.get(index, ())]
        return found
