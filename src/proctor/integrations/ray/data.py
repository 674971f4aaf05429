"""Rewards for the rows of a Ray data set, a class for `Dataset.map_batches`.

dataset.map_batches(Judge, fn_constructor_kwargs={"scoring": "fraction"},
concurrency=(1, 8), num_cpus=2)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import ray

from proctor.errors import InputError
from proctor.integrations.grading import CompletionGrader
from proctor.integrations.rows import COLUMNS, rows_of
from proctor.languages.pools import open_pool


class Judge:
    """Judges batches of rows in a pool of as many cells as its actor has CPUs."""

    def __init__(
        self,
        completion: str = "completion",
        pool: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Open the pool.

        `completion` is the column that holds completions, `pool` are arguments of
        proctor.open_pool, and `options` fields of CompletionGrader. Raises UsageError,
        PlatformError.
        """
        assigned = ray.get_runtime_context().get_assigned_resources()
        cpus = assigned.get("CPU", 1)
        self._completion = completion
        self._pool = open_pool(**{"cells": max(1, int(cpus)), **(pool or {})})
        self._grader = CompletionGrader(pool=self._pool, **options)

    def __call__(self, batch: Any) -> Any:
        """Return the batch with the columns `reward`, `verdict`, `message` and `masked`.

        A batch is columns by name, of NumPy, pandas or Arrow. A reward is NaN where it is masked.
        Raises InputError if there are no completions, or no tests in any column of rows.task_of.
        """
        columns = _plain(batch)
        if self._completion not in columns:
            raise InputError(f"has no column {self._completion!r} with completions")
        completions = columns.pop(self._completion)
        rows = rows_of(columns, len(completions), COLUMNS)
        made = self._grader.grade(rows, completions)
        found = {
            "reward": np.array([np.nan if each.reward is None else each.reward for each in made]),
            "verdict": np.array([str(each.verdict) for each in made], dtype=object),
            "message": np.array([each.message for each in made], dtype=object),
            "masked": np.array([each.masked for each in made]),
        }
        if hasattr(batch, "append_column"):
            for name, values in found.items():
                batch = batch.append_column(name, [values])
            return batch
        if hasattr(batch, "assign"):
            return batch.assign(**found)
        return {**batch, **found}


def _plain(batch: Any) -> dict[str, list[Any]]:
    """Return columns as lists of plain values, whichever format they come in."""
    if hasattr(batch, "to_pydict"):
        return dict(batch.to_pydict())
    return {str(name): [_value(each) for each in column] for name, column in batch.items()}


def _value(value: Any) -> Any:
    """Return a value without NumPy in it: nested columns come as arrays of arrays."""
    if isinstance(value, np.ndarray):
        return [_value(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _value(each) for name, each in value.items()}
    return value.item() if isinstance(value, np.generic) else value
