"""What is remembered is not judged, whatever else changed is; equal judgements under way are one."""

import json
import logging
from collections.abc import Collection, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cache_parts import CountedJudges, HeldJudges, made

from proctor import (
    JudgeSettings,
    Limits,
    Pool,
    Problem,
    Program,
    Test,
    judge_many,
    load_problems,
    open_pool,
)
from proctor.errors import InputError, NoLanguage
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.judgement import Judgement, Machine
from proctor.judging.cache import CachedJudges, CacheTally, keys, open_cached
from proctor.judging.cache.keeping import Unkept
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.settings import default_limits
from proctor.problem import Subtask
from proctor.verdict import Verdict
from waiting import PATIENCE

PROBLEM = Problem("double", (Test("2\n", "4\n"), Test("-3\n", "-6\n")))
RIGHT, WRONG = "print(int(input()) * 2)", "print(int(input()) ** 2)"
SETTINGS = JudgeSettings()
CHECKER = Program(
    "import sys\nassert len(sys.argv) == 4\n"
    "sys.exit(0 if open(sys.argv[2]).read() == open(sys.argv[3]).read() else 1)\n"
)
CHECKED = Problem("checked", PROBLEM.tests, grading=Checker(CHECKER, Convention.TESTLIB))
PARTS = Problem(
    "parts",
    tuple(replace(test, name=name) for name, test in zip("ab", PROBLEM.tests, strict=True)),
    subtasks=(Subtask("one", 40.0, ("a",)), Subtask("two", 60.0, ("b",))),
)


def ask(
    judges: Judges, problem: Problem = PROBLEM, program: Program | str = RIGHT,
    settings: JudgeSettings = SETTINGS, subtasks: Collection[str] | None = None,
) -> Judgement:  # fmt: skip
    return judges.start(problem, program, settings, subtasks).result(timeout=PATIENCE)


@contextmanager
def cached(
    judges: Judges, place: Path, verify: float = 0.0
) -> Iterator[tuple[CachedJudges, CacheTally]]:
    with open_cached(judges, place / "cache", verify) as opened:
        yield opened, opened.tally


def without_mark(judgement: Judgement) -> Judgement:
    return replace(judgement, remembered=False)


@pytest.mark.parametrize(
    ("problem", "program", "settings"),
    [
        (PROBLEM, RIGHT, SETTINGS),
        (PROBLEM, WRONG, SETTINGS),
        (PROBLEM, "print(1 / 0)", SETTINGS),
        (PROBLEM, "print(", SETTINGS),
        (PROBLEM, WRONG, JudgeSettings(mode="official")),
        (CHECKED, RIGHT, SETTINGS),
        (PARTS, WRONG, SETTINGS),
    ],
)
def test_a_second_time_nothing_is_judged(
    problem: Problem, program: str, settings: JudgeSettings, counted: CountedJudges, tmp_path: Path
) -> None:
    with cached(counted, tmp_path) as (judges, tally):
        first = ask(judges, problem, program, settings)
        assert not first.remembered
        assert (tally.hits, tally.misses, tally.kept) == (0, 1, 1)
    with cached(counted, tmp_path) as (judges, tally):
        again = ask(judges, problem, program, settings)
        assert again.remembered
        assert without_mark(again) == first
        assert (tally.hits, tally.misses, tally.kept) == (1, 0, 0)
    assert counted.asked == [program]


def test_no_cell_is_started_for_what_is_remembered(pool: Pool, tmp_path: Path) -> None:
    programs = (RIGHT, WRONG, "print(input())")
    with cached(PoolJudges(pool), tmp_path) as (judges, _):
        first = [ask(judges, program=each) for each in programs]
    with open_pool() as unused, cached(PoolJudges(unused), tmp_path) as (judges, _):
        again = [ask(judges, program=each) for each in programs]
        assert not unused._threads
    assert list(map(without_mark, again)) == first


