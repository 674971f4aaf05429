"""Level `none`: the agent as an ordinary process. For development only; holds nothing."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor import cell
from proctor.sandbox.backend import WARM_IMPORTS, CellSetup, Launch
from proctor.sandbox.bubblewrap import ENVIRONMENT, PYTHON_FLAGS, SAMPLED
from proctor.sandbox.launcher import CONTROL_FD

_BOOT = (
    "import os, sys; fd = int(sys.argv[1]); fd == {control} or os.dup2(fd, {control});"
    " import importlib.machinery, types; package = types.ModuleType('proctor');"
    " package.__path__ = [sys.argv[2]]; sys.modules['proctor'] = package;"
    " from proctor.cell.agent import main; main()"
)


class Unsafe:
    """No box at all."""

    level = "none"

    def launch(
        self, setup: CellSetup, control_fd: int, log_fd: int, join: list[str], slot: int
    ) -> Launch:
        del slot
        process = subprocess.Popen(
            [
                setup.interpreter.executable, *PYTHON_FLAGS, "-c",
                _BOOT.format(control=CONTROL_FD), str(control_fd),
                str(Path(cell.__file__).parent.parent),
            ],
            stdin=subprocess.DEVNULL, stdout=log_fd, stderr=log_fd, pass_fds=[control_fd],
            env=ENVIRONMENT, cwd="/", start_new_session=True,
        )  # fmt: skip
        for path in join:
            Path(path).write_text(str(process.pid))
        config = {
            "boxed": False,
            "oom": False,
            "readable": [],
            "paths": list(setup.packages),
            "imports": [*WARM_IMPORTS, *setup.preload],
        }
        return Launch(process, config)

    def guarantees(self, hello: Mapping[str, Any], controls: frozenset[str]) -> dict[str, str]:
        del hello
        nothing = "not enforced (level none)"
        return {
            "filesystem": nothing,
            "network": nothing,
            "processes": "control group" if "pids" in controls else nothing,
            "signals": nothing,
            "memory": "control group" if "memory" in controls else SAMPLED,
            "cpu": "control group" if "cpu" in controls else "process clocks; orphans not counted",
            "output": "RLIMIT_FSIZE on memory files",
            "kernel": nothing,
        }
