"""The TypeScript client: built strictly, its own tests and its page's examples run by Node.js."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients/typescript"
PAGE = ROOT / "docs/how-to/use-the-clients.md"
BLOCK = re.compile(r"^```typescript( run)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TSC = CLIENT / "node_modules/.bin/tsc"
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.typescript


@pytest.fixture(scope="module")
def built() -> None:
    shutil.rmtree(CLIENT / "dist", ignore_errors=True)
    shutil.rmtree(CLIENT / "build", ignore_errors=True)
    compiled(".")


def compiled(project: str) -> None:
    done = subprocess.run(
        [TSC, "--project", project], cwd=CLIENT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")}
    path = f"{BIN}:{os.environ['PATH']}"
    return {**kept, "PATH": path, "PROCTOR_TEST_COMMAND": str(BIN / "proctor")}


def test_its_own_tests(built: None) -> None:
    compiled("test")
    files = sorted(str(path) for path in CLIENT.glob("build/test/*.test.js"))
    done = subprocess.run(
        ["node", "--test", "--test-timeout=200000", "--test-reporter=spec", *files],
        cwd=CLIENT, env=environment(), capture_output=True, text=True, timeout=250,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-10_000:]
    count = re.search(r"^. tests (\d+)$", done.stdout, re.MULTILINE)
    assert count is not None
    assert int(count[1]) >= 20, "its tests have not been found"


def test_the_examples_of_its_page(built: None) -> None:
    place = CLIENT / "build/page"
    place.mkdir(parents=True)
    settings = {
        "extends": "../../tsconfig.json",
        "compilerOptions": {"declaration": False, "rootDir": ".", "outDir": "built"},
        "include": ["."],
    }
    (place / "tsconfig.json").write_text(json.dumps(settings))
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(blocks) >= 2
    for number, (_, code) in enumerate(blocks):
        (place / f"block{number}.ts").write_text(code)
    compiled("build/page")
    for number, (run, _) in enumerate(blocks):
        if run:
            done = subprocess.run(
                ["node", f"built/block{number}.js"],
                cwd=place, env=environment(), capture_output=True, text=True, timeout=PATIENCE,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert done.stdout
