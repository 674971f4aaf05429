"""Which interpreter cells run under: asked for, proved, and the same one inside."""

import json
import os
import sys
import sysconfig
from pathlib import Path

import pytest

from needs import BOTH_LEVELS
from proctor import Pool, open_pool, run
from proctor.errors import CellStartFailed, InputError, NoInterpreter, NoIsolation, UsageError
from proctor.sandbox.machine import interpreter

pytestmark = pytest.mark.user

SYSTEM = "/usr/bin/python3"
REPORT = "import json, sys; print(json.dumps([sys.version, sys.prefix, sys.base_prefix]))"


def script(path: Path, answer: str) -> str:
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")
    path.chmod(0o755)
    return str(path)


def claim(name: str, *version: int) -> str:
    text = ".".join(map(str, version))
    return json.dumps([text, list(version[:2]), name, "/usr", "/usr", "/usr/bin/python3"])


def test_the_system_python() -> None:
    found = interpreter.probe(SYSTEM)
    assert Path(found.executable).resolve() == Path(SYSTEM).resolve()
    assert found.prefix == "/usr"
    assert found.directories == (), "all of it lies in /usr, which every box has"


def test_a_virtual_environment_counts_as_its_base() -> None:
    found = interpreter.probe(sys.executable)
    assert found == interpreter.current()
    assert (found.version, found.prefix) == (sys.version, sys.base_prefix)
    assert not Path(found.executable).is_relative_to(sys.prefix)
    assert all(not Path(path).is_relative_to("/usr") for path in found.directories)


@pytest.mark.parametrize("path", ["/bin/true", "/bin/false", "/bin/sh", "/etc", "/nowhere/python"])
def test_what_is_no_python_is_refused(path: str) -> None:
    with pytest.raises(NoInterpreter, match=f"^{path} does not run as a Python") as caught:
        interpreter.probe(path)
    assert caught.value.exit_code == 125


@pytest.mark.parametrize("answer", ["", "hello", "[1]", "5", "null", "{}", '"3.11.2"'])
def test_a_script_that_answers_nonsense_is_refused(answer: str, tmp_path: Path) -> None:
    with pytest.raises(NoInterpreter, match="does not run as a Python interpreter"):
        interpreter.probe(script(tmp_path / "python", answer))


def test_a_file_that_cannot_be_executed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text("not a program")
    with pytest.raises(NoInterpreter, match="does not run as a Python interpreter"):
        interpreter.probe(str(path))


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (claim("cpython", 3, 10, 14), "is cpython 3.10"),
        (claim("cpython", 2, 7, 18), "is cpython 2.7"),
        (claim("pypy", 3, 11, 9), "is pypy 3.11"),
        (claim("graalpy", 3, 12, 0), "is graalpy 3.12"),
    ],
)
def test_too_old_and_other_pythons_are_named(answer: str, shown: str, tmp_path: Path) -> None:
    with pytest.raises(NoInterpreter, match=shown) as caught:
        interpreter.probe(script(tmp_path / "python", answer))
    assert "CPython 3.11 or newer" in str(caught.value)


@pytest.mark.namespaces
def test_an_impostor_is_found_out_when_the_cell_starts(tmp_path: Path) -> None:
    """What the path said of itself must be what runs in the cell, to the letter."""
    path = script(tmp_path / "python", claim("cpython", 3, 99, 0))
    for _ in range(2):
        with pytest.raises(NoIsolation, match=r"namespaces .*: the cell runs '3\..*, not '3\.99"):
            open_pool(python=path, cells=1)
    with open_pool(python=SYSTEM, cells=1) as pool:  # and what it pretended to be is not blamed
        assert run("print(1)", pool=pool).ok


def test_proctors_own_interpreter_runs_at_its_original_path(pool: Pool) -> None:
    """Even in root's home, which a cell's user may not enter: staged, and in its old place."""
    version, prefix, base = json.loads(run(REPORT, pool=pool).stdout)
    assert version == sys.version
    assert prefix == base == sys.base_prefix
    seen = json.loads(
        run("import json, os; print(json.dumps([os.__file__, json.__file__]))", pool=pool).stdout
    )
    assert all(path.startswith(sys.base_prefix + "/lib/") for path in seen)


@pytest.mark.own_python
def test_the_chosen_interpreter_is_what_programs_see() -> None:
    chosen = interpreter.probe(SYSTEM)
    with open_pool(python=SYSTEM, cells=1) as pool:
        done = run(REPORT, pool=pool)
        version, prefix, _ = json.loads(done.stdout)
    assert version == chosen.version
    assert version != sys.version, "or this test shows nothing"
    assert prefix == "/usr"


NUMPY = "import numpy; print(numpy.arange(4).sum(), numpy.__file__)"


@pytest.mark.namespaces
def test_packages_are_importable_only_where_they_are_given(pool: Pool) -> None:
    without = run(NUMPY, pool=pool)
    assert without.exit_code == 1
    assert without.stderr.endswith(b"ModuleNotFoundError: No module named 'numpy'\n")
    packages = sysconfig.get_path("purelib")
    attack = (
        "import errno, os\n"
        "for mode in 'w', 'a', 'r+':\n"
        "    try: open('/packages/0/numpy/__init__.py', mode)\n"
        "    except OSError as error: print(errno.errorcode[error.errno])\n"
        "try: os.mkdir('/packages/0/here')\n"
        "except OSError as error: print(errno.errorcode[error.errno])\n"
    )
    with open_pool(packages=(packages,), cells=1) as given:
        done = run(NUMPY, pool=given)
        refused = run(attack, pool=given)
    assert done.stdout == b"6 /packages/0/numpy/__init__.py\n", done.stderr
    assert len(refused.stdout.split()) == 4
    assert set(refused.stdout.split()) <= {b"EROFS", b"EACCES"}, "two walls, either may answer"
    assert not Path(packages, "here").exists()


def test_preloaded_modules_are_there_already() -> None:
    packages = sysconfig.get_path("purelib")
    with open_pool(packages=(packages,), preload=("numpy",), cells=1) as pool:
        done = run("import sys; print('numpy' in sys.modules)", pool=pool)
    assert done.stdout == b"True\n"


@pytest.mark.parametrize("level", BOTH_LEVELS)
def test_a_preloaded_module_may_start_a_thread(level: str, tmp_path: Path) -> None:
    (tmp_path / "threaded.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    for parent in (tmp_path, *tmp_path.parents[:3]):
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(parent.stat().st_mode | 0o755)  # /tmp stays open to everybody
    packages = (str(tmp_path),)
    with open_pool(isolation=level, packages=packages, preload=("threaded",), cells=1) as pool:
        for number in range(3):
            done = run(f"import threaded; print({number})", pool=pool)
            assert done.stdout == f"{number}\n".encode()


def test_a_module_that_cannot_be_preloaded_is_named() -> None:
    with (
        open_pool(preload=("numpy",), cells=1) as pool,
        pytest.raises(CellStartFailed, match="cannot import numpy in the cell"),
    ):
        run("print(1)", pool=pool)


def test_packages_must_be_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"field `packages`: '.*/missing' is not a directory"):
        open_pool(packages=(str(tmp_path / "missing"),))


def test_the_number_of_cells_is_at_least_one() -> None:
    with pytest.raises(UsageError, match="at least 1, not 0"):
        open_pool(cells=0)
