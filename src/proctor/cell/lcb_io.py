"""What an lcb_runner process looks like from inside: streams, process state, and one test's run.

Verdicts of official mode depend on all of it: which ways of reading see the input, which ways of
writing are heard, which functions are missing. None of it is a security boundary, and the expected
outputs are nowhere near.

Call `enter_official`, `preload` and `reliability_guard` once in a fresh process, then
`lcb_load.load`, then `run` on its result once per test.
"""

import builtins
import faulthandler
import io
import json
import os
import random
import shutil
import signal
import subprocess  # noqa: TID251  # imported to have its Popen taken away; starts nothing
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any

from proctor.cell import plain_data

MAX_INT_DIGITS = 50_000
"""lcb_runner sets this on import: programs may print integers that plain CPython refuses to."""

_GONE_FROM_OS = (  # noqa: SIM905  # a list of 27 lines says no more
    "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames "
    "truncate replace unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir"
).split()
_GONE_FROM_SHUTIL = ("rmtree", "move", "chown")
_LOADED_UPSTREAM = ("numpy", "multiprocessing")
_UNIMPORTABLE = ("ipdb", "joblib", "resource", "psutil", "tkinter")

# Kept from before the program runs: it may replace what the modules hold.
_loads = json.loads
_captured_text = io.StringIO.getvalue


class HarnessFailure(Exception):  # no fault of ours: upstream's harness fails here
    """Upstream's own code would fail at this point, outside its handling of one test.

    It then reports "Error during testing: " and this text, as for a program that does not load.
    """


class TimeoutException(Exception):  # verdicts depend on the name: see time_limit
    """What upstream's SIGALRM handler raises; a program that sets an alarm of its own meets it."""


def enter_official() -> None:
    """Give this process the state of lcb_runner's child, but for what `reliability_guard` takes.

    Raises OSError when descriptor 0 is closed. Not to be undone.
    """
    sys.set_int_max_str_digits(MAX_INT_DIGITS)
    signal.signal(signal.SIGALRM, _alarm_went_off)
    # multiprocessing closes a child's stdin and opens the null device in its place. Programs that
    # go round the mock see that: sys.__stdin__ is closed, and everything else is empty.
    if sys.stdin is not None:
        sys.stdin.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # lives with the process
    # A raw clone runs no fork hooks; without this, all programs would draw the same numbers.
    random.seed()


def preload(source: str) -> None:
    """Import what upstream's process has loaded before its guard falls, if `source` names it.

    These imports fail after `reliability_guard`. Does nothing, cheaply, where the cell is warm.
    """
    for name in _LOADED_UPSTREAM:
        # Anything but a missing module may go wrong in there; the program then meets it itself.
        if name in source and name not in sys.modules:
            with suppress(Exception):
                import_module(name)


def reliability_guard() -> None:
    """Remove what upstream's function of this name removes, since programs fail without it."""
    faulthandler.disable()
    os.environ["OMP_NUM_THREADS"] = "1"
    vars(builtins).update(quit=None, help=None)
    vars(os).update(dict.fromkeys(_GONE_FROM_OS))
    vars(shutil).update(dict.fromkeys(_GONE_FROM_SHUTIL))
    vars(subprocess)["Popen"] = None
    absent: dict[str, Any] = dict.fromkeys(_UNIMPORTABLE)  # None makes an import fail
    sys.modules.update(absent)


class StdioProgram:
    """A loaded stdin/stdout program. All its tests share the process, as they do upstream."""

    def __init__(self, main: Callable[[], object]) -> None:
        self._main = main

    def run(self, text: str) -> bytes:
        """Run one test with `text` as input; return what reached sys.stdout, as UTF-8 in which
        lone surrogates stand ("surrogatepass").

        Any exit status counts as a normal end. Raises HarnessFailure, and whatever else the
        program raises.
        """  # noqa: D205  # the form of the result does not fit on one line
        _arm_faulthandler()
        stdout = sys.stdout
        captured = sys.stdout = io.StringIO()
        captured.close = _no_close  # type: ignore[method-assign,assignment]
        try:
            with _MockedInput(text):
                self._main()
        except SystemExit:
            pass
        except Exception:
            _check_open(captured)
            raise
        finally:
            sys.stdout = stdout
            faulthandler.disable()
        _check_open(captured)
        return _captured_text(captured).encode("utf-8", "surrogatepass")


