"""The process state that programs meet in lcb_runner, put on and taken off a warm agent.

Upstream sets it in every child. Doing so after the fork costs 0.5 ms, nearly all of it page faults;
the agent wears it instead while it forks official jobs. Verdicts depend on it: which functions are
missing, what descriptor 0 looks like. It is no security boundary.
"""

import builtins
import faulthandler
import os
import shutil
import signal
import subprocess  # noqa: TID251  # imported to have its Popen taken away; starts nothing
import sys
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any

MAX_INT_DIGITS = 50_000
"""lcb_runner sets this on import: programs may print integers that plain CPython refuses to."""

_LOADED_UPSTREAM = ("multiprocessing", "numpy")
_GONE_FROM_OS = (  # noqa: SIM905  # a list of 27 lines says no more
    "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames "
    "truncate replace unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir"
).split()
_GONE_FROM_SHUTIL = ("rmtree", "move", "chown")
_UNIMPORTABLE = ("ipdb", "joblib", "resource", "psutil", "tkinter")


class TimeoutException(Exception):  # verdicts depend on the name: see judging.official.upstream
    """Raised by upstream's SIGALRM handler; a program that sets an alarm of its own meets it."""


class Disguise:
    """lcb_runner's process state. While it is on, some functions of `os` are missing."""

    def __init__(self) -> None:
        self._saved: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._absent: list[str] = []
        self._digits = 0
        self._alarm: Any = None

    def wear(self, on: int) -> None:
        """Put it on or take it off."""
        if on:
            self.put_on()
        else:
            self.take_off()

    def put_on(self) -> None:
        """Take on upstream's state; does nothing if it is on. Raises OSError if fd 0 is closed."""
        if self._saved:
            return
        self._digits = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(MAX_INT_DIGITS)
        self._alarm = signal.signal(signal.SIGALRM, _alarm_went_off)
        os.environ["OMP_NUM_THREADS"] = "1"
        faulthandler.disable()
        # multiprocessing closes a child's stdin and opens the null device in its place. Programs
        # that bypass the mock see that: sys.__stdin__ is closed, and all other ways find it empty.
        closed = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # closed at once
        closed.close()
        stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # lives with the process
        self._replace(vars(sys), {"stdin": stdin, "__stdin__": closed})
        self._replace(vars(builtins), {"quit": None, "help": None})
        self._replace(vars(os), dict.fromkeys(_GONE_FROM_OS))
        self._replace(vars(shutil), dict.fromkeys(_GONE_FROM_SHUTIL))
        self._replace(vars(subprocess), {"Popen": None})
        self._absent = [name for name in _UNIMPORTABLE if name not in sys.modules]
        absent: dict[str, Any] = dict.fromkeys(_UNIMPORTABLE)  # None makes an import fail
        self._replace(vars(sys)["modules"], absent)

    def take_off(self) -> None:
        """Restore what was there before; does nothing if it is off."""
        while self._saved:
            names, before = self._saved.pop()
            names.update(before)
        for name in self._absent:
            sys.modules.pop(name, None)
        self._absent = []
        if self._digits:
            signal.signal(signal.SIGALRM, self._alarm)
            sys.set_int_max_str_digits(self._digits)
            self._digits = 0

    def preload(self, source: str) -> None:
        """Import what upstream has loaded before its guard takes effect, if `source` names it.

        These imports fail under the disguise, which is off while they run. Does nothing, cheaply,
        where the cell is warm.
        """
        wanted = [name for name in _LOADED_UPSTREAM if name in source and name not in sys.modules]
        if not wanted:
            return
        self.take_off()
        for name in wanted:
            # If the import fails, the program meets the error itself.
            with suppress(Exception):
                import_module(name)
        self.put_on()

    def _replace(self, names: dict[str, Any], values: dict[str, Any]) -> None:
        self._saved.append((names, {name: names[name] for name in values if name in names}))
        names.update(values)


def _alarm_went_off(_signal: int, _frame: FrameType | None) -> None:
    print("timeout occured: alarm went off")  # noqa: T201  # upstream prints it into the output
    raise TimeoutException
