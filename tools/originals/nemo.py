"""Runs NeMo-Skills' own tests of its sandbox, unmodified, against a server, and prints a table.

    python tools/originals/nemo.py CHECKOUT http://127.0.0.1:8377 [-k EXPRESSION ...]

CHECKOUT is a clone of github.com/NVIDIA-NeMo/Skills; this Python has what its client and tests
import: pytest-asyncio, httpx, tqdm, fire, hydra-core, math-verify, `nemo_run<0.8`, `leptonai<0.46`.
Further arguments are pytest's. The server was started with `--packages` for numpy and sympy, which
some tests import in cells. Exits with 1 if a test failed that no missing Lean explains.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

TESTS = "tests/test_code_execution.py"
LEAN = ("lean4", "deepseek")
"""Parts of the names of tests that need Lean 4 and Mathlib."""


def main() -> int:
    """Run the tests, print a line for each and the counts; return the exit status."""
    checkout, address, *rest = sys.argv[1:]
    place = urlsplit(address)
    environment = {
        **os.environ,
        "NEMO_SKILLS_SANDBOX_HOST": place.hostname or "127.0.0.1",
        "NEMO_SKILLS_SANDBOX_PORT": str(place.port or 80),
    }
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.xml"
        # Upstream's conftest.py is for clusters, and imports docker.
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "--noconftest", TESTS]
        command += ["-p", "no:cacheprovider", f"--junitxml={found}", *rest]
        subprocess.run(
            command, cwd=checkout, env=environment, check=False, stdout=subprocess.DEVNULL
        )
        cases = list(ET.parse(found).iter("testcase"))
    outcomes: Counter[str] = Counter()
    unexplained = 0
    for case in cases:
        bad = next((each for each in case if each.tag in {"failure", "error", "skipped"}), None)
        outcome = "passed" if bad is None else bad.tag
        outcomes[outcome] += 1
        why = "" if bad is None else str(bad.get("message")).partition("\n")[0][:100]
        name = str(case.get("name"))
        unexplained += bad is not None and not any(part in name for part in LEAN)
        print(f"{outcome:8} {name.encode('unicode_escape').decode()[:60]:60} {why}".rstrip())
    print(", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items())))
    return int(unexplained > 0 or not cases)


if __name__ == "__main__":
    sys.exit(main())
