"""One replay at a time."""

import threading

import pytest

from proctor.errors import Busy, InputError, NotFound
from proctor.evals.replaying.recorded import RecordedJudgement
from proctor.judgement import Judgement
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.verdict import Verdict
from proctor.view.replays import ReplayDesk, ReplayTarget
from waiting import until

TARGET = ReplayTarget("run", "p", 0, "standard")


def finished(desk: ReplayDesk) -> None:
    until(lambda: desk.state().state != "running")


def test_a_second_one_waits_for_its_turn() -> None:
    desk, go = ReplayDesk(), threading.Event()

    def find() -> RecordedJudgement:
        go.wait()
        raise InputError("is gone", file="source")

    assert desk.state().state == "none"
    assert desk.start(TARGET, find).state == "running"
    with pytest.raises(Busy):
        desk.start(TARGET, find)
    go.set()
    finished(desk)
    assert (desk.state().state, desk.state().said) == ("failed", "source: is gone")
    with pytest.raises(NotFound):
        desk.output(TARGET, "0")
    desk.start(TARGET, find)
    desk.close()


def test_closing_ends_the_one_under_way() -> None:
    """Its program would run for an hour."""
    limits = JudgeSettings("standard").limits
    settings = JudgeSettings("standard", limits=type(limits)(cpu=3600, wall=3600))
    begun, desk = threading.Event(), ReplayDesk()
    recorded = RecordedJudgement(
        "run", Problem("p", (Test("", ""),)), Program("while True: pass"), settings,
        Judgement(Verdict.TLE, 0.0, ()), pool={"cells": 1},
    )  # fmt: skip

    def find() -> RecordedJudgement:
        begun.set()
        return recorded

    desk.start(TARGET, find)
    begun.wait()
    desk.close()
    assert desk.state().state == "failed"


def test_a_run_does_not_choose_to_be_judged_without_isolation() -> None:
    recorded = RecordedJudgement(
        "run", Problem("p", (Test("", ""),)), Program("pass"), JudgeSettings("standard"),
        Judgement(Verdict.AC, 1.0, ()), pool={"cells": 1, "isolation": "none"},
    )  # fmt: skip
    desk = ReplayDesk()
    desk.start(TARGET, lambda: recorded)
    finished(desk)
    (now,) = [now for name, _, now in desk.state().surroundings if name == "isolation"]
    assert now in {"namespaces", "container", "landlock"}
    desk.close()


def test_outputs_beside_what_was_expected() -> None:
    problem = Problem("p", (Test("1", "1"), Test("2", "4"), Test("3", "9")))
    recorded = RecordedJudgement(
        "run", problem, Program("n = int(input())\nprint(1 if n < 3 else 1 / 0)"),
        JudgeSettings("standard", stop="never"), Judgement(Verdict.WA, 0.0, ()),
        pool={"cells": 1},
    )  # fmt: skip
    desk = ReplayDesk()
    desk.start(TARGET, lambda: recorded)
    finished(desk)
    state = desk.state()
    assert (state.state, state.then, state.now) == ("done", "WA", "WA")
    assert [each.now.verdict if each.now else "" for each in state.tests] == ["AC", "WA", "RE"]
    outputs = [each.output.text if each.output else None for each in state.tests]
    assert outputs == ["1\n", "1\n", None]
    assert desk.output(TARGET, "1") == b"1\n"
    with pytest.raises(NotFound):
        desk.output(ReplayTarget("another", "p", 0, "standard"), "1")
    desk.close()
