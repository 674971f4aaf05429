"""Cells that do not come up, or come up without the C part."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import proctor
from elsewhere import Elsewhere
from proctor.errors import CellStartFailed
from proctor.execution import Guarantee
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.backend import CellSetup, Launch, Start
from proctor.sandbox.machine import interpreter

pytestmark = pytest.mark.user


class Abandoning:
    """A box whose first process ends, and leaves another that keeps its socket and says nothing.

    So bwrap does if it fails once it has forked.
    """

    level = "test"

    def launch(self, setup: CellSetup, start: Start) -> Launch:
        source = "import os, signal, sys\nif os.fork(): sys.exit('no')\nsignal.pause()"
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", source], pass_fds=[start.control_fd],
            stderr=start.log_fd, start_new_session=True,
        )  # fmt: skip
        return Launch(process, {})

    def guarantees(
        self, hello: Mapping[str, Any], controls: frozenset[str]
    ) -> dict[str, Guarantee]:
        raise NotImplementedError


def test_a_first_process_that_ended_is_not_waited_for() -> None:
    with pytest.raises(CellStartFailed, match="^the cell ended while starting: no$"):
        AgentProcess(Abandoning(), CellSetup(interpreter.current()))


MANY = """
import _thread, json
from proctor import Limits, open_pool, run
SOURCE = '''
import _thread
lock = _thread.allocate_lock()
lock.acquire()
for _ in range(40): _thread.start_new_thread(lock.acquire, ())
print("all")
'''
with open_pool(isolation="namespaces", cells=1) as pool:
    done = run(SOURCE, limits=Limits(processes=8), pool=pool)
held = done.isolation.guarantees["processes"].how
print(json.dumps([held, done.stdout.decode(), done.stderr.decode().splitlines()[-1]]))
"""


@pytest.mark.root
@pytest.mark.namespaces
def test_without_the_c_part_processes_are_bounded_too(library: Path, tmp_path: Path) -> None:
    """The limit was named, and not set: with no control group either, nothing bounded them."""
    tmp_path.chmod(0o755)
    shutil.copytree(
        Path(proctor.__file__).parent, tmp_path / "proctor",
        ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.c", "*.h"),
    )  # fmt: skip
    there = Elsewhere(library, names=("no-cgroup",))
    done = there.run("-c", MANY, env={"PYTHONPATH": f"{tmp_path}:{library}"})
    held, stdout, said = json.loads(done.stdout)
    assert held == "PID namespace of the cell, RLIMIT_NPROC"
    assert (stdout, said) == ("", "RuntimeError: can't start new thread")
