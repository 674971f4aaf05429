"""Keys of judgements: each program of a problem, and each part of a test, has its place in them."""

from dataclasses import replace

import pytest

from proctor.grading import Checker, Convention, GradedGroup, GroupGrading
from proctor.judging.cache.keys import content_key, judgement_key, languages_of
from proctor.judging.settings import JudgeSettings
from proctor.problem import Communication, Interactive, Problem, Subtask, Test, TwoSteps
from proctor.program import Program

SETTINGS = JudgeSettings()
PROGRAM = Program("print(input())")
OTHER = Program("", "c++17")
TEST = Test(
    b"input", b"output", name="a", flags=("flag",), args=("word",), files={"file": b"content"}
)
PROBLEM = Problem("p", (TEST,), subtasks=(Subtask("1", 10.0, ("a",)),))


@pytest.mark.parametrize(
    "problem",
    [
        replace(PROBLEM, grading=Checker(OTHER, Convention.TESTLIB)),
        replace(PROBLEM, running=Interactive(OTHER)),
        replace(PROBLEM, running=Communication(OTHER)),
        replace(PROBLEM, group_grading=GroupGrading(OTHER, (GradedGroup("all", ("1",)),), 10.0)),
    ],
    ids=["checker", "interactor", "manager", "grader"],
)
def test_the_language_of_each_program_counts(problem: Problem) -> None:
    """Its tools may judge otherwise when they are upgraded."""
    assert languages_of(problem, PROGRAM) == {"python", "cpp17"}
    assert languages_of(PROBLEM, PROGRAM) == {"python"}


def test_each_part_of_a_test_counts() -> None:
    changed = [
        replace(TEST, **part)
        for part in (
            {}, {"input": b"inpuT"}, {"output": b"outpuT"}, {"output": None}, {"output": b""},
            {"name": "b"}, {"weight": 2.0}, {"full": 100.0}, {"flags": ()}, {"flags": ("word",)},
            {"args": ("flag",)}, {"files": None}, {"files": {"file": b"contenT"}},
            {"files": {"filE": b"content"}}, {"public": True},
        )
    ]  # fmt: skip
    keys = [content_key(Problem("p", (test,)), PROGRAM, SETTINGS) for test in changed]
    assert len(set(keys)) == len(changed)
    assert keys == [content_key(Problem("p", (test,)), PROGRAM, SETTINGS) for test in changed]


@pytest.mark.parametrize(
    "problem",
    [
        replace(PROBLEM, subtasks=(Subtask("1", 11.0, ("a",)),)), replace(PROBLEM, subtasks=()),
        replace(PROBLEM, precision=3), replace(PROBLEM, running=TwoSteps()),
        replace(PROBLEM, platform="LeetCode"), replace(PROBLEM, languages=("python",)), replace(PROBLEM, integrity="somebody's"),
        replace(PROBLEM, running=Interactive(OTHER)),
        replace(PROBLEM, running=Interactive(OTHER, flags=("word",))),
        replace(PROBLEM, running=Interactive(replace(OTHER, source=" "))),
        replace(PROBLEM, running=Communication(OTHER)),
        replace(PROBLEM, running=Communication(OTHER, processes=2)),
    ],
    ids=repr,
)  # fmt: skip
def test_what_a_problem_is_counts(problem: Problem) -> None:
    others = {content_key(each, PROGRAM, SETTINGS) for each in (PROBLEM, replace(PROBLEM, id="q"))}
    assert len(others) == 2
    assert content_key(problem, PROGRAM, SETTINGS) not in others


def test_no_subtask_is_not_every_subtask() -> None:
    keys = [content_key(PROBLEM, PROGRAM, SETTINGS, subtasks) for subtasks in (None, (), ("1",))]
    assert len(set(keys)) == 3
    assert content_key(PROBLEM, PROGRAM, SETTINGS, ["1", "1"]) == keys[2]


def test_versions_count_in_any_order_and_so_do_the_surroundings() -> None:
    versions = [("python", "3.12"), ("cpp17", "g++ 12")]
    key = judgement_key(b"content", versions, "here")
    assert judgement_key(b"content", versions[::-1], "here") == key
    for changed in (
        (b"contenT", versions, "here"), (b"content", versions, "there"),
        (b"content", versions[:1], "here"), (b"content", [("python", "g++ 12"), ("cpp17", "3.12")], "here"),
    ):  # fmt: skip
        assert judgement_key(*changed) != key
