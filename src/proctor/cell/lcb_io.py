"""An lcb_runner process as seen from inside: its streams, and one test's run.

Verdicts of official mode depend on all of it: which ways of reading see the input, which ways of
writing are captured. None of it is a security boundary, and the expected outputs are nowhere near.

With `lcb_process.Disguise` on, call `lcb_load.load`, then `run` on its result once per test.
"""

import builtins
import faulthandler
import io
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from proctor.cell import plain_data

# Kept from before the program runs: it may replace what the modules hold.
_loads = json.loads
_captured_text = io.StringIO.getvalue


class HarnessFailure(Exception):  # not proctor's failure: upstream's harness fails here
    """Upstream's own code would fail at this point, outside its handling of one test.

    It then reports "Error during testing: " and this text, as for a program that does not load.
    """


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
    except Exception as nested:  # noqa: BLE001  # the program's code; reported as upstream does
        raise HarnessFailure(str(nested)) from None


def _arm_faulthandler() -> None:
    """Enable faulthandler, as upstream does before each test: an unfit sys.stderr fails here."""
    try:
        faulthandler.enable()
    except Exception as error:  # noqa: BLE001  # sys.stderr may be anything by now
        raise HarnessFailure(str(error)) from None


def _check_open(captured: io.StringIO) -> None:
    """Raise HarnessFailure for a closed stream: upstream reads it even after a failed test."""
    if captured.closed:
        raise HarnessFailure("I/O operation on closed file")


def _no_close(x: object) -> int:  # noqa: ARG001  # upstream's takes x, so a plain close() raises
    return 1


# Errors show this name in their text, which upstream reports.
_no_close.__qualname__ = "Capturing.__enter__.<locals>.<lambda>"


class MockedBuffer:
    """sys.stdin.buffer: every read gives everything, every readline the first line."""

    def __init__(self, text: str) -> None:
        self._data = text.encode("utf-8")

    def read(self, *_args: object) -> bytes:
        return self._data

    def readline(self, *_args: object) -> bytes:
        return self._data.partition(b"\n")[0] + b"\n"


class MockedStdin:
    """sys.stdin: only readline has a position; not iterable, for lack of a method on the class."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = io.StringIO(text)
        self.buffer = MockedBuffer(text)

    def read(self, *_args: object) -> str:
        return self._text

    def readline(self, *args: int) -> str:
        return self._lines.readline(*args)

    def readlines(self, *_args: object) -> list[str]:
        return self._text.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lines, name)


MockedStdin.__name__ = MockedStdin.__qualname__ = "MockStdinWithBuffer"
MockedBuffer.__name__ = MockedBuffer.__qualname__ = "MockBuffer"


class _OpenedInput:
    """The file that the mocked builtins.open returns for any name: the input, from its start."""

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
        self._mock = MockedStdin(text)
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
