"""Shared by the sandbox tests: a single cell, and real processes to look at."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from children import Child, StartChild

from proctor.sandbox.pool import Pool, open_pool


@pytest.fixture(scope="session")
def cell_pool() -> Iterator[Pool]:
    """A pool of one cell: what follows a job there follows it in the same cell."""
    with open_pool(cells=1) as opened:
        yield opened


@pytest.fixture
def child() -> Iterator[StartChild]:
    """Start Python programs that say a line when they are ready and end with their stdin."""
    with ExitStack() as stack:

        def start(source: str, *arguments: str) -> Child:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", source, *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


@pytest.fixture
def nothing_selected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable and no configuration file says what to use."""
    for name in [name for name in os.environ if name.startswith("PROCTOR_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
