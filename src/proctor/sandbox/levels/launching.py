"""Running launcher.py with a plan."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from proctor.sandbox.backend import Start
from proctor.sandbox.levels import launcher


def start(plan: Mapping[str, Any], start: Start) -> subprocess.Popen[bytes]:
    """Start the first process of a cell, which `plan` tells what to become."""
    return subprocess.Popen(
        [
            sys.executable, "-I", "-S", launcher.__file__, json.dumps(plan),
            str(start.control_fd),
        ],
        stdin=subprocess.DEVNULL, stdout=start.log_fd, stderr=start.log_fd,
        pass_fds=[start.control_fd], env={}, cwd="/", start_new_session=True,
    )  # fmt: skip
