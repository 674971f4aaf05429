"""Runs in a cell of its own: test code, whose calls of the submission's functions go through pipes.

Called as an interactor by Kattis's convention: input, answer, feedback directory; exit code 42 for
right, 43 for wrong, anything else for broken tests. The input is JSON, see `judge.py`.
"""

import json
import math
import os
import sys
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from plain_data import decode, encode  # type: ignore[import-not-found]  # put beside it

AC, WA, BROKEN = 42, 43, 1
LONGEST = 64 << 20
"""Bytes of one result."""
MOST = LONGEST
"""Values in one call or result: what the cell may use is the limit."""
RTOL = 1e-7
"""Relative tolerance of numpy.testing.assert_allclose, and so of EvalPlus."""


class Wrong(BaseException):
    """The submission has failed; not for test code to catch."""


class Broken(Exception):
    """The tests have failed, whatever the submission returned."""


class RemoteFunctions:
    """The functions of a program in another cell."""

    def __init__(self, reads: int, writes: int) -> None:
        self._answers = os.fdopen(reads, "rb")
        self._calls = os.fdopen(writes, "wb")
        self.answered = False

    def function(self, name: str) -> Callable[..., Any]:
        """Return something that is called like the function."""

        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                sent = [name, *_sendable(arguments, keywords)]
                self._calls.write(encode(sent, nodes=MOST) + b"\n")
                self._calls.flush()
            except BrokenPipeError:
                raise Wrong(f"the program had ended before {name} was called") from None
            line = self._answers.readline(LONGEST)
            if not line:
                raise Wrong(f"the program ended while {name} was called")
            if not line.endswith(b"\n"):
                raise Wrong(f"what {name} returned is too large")
            self.answered = True
            try:
                return decode(line[:-1])
            except ValueError:
                raise Wrong(f"what {name} returned is no value") from None

        call.__name__ = name
        return call


