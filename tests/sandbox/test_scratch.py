"""Disk where a program can have no file system of its own: bounded by looking, and gone after."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from proctor import Limits, Pool, open_pool, run
from proctor.sandbox.levels.bubblewrap import find_bwrap
from proctor.sandbox.machine import procfs, scratch
from proctor.sandbox.machine.scratch import Scratch

pytestmark = pytest.mark.user

MIB = 1 << 20
LIMITS = Limits(cpu=10.0, disk=4 * MIB)
DEEP = """
import os
for _ in range(100):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
with open("bottom", "w") as file: file.write("x")
"""


@pytest.fixture(scope="module")
def walled() -> Pool:
    with open_pool(isolation="landlock", cells=1) as opened:
        yield opened


def test_a_job_finds_nothing_and_leaves_nothing(walled: Pool) -> None:
    source = (
        "import os\nprint(os.listdir('.'))\nopen('x', 'w').write('y')\nos.mkdir('shut', 0)\n"
        "os.symlink('/etc', 'link')\nos.mkdir('unreadable', 0o300)\nopen('unreadable/z', 'w')"
    )
    cell = None
    for _ in range(3):
        done = run(source, limits=LIMITS, pool=walled)
        assert (done.exit_code, done.stdout) == (0, b"[]\n"), done
        assert cell in (None, walled._live[0]), "the same cell"
        cell = walled._live[0]
        assert not cell._scratch.in_use


def test_without_disk_there_is_no_way_into_it(walled: Pool) -> None:
    run("", limits=LIMITS, pool=walled)
    place = walled._live[0]._scratch.path
    source = f"import os\ntry: os.mkdir({str(place / 'work')!r})\nexcept OSError: print('no')"
    assert run(source, pool=walled).stdout == b"no\n"


@pytest.mark.parametrize(
    "source",
    [
        "for n in range(100): open(str(n), 'wb').write(bytes(1 << 20))\nwhile True: pass",
        "for n in range(5000): open(str(n), 'wb')\nwhile True: pass",
        "import os\nos.mkdir('d', 0o300)\n"
        "for n in range(100): open(f'd/{n}', 'wb').write(bytes(1 << 20))\nwhile True: pass",
        DEEP + "while True: pass",
    ],
    ids=["bytes", "files", "where nobody looks", "too deep to look"],
)
def test_more_than_the_limit_ends_the_program(source: str, walled: Pool) -> None:
    done = run(source, limits=LIMITS, pool=walled)
    assert done.limit == "disk", done
    assert run("print(1)", limits=LIMITS, pool=walled).stdout == b"1\n"


@pytest.mark.slow
def test_directories_deeper_than_any_path_are_deleted(walled: Pool) -> None:
    place = Scratch(None)
    try:
        place.prepare()
        start = os.getcwd()
        os.chdir(place.path / "work")
        try:
            exec(DEEP.replace("100", "3000"), {})
        finally:
            os.chdir(start)
        place.clear()
        assert not place.in_use
    finally:
        place.remove()
    assert not place.path.exists()


def test_directories_that_nobody_may_write_to_are_deleted() -> None:
    """Of the user that runs proctor, if that is not root."""
    root = os.geteuid() == 0
    place = Scratch(None)
    if root:
        os.chown(place.path, 65534, -1)
        os.seteuid(65534)
    try:
        place.prepare()
        (place.path / "work" / "open").mkdir()
        (place.path / "work" / "open" / "shut").mkdir(0o000)
        place.clear()
        assert not place.in_use
    finally:
        if root:
            os.seteuid(0)
        place.remove()
    assert not place.path.exists()


def test_what_is_linked_to_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "file").write_text("kept")
    place = Scratch(None)
    place.prepare()
    (place.path / "work" / "link").symlink_to(target)
    place.remove()
    assert (target / "file").read_text() == "kept"


def test_directories_of_who_is_gone_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Scratch(None)
    gone = mine.path.with_name(mine.path.name.replace(f"-{os.getpid()}-", "-999999999-"))
    gone.mkdir()
    scratch.sweep()
    assert mine.path.exists()
    assert not gone.exists()
    mine.remove()


def test_a_job_of_our_own_user_cannot_write_beside_its_directory() -> None:
    """There nothing is counted, and nothing deleted before the next job."""
    mine = Scratch(None)
    try:
        mine.prepare()
        assert mine.path.stat().st_mode & 0o222 == 0
        mine.clear()
        assert not mine.in_use
        mine.prepare()
        assert mine.path.stat().st_mode & 0o222 == 0
    finally:
        mine.remove()
    assert not mine.path.exists()


def test_looking_does_not_follow_what_was_put_in_the_way(tmp_path: Path) -> None:
    """A directory may be replaced by a link between being listed and being entered."""
    precious = tmp_path / "precious"
    precious.mkdir(mode=0)
    (tmp_path / "link").symlink_to(precious)
    top = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(NotADirectoryError):
            scratch._enter(top, "link")
    finally:
        os.close(top)
    assert precious.stat().st_mode & 0o777 == 0


def test_what_a_killed_proctor_left_is_swept_however_it_was_shut() -> None:
    gone = Path(tempfile.gettempdir()) / f"proctor-scratch-{procfs.pid_namespace()}-999999999-1-y"
    (gone / "work" / "shut").mkdir(parents=True)
    (gone / "work" / "shut").chmod(0)
    gone.chmod(0o511)
    scratch.sweep()
    assert not gone.exists()


@pytest.mark.root
def test_nothing_is_swept_where_nothing_is_writable() -> None:
    program, libraries = find_bwrap()
    box = [program, "--ro-bind", "/", "/", "--chdir", "/"]
    sweep = "from proctor.sandbox.machine.scratch import sweep; sweep(); print('swept')"
    environment = {"LD_LIBRARY_PATH": libraries or ""}
    done = subprocess.run([*box, sys.executable, "-c", sweep], env=environment, capture_output=True)
    assert done.stdout == b"swept\n", done.stderr
