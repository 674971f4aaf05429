"""A caller's mistake is said when it is made, where it is made: never a verdict, never a fault."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import InputError, JudgeSettings, Limits, Pool, Problem, Program, Session, Test
from proctor.grading import Checker, Comparison, Convention
from proctor.limits import LEAST_MEMORY
from proctor.problem import Communication, Interactive, Subtask

TEST = Test("3 4", "7")
SUM = Problem("sum", (TEST,))
A_TEST = Test(b"", name="1")
A_SUBTASK = Subtask("all", 1.0, ("1",))


def contest(**changed: Any) -> Problem:
    parts: dict[str, Any] = {
        "id": "p", "tests": (A_TEST,), "subtasks": (A_SUBTASK,), "limits": Limits(),
    }  # fmt: skip
    return Problem(**(parts | changed))


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: Problem("sum", [("3 4", "7")]), r"tests\[0\]`: must be Test, not tuple; write Test"),
    (lambda: Problem("sum", (TEST, {"input": ""})), r"tests\[1\]`: must be Test, not dict"),
    (lambda: Problem("sum", TEST), r"tests`: must be a list or tuple of Test, not Test; write \[Test\(input, output\)\]"),
    (lambda: Problem("sum", None), "tests`: must be a list or tuple of Test, not NoneType"),
    (lambda: Problem(1, ()), "id`: must be str, not int"),
    (lambda: Problem("sum", (), function=len), "function`: must be str"),
    (lambda: Test(3, "7"), "input`: must be str or bytes or Path, not int"),
    (lambda: Test("3", 7), "output`: must be str or bytes or Path, not int"),
    (lambda: Test(None, "7"), "input`: must be str or bytes or Path, not NoneType"),
    (lambda: Test("3", "7", name=1), "name`: must be str, not int"),
    (lambda: Program(b"print(1)"), "program`: a program is a string"),
    (lambda: Program("", files={"a": "text"}), r"files\.a`: must be bytes, not str"),
    (lambda: Program("", files=["a"]), "files`: must be Mapping"),
    (lambda: Program("", files={1: b""}), "files`: must be str, not int"),
    (lambda: Program("", name=1), "name`: must be str"),
    (lambda: Limits(memory=256), "256 bytes cannot hold a program"),
    (lambda: Limits(memory=LEAST_MEMORY - 1), f"at least {LEAST_MEMORY}"),
    (lambda: Limits(memory=256e6), "memory`: must be a whole number of bytes, not 256000000.0; write memory=256 << 20"),
    (lambda: Limits(processes=1.5), "processes`: must be a whole number"),
    (lambda: Limits(cpu="1"), "cpu`: must be a number of seconds, not '1'; write cpu=2.0"),
    (lambda: JudgeSettings(limits=5), r"limits`: must be Limits, not int; write Limits\(cpu=2.0\)"),
    (lambda: JudgeSettings(tolerance="1e-6"), "tolerance`: must be float or int, not str"),
    (lambda: JudgeSettings(fast="yes"), "fast`: must be bool, not str"),
    (lambda: Test("1", "", files={"a": 1}), r"files\.a`: must be str or bytes or Path, not int"),
    (lambda: Subtask("all", "1", ("1",)), r"all\.points`: must be float or int, not str"),
    (lambda: Subtask("all", 1.0, "1"), r"all\.tests`: must be a list or tuple of str, not str"),
    (lambda: Comparison(absolute="1e-6"), "absolute`: must be float or int, not str"),
    (lambda: Comparison("tokens"), "match`: must be Match, not str"),
    (lambda: Checker("int main(){}"), "program`: must be Program, not str"),
    (lambda: Checker(Program(""), "testlib"), "convention`: must be Convention, not str"),
    (lambda: Interactive("x", Convention.KATTIS), "interactor`: must be Program, not str"),
    (lambda: Communication("x"), "manager`: must be Program, not str"),
    (lambda: contest(tests={"1": A_TEST}), "tests`: must be a list or tuple of Test, not dict"),
    (lambda: contest(tests=(A_TEST, A_TEST)), "tests`: two tests have the same name"),
    (lambda: contest(tests=()), "tests`: a problem without tests cannot be judged"),
    (lambda: contest(subtasks=A_SUBTASK), "subtasks`: must be a list or tuple of Subtask, not Sub"),
    (lambda: contest(languages="cpp"), "languages`: must be a list or tuple of str, not str"),
    (lambda: Test("1", "1", args="-v"), "args`: must be a list or tuple of str, not str"),
    (lambda: contest(subtasks=("all",)), r"subtasks\[0\]`: must be Subtask, not str"),
    (lambda: contest(limits=6), "limits`: must be Limits, not int"),
    (lambda: contest(grading="exact"), "grading`: must be Comparison or Checker, not str"),
    (lambda: contest(running=None), "running`: must be Batch or"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_at_construction(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mistake()


def test_a_list_of_tests_will_do(pool: Pool) -> None:
    problem = Problem("sum", [TEST])
    assert problem.tests == (TEST,)
    program = "print(sum(map(int, input().split())))"
    assert proctor.judge(problem, program, pool=pool).passed


async def _source() -> str:
    return ""


def _unawaited(pool: Pool) -> Any:
    coming = _source()
    try:
        return proctor.judge(SUM, coming, pool=pool)  # type: ignore[arg-type]
    finally:
        coming.close()


# What is mixed up easily: each message ends with what would have worked.
MIXED_UP: list[tuple[Callable[[Pool], Any], str]] = [
    (lambda pool: proctor.judge("", SUM, pool=pool), "swapped: the problem comes first"),
    (lambda pool: proctor.judge(Program(""), SUM, pool=pool), "swapped: the problem comes first"),
    (lambda pool: list(proctor.judge_many([("", SUM)], pool=pool)), "swapped: the problem"),
    (lambda pool: proctor.judge(TEST, "", pool=pool), r'write Problem\("a name", \[test\]\)'),
    (lambda pool: proctor.judge([TEST], "", pool=pool), r'write Problem\("a name", tests\)'),
    (lambda pool: proctor.judge("sum.toml", "", pool=pool), r"load_package\(path\)\.problem"),
    (lambda pool: proctor.judge(SUM, Path("a.py"), pool=pool), r"Path\('a.py'\)\.read_text\(\)"),
    (lambda pool: proctor.run(Path("a.py"), pool=pool), r"Path\('a.py'\)\.read_text\(\)"),
    (lambda pool: proctor.run(b"1", pool=pool), r"source\.decode\(\)"),
    (_unawaited, "not coroutine; write await before"),
    (lambda pool: Problem([TEST]), r'id`: must be str, not list; write Problem\("a name", tests\)'),
    (lambda pool: Problem((TEST,), "sum"), r'must be str, not tuple; write Problem\("a name"'),
    (lambda pool: Problem(TEST), r'must be str, not Test; write Problem\("a name", tests\)'),
    (lambda pool: Limits(cpu="2s"), "must be a number of seconds, not '2s'; write cpu=2.0"),
    (lambda pool: proctor.run("", limits="2s", pool=pool), r"not str; write Limits\(cpu=2.0\)"),
    (lambda pool: Problem("p", [TEST], limits=2), r"not int; write Limits\(cpu=2.0\)"),
    (lambda pool: proctor.open_session(limits=5, pool=pool), r"not int; write Limits\(cpu=2.0\)"),
    (lambda pool: proctor.judge(SUM, "", settings=Limits(), pool=pool), r"write JudgeSettings\(lim"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "message"), MIXED_UP, ids=[text for _, text in MIXED_UP])
def test_what_was_mixed_up_is_said_with_what_would_work(
    ask: Callable[[Pool], Any], message: str, pool: Pool
) -> None:
    with pytest.raises(InputError, match=message):
        ask(pool)


@pytest.mark.parametrize("name", ["sol.py", "a dir/my-sol.cpp", "../x/main.py"])
def test_a_file_name_as_source_is_warned_of_and_judged_all_the_same(name: str, pool: Pool) -> None:
    def ask() -> None:
        assert not proctor.judge(SUM, name, pool=pool).passed
        assert proctor.run(name, pool=pool).exit_code == 1
        asyncio.run(proctor.judge_async(SUM, name, pool=pool))
        with proctor.SolverHost(cells=1) as host:
            assert not proctor.solve(name, {}, "packing", host=host).ok

    with pytest.warns(UserWarning, match=r"Path\(.*\)\.read_text\(\)") as warned:
        ask()
    assert [each.filename for each in warned][:2] == [__file__] * 2
    # Programs of a model may be anything: of many, none is spoken of.
    assert len(list(proctor.judge_many([(SUM, name)], pool=pool))) == 1


@pytest.mark.parametrize("source", ["x.append", "print(a.py)", "import a.py\nb.py", "1.c = 2", ""])
def test_source_is_not_taken_for_a_file_name(source: str, pool: Pool) -> None:
    proctor.judge(SUM, source, pool=pool)  # warnings are errors here


def test_lists_become_tuples() -> None:
    test = Test("1", "1", args=["-v"], flags=["x"], name="1")
    problem = Problem("p", [test], subtasks=[Subtask("all", 1, ["1"])], languages=["cpp"])
    assert problem == Problem(
        "p", (Test("1", "1", args=("-v",), flags=("x",), name="1"),),
        subtasks=(Subtask("all", 1, ("1",)),), languages=("cpp",),
    )  # fmt: skip
    assert type(problem.tests) is type(problem.subtasks[0].tests) is tuple


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda pool: proctor.judge(SUM, 5, pool=pool), "a program is a string"),
        (lambda pool: proctor.judge("sum", "", pool=pool), "problem`: must be Problem"),
        (lambda pool: proctor.judge(SUM, "", settings=6, pool=pool), "settings`: must be"),
        (lambda pool: proctor.run(5, pool=pool), "a program is a string"),
        (lambda pool: proctor.run("", 5, pool=pool), "stdin`: must be bytes, not int"),
        (lambda pool: proctor.run("", limits=5, pool=pool), "limits`: must be Limits"),
        (lambda pool: proctor.run(Program("", "cpp"), limits=5, pool=pool), "limits`: must be"),
        (lambda pool: proctor.open_session(limits=5, pool=pool), "limits`: must be Limits"),
        (lambda pool: list(proctor.judge_many([5], pool=pool)), r"pairs\[0\]`: must be \(problem, program\), not int"),
    ],
)  # fmt: skip
def test_in_a_call(ask: Callable[[Pool], Any], message: str, pool: Pool) -> None:
    with pytest.raises(InputError, match=message):
        ask(pool)


@pytest.fixture(scope="module")
def session(pool: Pool) -> Any:
    with proctor.open_session(pool=pool) as opened:
        yield opened


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda session: session.command("ls"), r"a command is a list of words.*not 'ls'"),
        (lambda session: session.command(b"ls"), r"a command is a list of words"),
        (lambda session: session.command(5), r"a command is a list of words"),
        (lambda session: session.start(5), r"a command is a list of words"),
        (lambda session: session.start(["ls", 5]), r"a command is a list of words"),
        (lambda session: session.command(["ls"], 5), "stdin`: must be bytes, not int"),
        (lambda session: session.command(["ls"], env=["a"]), "env`: must be Mapping"),
        (lambda session: session.command(["ls"], cwd=5), "texts without NUL"),
        (lambda session: session.command(["ls", "\ud800"]), "texts without NUL"),
        (lambda session: session.run(5), "a program is a string"),
        (lambda session: session.run("", cpu=0), "limits.cpu`: must be more than zero"),
        (lambda session: session.run("", wall="1"), "limits.wall`: must be a number"),
        (lambda session: session.write(5, b""), "a path is text"),
        (lambda session: session.write("\ud800", b""), "a path is text"),
        (lambda session: session.write("a", 5), "stdin`: must be bytes, not int"),
        (lambda session: session.read(Path("a")), "a path is text"),
        (lambda session: session.notebook().run_cell(5), "source`: must be str"),
        (lambda session: session.notebook().run_cell("", cpu=0), "must be more than zero"),
    ],
)
def test_in_a_session(ask: Callable[[Session], Any], message: str, session: Session) -> None:
    with pytest.raises(InputError, match=message):
        ask(session)


def test_the_least_memory_holds_a_program(pool: Pool) -> None:
    done = proctor.run("print(input())", "x", limits=Limits(memory=LEAST_MEMORY), pool=pool)
    assert (done.exit_code, done.stdout) == (0, b"x\n")