def _sendable(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
    """Arguments as [kind, value]: some tests hand over a type of Python's, such as int."""
    return [_marked(each) for each in arguments], {k: _marked(v) for k, v in keywords.items()}


def _marked(value: Any) -> list[Any]:
    if isinstance(value, type) and value.__module__ == "builtins":
        return ["type", value.__name__]
    return ["value", value]


def run(task: dict[str, Any], submission: RemoteFunctions) -> None:
    """Run the tests. Raises Wrong, Broken, or whatever test code raises."""
    functions = {name: submission.function(name) for name in task["names"]}
    names: dict[str, Any] = {"__name__": "tests", **functions}
    code = compiled(task["code"])
    if task["check"] and "check" not in code.co_names:  # before anything depends on the submission
        raise Broken("the test code defines no function check")
    exec(code, names)
    if task["check"]:
        names["check"](functions[task["check"]])
    if task["reference"] is not None:
        compare_all(task["reference"], functions)


def compiled(code: str) -> CodeType:
    """Compile test code, which may hold numbers of any length, as EvalPlus's do."""
    if not hasattr(sys, "set_int_max_str_digits"):
        return compile(code, "<tests>", "exec")
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return compile(code, "<tests>", "exec")
    finally:
        sys.set_int_max_str_digits(before)


def compare_all(reference: dict[str, Any], functions: dict[str, Callable[..., Any]]) -> None:
    """Compare with a function known to be right, on many inputs. Raises Wrong, Broken."""
    names: dict[str, Any] = {"__name__": "reference"}
    exec(compile(reference["code"], "<reference>", "exec"), names)
    right, tried = names[reference["function"]], functions[reference["function"]]
    oracle, convert = names.get("oracle"), names.get("arguments_from_json", list)
    for text in reference["inputs"]:
        for number, given in enumerate(json.loads(text), 1):
            # Each function gets its own copy, since either may change it.
            try:
                expected = right(*convert(json.loads(json.dumps(given))))
                arguments = convert(given)
            except Exception as error:
                raise Broken(f"the reference fails on input {number}") from error
            got = tried(*arguments)
            agrees = oracle(arguments, got) if oracle else False
            if not agrees and not equal(got, expected, reference["tolerance"]):
                raise Wrong(f"input {number} of {len(json.loads(text))}: another result")


def equal(got: Any, expected: Any, tolerance: float) -> bool:
    """EvalPlus's rule: equal, or close if there are floats or the task has a tolerance."""
    if got == expected:
        return True
    floats = isinstance(expected, float) or (
        isinstance(expected, list | tuple)
        and expected != type(expected)()
        and all(isinstance(item, float) for item in expected)
    )
    if tolerance == 0 and floats:
        tolerance = 1e-6
    return tolerance != 0 and type(got) is type(expected) and close(got, expected, tolerance)


def close(got: Any, expected: Any, tolerance: float) -> bool:
    """Return whether numbers, or nested lists of them, are within |tolerance + RTOL * value|."""
    if isinstance(expected, list | tuple):
        return (
            isinstance(got, list | tuple)
            and len(got) == len(expected)
            and all(close(one, other, tolerance) for one, other in zip(got, expected, strict=True))
        )
    if not (isinstance(got, int | float) and isinstance(expected, int | float)):
        return False
    if math.isnan(expected):
        return math.isnan(got)
    if math.isinf(got) or math.isinf(expected):
        return got == expected
    return abs(got - expected) <= tolerance + RTOL * abs(expected)


def lend_numpy() -> None:
    """Give test code what EvalPlus's rows on the hub use of numpy, where that is not installed."""
    if find_spec("numpy") is not None:
        return

    def allclose(got: Any, expected: Any, rtol: float = RTOL, atol: float = 0.0) -> bool:
        if rtol != RTOL:
            raise Broken(f"numpy is not installed, and what stands in for it has no rtol {rtol}")
        return close(got, expected, atol)

    def assert_allclose(got: Any, expected: Any, **tolerances: float) -> None:
        assert allclose(got, expected, **tolerances)

    class NoArray:
        """Stands in for numpy.ndarray: nothing is one."""

    lent = SimpleNamespace(assert_allclose=assert_allclose)
    numpy = ModuleType("numpy")
    vars(numpy).update(allclose=allclose, testing=lent, ndarray=NoArray)
    sys.modules["numpy"] = numpy


def ended(code: int, feedback: str, message: str, log: str = "") -> NoReturn:
    """Leave with a message for the submission's author, and a log for the tests'."""
    for name, text in (("teammessage.txt", message), ("judgemessage.txt", log)):
        with open(os.path.join(feedback, name), "w", encoding="utf-8", errors="replace") as file:
            file.write(text[:4000])
    # Skip the interpreter's shutdown: test code may have left threads.
    os._exit(code)


def main() -> None:
    """Judge one submission."""
    given, _, feedback = sys.argv[1:4]
    with open(given, encoding="utf-8") as file:
        task = json.load(file)
    submission = RemoteFunctions(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    sys.setrecursionlimit(10_000)
    lend_numpy()
    try:
        run(task, submission)
    except Wrong as wrong:
        ended(WA, feedback, str(wrong))
    except AssertionError:
        log = traceback.format_exc()
        if submission.answered:
            ended(WA, feedback, "an assertion of the tests failed", log)
        ended(BROKEN, feedback, "", log)
    except BaseException as error:  # noqa: BLE001  # whatever test code raises, of whatever it got
        log = traceback.format_exc()
        if submission.answered and not isinstance(error, Broken):
            ended(WA, feedback, f"the tests could not use a result: {type(error).__name__}", log)
        ended(BROKEN, feedback, "", log)
    if not submission.answered:
        ended(BROKEN, feedback, "", "the tests called none of " + ", ".join(task["names"]))
    ended(AC, feedback, "")


if __name__ == "__main__":
    main()
