"""The validator of profile `packing`: every item in one bin, no bin too full, bins counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.solver.report import ValidationReport, Violation, report

_MOST, _SHOWN = 100, 20
"""Violations and items of a bin that are listed at most; a result may have any number of them."""


def check(given: Mapping[str, Any]) -> Sequence[str]:
    """Return the mistakes of an input that fits its schema."""
    known = Counter(item["id"] for item in given["items"])
    return [f"{times} items have the id {id_[:200]!r}" for id_, times in known.items() if times > 1]


def validate(
    given: Mapping[str, Any],
    result: Mapping[str, Any],
    custom_checks: Sequence[Mapping[str, Any]] = (),
) -> ValidationReport:
    """Check a packing; its objective is the number of bins that are not empty."""
    del custom_checks  # packings know no predicates
    if wrong := check(given):
        raise InputError(wrong[0], field="items")
    sizes = {item["id"]: item["size"] for item in given["items"]}
    bins: list[list[str]] = result.get("bins") or []
    packed = Counter(item for each in bins for item in each)
    found = [
        _violation("unknown_item", f"{item[:200]} is not among the items")
        for item in packed
        if item not in sizes
    ]
    found += [
        _violation("item_count", f"{item} is packed {packed[item]} times, not once")
        for item in sizes
        if packed[item] != 1
    ]
    for number, each in enumerate(bins):
        load = sum(sizes.get(item, 0) for item in each)
        if load > given["capacity"]:
            found.append(
                _violation(
                    "overfull",
                    f"bin {number} holds {load}, more than {given['capacity']}",
                    {"bin": number, "items": each[:_SHOWN]},
                )
            )
    more = len(found) - _MOST
    if more > 0:
        rest = _violation("more", f"and {more} more")
        found = [*found[:_MOST], msgspec.structs.replace(rest, count=more)]
    return report(found, objective=float(sum(1 for each in bins if each)))


def _violation(kind: str, message: str, *entries: Mapping[str, Any]) -> Violation:
    return Violation(f"base_{kind}", f"base_{kind}", "hard", message, entries)
