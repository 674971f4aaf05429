"""Runs the tests and examples of Judge0's Python SDK against proctor, and prints a table.

    python tools/originals/judge0_sdk.py CHECKOUT

CHECKOUT is a clone of github.com/judge0/judge0-python, used as it is; only the addresses of hosted
services are replaced. Its dependencies, pytest and python-dotenv must be installed beside proctor.
Starts a server of its own. Exits with 1 if anything failed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

HERE = Path(__file__).parent
HOSTED = "1000_"
"""Beginning of the example that needs a tunnel of a hosted service."""
EXAMPLE = "import judge0_addresses, runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"


def main() -> int:
    """Run all, print a line for each, and return the exit status."""
    checkout = Path(sys.argv[1]).resolve()
    serve = [str(Path(sys.executable).with_name("proctor")), "serve", "--port", "0", "--json"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        environment = {
            **os.environ,
            "PYTHONPATH": f"{checkout / 'src'}:{HERE}",
            "JUDGE0_CE_ENDPOINT": url,
            "JUDGE0_CE_AUTH_HEADERS": "{}",
            "JUDGE0_EXTRA_CE_ENDPOINT": f"{url}/judge0-extra",
            "JUDGE0_EXTRA_CE_AUTH_HEADERS": "{}",
            "JUDGE0_CLOUD_CE_AUTH_HEADERS": "{}",
            "JUDGE0_CLOUD_EXTRA_CE_AUTH_HEADERS": "{}",
            "JUDGE0_RAPID_API_KEY": "any",
            "JUDGE0_ATD_API_KEY": "any",
        }
        rows = [*_tests(checkout, environment), *_examples(checkout, environment)]
    finally:
        server.terminate()
        server.wait()
    for name, outcome in rows:
        print(f"{outcome:8} {name}")
    failed = sum(outcome == "failed" for _, outcome in rows)
    print(f"{len(rows)} run, {failed} failed")
    return int(failed > 0)


def _tests(checkout: Path, environment: dict[str, str]) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
             "judge0_addresses", f"--junitxml={report}",
             "tests"],
            cwd=checkout, env=environment, check=False,
        )  # fmt: skip
        cases = ET.parse(report).iter("testcase")
        return [(f"{case.get('classname')}::{case.get('name')}", _outcome(case)) for case in cases]


def _outcome(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"


def _examples(checkout: Path, environment: dict[str, str]) -> list[tuple[str, str]]:
    rows = []
    for path in sorted((checkout / "examples").glob("*")):
        if path.name.startswith(HOSTED):
            rows.append((path.name, "hosted"))
            continue
        done = subprocess.run(
            [sys.executable, "-c", EXAMPLE, str(path)],
            env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        print(f"--- {path.name}\n{done.stdout[-2000:]}{done.stderr[-2000:]}", file=sys.stderr)
        rows.append((path.name, "failed" if done.returncode else "passed"))
    return rows


if __name__ == "__main__":
    sys.exit(main())
