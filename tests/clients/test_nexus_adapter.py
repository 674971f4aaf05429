"""The npm package proctor-nexus-adapter: built strictly, its own tests and its page's example."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_typescript import BIN, CLIENT, ROOT, TSC, environment

from waiting import PATIENCE

PACKAGE = ROOT / "clients/nexus-adapter"
PAGE = ROOT / "docs/reference/nexus.md"
BLOCK = re.compile(r"^```typescript\n(.*?)^```$", re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.typescript


def compiled(package: Path, project: str) -> None:
    done = subprocess.run(
        [TSC, "--project", project], cwd=package, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def built() -> None:
    """Build the client and the package, linked into node_modules by their names as npm does."""
    for place in (CLIENT / "dist", PACKAGE / "dist", PACKAGE / "build", PACKAGE / "node_modules"):
        shutil.rmtree(place, ignore_errors=True)
    (PACKAGE / "node_modules").mkdir()
    for name, target in (("proctor-client", CLIENT), ("proctor-nexus-adapter", PACKAGE)):
        (PACKAGE / "node_modules" / name).symlink_to(target)
    compiled(CLIENT, ".")
    compiled(PACKAGE, ".")


def test_its_own_tests(built: None) -> None:
    compiled(PACKAGE, "test")
    files = sorted(str(path) for path in PACKAGE.glob("build/test/*.test.js"))
    own = {
        "PROCTOR_TEST_DIR": str(BIN),
        "PROCTOR_TEST_PROGRAMS": str(ROOT / "src/proctor/bundled/programs.jsonl"),
    }
    done = subprocess.run(
        ["node", "--test", "--test-timeout=100000", "--test-reporter=spec", *files],
        cwd=PACKAGE, env={**environment(), **own}, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-10_000:]
    count = re.search(r"^. pass (\d+)$", done.stdout, re.MULTILINE)
    assert count is not None
    assert int(count[1]) >= 17, "its tests have not been found"


def test_the_example_of_its_page(built: None) -> None:
    place = PACKAGE / "build/page"
    place.mkdir(parents=True, exist_ok=True)
    options = {"declaration": False, "rootDir": ".", "noEmit": True}
    settings = {"extends": "../../tsconfig.json", "compilerOptions": options, "include": ["."]}
    (place / "tsconfig.json").write_text(json.dumps(settings))
    (code,) = BLOCK.findall(PAGE.read_text("utf-8"))
    (place / "example.ts").write_text(code)
    compiled(PACKAGE, os.path.join("build", "page"))