FAST = JudgeSettings(fast=True)
CHANGED: dict[str, dict[str, Any]] = {
    "another program": {"program": RIGHT + "\n"},
    "a file beside it": {"program": Program(RIGHT, files={"a": b""})},
    "another input": {"problem": Problem("double", (Test("2\n", "4\n"), Test("-4\n", "-8\n")))},
    "another output": {"problem": Problem("double", (Test("2\n", "4\n"), Test("-3\n", "-6.0\n")))},
    "another order": {"problem": Problem("double", PROBLEM.tests[::-1])},
    "a test more": {"problem": Problem("double", (*PROBLEM.tests, Test("0\n", "0\n")))},
    "the problem's limits": {"problem": replace(PROBLEM, limits=Limits(cpu=5.0))},
    "grading": {"problem": replace(PROBLEM, grading=Comparison(Match.LINES))},
    "limits": {"settings": JudgeSettings(limits=Limits(cpu=5.0))},
    "memory": {"settings": JudgeSettings(limits=replace(SETTINGS.limits, memory=1 << 29))},
    "mode": {"settings": JudgeSettings(mode="official")},
    "stop": {"settings": JudgeSettings(stop="never")},
    "fast": {"settings": FAST},
    "tolerance": {"settings": JudgeSettings(tolerance=1e-3)},
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_whatever_changed_is_judged(
    change: dict[str, Any], counted: CountedJudges, tmp_path: Path
) -> None:
    with cached(counted, tmp_path) as (judges, tally):
        ask(judges)
        assert not ask(judges, **change).remembered
        assert ask(judges, **change).remembered
        assert ask(judges).remembered
        assert (tally.misses, tally.hits) == (2, 2)
    assert len(counted.asked) == 2


def test_the_checker_and_the_subtasks_count(counted: CountedJudges, tmp_path: Path) -> None:
    other = replace(CHECKED, grading=Checker(replace(CHECKER, source=CHECKER.source + "\n")))
    with cached(counted, tmp_path) as (judges, tally):
        ask(judges, CHECKED)
        ask(judges, other)
        ask(judges, PARTS)
        ask(judges, PARTS, subtasks=("one",))
        ask(judges, PARTS, subtasks=("two", "one"))
        assert tally.hits == 0
        assert ask(judges, PARTS, subtasks=["one", "two", "one"]).remembered  # in any order


@pytest.mark.parametrize("which", ["__version__", "JUDGING_VERSION"])
def test_the_versions_of_proctor_count(
    which: str, counted: CountedJudges, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cached(counted, tmp_path) as (judges, _):
        ask(judges)
        monkeypatch.setattr(keys, which, "0.0.1" if which == "__version__" else 0)
        assert not ask(judges).remembered


def test_the_versions_of_languages_and_the_surroundings_count(
    counted: CountedJudges, tmp_path: Path
) -> None:
    with cached(counted, tmp_path) as (judges, _):
        ask(judges)
    for versions, surroundings in (
        ({"python": "3.11.99"}, None),
        ({}, ("another level",)),
        ({"python": "3.11.99"}, ("another level",)),
    ):
        counted.versions, counted.surrounded = versions, surroundings
        with cached(counted, tmp_path) as (judges, _):
            assert not ask(judges).remembered
            assert ask(judges).remembered


@pytest.mark.compiler
def test_the_versions_of_all_languages_count(counted: CountedJudges, tmp_path: Path) -> None:
    """The submission's and the checker's."""
    source = (
        "#include <iostream>\nint main() { int a; std::cin >> a; std::cout << 2 * a << '\\n'; }"
    )
    for problem in (PROBLEM, CHECKED):
        with cached(counted, tmp_path) as (judges, _):
            for _ in range(2):  # what is compiled is judged twice
                assert ask(judges, problem, Program(source, "c++17")).verdict is Verdict.AC
            assert ask(judges, problem, Program(source, "c++17")).remembered
    counted.versions = {"cpp17": "g++ 99"}
    with cached(counted, tmp_path) as (judges, _):
        assert not ask(judges, PROBLEM, Program(source, "c++17")).remembered
    counted.versions = {"python": "3.11.99"}
    with cached(counted, tmp_path) as (judges, _):
        assert ask(judges, PROBLEM, Program(source, "c++17")).remembered
        assert not ask(judges, CHECKED, Program(source, "c++17")).remembered


@pytest.mark.parametrize(
    ("versions", "surroundings"),
    [({"python": "3.11.2; 3.12.1"}, None), ({}, ()), ({}, ("a", "b"))],
)
def test_where_machines_differ_nothing_is_remembered(
    versions: dict[str, str], surroundings: tuple[str, ...] | None, counted: CountedJudges,
    tmp_path: Path,
) -> None:  # fmt: skip
    counted.versions, counted.surrounded = versions, surroundings
    with cached(counted, tmp_path) as (judges, tally):
        assert [ask(judges).remembered for _ in range(2)] == [False, False]
        assert (tally.misses, tally.unkept) == (2, {Unkept.MACHINES: 2})


def test_what_no_judgement_depends_on_does_not_count(
    counted: CountedJudges, tmp_path: Path
) -> None:
    written = tmp_path / "input"
    written.write_text("2\n")
    same = replace(
        PROBLEM, title="Double", statement="Double it.", platform="here", difficulty="easy",
        extra={"a": 1}, tests=(Test(written, b"4\n"), PROBLEM.tests[1]),
    )  # fmt: skip
    with cached(counted, tmp_path) as (judges, _):
        ask(judges)
        assert ask(judges, same).remembered
        assert ask(judges, program=Program(RIGHT)).remembered


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import random\nprint(int(input()) * 2, end='' if random.random() < 2 else '!')", Unkept.CHANCE),
        ("while True: pass", Unkept.LIMIT),
        ("import time\nwhile time.process_time() < 0.7: pass\nprint(int(input()) * 2)", Unkept.NEAR),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", Unkept.KILLED),
    ],
)  # fmt: skip
def test_what_might_come_out_otherwise_is_judged_again(
    program: str, reason: Unkept, counted: CountedJudges, tmp_path: Path
) -> None:
    settings = JudgeSettings(limits=Limits(cpu=1.2), stop="first")
    with cached(counted, tmp_path) as (judges, tally):
        assert [ask(judges, PROBLEM, program, settings).remembered for _ in range(2)] == [False] * 2
        assert (tally.hits, tally.kept) == (0, 0)
        assert tally.unkept == {reason: 2}


