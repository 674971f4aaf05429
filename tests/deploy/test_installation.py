"""Installed by pip, as users do it who know nothing of uv."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import proctor

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(sysconfig.get_path("purelib"))


@pytest.mark.slow
@pytest.mark.command("cc")
def test_pip_installs_a_checkout(tmp_path: Path) -> None:
    """Without the network: what it depends on is taken from where the tests run."""
    checkout, place = tmp_path / "checkout", tmp_path / "venv"
    shutil.copytree(
        ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("*.so", "*.egg-info")
    )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, checkout)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True, timeout=240)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(f"{HERE}\n")
    command = [
        sys.executable, "-m", "pip", "--python", place, "install", "--quiet", "--no-index", "--no-deps",
        "--no-build-isolation", "--ignore-installed", checkout,
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=240)
    tried = "import proctor.cell._lockdown as it; print(it.__file__)"
    loaded = subprocess.run([place / "bin/python", "-c", tried], capture_output=True, text=True)
    assert loaded.stdout.startswith(str(site)), loaded.stderr
    said = subprocess.run([place / "bin/proctor", "--version"], capture_output=True, text=True)
    assert said.stdout.strip() == proctor.__version__, said.stderr
