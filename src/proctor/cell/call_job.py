"""Function-call tests: a program is loaded after the import preamble and one function is called."""

import json
import sys
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from proctor.cell import lcb_load, plain_data, python_job

_RECURSION_LIMIT = 50_000  # as on the platforms of function-call problems
_STORES = ("STORE_GLOBAL", "STORE_NAME")
"""Instructions that bind a global name; the second in the code of a module only."""
_STARTERS = ("multiprocessing", "concurrent.futures")
_base = lcb_load.preamble()


def call(code: CodeType, function: str, *, last: bool) -> int:
    """Load the program, call its function with the input's arguments, write the result.

    `last`: no other test follows in this process. Returns the exit code to end with.
    """
    sys.setrecursionlimit(_RECURSION_LIMIT)
    names: dict[str, Any] = vars(_base)
    if not last:  # a copy touches 900 objects, on two hundred pages shared with the agent
        names = dict(names)
    names["__name__"] = "solution"
    imported = names.get(function)
    encode, parse = plain_data.encode, json.loads  # before the program may replace them
    try:
        arguments = python_job.read(0).decode("utf-8", "surrogatepass").strip().split("\n")
        exec(code, names)
        if last and not sys.modules.keys().isdisjoint(_STARTERS):
            sys.modules["solution"] = _base  # where other processes are told to find its functions
        owner = names.get("Solution")
        if owner is not None:
            found = _method(owner(), function)
        elif (found := names.get(function)) is imported and not _binds(code, function):
            found = None
        if found is None:
            raise NameError(f"the program does not define {function!r}")
        python_job.write(python_job.RESULT_FD, encode(found(*map(parse, arguments))))
    except SystemExit as stop:
        return python_job.exit_code(stop)
    except BaseException as error:  # noqa: BLE001 - as in python_job._execute
        python_job.print_exception(error)
        return 1
    return 0


def _method(solution: Any, name: str) -> Callable[..., Any] | None:
    """Return a method, if it is not one that every object has. Raises AttributeError."""
    found: Callable[..., Any] = getattr(solution, name)
    classes = type(solution).__mro__[:-1]
    inherited = name in vars(object) and not any(name in vars(each) for each in classes)
    return None if inherited else found


def _binds(code: CodeType, name: str, stores: Sequence[str] = _STORES) -> bool:
    """Return whether a program binds a global name, if only to what the preamble has by it.

    It may import it, by itself or with all names of a module.
    """
    import dis  # seldom needed: of few functions the name and the object are the preamble's

    before: Any = None
    for step in dis.get_instructions(code):
        if step.opname in stores and step.argval == name:
            return True
        if step.opname == "IMPORT_NAME" and before == ("*",) and _exports(step.argval, name):
            return True
        before = step.argval
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return any(_binds(each, name, _STORES[:1]) for each in inner)


def _exports(module: str, name: str) -> bool:
    names = vars(sys.modules[module])
    return name in names.get("__all__", names)
