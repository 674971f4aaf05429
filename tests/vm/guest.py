"""Runs inside the virtual machine: each check in turn, what it did as one JSON line."""

import json
import os
import signal
import subprocess
import time
import tty
from typing import Any

ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": "/payload/site",
    "PYTHONWARNINGS": "error",
}  # fmt: skip


def outcome(check: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    process = subprocess.Popen(
        check["argv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd="/", env=ENVIRONMENT, start_new_session=True,
    )  # fmt: skip
    try:
        stdout, stderr = process.communicate(timeout=check["timeout"])
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        status = None
    return {
        "name": check["name"], "status": status, "stdout": stdout, "stderr": stderr,
        "seconds": round(time.monotonic() - started, 1),
    }  # fmt: skip


with open("/payload/checks.json") as file:
    checks = json.load(file)
with open("/dev/ttyS1", "w") as results:
    tty.setraw(results)
    for each in checks:
        results.write(json.dumps(outcome(each)) + "\n")
        results.flush()
