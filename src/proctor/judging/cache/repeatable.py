"""Programs that do the same each time: no chance, no clock, no memory addresses.

A heuristic over the source. It errs towards judging again: a Python program must import nothing but
modules that are known to repeat themselves, and must not execute text; one in another language must
hold none of the words that stand for chance, time and threads, even in a comment. It errs the
other way for a program that hides what it does (`().__class__.__base__.__subclasses__()`), that
reads memory it has not written, or that depends on the order of objects by their addresses: the
judgement of such a program is remembered as it came out. Hashes of text, and so the order of sets,
are the same in all cells (PYTHONHASHSEED).

A problem's own programs are not looked at: an interactor that draws lots is taken at its word.
"""

import random
import re
from functools import cache

from proctor.judging.unit_tests.judge import own_texts
from proctor.languages import python_text, registry
from proctor.problem import OutputOnly, Problem
from proctor.program import Program

_MODULES = frozenset({
    "__future__", "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy",
    "dataclasses", "decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json",
    "math", "numbers", "numpy", "operator", "os", "queue", "re", "sortedcontainers", "statistics",
    "string", "struct", "sys", "textwrap", "threading", "types", "typing",
})  # fmt: skip
_ONLY = {
    "os": frozenset({"_exit", "close", "dup", "fdopen", "fstat", "linesep", "path", "read", "sep",
                     "write", "SEEK_SET"}),
    "sys": frozenset({"argv", "byteorder", "exit", "float_info", "getrecursionlimit", "int_info",
                      "maxsize", "maxunicode", "set_int_max_str_digits", "setrecursionlimit",
                      "stderr", "stdin", "stdout", "version", "version_info"}),
    "threading": frozenset({"Thread", "stack_size"}),
}  # fmt: skip
"""Modules of which only these names are the same each time."""
_NOT = ("numpy.random", "statistics.NormalDist")
_NAMES = frozenset({
    "__import__", "breakpoint", "compile", "eval", "exec", "getattr", "globals", "hash", "id",
    "locals", "open", "vars",
    # Names from modules that are imported before LiveCodeBench's programs.
    "date", "datetime", "time", "random", *random.__all__,
})  # fmt: skip
"""Names that may reach anything, or chance and time, unless the program sets them itself."""

_WORDS = (
    r"\w*chrono\w*|clock_gettime|gettimeofday|getrusage|\w*rdtscp?|nanoTime|currentTimeMillis"
    r"|microtime|hrtime|Stopwatch|TickCount|Instant|LocalDateTime|DateTime|Date|performance"
    r"|mt19937\w*|minstd_rand\w*|random_device|\w*random_engine|[delmn]rand48|arc4random\w*"
    r"|getrandom|urandom|SecureRandom|ThreadLocalRandom|Random|UUID|uuid\w*|identityHashCode"
    r"|hashCode|fork|getpid|p?threads?|pthread\w+|Threads?|async|Parallel|parallelStream|rayon"
    r"|omp|Task"
)
_CALLED = r"time|clock|now|s?rand\w*|mt_s?rand|shuffle|sample"
"""Words for chance and time that are also common names of variables."""
_C_LIKE = frozenset(
    {"c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "php", "rust", "typescript"}
)
"""Families of languages where such words count only before a parenthesis, or as a module."""
_UNORDERED = {
    "rust": r"Hash(?:Map|Set)",
    "go": r"map\s*\[|\bgo\b|\bselect\b",
    "lua": r"\bpairs\b",
    "perl": r"\b(?:keys|values|each)\b",
    "bash": r"\$\$|\bRANDOM\b|\bSECONDS\b|\bdate\b|&",
}
"""Words, by family, for things that come or end in a different order each time."""


def is_repeatable(problem: Problem, program: Program) -> bool:
    """Return whether the program does the same each time, as far as can be seen.

    Raises InputError for a language that is not known, InfraFault.
    """
    if isinstance(problem.running, OutputOnly):
        return True
    family = registry.get(program.language).family
    files = (data.decode("utf-8", "replace") for data in program.files.values())
    texts = {program.source, *files} - own_texts()
    if family == "python":
        return all(map(_python_repeats, texts))
    pattern = _pattern(family)
    return not any(pattern.search(text) for text in texts)


def _python_repeats(text: str) -> bool:
    uses = python_text.uses(text)
    if uses is None or uses.names & _NAMES or uses.times.get("threading.Thread", 0) > 1:
        return False
    return all(_known(name) for name in (*uses.imports, *uses.times))


def _known(name: str) -> bool:
    """Return whether a module, or a name in one, is the same each time."""
    root, _, rest = name.partition(".")
    if root not in _MODULES or any(f"{name}.".startswith(f"{each}.") for each in _NOT):
        return False
    return root not in _ONLY or not rest or rest.partition(".")[0] in _ONLY[root]


@cache
def _pattern(family: str) -> re.Pattern[str]:
    called = rf"(?:{_CALLED})\s*(?:\(|\.|::)" if family in _C_LIKE else rf"(?:{_CALLED})\b"
    more = f"|{_UNORDERED[family]}" if family in _UNORDERED else ""
    return re.compile(rf"\b(?:(?:{_WORDS})\b|{called}){more}")
