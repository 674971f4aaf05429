"""POST /run_code of print(1): a server with isolation, and one that spawns interpreters without."""

import contextlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgets import Line, at_least, at_most, milliseconds, per_second, spread_times, times
from measure import WORK, Group, spread

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
    group = Group()
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


def measure(quick: bool) -> list[dict[str, Any]]:
    """Return what each server did with one client and with 32, in turn. Needs wrk."""
    require()
    rounds, seconds = (1, 2) if quick else (5, 4)
    rows: list[dict[str, Any]] = [
             {"server": name, "clients": clients, "loads": []}
            for name in (OURS, BARE) for clients in (1, 32)]  # fmt: skip
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(started(name)) for name in (OURS, BARE)}
        for server in servers.values():
            load(server, 4, 1 if quick else 2)  # all cells are up then
        for number in range(rounds):
            for row in rows if number % 2 == 0 else rows[::-1]:
                row["loads"].append(load(servers[row["server"]], row["clients"], seconds))
    return rows


def _values(row: dict[str, Any], figure: str) -> list[float]:
    return [load[figure] for load in row["loads"]]


def _median(row: dict[str, Any], figure: str) -> float:
    return statistics.median(_values(row, figure))


def lines(found: list[dict[str, Any]]) -> list[Line]:
    """The figures that have budgets."""
    alone, many, _, many_bare = found
    ratio = _against(many, many_bare)[1]
    failed = sum(sum(_values(row, "failed")) for row in (alone, many))
    return [
        at_most("CPU a request, of all processes, 32 clients", _median(many, "cpu_ms"), 1.8,
                milliseconds),
        at_most("the same against a process per request", ratio, 0.15, times),
        at_most("one client, median", _median(alone, "p50"), 2, milliseconds),
        at_least("32 clients, requests a second", _median(many, "per_second"), 1000, per_second),
        at_most("requests that failed", failed, 0, "{:.0f}".format),
    ]  # fmt: skip


def _against(row: dict[str, Any], bare: dict[str, Any]) -> list[float]:
    """Spread, over the rounds, of the ratio of CPU a request."""
    both = zip(_values(row, "cpu_ms"), _values(bare, "cpu_ms"), strict=True)
    return spread([ours / theirs for ours, theirs in both])


def table(found: list[dict[str, Any]]) -> list[list[str]]:
    """All figures, a header first; latencies in milliseconds."""
    points = ["p10", "p50", "p90", "p95", "p99", "p99.9"]
    head = ["server", "clients", "requests/s", "failed", "CPU ms a request", "CPU against the last"]
    rows = [[*head, *points]]
    bare = {row["clients"]: row for row in found if row["server"] == BARE}
    for row in found:
        slow, _, fast = spread(_values(row, "per_second"))
        rows.append([
            row["server"],
            str(row["clients"]),
            f"{_median(row, 'per_second'):.0f} ({slow:.0f}–{fast:.0f})",
            f"{sum(_values(row, 'failed')):.0f}",
            f"{_median(row, 'cpu_ms'):.2f}",
            spread_times(_against(row, bare[row["clients"]])),
            *(f"{_median(row, point):.1f}" for point in points),
        ])  # fmt: skip
    return rows


def notes(found: list[dict[str, Any]]) -> list[str]:
    return [
        f"Medians of {len(found[0]['loads'])} rounds, in turn (p10–p90); both servers stay up.",
        "wrk takes its part of the same CPUs, which is in no figure but the rates and latencies.",
    ]


if __name__ == "__main__":
    import report

    report.alone(sys.modules[__name__])
