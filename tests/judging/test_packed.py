"""What is packed comes back as it was; what is not packed by us is refused."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import msgspec
import pytest

from proctor import InputError, Program
from proctor.execution import GUARANTEES, Guarantee, Isolation, Strength
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.judgement import Judgement, Machine, SubtaskResult, TestResult, UpstreamReport
from proctor.judging.packed import digest_of, pack, to_judge, unpack
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import (
    Communication,
    Interactive,
    OutputOnly,
    Problem,
    Stub,
    Subtask,
    Test,
    TwoSteps,
)
from proctor.verdict import Verdict

CHECKER = Program("int main() {}", "cpp", files={"testlib.h": b"\x00\xff"})
PROBLEMS = [
    Problem("plain", (Test("1\n", "2\n"),)),
    Problem("call", (Test("1", b"2", public=True), Test("2", None)), function="f"),
    Problem("lone", (Test("\ud800", "x"),), extra={"a": "\ud800"}),
    Problem("compared", (Test("", ""),), grading=Comparison(Match.YES_NO, relative=1.0, absolute=0.5)),
    Problem("checked", (Test("", "", flags=("a",)),), grading=Checker(CHECKER, Convention.KATTIS)),
    Problem("talk", (Test(""),), running=Interactive(CHECKER, passes=2), languages=("cpp",)),
    Problem("managed", (Test("", files={"a/b": b"\xff", "c": "d"}),), running=Communication(CHECKER, 2)),
    Problem("outputs", (Test("", ""),), running=OutputOnly()),
    Problem("twice", (Test("", ""),), running=TwoSteps(), limits=Limits(cpu=1.0)),
    Problem(
        "points",
        (Test("", "", name="a", weight=2.0), Test("", "", name="b")),
        subtasks=(Subtask("s", 10.0, ("a", "b")), Subtask("t", 1.5, ("b",), depends=("s",))),
        stubs={"cpp": Stub({"grader.cpp": b"//"}, flags=("-DEVAL",))},
        published=date(2024, 2, 29),
    ),
]  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.id)
def test_problems_come_back(problem: Problem) -> None:
    again = unpack(pack(problem), Problem)
    assert again == problem
    assert pack(again) == pack(problem)
    assert [type(test.output) for test in again.tests] == [type(t.output) for t in problem.tests]


def test_names_that_are_no_unicode_are_refused() -> None:
    with pytest.raises(InputError, match="surrogate"):
        pack(Problem("a", (Test(""),), extra={"\udfff": 1}))


def test_judgements_come_back() -> None:
    judgement = Judgement(
        Verdict.WA,
        0.5,
        (TestResult(Verdict.AC, 0.1, 0.2, 3), TestResult(Verdict.WA, message="no", name="b")),
        isolation=Isolation("namespaces", {n: Guarantee(Strength.FULL, "so") for n in GUARANTEES}),
        upstream=UpstreamReport((True, -2), -2, None, {"inputs": ["1", None, 2.5]}),
        points=5.0,
        of=10.0,
        subtasks=(SubtaskResult("s", Verdict.WA, None, None, 10.0, ("a",)),),
        machine=Machine("node-1", "a CPU"),
    )
    assert unpack(pack(judgement), Judgement) == judgement
    settings = JudgeSettings(mode="official", stop="first")
    assert unpack(pack(settings), JudgeSettings) == settings
    assert unpack(pack(CHECKER), Program) == CHECKER


def test_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "1.in").write_bytes(b"\xff\n")
    problem = Problem("files", (Test(tmp_path / "1.in", "x"),))
    assert unpack(pack(problem), Problem).tests[0].input == b"\xff\n"
    (tmp_path / "1.in").unlink()
    with pytest.raises(InputError, match=r"1\.in"):
        pack(problem)


def test_what_no_judgement_depends_on_does_not_count() -> None:
    problem = PROBLEMS[-1]
    other = replace(problem, title="another", statement="text", extra={"a": 1})
    assert digest_of(pack(to_judge(problem))) == digest_of(pack(to_judge(other)))
    harder = replace(problem, limits=Limits(cpu=2))
    assert digest_of(pack(to_judge(problem))) != digest_of(pack(to_judge(harder)))


PLAIN = {"class": "Problem", "id": "a", "tests": [{"class": "Test", "input": "1"}]}


@pytest.mark.parametrize(
    "changed",
    [
        {"id": 5},
        {"tests": [5]},
        {"tests": [{"class": "Program", "source": ""}]},
        {"tests": [{"class": "Test", "input": "1", "flags": "ab"}]},
        {"tests": [{"class": "Test", "input": "1", "weight": "x"}]},
        {"grading": {"class": "Program", "source": "x"}},
        {"grading": {"class": "Comparison", "match": "any"}},
        {"grading": None},
        {"running": {"class": "Batch", "input_file": 3}},
        {"limits": {"class": "Limits", "cpu": -1}},
        {"unknown": 1},
        {"class": "Popen"},
        {"stubs": {"cpp": {"class": "Stub", "files": {"a": "text"}}}},
    ],
)
def test_what_is_of_another_type_is_refused(changed: dict[str, object]) -> None:
    assert unpack(msgspec.msgpack.encode(PLAIN), Problem).id == "a"
    with pytest.raises(InputError):
        unpack(msgspec.msgpack.encode({**PLAIN, **changed}), Problem)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xc1", b"\x80", msgspec.msgpack.encode([1]), b"\x91" * 5000, b"\xc7\x01\x05\x00"],
)
def test_what_is_not_packed_is_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        unpack(data, Problem)
