"""Judgements as bundles: replayed where nothing else is, and refused if anything was changed."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from proctor_command import Proctor

import ioi_task
from proctor.errors import InputError, ProctorError
from proctor.evals.replaying.bundles import bundle, of_bundle
from proctor.evals.replaying.recorded import RecordedJudgement, Surroundings
from proctor.execution import Isolation
from proctor.formats.ioi_rows import load_tasks
from proctor.judgement import Judgement, Machine, TestResult, UpstreamReport
from proctor.judging.environment import open_environment
from proctor.judging.judge import judge
from proctor.judging.packed import pack
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import Problem
from proctor.problem import Test as Case
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

ADDING = Problem(
    "a/../b", (Case("1 2", "3", name="../../x"), Case(b"\xff\x00", b""), Case("4 5", "9")),
    statement="long", title="Sum",
)  # fmt: skip
RECORDED = RecordedJudgement(
    "results.jsonl#7", ADDING, Program("print(3)  # \ud800", name="d/a.py", files={"d/b.h": b"\xff"}),
    JudgeSettings(limits=Limits(cpu=1.5, wall=3.0), stop="never", tolerance=0.5),
    Judgement(
        Verdict.WA, 1 / 3, (TestResult(Verdict.AC, 0.1, 0.2, 3, name="x"), TestResult(Verdict.WA)),
        "why", Isolation("namespaces", {}), machine=Machine("node", "EPYC"),
    ),
    None, Surroundings("0.0.9", "3.12.1", "", "Linux 1", "EPYC", "node", "namespaces"),
    {"packages": ("/elsewhere",), "python": "/usr/bin/true", "cells": None}, ("a note",),
)  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Path:
    bundle(RECORDED, tmp_path / "b")
    return tmp_path / "b"


@pytest.fixture(scope="module")
def cells() -> Iterator[Pool]:
    with open_environment() as pool:
        yield pool


def edit(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest, and the digests in it to those of the files as they are."""
    manifest = json.loads((place / "manifest.json").read_text())
    change(manifest)
    for name in manifest["files"]:
        data = (place / name).read_bytes()
        manifest["files"][name] = {
            "size": len(data), "sha256": hashlib.sha256(data).hexdigest(),
        }  # fmt: skip
    (place / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", ["b", "b.zip"])
def test_all_that_is_judged_is_there_again(tmp_path: Path, name: str) -> None:
    bundle(RECORDED, tmp_path / name)
    found = of_bundle(tmp_path / name)
    assert found.problem == replace(ADDING, statement="", title="")
    for part in ("program", "settings", "subtasks", "outcome", "then", "name"):
        assert getattr(found, part) == getattr(RECORDED, part)
    assert found.pool == {}, "what another machine has is not looked for here"
    assert found.notes == (
        "a note", "it was judged with packages: /elsewhere", "it was judged with python: /usr/bin/true",
    )  # fmt: skip


def test_people_find_their_way(written: Path) -> None:
    assert sorted(str(each.relative_to(written)) for each in written.rglob("*.*")) == [
        "README.txt", "beside/d/b.h", "manifest.json", "problem.msgpack", "program/a.py",
        "tests/0-.._.._x.in", "tests/0-.._.._x.out", "tests/1.in", "tests/1.out", "tests/2.in",
        "tests/2.out",
    ]  # fmt: skip
    assert (written / "tests" / "1.in").read_bytes() == b"\xff\x00"
    manifest = json.loads((written / "manifest.json").read_text())
    assert manifest["recorded"]["tests"][1]["verdict"] == "WA"
    assert manifest["settings"]["limits"]["cpu"] == 1.5
    assert manifest["then"]["cpu"] == "EPYC"
    assert "proctor replay b\n" in (written / "README.txt").read_text()


def test_official_reports_and_points_survive(tmp_path: Path) -> None:
    report = UpstreamReport((True, -2), -2, "Wrong", {"output": "1", "inputs": None})
    recorded = replace(
        RECORDED, outcome=replace(RECORDED.outcome, upstream=report, points=2.5, of=5.0)
    )
    bundle(recorded, tmp_path / "b")
    assert of_bundle(tmp_path / "b").outcome == recorded.outcome


def test_many_tests_are_not_all_written_out(tmp_path: Path) -> None:
    many = replace(ADDING, tests=tuple(Case(f"{n} 1", f"{n + 1}") for n in range(3000)))
    bundle(replace(RECORDED, problem=many), tmp_path / "b")
    assert len(list((tmp_path / "b" / "tests").iterdir())) == 1000
    assert of_bundle(tmp_path / "b").problem.tests == many.tests


@pytest.mark.parametrize(
    "name",
    ["tests/1.in", "tests/2.out", "program/a.py", "beside/d/b.h", "problem.msgpack", "README.txt"],
)
def test_a_changed_file_is_refused(written: Path, name: str) -> None:
    (written / name).write_bytes(b"something else")
    with pytest.raises(InputError, match=f"{name}: (has|is not the file)"):
        of_bundle(written)


def test_files_that_do_not_fit_each_other_are_refused(written: Path) -> None:
    """A reader would look at tests, or at a program, that are not what is judged."""
    (written / "tests" / "2.out").write_bytes(b"8")
    edit(written, lambda manifest: None)
    with pytest.raises(InputError, match=r"tests/2\.out is not that of the judgement"):
        of_bundle(written)
    (written / "tests" / "2.out").write_bytes(b"9")
    (written / "problem.msgpack").write_bytes(pack(replace(ADDING, tests=ADDING.tests[:2])))
    edit(written, lambda manifest: manifest["files"].pop("tests/1.in"))
    with pytest.raises(InputError, match=r"tests/1\.in is not that of the judgement"):
        of_bundle(written)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda m: m.update(proctor_bundle=2, made_by="proctor 9"), "but one of proctor 9"),
        (lambda m: m.pop("proctor_bundle"), "not a bundle that this version reads"),
        (lambda m: m.pop("program"), "is missing"),
        (lambda m: m["settings"].update(mode="other"), "manifest.json.settings.mode"),
        (lambda m: m["settings"]["limits"].update(cpu=-1), "must not be -1"),
        (lambda m: m["settings"]["limits"].update(memory="x"), "settings.limits.memory"),
        (lambda m: m["recorded"].update(verdict="XX"), "recorded.verdict"),
        (lambda m: m["recorded"].update(tests=[1]), "recorded.tests"),
        (lambda m: m["program"].update(source="program/x"), "does not fit its files: KeyError"),
        (lambda m: m["program"].update(source="README.txt"), "is not below program/"),
        (lambda m: m["program"].update(beside=[]), "beside/d/b.h is not that of the judgement"),
        (lambda m: m["program"].update(language="../x"), "is not a language's name"),
        (lambda m: m["program"].update(name="/etc/x"), "is not a plain relative path"),
        (lambda m: m["program"].update(beside=["../../x"]), "does not fit its files"),
        (lambda m: m["files"].pop("problem.msgpack"), "does not fit its files"),
        (lambda m: m.update(subtasks=[1]), "subtasks"),
        (lambda m: m.update(then={"cpu": 1}), "then.cpu"),
    ],
)
def test_manifests_that_cannot_be(
    written: Path, change: Callable[[dict[str, Any]], object], says: str
) -> None:
    edit(written, change)
    with pytest.raises(ProctorError, match=".") as caught:
        of_bundle(written)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\xc1", pack(Program("x")), b"\xdd\xff\xff\xff\xff"]
)
def test_problems_that_are_none(written: Path, data: bytes) -> None:
    (written / "problem.msgpack").write_bytes(data)
    edit(written, lambda manifest: None)
    with pytest.raises(InputError, match="is not a packed Problem"):
        of_bundle(written)


