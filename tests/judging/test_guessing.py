"""Programs that guess: what is judged again, and when, lets nobody guess twice."""

import pytest

from proctor.judgement import TestResult
from proctor.judging import answers as answers_module
from proctor.judging.answers import Answers
from proctor.judging.judge import judge, judge_many
from proctor.judging.settings import JudgeSettings, Stop
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.sandbox.pool import Pool
from proctor.sandbox.serving import AgentServing
from proctor.verdict import Verdict

LIMITS = Limits(cpu=2.0, memory=256 << 20)
FAST = JudgeSettings(limits=LIMITS, fast=True)
TESTS = 4
COIN = Problem("coin", tuple(Test(f"{at}\n", "heads\n") for at in range(TESTS)))
CALLED = Problem("coin", tuple(Test(f"{at}", '"heads"') for at in range(TESTS)), "toss")

# What a program needs to notice that it is asked a second time: descriptor 4 is the shared
# process's. It then tosses anew, and has as good as a new chance: here, for the worst case, the
# second toss of a coin is always right where the first was wrong.
TOSS = """
import os
def toss(at):
    try:
        os.fstat(4)
        second = False
    except OSError:
        second = True
    right = {tosses} >> at & 1
    return "heads" if right or second else "tails"
"""
MAIN = "print(toss(int(input())))\n"


def tossers(problem: Problem) -> list[str]:
    """All sequences of first tosses there are."""
    end = "" if problem.function else MAIN
    return [TOSS.format(tosses=tosses) + end for tosses in range(1 << TESTS)]


@pytest.mark.parametrize("stop", ["first", "crash", "never"])
@pytest.mark.parametrize("problem", [COIN, CALLED], ids=["printed", "called"])
def test_a_second_toss_is_none_on_the_fast_path(problem: Problem, stop: Stop, pool: Pool) -> None:
    settings = JudgeSettings(limits=LIMITS, fast=True, stop=stop)
    pairs = [(problem, source) for source in tossers(problem)]
    passed = [
        judged.index
        for judged in judge_many(pairs, settings=settings, pool=pool)
        if judged.judgement.passed
    ]
    assert passed == [(1 << TESTS) - 1]  # who had tossed heads every time