def test_a_file_that_is_gone_is_a_fault_of_the_task(counted: CountedJudges, tmp_path: Path) -> None:
    problem = Problem("gone", (Test(tmp_path / "gone", ""),))
    with cached(counted, tmp_path) as (judges, tally):
        assert ask(judges, problem).verdict is Verdict.TASK_FAULT
        assert tally.unkept == {Unkept.FILES: 1}


def test_what_judges_refuse_is_refused(counted: CountedJudges, tmp_path: Path) -> None:
    with cached(counted, tmp_path) as (judges, tally):
        for _ in range(2):
            with pytest.raises(InputError, match="is not a language"):
                ask(judges, program=Program("", "cobol-74"))
            with pytest.raises(InputError, match="no subtask"):
                ask(judges, PARTS, subtasks=("three",))
            with pytest.raises(InputError, match="must be Problem"):
                ask(judges, "problem")  # type: ignore[arg-type]
        assert (tally.hits, tally.kept) == (0, 0)
    assert not judges._under_way


def test_without_a_store_nothing_is_remembered(counted: CountedJudges) -> None:
    judges = CachedJudges(counted)
    assert [ask(judges).remembered for _ in range(2)] == [False, False]
    assert len(counted.asked) == 2


def test_faults_are_not_remembered(held: HeldJudges, tmp_path: Path) -> None:
    with cached(held, tmp_path) as (judges, tally):
        for verdict in (Verdict.INFRA_FAULT, Verdict.TASK_FAULT):
            future = judges.start(PROBLEM, RIGHT, SETTINGS)
            held.started[-1].set_result(made(verdict))
            assert future.result().verdict is verdict
        assert tally.unkept == {Unkept.FAULT: 2}


def test_the_machine_that_made_it_is_remembered(held: HeldJudges, tmp_path: Path) -> None:
    there = Machine("node 7", "a CPU")
    with cached(held, tmp_path) as (judges, _):
        for program, machine in ((RIGHT, there), (WRONG, None)):
            future = judges.start(PROBLEM, program, SETTINGS)
            held.started[-1].set_result(made(machine=machine))
            assert future.result(timeout=PATIENCE).machine == machine
            assert ask(judges, program=program).machine == machine  # None: it was this one