def test_another_machine(proctor: Proctor, tmp_path: Path, cells: Pool) -> None:
    """Nothing is left but the bundle, in a place of its own."""
    problem = replace(ADDING, tests=(Case("1 2", "3"), Case("4 5", "9")))
    program, settings = Program("print(3)"), JudgeSettings(stop="never")
    made = judge(problem, program, settings=settings, pool=cells)
    recorded = RecordedJudgement("r#1", problem, program, settings, made)
    for name in ("one", "one.zip"):
        (tmp_path / "ours").mkdir()
        bundle(recorded, tmp_path / "ours" / name)
        theirs = tmp_path / f"theirs-{name}"
        (tmp_path / "ours" / name).rename(theirs)
        shutil.rmtree(tmp_path / "ours")
        done = proctor("replay", theirs, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout)
        assert found["said"] == "same verdict: WA"
        assert found["test"]["got"]["text"] == "3\n"


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize(
    ("task", "solution"), [((2024, "double"), "small"), ((2023, "guess"), "above")]
)
def test_graders_managers_and_subtasks_come_with_it(
    proctor: Proctor, tmp_path: Path, cells: Pool, task: tuple[int, str], solution: str
) -> None:
    place = ioi_task.write_tasks(tmp_path / "tasks")
    problem = load_tasks([place / "subtasks.jsonl"], [place / "test_cases.jsonl"])[task].problem
    source = (ioi_task.SOLUTIONS | ioi_task.GUESSES)[solution]
    program, settings = Program(source, "cpp17"), JudgeSettings(stop="first")
    made = judge(problem, program, settings=settings, pool=cells)
    bundle(RecordedJudgement("r#1", problem, program, settings, made), tmp_path / "b.zip")
    shutil.rmtree(place)
    done = proctor("replay", tmp_path / "b.zip", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["now"][0]["points"] == made.points not in {0, 100}


def test_a_bundle_may_say_another_verdict(proctor: Proctor, written: Path) -> None:
    edit(written, lambda manifest: manifest["recorded"].update(verdict="AC"))
    done = proctor("replay", written)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("differs: ")


def test_what_a_bundle_must_not_do(proctor: Proctor, written: Path, tmp_path: Path) -> None:
    """Its Python would be run outside any cell; its limits would take the machine."""
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    os.chmod(spy, 0o755)
    edit(written, lambda manifest: manifest["pool"].update(python=str(spy), preload=["os"]))
    done = proctor("replay", written)
    assert done.returncode in {0, 1}, done.stderr
    assert not (tmp_path / "ran").exists()
    assert f"it was judged with python: {spy}" in done.stdout
    edit(written, lambda manifest: manifest["settings"]["limits"].update(memory=1 << 50))
    done = proctor("replay", written)
    assert done.returncode == 2
    assert "limits.memory" in done.stderr
    for record, says in ((f"{written}#1", "holds one judgement: name it alone"),):
        done = proctor("replay", record)
        assert done.returncode == 2
        assert says in done.stderr
    done = proctor("replay", written, "--problems", "x")
    assert done.returncode == 2
    assert "--problems is not for a bundle" in done.stderr