class CallProgram:
    """A loaded function. A Solution object is built once and shared by all tests."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def run(self, text: str) -> bytes:
        """Call the function with the arguments in `text`, one JSON value a line.

        Returns the result as `plain_data` encodes it. Neither stdin nor stdout is replaced. Raises
        HarnessFailure, and whatever else the program raises, SystemExit included.
        """
        arguments = [_loads(line) for line in text.split("\n")]
        _arm_faulthandler()
        try:
            result = self._function(*arguments)
        finally:
            faulthandler.disable()
        return plain_data.encode(result)


def error_text(error: Exception) -> str:
    """The repr of what a test raised, which upstream reports.

    Raises HarnessFailure when the exception's own __repr__ fails, as upstream then does.
    """
    try:
        return repr(error)
    except Exception as nested:  # noqa: BLE001  # the program's code, told as upstream tells it
        raise HarnessFailure(str(nested)) from None


def _arm_faulthandler() -> None:
    """Upstream does this before each test, so a program that left sys.stderr unfit fails here."""
    try:
        faulthandler.enable()
    except Exception as error:  # noqa: BLE001  # sys.stderr may be anything by now
        raise HarnessFailure(str(error)) from None


def _check_open(captured: io.StringIO) -> None:
    """Upstream reads the captured text even after a failure, and trips over a closed stream."""
    if captured.closed:
        raise HarnessFailure("I/O operation on closed file")


def _alarm_went_off(_signal: int, _frame: FrameType | None) -> None:
    print("timeout occured: alarm went off")  # noqa: T201  # to the program's stdout, as upstream
    raise TimeoutException


def _no_close(x: object) -> int:  # noqa: ARG001  # upstream's takes one, so a plain close() raises
    return 1


# Names that show in the text of errors, which upstream reports.
_no_close.__qualname__ = "Capturing.__enter__.<locals>.<lambda>"


class _Buffer:
    """sys.stdin.buffer: every read gives everything, every readline the first line."""

    def __init__(self, text: str) -> None:
        self._data = text.encode("utf-8")

    def read(self, *_args: object) -> bytes:
        return self._data

    def readline(self, *_args: object) -> bytes:
        return self._data.partition(b"\n")[0] + b"\n"


class _Stdin:
    """sys.stdin: only readline has a position; not iterable, for lack of a method on the class."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = io.StringIO(text)
        self.buffer = _Buffer(text)

    def read(self, *_args: object) -> str:
        return self._text

    def readline(self, *args: int) -> str:
        return self._lines.readline(*args)

    def readlines(self, *_args: object) -> list[str]:
        return self._text.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lines, name)


_Stdin.__name__ = _Stdin.__qualname__ = "MockStdinWithBuffer"
_Buffer.__name__ = _Buffer.__qualname__ = "MockBuffer"


class _OpenedInput:
    """What the mocked builtins.open returns for any file name: the input, from its start."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stream = io.StringIO(text)

    def __call__(self, *_args: object, **_kwargs: object) -> "_OpenedInput":
        self._stream = io.StringIO(self._text)
        return self

    def __enter__(self) -> "_OpenedInput":  # noqa: PYI034  # typing.Self would be all the same
        return self

    def __exit__(self, *_args: object) -> None:
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)

    def __next__(self) -> str:
        return next(self._stream)

    def read(self, *args: int) -> str:
        return self._stream.read(*args)

    def readline(self, *args: int) -> str:
        return self._stream.readline(*args)

    def readlines(self, *args: int) -> list[str]:
        return self._stream.readlines(*args)

    def write(self, *_args: object) -> None:
        return None

    def close(self) -> None:
        return None


class _MockedInput:
    """Puts one test's input where upstream puts it, and takes it away again.

    `from sys import stdin` binds the process's original stream when the program is loaded; three
    methods of that object are replaced too, and unlike sys.stdin's its readline drops line ends.
    """

    def __init__(self, text: str) -> None:
        self._mock = _Stdin(text)
        self._open = _OpenedInput(text)
        lines = iter(text.split("\n"))
        self._methods: dict[str, Callable[..., object]] = {
            "read": lambda *_args: text,
            "readlines": lambda *_args: text.split("\n"),
            "readline": lambda *_args: next(lines),
        }

    def __enter__(self) -> None:
        self._stdin, self._builtin_open = sys.stdin, builtins.open
        vars(self._stdin).update(self._methods)
        sys.stdin = self._mock
        builtins.open = self._open  # type: ignore[assignment]

    def __exit__(self, *_args: object) -> None:
        builtins.open = self._builtin_open
        sys.stdin = self._stdin
        for name in self._methods:
            vars(self._stdin).pop(name, None)
