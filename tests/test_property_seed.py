"""The examples of property tests depend on one number, which is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

FAILS = """
from hypothesis import given, strategies as st
@given(st.integers())
def test_fails(number):
    with open("examples", "a") as file:
        print(number, file=file)
    assert number < 10
"""


def test_each_run_has_a_seed(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.option.hypothesis_seed
    assert not settings.default.derandomize
    assert (settings.default.max_examples, settings.default.deadline) == (100, None)
    assert settings.default.database is None


@pytest.mark.slow
def test_the_seed_decides_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").symlink_to(Path(__file__).with_name("conftest.py"))
    (tmp_path / "test_fails.py").write_text(FAILS)
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # those of others take seconds to start
    }  # fmt: skip
    found = []
    for seed in ("1", "1", "2"):
        (tmp_path / "examples").unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "hypothesispytest"],
            cwd=tmp_path, capture_output=True, text=True,
            env={**environment, "PROCTOR_TEST_SEED": seed},
        )  # fmt: skip
        told = done.stdout.count(f"PROCTOR_TEST_SEED={seed}")
        assert told == 2  # in the header, and where it failed
        found.append((tmp_path / "examples").read_text())
    assert found[0] == found[1] != found[2]
