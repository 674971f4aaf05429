"""TwoSteps tasks in IOI directories."""

import json
import shutil
from pathlib import Path

import pytest

from package_changes import PACKAGES, copied, refused, replaced
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison
from proctor.problem import TwoSteps


def test_each_language_has_its_manager_which_is_what_starts() -> None:
    package = load(PACKAGES / "courier")
    problem = package.problem
    assert isinstance(problem.running, TwoSteps)
    assert isinstance(problem.grading, Comparison)
    assert set(problem.stubs) == {"cpp", "python"}
    assert set(problem.stubs["cpp"].files) == {
        "manager.cpp", "manager.h", "encoder.h", "decoder.h",
    }  # fmt: skip
    assert next(iter(problem.stubs["python"].files)) == "manager.py"
    sources = {each.name: {each.program.name, *each.program.files} for each in package.submissions}
    assert sources["solution/binary"] == {"encoder.cpp", "decoder.cpp"}
    assert sources["solution/one_file.cpp"] == {"one_file.cpp"}


@pytest.mark.parametrize("given", [["comparator"], {"output_eval": "comparator"}, '["comparator"]'])
def test_parameters_of_cms(given: object, tmp_path: Path) -> None:
    package = copied(tmp_path, "courier")
    settings = json.loads((package / "problem.json").read_text())
    settings["type_params"] = given
    (package / "problem.json").write_text(json.dumps(settings))
    assert "checker" in str(refused(package))
    shutil.copytree(PACKAGES / "pairsum" / "checker", package / "checker")
    assert isinstance(load(package).problem.grading, Checker)


def test_what_is_refused(tmp_path: Path) -> None:
    package = copied(tmp_path, "courier")
    replaced("problem.json", '"output_eval"', '"output_evl"')(package)
    assert refused(package).field == "task_type_params.output_evl"
    replaced("problem.json", '"output_evl"', '"output_eval"')(package)
    (package / "tests/1-01.out").unlink()
    assert refused(package).file == str(package.resolve() / "tests/1-01.out")
    (package / "tests/1-01.out").write_text("0\n")
    for manager in package.rglob("manager.*"):
        manager.unlink()
    assert "needs a manager" in refused(package).message
