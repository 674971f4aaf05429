"""A PID namespace whose /proc is the outer one, as of a nested job runner: numbers mean others.

Programs there were stopped late or never, and cells did not start, and were waited for.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import needs
from elsewhere import CIRCUMSTANCES, PROCTOR, Elsewhere
from proctor.sandbox.machine import procfs
from waiting import PATIENCE

SAID = "/proc is not that of this PID namespace"
NEW = (shutil.which("unshare") or "", "--pid", "--fork", "--kill-child")
AS_USER = (shutil.which("setpriv") or "", "--reuid=65534", "--regid=65534", "--clear-groups")
COUNTED = (str(needs.SYSTEM_PYTHON), CIRCUMSTANCES, "no-cgroup")
FOREIGN = [
    pytest.param(NEW, marks=pytest.mark.root, id="root"),
    pytest.param((*NEW, *COUNTED), marks=pytest.mark.root, id="no control groups"),
    pytest.param((*AS_USER, *NEW, "--user"), marks=pytest.mark.root, id="a user"),
    pytest.param((*NEW, "--map-root-user"), id="root of a user namespace"),
]

pytestmark = [pytest.mark.namespaces, pytest.mark.command("unshare", "setpriv"), pytest.mark.user]


def proctor(
    library: Path, way: tuple[str, ...], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run proctor behind the command of a way, whose end is awaited."""
    there = Elsewhere(library)
    return subprocess.run(
        [*way, there.python, "-B", *PROCTOR, *arguments], input="while True: pass\n",
        capture_output=True, text=True, cwd="/", timeout=PATIENCE, env=there.environment({}),
    )  # fmt: skip


@pytest.mark.parametrize("way", FOREIGN)
def test_no_program_is_run_where_it_could_not_be_measured(
    way: tuple[str, ...], library: Path
) -> None:
    done = proctor(library, way, "run", "--timeout", "1", "-")
    assert done.returncode == 125, done
    assert SAID in done.stderr
    assert "mount -t proc proc /proc" in done.stderr


@pytest.mark.parametrize("way", FOREIGN)
def test_doctor_says_so_and_ends(way: tuple[str, ...], library: Path) -> None:
    done = proctor(library, way, "doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert not report["works"]
    found = {fact["name"]: fact for fact in report["findings"]}["/proc"]
    assert (found["ok"], found["found"]) == (False, "not that of this PID namespace")
    assert "mount -t proc proc /proc" in found["remedy"]
    local = [level for level in report["levels"] if level["level"] != "container"]
    assert [SAID in level["failures"][0] for level in local] == [True, True]


@pytest.mark.parametrize(
    "way",
    [
        pytest.param((*NEW, "--mount-proc"), marks=pytest.mark.root, id="root"),
        pytest.param((*NEW, "--map-root-user", "--mount-proc"), id="root of a user namespace"),
    ],
)
def test_the_remedy_helps(way: tuple[str, ...], library: Path) -> None:
    done = proctor(library, way, "run", "--cpu", "100ms", "-")
    assert done.returncode == 124, done
    assert "stopped at the cpu limit" in done.stderr


def test_our_own_proc_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert procfs.shows_us()
    status = tmp_path / "status"
    for text, ours in [
        ("Pid:\t7\nNSpid:\t7\n", True),
        ("Pid:\t4007\nNSpid:\t4007\t7\n", False),
        ("Pid:\t7\n", True),  # a kernel without PID namespaces
    ]:
        status.write_text(text)
        monkeypatch.setattr(procfs, "Path", lambda _: status)
        assert procfs.shows_us() is ours
    status.unlink()  # no /proc, or one of a namespace in which we are not
    assert not procfs.shows_us()
