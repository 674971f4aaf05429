"""A user's file, as checkers of types see it: test_typing.py has mypy look at it. Never run."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import assert_type

import proctor
from proctor import (
    EvalRun,
    Execution,
    InputError,
    Judged,
    Judgement,
    JudgeSettings,
    Limits,
    Outcome,
    Pool,
    Problem,
    Program,
    SolveEnvelope,
    Test,
    Verdict,
    judge,
    judge_async,
    judge_many,
    judge_many_async,
    load_package,
    open_pool,
    open_run,
    open_session,
    pass_at_k,
    run,
    solve,
)
from proctor.problem import Subtask

tests = [Test("3 4\n", "7\n"), Test(b"1 2", b"3", public=True), Test(Path("1.in"), args=["-v"])]
of_list = Problem("sum", tests)
by_name = Problem(id="sum", tests=tests, limits=Limits(cpu=2), languages=["cpp"])
of_tuple = Problem("sum", (Test("3 4", "7"),), subtasks=[Subtask("all", 1.0, ["1"])])
for test in of_list.tests:
    assert_type(test, Test)
assert_type(of_list.tests[0].input, str | bytes | Path)

judgement = judge(of_list, "print(7)", settings=JudgeSettings(stop="never"))
assert_type(judgement, Judgement)
assert_type(judgement.verdict, Verdict)
assert_type(judgement.score, float)
assert_type(judge(of_tuple, Program("int main() {}", "cpp")).passed, bool)
assert_type(judge_many((of_list, code) for code in ["", "1"]), Iterator[Judged])
assert_type(judge_many_async([(of_list, "")]), AsyncIterator[Judged])
assert_type(asyncio.run(judge_async(of_list, "")), Judgement)
assert_type(run("print(1)", "text", limits=Limits(cpu=1.0)), Execution)
assert_type(solve("", {}), SolveEnvelope)
assert_type(pass_at_k(10, 3, 5), float | None)
assert_type(load_package("sum").problem, Problem)
assert_type(proctor.run("print(1)").stdout, bytes)

with open_pool(cells=2) as pool, open_session(pool=pool) as session, open_run("runs/a") as opened:
    assert_type(pool, Pool)
    assert_type(opened, EvalRun)
    assert_type(session.run("1"), Execution)

outcomes: list[Outcome[str, int]] = []
try:
    proctor.open_run(Path("runs"))
except InputError as error:
    assert_type(error.message, str)

# Mistakes: each must be an error, or its `ignore` is one.
Problem("sum", tests[0])  # type: ignore[arg-type]
judge("print(7)", of_list)  # type: ignore[arg-type]
Limits(cpu="2s")  # type: ignore[arg-type]
run("", limits="2s")  # type: ignore[arg-type]
Test(3, "7")  # type: ignore[arg-type]
proctor.jugde  # type: ignore[attr-defined]  # noqa: B018
