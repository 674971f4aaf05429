"""Runs in a cell, beside a submission: calls its functions for test code that is elsewhere.

A line on stdin is a call, [name, arguments, keyword arguments]; a line on stdout is what came back;
both as plain data. All that the submission could forge here is what it might have returned.
"""

import builtins
import os
import sys
from types import ModuleType
from typing import Any

from plain_data import decode, encode  # type: ignore[import-not-found]  # put beside it

MOST = 64 << 20
"""Values in one call or result: what the cell may use is the limit."""


def main() -> None:
    """Answer calls until there are no more; an exception of the submission ends the process."""
    calls = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # The submission must neither read calls nor print into answers.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    solution = loaded()
    for line in calls:
        name, arguments, keywords = decode(line.strip())
        value = getattr(solution, name)(
            *map(unmarked, arguments), **{key: unmarked(each) for key, each in keywords.items()}
        )
        answers.write(encode(value, nodes=MOST) + b"\n")
        answers.flush()
    # Skip the interpreter's shutdown: the submission may have left threads.
    os._exit(0)


def loaded() -> ModuleType:
    """Load the submission as UTF-8, even if a comment in it names another encoding."""
    module = ModuleType("solution")
    module.__file__ = "solution.py"
    sys.modules[module.__name__] = module
    with open(module.__file__, encoding="utf-8-sig") as file:
        exec(compile(file.read(), module.__file__, "exec", dont_inherit=True), vars(module))
    return module


def unmarked(argument: list[Any]) -> Any:
    """Return an argument as the tests gave it."""
    kind, value = argument
    return getattr(builtins, value) if kind == "type" else value


if __name__ == "__main__":
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    main()