class TestUnderWay:
    @pytest.fixture(params=[False, True], ids=["no store", "a store"])
    def judges(self, request: pytest.FixtureRequest, held: HeldJudges, tmp_path: Path) -> Any:
        if not request.param:
            yield CachedJudges(held)
            return
        with cached(held, tmp_path) as (opened, _):
            yield opened

    def test_equal_ones_are_judged_once(self, judges: CachedJudges, held: HeldJudges) -> None:
        futures = [judges.start(PROBLEM, RIGHT, SETTINGS) for _ in range(8)]
        other = judges.start(PROBLEM, WRONG, SETTINGS)
        assert len(held.started) == 2
        assert judges.tally.shared == 7
        result = made()
        held.started[0].set_result(result)
        assert [each.result(timeout=PATIENCE) for each in futures] == [result] * 8
        assert not other.done()
        judges.start(PROBLEM, RIGHT, SETTINGS)
        assert len(held.started) == (2 if judges.tally.kept else 3)

    def test_from_many_threads(self, judges: CachedJudges, held: HeldJudges) -> None:
        with ThreadPoolExecutor(16) as threads:
            asked = list(threads.map(lambda _: judges.start(PROBLEM, RIGHT, SETTINGS), range(200)))
        assert len(held.started) == 1
        held.started[0].set_result(made())
        assert len(wait(asked, timeout=PATIENCE).done) == 200
        assert len({id(each) for each in asked}) == 200

    def test_whoever_cancels_cancels_for_himself(
        self, judges: CachedJudges, held: HeldJudges
    ) -> None:
        first, second, third = (judges.start(PROBLEM, RIGHT, SETTINGS) for _ in range(3))
        assert first.cancel()
        assert third.cancel()
        assert not held.started[0].cancelled()
        held.started[0].set_result(made())
        assert second.result(timeout=PATIENCE).verdict is Verdict.AC
        assert not second.cancel()
        with pytest.raises(CancelledError):
            first.result(timeout=PATIENCE)

    def test_the_last_to_cancel_takes_it_back(self, judges: CachedJudges, held: HeldJudges) -> None:
        futures = [judges.start(PROBLEM, RIGHT, SETTINGS) for _ in range(3)]
        assert all(each.cancel() for each in futures)
        assert held.started[0].cancelled()
        again = judges.start(PROBLEM, RIGHT, SETTINGS)
        assert len(held.started) == 2
        held.started[1].set_result(made())
        assert again.result(timeout=PATIENCE).verdict is Verdict.AC

    def test_one_that_has_begun_goes_on_for_the_store(
        self, judges: CachedJudges, held: HeldJudges
    ) -> None:
        future = judges.start(PROBLEM, RIGHT, SETTINGS)
        held.started[0].set_running_or_notify_cancel()
        assert future.cancel()
        fresh = judges.start(PROBLEM, RIGHT, SETTINGS)
        held.started[0].set_result(made())
        assert len(held.started) == 2
        assert not fresh.done()

    def test_an_error_is_everybodys(self, judges: CachedJudges, held: HeldJudges) -> None:
        futures = [judges.start(PROBLEM, RIGHT, SETTINGS) for _ in range(2)]
        error = NoLanguage("gone")
        held.started[0].set_exception(error)
        assert [each.exception(timeout=PATIENCE) for each in futures] == [error] * 2

    def test_a_judge_that_is_closed_cancels_all(
        self, judges: CachedJudges, held: HeldJudges
    ) -> None:
        futures = [judges.start(PROBLEM, RIGHT, SETTINGS) for _ in range(2)]
        held.started[0].cancel()
        assert all(each.cancelled() for each in futures)

    @pytest.mark.parametrize("error", [InputError("no"), KeyboardInterrupt()], ids=repr)
    def test_what_cannot_be_begun_leaves_nothing(
        self, error: BaseException, judges: CachedJudges, held: HeldJudges
    ) -> None:
        held.error = error
        with pytest.raises(type(error)):
            judges.start(PROBLEM, RIGHT, SETTINGS)
        held.error = None
        future = judges.start(PROBLEM, RIGHT, SETTINGS)
        held.started[0].set_result(made())
        assert future.result(timeout=PATIENCE).passed

    def test_who_joins_what_cannot_be_begun_is_told(
        self, judges: CachedJudges, held: HeldJudges
    ) -> None:
        """The judge itself asks for the same, as another thread might at that moment."""
        joined: list[Future[Judgement]] = []

        def refuse(*_what: Any) -> Future[Judgement]:
            joined.append(judges.start(PROBLEM, RIGHT, SETTINGS))
            raise InputError("no")

        held.start = refuse  # type: ignore[method-assign]
        with pytest.raises(InputError):
            judges.start(PROBLEM, RIGHT, SETTINGS)
        assert isinstance(joined[0].exception(timeout=PATIENCE), InputError)


UNKNOWN = "print(str(object())[-3:-1])"
"""A program whose source does not say whether it is the same each time."""


