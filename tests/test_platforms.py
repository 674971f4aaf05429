"""What happens where proctor cannot run programs, or not at full strength."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import proctor
from waiting import PATIENCE

PACKAGE = Path(proctor.__file__).parent


def python(code: str, path: Path = PACKAGE.parent) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(path)}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_it_imports_and_says_what_it_needs(platform: str) -> None:
    # What others' libraries do elsewhere is their business: they are imported before.
    started = (
        "import sys, asyncio, sysconfig, msgspec, rich.console, proctor, proctor.cli.main as m; "
    )
    started += f"sysconfig.get_config_vars(); sys.platform = {platform!r}; "
    # From 3.12 on shutil.which() asks a part of Windows, which is not here.
    started += "import shutil, types; shutil._winapi = types.SimpleNamespace("
    started += "NeedCurrentDirectoryForExePath=lambda _: False); "
    assert python(started + "print(proctor.Limits().cpu, proctor.pass_at_k(1, 1, 1))").stdout
    # Programs run in containers there (tests/containers), and at no other level.
    for level in ("namespaces", "landlock", "none"):
        done = python(f"{started}proctor.open_pool(isolation={level!r})")
        assert f"UnsupportedPlatform: level {level} needs Linux" in done.stderr
    nothing = "import os; os.environ['PATH'] = '/nowhere'; "
    done = python(f"{started}{nothing}proctor.run('print(1)')")
    assert "level container needs docker or podman" in done.stderr
    done = python(f"{started}{nothing}sys.argv = ['proctor', 'doctor']; m.main()")
    assert done.returncode == 1, done.stderr
    assert "only level container works here: install docker or podman" in done.stdout


@pytest.fixture(scope="module")
def without_c_part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package whose C part was never built."""
    place = tmp_path_factory.mktemp("no_c_part")
    shutil.copytree(
        PACKAGE, place / "proctor", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    return place


@pytest.mark.slow
def test_without_the_c_part_programs_run_and_it_is_said(without_c_part: Path) -> None:
    code = """
import proctor
assert "no_c_part" in proctor.__file__
with proctor.open_pool(cells=1) as pool:
    first = proctor.run("print(input()[::-1])", "abc", pool=pool)
    assert first.stdout == b"cba\\n", first
    assert first.isolation.guarantees["kernel"].strength == "none"
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


@pytest.mark.namespaces
def test_without_the_c_part_programs_keep_nothing_of_the_agents_rights(
    without_c_part: Path, tmp_path: Path
) -> None:
    """Its capabilities would make the box's mounts writable, and its signals handlers end it."""
    hostile = """
import ctypes, os, signal
libc = ctypes.CDLL(None)
with open("/proc/self/status") as status:
    print([line.split()[1] for line in status if line.startswith("CapEff")])
for path in (b"/usr", b"/packages/0", b"/"):
    print(libc.mount(None, path, None, ctypes.c_ulong(32 | 4096), None))  # remount, writable
for number in signal.valid_signals():
    os.kill(1, number)
print(libc.ptrace(16, 1, 0, 0))
"""
    tmp_path.chmod(0o777)
    code = f"""
import proctor
with proctor.open_pool(cells=1, packages=({str(tmp_path)!r},), isolation="namespaces") as pool:
    done = proctor.run({hostile!r}, pool=pool)
    print(done.stdout.decode(), done.stderr.decode())
    processes = done.isolation.guarantees["processes"]
    assert (processes.strength, bool(processes.gap)) == ("partial", True), processes
"""
    done = python(code, without_c_part)
    assert done.stdout.split() == ["['0000000000000000']", "-1", "-1", "-1", "-1"], done


@pytest.mark.root
def test_without_the_c_part_root_needs_a_user_namespace(without_c_part: Path) -> None:
    """Nothing else would keep programs from being root of the machine."""
    circumstances = Path(__file__).parent / "sandbox" / "circumstances.py"
    done = subprocess.run(
        [
            sys.executable, str(circumstances), "no-user-namespaces", sys.executable, "-c",
            "import proctor; proctor.open_pool(isolation='namespaces')",
        ],
        capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(without_c_part)}, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert (
        "(no user namespace): the cell ended while starting: RuntimeError: without" in done.stderr
    )


@pytest.mark.slow
@pytest.mark.namespaces
def test_doctor_names_the_missing_c_part(without_c_part: Path) -> None:
    done = python(
        "import sys; sys.argv = ['proctor', 'doctor']; import proctor.cli.main as m; m.main()",
        without_c_part,
    )
    assert done.returncode == 0, done.stderr
    assert "C part: missing: one fresh, weaker box per job" in done.stdout
    assert "install a C compiler" in done.stdout
