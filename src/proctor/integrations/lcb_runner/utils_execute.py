"""lcb_runner.evaluation.utils_execute: a program that is right if it runs to its end."""

from dataclasses import replace
from typing import Never

from proctor.cell.lcb_process import TimeoutException
from proctor.errors import InfraFault, InputError, UsageError
from proctor.integrations.lcb_runner.samples import checked_program
from proctor.integrations.lcb_runner.testing_util import reliability_guard
from proctor.integrations.pools import chosen_pool
from proctor.judging.judge import submit
from proctor.judging.predictions import judge_to_the_end
from proctor.judging.settings import OFFICIAL_LIMITS

__all__ = [
    "BASE_IMPORTS",
    "TimeoutException",
    "check_correctness",
    "reliability_guard",
    "unsafe_execute",
]

_NAMES_OF = {
    "itertools": "accumulate chain combinations count cycle groupby islice permutations product"
    " repeat zip_longest",
    "string": "ascii_lowercase",
    "math": "ceil comb floor gcd inf isqrt log log10 log2 prod sqrt",
    "collections": "Counter OrderedDict defaultdict deque",
    "bisect": "bisect_left bisect_right insort",
    "copy": "deepcopy",
    "heapq": "heapify heappop heappush merge",
    "functools": "cache lru_cache partial reduce",
    "random": "randrange shuffle",
    "operator": "iand itemgetter sub",
    "os.path": "commonprefix",
    "typing": "Any Callable Dict Generator Iterable Iterator List Optional Set Tuple Union",
}
_MODULES = "bisect collections copy functools heapq itertools math operator random re string sys"

BASE_IMPORTS = "".join(
    [f"from {module} import {', '.join(names.split())}\n" for module, names in _NAMES_OF.items()]
    + ["from re import search as re_search\n"]
    + [f"import {module}\n" for module in _MODULES.split()]
    + ["import numpy as np\n", "import pandas as pd\n"]
)
"""Imports that define the same names as upstream's BASE_IMPORTS."""


def check_correctness(check_program: str, timeout: float = 3) -> bool:
    """Return whether a program runs to its end in a cell with no error, within `timeout` seconds.

    `BASE_IMPORTS` at its beginning cost nothing, and not all of these modules need be installed:
    numpy and pandas are imported only if the program mentions `np` and `pd`.

    Raises InputError for arguments that cannot be used, InfraFault where proctor could not judge.
    """
    text = checked_program(check_program, "check_program")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise InputError(f"must be seconds above 0, not {timeout!r}", field="timeout")
    limits = replace(OFFICIAL_LIMITS, cpu=timeout)
    code, imported = text.removeprefix(BASE_IMPORTS), text.startswith(BASE_IMPORTS)
    judging = submit(
        lambda cell: judge_to_the_end(cell, code, limits, lcb=imported), chosen_pool.get()
    )
    judgement = judging.result()
    if judgement.verdict.is_fault:
        raise InfraFault(f"the program could not be judged: {judgement.message}")
    return judgement.verdict.passed


def unsafe_execute(check_program: str, result: object, timeout: float) -> Never:  # noqa: ARG001 - upstream's
    """Raise UsageError: upstream executes the program in the process that calls."""
    raise UsageError(
        "unsafe_execute executes a program in the process that calls it: call check_correctness"
    )
