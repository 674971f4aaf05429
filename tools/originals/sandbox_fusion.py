"""Run SandboxFusion's own tests, unmodified, against a server, and print each test's outcome.

    python tools/originals/sandbox_fusion.py CHECKOUT http://127.0.0.1:8377 [-k EXPRESSION ...]

CHECKOUT is a checkout of github.com/bytedance/SandboxFusion; this Python has what its tests import:
fastapi, httpx, pytest-asyncio, structlog, psutil, pyyaml, aiohttp, tenacity, transformers,
databases[aiosqlite,aiomysql]. Further arguments are pytest's. The tests ask an application in their
own process; as pytest's plugin this file hands them a client of the server instead.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ADDRESS = "SANDBOX_FUSION_ADDRESS"
OUTCOMES = pytest.StashKey[dict[str, tuple[str, str]]]()
_PATIENCE = 300
"""Seconds to wait for an answer."""


def pytest_configure(config: pytest.Config) -> None:
    """Put an HTTP client in the place of the one that asks in this process."""
    import httpx
    from fastapi import testclient

    class ServerClient(httpx.Client):
        def __init__(self, _app: object) -> None:
            super().__init__(base_url=os.environ[ADDRESS], timeout=_PATIENCE)

    testclient.TestClient = ServerClient
    # Programs that some tests run without a client go to the server as well.
    from sandbox.configs.run_config import RunConfig

    dataset = RunConfig.get_instance_sync().dataset
    dataset.cpu_runner_url = dataset.gpu_runner_url = f"{os.environ[ADDRESS]}/run_code"
    config.stash[OUTCOMES] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Keep a test's outcome, with the first line of why it failed."""
    report = (yield).get_result()
    if report.when == "call" or report.outcome != "passed":
        why = str(call.excinfo.value).split("\n")[0][:100] if call.excinfo else ""
        item.config.stash[OUTCOMES][item.nodeid] = (report.outcome, why)


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    """Print the table, then the counts of each file and of all."""
    found = config.stash[OUTCOMES]
    files: dict[str, Counter[str]] = {}
    for test, (outcome, why) in sorted(found.items()):
        name = test.removeprefix("sandbox/tests/")
        files.setdefault(name.split("::")[0], Counter())[outcome] += 1
        terminalreporter.write_line(f"{outcome:8}{name}  {why}".rstrip())
    for name, counts in {**files, "all": sum(files.values(), Counter())}.items():
        numbers = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
        terminalreporter.write_line(f"{name}: {numbers}")


def main() -> int:
    """Start pytest in the checkout; return its exit code."""
    checkout, address, *rest = sys.argv[1:]
    # The application that the tests import needs this folder, to serve its manual from.
    (Path(checkout) / "docs/build").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-p", Path(__file__).stem, "-q", "--tb=no", "-o"]
    command += ["addopts=", "sandbox/tests", "--ignore=sandbox/tests/runners/samples", *rest]
    paths = os.pathsep.join([str(Path(__file__).resolve().parent), checkout])
    environment = {**os.environ, "PYTHONPATH": paths, ADDRESS: address}
    return subprocess.run(command, cwd=checkout, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
