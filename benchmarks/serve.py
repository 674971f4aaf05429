"""POST /run_code of print(1): a server with isolation, and one that spawns interpreters without."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgets import Line, at_least, at_most, milliseconds, per_second
from measure import WORK, Group

SCRIPT = """wrk.method = "POST"
wrk.body = '{"code": "print(1)", "language": "python"}'
wrk.headers["Content-Type"] = "application/json"
wrong = 0
response = function(status, _, body)
    if status ~= 200 or not body:find('"stdout":"1\\\\n"', 1, true) then wrong = wrong + 1 end
end
done = function(summary, latency)
    io.write(string.format("requests %d\\nseconds %f\\n", summary.requests, summary.duration / 1e6))
    for _, p in pairs({10, 25, 50, 75, 90, 95, 99, 99.9}) do
        io.write(string.format("p%g %d\\n", p, latency:percentile(p)))
    end
end
"""
OURS, BARE = "proctor serve", "a process per request, no isolation"
_FAILED = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_FIGURE = re.compile(r"^(p[\d.]+|requests|seconds) ([\d.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Server:
    """A server under way."""

    port: int
    pid: int
    group: Group


@contextlib.contextmanager
def started(name: str, *options: str) -> Iterator[Server]:
    """Start a server in a control group of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    group = Group(f"proctor-bench-serve-{os.getpid()}")
    if name == OURS:
        argv = [str(Path(sys.executable).with_name("proctor")), "serve", "--port", str(port),
                "--no-access-log", *options]  # fmt: skip
    else:
        argv = [sys.executable, str(WORK / "spawn_server.py"), str(port)]
    process = subprocess.Popen(
        argv, stderr=subprocess.DEVNULL,
        preexec_fn=group.join,  # noqa: PLW1509 - there are no threads
    )  # fmt: skip
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield Server(port, process.pid, group)
    finally:
        process.terminate()
        process.wait()
        group.remove()


def load(server: Server, clients: int, seconds: int) -> dict[str, Any]:
    """Let wrk ask for some seconds; what came of it."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT)
        script.flush()
        before = server.group.cpu()
        done = subprocess.run(
            ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "60s",
             "-s", script.name, f"http://127.0.0.1:{server.port}/run_code"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        cpu = server.group.cpu() - before
    found = {name: float(value) for name, value in _FIGURE.findall(done.stdout)}
    return {
        "clients": clients,
        "requests": int(found["requests"]),
        "failed": int(failed[1]) if (failed := _FAILED.search(done.stdout)) else 0,
        "per_second": found["requests"] / found["seconds"],
        "cpu_ms": cpu / max(found["requests"], 1) * 1000,
        **{name: value / 1000 for name, value in found.items() if name.startswith("p")},
    }


def require() -> None:
    """Raise SystemExit if something is missing without which nothing can be measured."""
    if shutil.which("wrk") is None:
        raise SystemExit("the benchmark of servers needs wrk: apt install wrk")


def measure(quick: bool) -> dict[str, Any]:
    """Return what each server did with one client and with 32. Needs wrk."""
    require()
    seconds = 3 if quick else 10
    found: dict[str, Any] = {}
    for name in (OURS, BARE):
        with started(name) as server:
            load(server, 4, 2)  # all cells are up then
            found[name] = [load(server, clients, seconds) for clients in (1, 32)]
    return found


def lines(found: dict[str, Any]) -> list[Line]:
    """The figures that have budgets."""
    alone, many = found[OURS]
    return [
        at_most("CPU a request, of all processes", alone["cpu_ms"], 3, milliseconds),
        at_most("one client, median", alone["p50"], 5, milliseconds),
        at_least("32 clients, requests a second", many["per_second"], 600, per_second),
    ]


def table(found: dict[str, Any]) -> list[list[str]]:
    """All figures, a header first; latencies in milliseconds."""
    points = ["p10", "p50", "p90", "p95", "p99", "p99.9"]
    rows = [["server", "clients", "requests/s", "failed", "CPU a request", *points]]
    for name, loads in found.items():
        rows += [
            [
                name,
                str(one["clients"]),
                f"{one['per_second']:.0f}",
                str(one["failed"]),
                f"{one['cpu_ms']:.2f} ms",
            ]
            + [f"{one[point]:.1f}" for point in points]
            for one in loads
        ]
    return rows


if __name__ == "__main__":
    measured = measure("--quick" in sys.argv)
    print(json.dumps(measured, indent=1))
    for row in table(measured):
        print("  ".join(f"{cell:<14}" for cell in row))
