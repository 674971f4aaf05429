"""The unit of `proctor serve --systemd system`, started by systemd: what holds programs; its end."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from proctor.service import systemd

TOKEN = "0123456789abcdef-somebody"
URL = "http://127.0.0.1:8377"
PATIENCE = 900  # an emulator beside busy processes
UNITS = Path("/run/systemd/system")


def systemctl(*arguments: str) -> str:
    done = subprocess.run(["systemctl", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr, journal())
    return done.stdout.strip()


def journal() -> str:
    command = ["journalctl", "--unit", "proctor", "--no-pager", "--output", "cat"]
    return subprocess.run(command, capture_output=True, text=True).stdout[-3000:]


def ask(path: str, body: object = None) -> dict[str, object]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"X-Auth-Token": TOKEN, "Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, data, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def start() -> None:
    """As the unit says, but from the payload, which is not installed."""
    command = ["/usr/bin/python3", "-B", "-m", "proctor"]
    options = [("--host", "0.0.0.0"), ("--token-file", "/etc/proctor-tokens")]
    unit = systemd.unit("system", [*options, ("--min-isolation", "namespaces")], command)
    unit = unit.replace("[Service]\n", "[Service]\nEnvironment=PYTHONPATH=/payload/site\n")
    UNITS.mkdir(parents=True, exist_ok=True)
    (UNITS / "proctor.service").write_text(unit)
    tokens = Path("/etc/proctor-tokens")
    tokens.write_text(f"somebody:{TOKEN}\n")
    tokens.chmod(0o600)
    systemctl("daemon-reload")
    systemctl("start", "proctor")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and systemctl("is-active", "proctor") == "active":
        try:
            ask("/readyz")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"it does not answer: {journal()}")


start()
capabilities = ask("/v1/capabilities")
hello = ask("/v1/run", {"program": {"source": "print(input())"}, "stdin": "hi"})
hungry = {"source": "x = []\nwhile True: x.append(bytearray(1 << 20))"}
# An emulated CPU's clock goes on while its machine has other work.
memory = ask("/v1/run", {"program": hungry, "limits": {"memory": 100 << 20, "cpu": 100}})
pid = systemctl("show", "proctor", "--property", "MainPID", "--value")
owner = os.stat(f"/proc/{pid}").st_uid
systemctl("stop", "proctor")
print(json.dumps({
    "isolation": hello["isolation"],
    "hello": hello["execution"],
    "verdict": memory["verdict"],
    "guarantees": capabilities["guarantees"],
    "owner": owner,
    "result": systemctl("show", "proctor", "--property", "Result", "--value"),
    "left": [str(path) for path in Path("/sys/fs/cgroup/system.slice").glob("proctor*")],
}))  # fmt: skip