class TestJudgedTwice:
    def asked(
        self, held: HeldJudges, place: Path, outcome: Judgement | None
    ) -> tuple[bool, CacheTally]:
        """Ask for UNKNOWN's judgement, which is `outcome` if made; return whether remembered."""
        with cached(held, place) as (judges, tally):
            future = judges.start(PROBLEM, UNKNOWN, SETTINGS)
            if outcome is not None:
                held.started[-1].set_result(outcome)
            return future.result(timeout=PATIENCE).remembered, tally

    def test_what_agrees_is_remembered(self, held: HeldJudges, tmp_path: Path) -> None:
        remembered, tally = self.asked(held, tmp_path, made())
        assert (remembered, tally.kept, tally.unkept) == (False, 0, {Unkept.ONCE: 1})
        remembered, tally = self.asked(held, tmp_path, made())
        assert (remembered, tally.hits, tally.kept) == (False, 0, 1)
        remembered, tally = self.asked(held, tmp_path, None)
        assert (remembered, tally.hits, tally.misses) == (True, 1, 0)

    @pytest.mark.parametrize(
        "other",
        [
            made(Verdict.WA),
            replace(made(), tests=made().tests * 2),
            replace(made(), tests=(replace(made().tests[0], message="other words"),)),
        ],
        ids=["verdict", "tests", "words"],
    )
    def test_what_differs_once_is_never_remembered(
        self, other: Judgement, held: HeldJudges, tmp_path: Path
    ) -> None:
        self.asked(held, tmp_path, made())
        for outcome in (other, made(), made(), made()):
            remembered, tally = self.asked(held, tmp_path, outcome)
            assert (remembered, tally.kept, tally.unkept) == (False, 0, {Unkept.CHANCE: 1})

    def test_luck_is_not_remembered(self, counted: CountedJudges, tmp_path: Path) -> None:
        lucky = "import io\nprint(int.from_bytes(io.FileIO('/dev/urandom').read(16)))"
        with cached(counted, tmp_path) as (judges, tally):
            assert not any(ask(judges, program=lucky).remembered for _ in range(4))
            assert tally.unkept == {Unkept.ONCE: 1, Unkept.CHANCE: 3}

    def test_a_fault_or_a_limit_counts_as_no_judgement(
        self, held: HeldJudges, tmp_path: Path
    ) -> None:
        self.asked(held, tmp_path, made())
        for verdict in (Verdict.INFRA_FAULT, Verdict.TLE):
            assert not self.asked(held, tmp_path, made(verdict))[0]
        assert not self.asked(held, tmp_path, made())[0]
        assert self.asked(held, tmp_path, None)[0]


