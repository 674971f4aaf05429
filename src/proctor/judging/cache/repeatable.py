"""Reach of a program: chance, time or identity, or none of them, by its source.

Three answers. A Python program that takes nothing from outside but names that are known to give
the same each time cannot, and one judgement of it is enough. One that openly uses chance is judged
each time. Of all others (those that read files, take attributes that lead anywhere, and all that
are compiled) the source decides nothing: cached.py judges them twice, and remembers what agrees.
Hashes of text, and so the order of sets, are the same in all cells (PYTHONHASHSEED).

Left: luck that falls the same way twice; and the text of an object that has none of its own
(`str(lambda: 0)`) and the order of a set of such objects, which depend on addresses.

A problem's own programs are not looked at: an interactor that draws lots is taken at its word.
"""

import builtins
import importlib
import random
import re
import sys
from enum import Enum
from functools import cache
from types import ModuleType

from proctor.judging.unit_tests.judge import own_texts
from proctor.languages import python_text, registry
from proctor.languages.python_text import Uses
from proctor.problem import OutputOnly, Problem
from proctor.program import Program


class Chance(Enum):
    """Answers of a source about chance, time and identity."""

    NONE = "out of reach"
    OPEN = "used"
    UNKNOWN = "not decided by the source"


_CLOSED = (
    "__future__", "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy",
    "dataclasses", "decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json",
    "math", "numbers", "operator", "os", "queue", "re", "statistics", "string", "struct", "sys",
    "textwrap", "types", "typing",
)  # fmt: skip
"""Modules of which a program may take what they offer, without reaching anything else."""
_MODULES = frozenset({*_CLOSED, "numpy", "sortedcontainers", "threading"})
"""Modules that are no open use of chance."""
_ONLY = {
    "os": frozenset({"_exit", "close", "dup", "fdopen", "fstat", "linesep", "path", "read", "sep",
                     "write", "SEEK_SET"}),
    "sys": frozenset({"argv", "byteorder", "exit", "float_info", "getrecursionlimit", "int_info",
                      "maxsize", "maxunicode", "set_int_max_str_digits", "setrecursionlimit",
                      "stderr", "stdin", "stdout", "version", "version_info"}),
    "threading": frozenset({"Thread", "stack_size"}),
}  # fmt: skip
"""Modules of which only these names are no open use of chance."""
_LEADING = {
    "dataclasses": {"make_dataclass"},
    "io": {"FileIO", "open", "open_code"},
    "operator": {"attrgetter", "methodcaller"},
    "statistics": {"NormalDist"},
    "string": {"Formatter"},
    "types": {"CodeType", "FunctionType"},
    "typing": {"get_type_hints"},
}
"""Public names of modules that lead to files, to attributes by their names, or to chance."""
_PREAMBLE = ("bisect", "collections", "functools", "heapq", "itertools", "math", "typing")
"""Modules whose names are there without an import for LiveCodeBench's programs."""
_BUILTINS = frozenset(dir(builtins)) - {
    "__build_class__", "__debug__", "__import__", "__loader__", "__spec__", "breakpoint", "compile",
    "copyright", "credits", "delattr", "dir", "eval", "exec", "getattr", "globals", "hasattr",
    "hash", "help", "id", "license", "locals", "object", "open", "setattr", "type", "vars",
}  # fmt: skip
"""Builtins that give the same each time, and lead nowhere else."""
_INNER = re.compile(
    r"__(?!init__$|name__$|slots__$|len__$|next__$|iter__$)\w*__"
    r"|(?:ag|co|cr|f|gi|tb)_\w+|st_(?!size$)\w+|buffer_info|fromfile"
)
"""Attributes that lead from objects to the interpreter, to a file's facts, or to addresses."""
_NOT = ("numpy.random", "statistics.NormalDist")
_OTHER = (frozenset(sys.stdlib_module_names) - _MODULES) | {"os", "sys"}
"""Modules that are openly used if another one is asked for them: `statistics.random`."""
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
    r"|omp|Task|rdrand|rdseed|__builtin_ia32\w+|_*asm_*|syscall"
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


def chance_in(problem: Problem, program: Program) -> Chance:
    """Return what the program's source says. Raises InputError for an unknown language, InfraFault.

    The program may depend on chance unless the answer is NONE.
    """
    if isinstance(problem.running, OutputOnly):
        return Chance.NONE
    family = registry.get(program.language).family
    files = (data.decode("utf-8", "replace") for data in program.files.values())
    texts = {program.source, *files} - own_texts()
    if family != "python":
        pattern = _pattern(family)
        found = any(pattern.search(text) for text in texts)
        return Chance.OPEN if found else Chance.UNKNOWN
    used = [python_text.uses(text) for text in texts]
    if not all(map(_is_not_open, used)):
        return Chance.OPEN
    return Chance.NONE if all(map(_is_closed, used)) else Chance.UNKNOWN


def _is_not_open(used: Uses | None) -> bool:
    """Return whether a text is Python that does not openly use chance."""
    if used is None or used.names & _NAMES or used.times.get("threading.Thread", 0) > 1:
        return False
    return all(_known(name) for name in (*used.imports, *used.times))


def _is_closed(used: Uses | None) -> bool:
    """Return whether a text takes nothing from outside that could lead to chance."""
    return (
        used is not None
        and used.names <= _BUILTINS.union(*map(_offered, _PREAMBLE))
        and not any(map(_INNER.fullmatch, used.attributes))
        and all(each in _CLOSED or _is_offered(each) for each in used.imports)
        and all(map(_is_offered, used.times))
    )


def _is_offered(name: str) -> bool:
    """Return whether a dotted name is one that a closed module offers, or a part of it."""
    root, _, rest = name.partition(".")
    return root in _CLOSED and rest.partition(".")[0] in _offered(root)


@cache
def _offered(module: str) -> frozenset[str]:
    """Return the names that a program may take from a module."""
    if module in _ONLY:
        return _ONLY[module] - {"path"}
    found = importlib.import_module(module)
    public = getattr(found, "__all__", None) or [each for each in dir(found) if each[0] != "_"]
    leading = _LEADING.get(module, set())
    return frozenset(
        each for each in public
        if each not in leading and not isinstance(getattr(found, each), ModuleType)
    )  # fmt: skip


def _known(name: str) -> bool:
    """Return whether a module, or a name in one, is the same each time."""
    root, _, rest = name.partition(".")
    if not _is_offered(name) and not _OTHER.isdisjoint(rest.split(".")):
        return False
    if root not in _MODULES or any(f"{name}.".startswith(f"{each}.") for each in _NOT):
        return False
    return root not in _ONLY or not rest or rest.partition(".")[0] in _ONLY[root]


@cache
def _pattern(family: str) -> re.Pattern[str]:
    called = rf"(?:{_CALLED})\s*(?:\(|\.|::)" if family in _C_LIKE else rf"(?:{_CALLED})\b"
    more = f"|{_UNORDERED[family]}" if family in _UNORDERED else ""
    return re.compile(rf"\b(?:(?:{_WORDS})\b|{called}){more}")
