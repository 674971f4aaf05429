"""Magics that measure: `%time`, `%timeit`, and both for whole cells."""

import os
import re
import time
import timeit
from typing import Any

from proctor.cell.notebook_commands import ShellCommands

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


class TimingMagics(ShellCommands):
    """Measures statements and cells."""

    def _line_time(self, line: str) -> Any:
        return self._timed(line)

    def _line_timeit(self, line: str) -> None:
        options, statement = _timeit_options(line)
        self._timeit(options, statement)

    def _cell_time(self, _line: str, cell: str) -> Any:
        return self._timed(cell)

    def _cell_timeit(self, line: str, cell: str) -> None:
        options, setup = _timeit_options(line)
        self._timeit(options, cell, setup or "pass")

    def _timed(self, source: str) -> Any:
        used, began = os.times(), time.perf_counter()
        value = self._interpreter.run(source)
        took, now = time.perf_counter() - began, os.times()
        user, system = now.user - used.user, now.system - used.system
        both = _span(user + system)
        print(f"CPU times: user {_span(user)}, sys: {_span(system)}, total: {both}")
        print(f"Wall time: {_span(took)}")
        return value

    def _timeit(self, options: dict[str, int], statement: str, setup: str = "pass") -> None:
        timer = timeit.Timer(statement, setup, globals=self.user_ns)
        number = options.get("n") or timer.autorange()[0]
        repeat = options.get("r") or 7
        runs = [took / number for took in timer.repeat(repeat, number)]
        mean = sum(runs) / len(runs)
        spread = (sum((each - mean) ** 2 for each in runs) / len(runs)) ** 0.5
        many, loops = "s" * (repeat > 1), "s" * (number > 1)
        print(
            f"{_span(mean)} +- {_span(spread)} per loop (mean +- std. dev. of {repeat} run{many},"
            f" {number:,} loop{loops} each)"
        )


def _timeit_options(line: str) -> tuple[dict[str, int], str]:
    """Return the counts -n and -r, and the rest of the line."""
    found: dict[str, int] = {}
    while (option := re.match(r"\s*-(?:([nr])\s*(\d+)|[qop])\s+", line + " ")) is not None:
        if option[1]:
            found[option[1]] = int(option[2])
        line = line[option.end() :]
    return found, line.strip()


def _span(seconds: float) -> str:
    """Return a span of time in its unit, with three digits."""
    unit, name = next(((u, n) for u, n in _UNITS if seconds >= u), _UNITS[-1])
    return f"{seconds / unit:.3g} {name}"