class TestVerified:
    def test_what_is_the_same_is_counted(self, counted: CountedJudges, tmp_path: Path) -> None:
        with cached(counted, tmp_path) as (judges, _):
            ask(judges)
        with cached(counted, tmp_path, verify=1.0) as (judges, tally):
            assert not ask(judges).remembered
            assert (tally.hits, tally.verified, tally.differing, tally.kept) == (1, 1, 0, 0)
        assert len(counted.asked) == 2

    @pytest.mark.parametrize(
        "remembered",
        [
            made(Verdict.WA),
            replace(made(), score=0.5),
            replace(made(), tests=(made(Verdict.WA).tests[0],)),
            replace(made(), tests=made().tests * 2),
        ],
        ids=["verdict", "score", "a test's verdict", "number of tests"],
    )
    def test_what_differs_is_judged_each_time(
        self, remembered: Judgement, held: HeldJudges, tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:  # fmt: skip
        with cached(held, tmp_path) as (judges, _):
            judges.start(PROBLEM, RIGHT, SETTINGS)
            held.started[0].set_result(remembered)
        with cached(held, tmp_path, verify=1.0) as (judges, tally):
            future = judges.start(PROBLEM, RIGHT, SETTINGS)
            assert not future.done()
            with caplog.at_level(logging.WARNING):
                held.started[1].set_result(made())
                assert future.result(timeout=PATIENCE) == made()
            assert (tally.verified, tally.differing, tally.kept) == (1, 1, 0)
            assert tally.unkept == {Unkept.CHANCE: 1}
        assert len(caplog.records) == 1
        assert "'double'" in caplog.text
        for number in (2, 3):
            with cached(held, tmp_path) as (judges, tally):
                future = judges.start(PROBLEM, RIGHT, SETTINGS)
                held.started[number].set_result(made())
                assert not future.result(timeout=PATIENCE).remembered
                assert tally.unkept == {Unkept.CHANCE: 1}

    def test_what_is_near_a_limit_after_all_is_forgotten(
        self, held: HeldJudges, tmp_path: Path
    ) -> None:
        slow = replace(made(), tests=(replace(made().tests[0], cpu=5.0),))
        with cached(held, tmp_path) as (judges, _):
            judges.start(PROBLEM, RIGHT, SETTINGS)
            held.started[0].set_result(made())
        with cached(held, tmp_path, verify=1.0) as (judges, tally):
            future = judges.start(PROBLEM, RIGHT, SETTINGS)
            held.started[1].set_result(slow)
            assert future.result(timeout=PATIENCE) == slow
            assert (tally.verified, tally.differing) == (1, 0)
        with cached(held, tmp_path) as (judges, _):
            assert not judges.start(PROBLEM, RIGHT, SETTINGS).done()

    def test_a_fault_says_nothing(self, held: HeldJudges, tmp_path: Path) -> None:
        with cached(held, tmp_path) as (judges, _):
            judges.start(PROBLEM, RIGHT, SETTINGS)
            held.started[0].set_result(made())
        with cached(held, tmp_path, verify=1.0) as (judges, tally):
            future = judges.start(PROBLEM, RIGHT, SETTINGS)
            held.started[1].set_result(made(Verdict.INFRA_FAULT))
            assert future.result(timeout=PATIENCE).remembered
            assert (tally.verified, tally.differing) == (0, 0)

    def test_the_share_is_of_keys(self, held: HeldJudges, tmp_path: Path) -> None:
        """The same ones each time."""
        programs = [f"print({number})" for number in range(200)]
        with cached(held, tmp_path) as (judges, _):
            for each in programs:
                judges.start(PROBLEM, each, SETTINGS)
                held.started[-1].set_result(made())
        chosen = []
        for _ in range(2):
            with cached(held, tmp_path, verify=0.1) as (judges, _):
                futures = {each: judges.start(PROBLEM, each, SETTINGS) for each in programs}
                chosen.append([name for name, future in futures.items() if not future.done()])
        assert chosen[0] == chosen[1]
        assert 5 <= len(chosen[0]) <= 45


@pytest.mark.slow
@pytest.mark.data("livecodebench")
@pytest.mark.parametrize("mode", ["standard", "official"])
def test_a_third_run_of_real_programs(
    mode: Any, pool: Pool, test_data: Path, tmp_path: Path
) -> None:
    """Only those are judged again whose verdict hangs on a limit or on chance: one in twenty.

    A third of them all, and a short limit: those that hang on it take nearly all of the time.
    """
    problems = load_problems(test_data / "livecodebench/problems.jsonl")
    rows = [
        json.loads(line)
        for line in (test_data / "livecodebench/programs.jsonl").read_text().splitlines()
    ]
    pairs = [(problems[row["question_id"]], row["code"]) for row in rows[::3]]
    settings = JudgeSettings(mode=mode, limits=replace(default_limits(mode), cpu=1.5))
    judgements: list[dict[int, Judgement]] = []
    counted = CountedJudges(PoolJudges(pool))
    kept = 0
    for _ in range(3):
        with cached(counted, tmp_path) as (judges, tally):
            found = judge_many(pairs, settings=settings, on=judges)
            judgements.append({each.index: each.judgement for each in found})
            asked, counted.asked = counted.asked, []
        assert tally.hits >= kept
        kept += tally.kept
    _, first, second = judgements
    remembered = {index for index, each in second.items() if each.remembered}
    assert len(asked) <= len(pairs) - len(remembered) <= len(pairs) // 20
    assert len(remembered) >= kept > 0
    assert all(without_mark(second[each]) == without_mark(first[each]) for each in remembered)
    assert not any(
        second[each].tests[-1].verdict is Verdict.TLE for each in remembered if second[each].tests
    )
    # And where nothing else is asked for, no cell is started.
    with open_pool() as unused, cached(PoolJudges(unused), tmp_path) as (judges, _):
        chosen = sorted(remembered)
        third = judge_many([pairs[each] for each in chosen], settings=settings, on=judges)
        assert {chosen[each.index]: without_mark(each.judgement) for each in third} == {
            each: without_mark(first[each]) for each in chosen
        }
        assert not unused._threads
