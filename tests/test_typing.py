"""The public names as a user's checker of types sees them."""

import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE


@pytest.mark.package("mypy")
def test_mypy_knows_what_is_right_and_what_is_wrong(tmp_path: Path) -> None:
    used = tmp_path / "used.py"
    used.write_text(Path(__file__).with_name("typed_use.py").read_text())
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental"]
    done = subprocess.run(
        [*command, str(used)], capture_output=True, text=True, cwd=tmp_path, check=False,
        timeout=2 * PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
