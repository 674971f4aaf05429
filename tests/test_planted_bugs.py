"""tools/planted_bugs plants what it says, where it says, and finds out whether tests notice."""

import ast
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
TOOL = ROOT / "tools/planted_bugs"


@pytest.fixture(scope="module")
def planting() -> ModuleType:
    spec = importlib.util.spec_from_file_location("planting", TOOL / "planting.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planting"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_each_text_is_there_just_once_and_is_replaced_by_a_program(planting: ModuleType) -> None:
    bugs = planting.read_bugs()
    assert len(bugs) >= 60
    for bug in bugs:
        source = (ROOT / "src/proctor" / bug.file).read_text("utf-8")
        planted = bug.planted(source)
        assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(source)), bug.name


def test_the_tests_that_are_run_first_are_those_of_the_mirrored_folder(
    planting: ModuleType,
) -> None:
    for bug in planting.read_bugs():
        assert bug.tests, bug.name
        for name in bug.tests:
            assert (ROOT / "tests" / name).is_file(), bug.name
            assert Path(name).is_relative_to(bug.folder), bug.name


def test_a_text_that_is_gone_is_an_error(planting: ModuleType) -> None:
    bug = planting.Bug("a bug", "units.py", "no such text", "", ("test_units.py",))
    for source, times in (("", 0), ("no such text, no such text", 2)):
        with pytest.raises(planting.PlantError, match=f"a bug: 'no such text' is {times} times in"):
            bug.planted(source)


@pytest.mark.parametrize("share", ["0/3", "4/3", "1", "x/y"])
def test_what_is_no_share_of_the_bugs_is_refused(share: str) -> None:
    done = subprocess.run([sys.executable, TOOL, "--share", share], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--share" in done.stderr


@pytest.fixture
def little(tmp_path: Path) -> Path:
    """A tree of one module, its tests, and two bugs of which they notice one."""
    shutil.copytree(TOOL, tmp_path / "tools/planted_bugs")
    for name, text in {
        "src/proctor/__init__.py": "",
        "src/proctor/judging/sums.py": "def twice(n):\n    return n + n\n",
        "tests/conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--quick', action='store_true')\n",
        "tests/judging/test_sums.py": "def test_nothing():\n    pass\n",
        "tests/judging/test_more.py": (
            "from proctor.judging.sums import twice\ndef test_twice():\n    assert twice(2) == 4\n"
        ),
        "tools/planted_bugs/bugs.toml": "".join(
            f"[[bug]]\nname = '{name}'\nfile = 'judging/sums.py'\ntext = 'n + n'\n"
            f"instead = '{instead}'\ntests = ['judging/test_sums.py']\n"
            for name, instead in (("seen", "n + 1"), ("unseen", "n * n"))
        ),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def planted(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/planted_bugs", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True)


@pytest.mark.slow
def test_what_tests_notice_is_caught_and_the_rest_is_missed(little: Path) -> None:
    done = planted(little, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["planted"], found["missed"]) == (1, 2, ["unseen"])
    assert found["bugs"][0]["by"] == "tests/judging/test_more.py::test_twice"
    assert "n + n" in (little / "src/proctor/judging/sums.py").read_text()  # here nothing changed


@pytest.mark.slow
def test_some_alone(little: Path) -> None:
    done = planted(little, "--only", "unseen", "--jobs", "1")
    assert done.stdout.endswith("0 of 1 caught\nmissed: unseen\n")
    assert planted(little, "--only", "no such").returncode == 2


@pytest.mark.slow
def test_a_test_that_fails_anyway_catches_nothing(little: Path) -> None:
    (little / "tests/judging/test_sums.py").write_text("def test_nothing():\n    assert False\n")
    done = planted(little, "--only", "unseen")
    assert done.returncode == 2
    assert "unseen: tests/judging/test_sums.py::test_nothing fails without it, too" in done.stderr