@pytest.mark.slow("heads-AC-while True: pass", "tails-WA-while True: pass")
@pytest.mark.parametrize(
    "ending",
    [
        "raise ValueError", "import sys; sys.exit(3)", "os._exit(0)", "os.abort()",
        "x = bytearray(1 << 34)", "while True: pass",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("alone", "verdict"), [("heads", "AC"), ("tails", "WA")])
def test_what_crashes_in_the_shared_process_is_asked_once_more(
    ending: str, alone: str, verdict: str, pool: Pool
) -> None:
    """It has not answered there, so what it says alone is its one answer to the test."""
    source = f"import os\ntry:\n    os.fstat(4)\nexcept OSError:\n    print({alone!r})\nelse:\n"
    source += "    print('heads', flush=True)\n    " + ending
    assert judge(COIN, source, settings=FAST, pool=pool).verdict == verdict


def test_a_crash_later_on_takes_no_answer_back(pool: Pool) -> None:
    """Wrong at the first test, it ends the process at the second, and would be right alone."""
    source = TOSS.format(tosses=0) + "at = int(input())\nside = toss(at)\nprint(side, flush=True)\n"
    source += "if at and side == 'tails': os._exit(1)\n"
    for stop, run in (("first", 1), ("crash", TESTS), ("never", TESTS)):
        settings = JudgeSettings(limits=LIMITS, fast=True, stop=stop)  # type: ignore[arg-type]
        found = judge(COIN, source, settings=settings, pool=pool)
        assert found.verdict == "WA"
        assert [test.verdict.value for test in found.tests] == ["WA", "AC", "AC", "AC"][:run]


def test_official_mode_runs_on_while_there_is_a_process(pool: Pool) -> None:
    """What upstream reports ends where it always ended; the rest is ours."""
    count = "seen = globals().setdefault('seen', [])\nseen.append(input())\n"
    wrong = count + "print('tails' if seen[-1] == '1' else 'heads')"
    ends = count + "import os\nif seen[-1] == '2': os._exit(1)\n" + wrong.removeprefix(count)
    reports = {}
    for source, ran in ((wrong, "AC WA AC AC"), (ends, "AC WA RE")):
        for stop in ("first", "crash", "never"):
            settings = JudgeSettings("official", limits=LIMITS, stop=stop)  # type: ignore[arg-type]
            found = judge(COIN, source, settings=settings, pool=pool)
            assert found.verdict == "WA"
            assert found.upstream is not None
            verdicts = " ".join(test.verdict for test in found.tests)
            assert verdicts == ("AC WA" if stop == "first" else ran)
            report = found.upstream
            reports[stop] = (report.results, report.error_code, report.error_message)
        assert reports["first"] == reports["crash"] == reports["never"]
        assert reports["never"][0][:1] == (True,)
        assert len(reports["never"][0]) == 2


@pytest.mark.parametrize("mode", ["standard", "fast", "official"])
@pytest.mark.parametrize("side", ["heads", "tails"])
def test_nothing_is_compared_before_all_tests_were_run(
    mode: str, side: str, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right or wrong, a program is given the same tests, and no verdict was known before."""
    happened: list[str] = []
    ran, compared = AgentServing.test, Answers.compare

    def run(self: AgentServing, *given: object) -> object:
        happened.append("run")
        return ran(self, *given)  # type: ignore[arg-type]

    def compare(self: Answers[object]) -> None:
        happened.append("compare")
        compared(self)

    monkeypatch.setattr(AgentServing, "test", run)
    monkeypatch.setattr(Answers, "compare", compare)
    chosen = "official" if mode == "official" else "standard"
    settings = JudgeSettings(chosen, limits=LIMITS, fast=mode == "fast")  # type: ignore[arg-type]
    ((judged),) = judge_many([(COIN, f"print({side!r})")], settings=settings, pool=pool)
    assert judged.judgement.passed is (side == "heads")
    assert len(judged.judgement.tests) == TESTS
    assert happened == ["run"] * TESTS + ["compare"]


@pytest.mark.parametrize("mode", ["standard", "fast", "official"])
@pytest.mark.parametrize(
    ("source", "stop", "run"),
    [
        ("print('tails')", "first", 1), ("print('tails')", "crash", 4),
        ("print('tails')", "never", 4), ("print('heads')\n1 / 0", "first", 1),
        ("print('heads')\n1 / 0", "crash", 1), ("print('heads')\n1 / 0", "never", 4),
        ("print('tails' if input() < '2' else 1 / 0)", "crash", 3),
    ],
)  # fmt: skip
def test_when_judging_ends(source: str, stop: Stop, run: int, mode: str, pool: Pool) -> None:
    chosen = "official" if mode == "official" else "standard"
    settings = JudgeSettings(chosen, LIMITS, stop, mode == "fast")  # type: ignore[arg-type]
    found = judge(COIN, source, settings=settings, pool=pool)
    assert len(found.tests) == run
    assert found.verdict == ("WA" if "tails" in source else "RE")
    assert JudgeSettings().stop == "crash"


@pytest.mark.language("c")
def test_other_languages_too(pool: Pool) -> None:
    from proctor.program import Program

    wrong = '#include <stdio.h>\nint main() { puts("tails"); return CODE; }'
    for stop, code, run in (("first", 0, 1), ("crash", 0, 4), ("crash", 3, 1), ("never", 3, 4)):
        program = Program(wrong.replace("CODE", str(code)), "c")
        found = judge(COIN, program, settings=JudgeSettings(stop=stop), pool=pool)  # type: ignore[arg-type]
        assert [test.verdict.value for test in found.tests] == ["RE" if code else "WA"] * run


def noted(stop: Stop) -> tuple[Answers[bool], list[bool]]:
    heard: list[bool] = []

    def compare(right: bool) -> TestResult:
        heard.append(right)
        return TestResult(Verdict.AC if right else Verdict.WA, 0.0, 0.0, 0)

    return Answers(stop, compare), heard


def test_answers_are_compared_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "MOST_HELD", 100)
    answers, heard = noted("crash")
    for size in (60, 40):
        answers.take(False, size, crashed=False)
        assert (heard, answers.stopped) == ([], False)
    answers.take(True, 1, crashed=False)
    assert heard == [False, False, True]  # memory is bounded
    answers.take(True, 0, crashed=False)
    assert (len(answers), len(heard), answers.stopped) == (4, 3, False)
    answers.take(False, 0, crashed=True)
    assert (len(answers), len(heard), answers.stopped) == (5, 3, True)
    answers.compare()
    answers.compare()
    assert heard == [False, False, True, True, False]
    assert [result.verdict.passed for result in answers.results] == heard


def test_the_first_that_fails_is_the_last() -> None:
    answers, heard = noted("first")
    answers.take(True, 1, crashed=False)
    assert not answers.stopped
    answers.take(False, 1, crashed=False)
    assert answers.stopped
    assert heard == [True, False]
    answers, heard = noted("never")
    answers.take(False, 1, crashed=True)
    assert (answers.stopped, heard) == (False, [])
