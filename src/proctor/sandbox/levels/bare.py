"""Starting the first process of a cell, and agents without a box: levels `landlock` and `none`."""

import contextlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor import cell
from proctor.sandbox.backend import ENVIRONMENT, PYTHON_FLAGS, WARM_IMPORTS, CellSetup, Start
from proctor.sandbox.levels import launcher
from proctor.sandbox.machine.scratch import Scratch

_BOOT = (
    "import sys, types; package = types.ModuleType('proctor'); package.__path__ = [sys.argv[1]];"
    " sys.modules['proctor'] = package; from proctor.cell.agent import main; main()"
)


def start_launcher(plan: Mapping[str, Any], start: Start) -> subprocess.Popen[bytes]:
    """Run launcher.py, the first process of a cell, which becomes what `plan` describes."""
    return subprocess.Popen(
        launcher.command_line(plan, start.control_fd),
        stdin=subprocess.DEVNULL, stdout=start.log_fd, stderr=start.log_fd,
        pass_fds=[start.control_fd], env={}, cwd="/", start_new_session=True,
    )  # fmt: skip


def start_agent(setup: CellSetup, start: Start) -> subprocess.Popen[bytes]:
    """Start an agent as an ordinary process, in the control groups it is to join."""
    code = str(Path(cell.__file__).parent.parent)
    plan = {
        "join": start.join,
        "command": [setup.interpreter.executable, *PYTHON_FLAGS, "-c", _BOOT, code],
        "environment": ENVIRONMENT,
    }
    return start_launcher(plan, start)


def start_with_scratch(
    setup: CellSetup, start: Start, told: dict[str, Any]
) -> tuple[subprocess.Popen[bytes], Scratch | None]:
    """Start an agent without a box, with a directory for programs with disk if one can be made.

    `told` is the agent's configuration, which then names the directory.
    """
    scratch: Scratch | None = None
    with contextlib.suppress(OSError):  # without it no program can be given disk
        scratch = Scratch(told["uid"])
        told["scratch"] = str(scratch.path)
    try:
        return start_agent(setup, start), scratch
    except BaseException:
        if scratch is not None:
            scratch.remove()
        raise


def config(setup: CellSetup, box: str) -> dict[str, Any]:
    """Return the configuration of an agent without a box, before its level adds to it."""
    return {
        "box": box,
        "uid": None,
        "guard": None,
        "proc_fd": None,
        "last_pid_fd": None,
        "scratch": None,
        "readable": [],
        "paths": list(setup.packages),
        "imports": [*WARM_IMPORTS, *setup.preload],
    }
