"""Runs Piston's exploit scripts against proctor, and prints a table.

    python tools/originals/piston.py CHECKOUT

CHECKOUT is a clone of github.com/engineer-man/piston; its `tests/*.py` are sent as they are.
`multi_request.py` is a client of port 2000, and needs aiohttp beside proctor. Starts a server of
its own there. Exits with 1 if an attack had an effect.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

PORT = 2000
Stage = dict[str, Any]


def main() -> int:
    """Run all, print a line for each, and return the exit status."""
    tests = Path(sys.argv[1]) / "tests"
    serve = [str(Path(sys.executable).with_name("proctor")), "serve", "--port", str(PORT), "--json"]
    server = subprocess.Popen([*serve, "--no-access-log"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        with httpx.Client(base_url=json.loads(server.stdout.readline())["url"]) as http:
            rows = [
                (name, *_tried(http, (tests / name).read_text(), withstood))
                for name, withstood in WITHSTOOD.items()
            ]
        rows.append(("multi_request.py", *_asked_at_once(tests / "multi_request.py")))
    finally:
        server.terminate()
        server.wait()
    for name, well, text in rows:
        print(f"{'withstood' if well else 'FAILED':10} {name:22} {text}")
    return int(not all(well for _, well, _ in rows))


def _tried(http: httpx.Client, source: str, withstood: Callable[[Stage], bool]) -> tuple[bool, str]:
    """Send a script twice, and then a program that must run as ever."""
    runs = [_run(http, source) for _ in range(2)]
    after = _run(http, "print(6 * 7)")
    last = runs[-1]
    text = f"status {last['status']}, exit code {last['code']}: {last['stderr'].strip()[-80:]!r}"
    return withstood(last) and after["stdout"] == "42\n", text


def _run(http: httpx.Client, source: str) -> Stage:
    asked = {"language": "python", "version": "*", "files": [{"content": source}],
             "run_timeout": 3000}  # fmt: skip
    stage: Stage = http.post("/api/v2/execute", json=asked, timeout=120).json()["run"]
    return stage


def _asked_at_once(script: Path) -> tuple[bool, str]:
    """Run a client of five programs at once; it asks for a version of Java of its own."""
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode == 0 and len(done.stdout.splitlines()) == 5, done.stdout[:80]


WITHSTOOD: dict[str, Callable[[Stage], bool]] = {
    "fallocate.py": lambda run: run["code"] != 0,
    "file_persistance.py": lambda run: "exists" not in run["stdout"],
    "fork.py": lambda run: run["status"] == "TO",
    "network.py": lambda run: run["code"] == 1,
    "runaway_output.py": lambda run: run["status"] in {"OL", "TO"},
}
"""Conditions that the second run of each script must meet, by the script's name."""

if __name__ == "__main__":
    sys.exit(main())
