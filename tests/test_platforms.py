"""What happens where proctor cannot run programs, or not at full strength."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import proctor

PACKAGE = Path(proctor.__file__).parent


def python(code: str, path: Path = PACKAGE.parent) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(path)}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_it_imports_and_says_what_it_needs(platform: str) -> None:
    # What others' libraries do elsewhere is their business: they are imported before.
    started = "import sys, msgspec, rich.console, proctor, proctor.cli.main as m; "
    started += f"sys.platform = {platform!r}; "
    assert python(started + "print(proctor.Limits().cpu, proctor.pass_at_k(1, 1, 1))").stdout
    done = python(started + "proctor.run('print(1)')")
    assert "UnsupportedPlatform: proctor runs programs on Linux only" in done.stderr
    # The command turns this into its one sentence and exit code, as it does any such error.
    done = python(started + "import proctor.cli.doctor")
    assert done.stderr.splitlines()[-1].startswith(
        "proctor.errors.UnsupportedPlatform: proctor runs"
    )


@pytest.fixture(scope="module")
def without_c_part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package whose C part was never built."""
    place = tmp_path_factory.mktemp("no_c_part")
    shutil.copytree(
        PACKAGE, place / "proctor", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    return place


def test_without_the_c_part_programs_run_and_it_is_said(without_c_part: Path) -> None:
    code = """
import proctor
assert "no_c_part" in proctor.__file__
with proctor.open_pool(cells=1) as pool:
    first = proctor.run("print(input()[::-1])", "abc", pool=pool)
    assert first.stdout == b"cba\\n", first
    assert "not enforced" in first.isolation.guarantees["kernel"]
    late = proctor.run("while True: pass", limits=proctor.Limits(cpu=0.5), pool=pool)
    assert late.limit == "cpu", late
    problem = proctor.Problem("p", (proctor.Test("1", "2"), proctor.Test("2", "3")))
    for mode in ("standard", "official"):
        settings = proctor.JudgeSettings(mode)
        right = proctor.judge(problem, "print(int(input()) + 1)", settings=settings, pool=pool)
        assert right.passed, right
        wrong = proctor.judge(problem, "print(1)", settings=settings, pool=pool)
        assert wrong.verdict == "WA", wrong
print("all well")
"""
    done = python(code, without_c_part)
    assert done.stdout == "all well\n", done.stderr


def test_doctor_names_the_missing_c_part(without_c_part: Path) -> None:
    done = python(
        "import sys; sys.argv = ['proctor', 'doctor']; import proctor.cli.main as m; m.main()",
        without_c_part,
    )
    assert done.returncode == 0, done.stderr
    assert "C part: missing: one fresh, weaker box per job" in done.stdout
    assert "install a C compiler" in done.stdout
