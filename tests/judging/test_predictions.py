"""Grading predicted values in real cells: what is right, what cheats, what harms."""

import json
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.judgement import Judgement
from proctor.judging.judge import start
from proctor.judging.predictions import Task
from proctor.judging.settings import JudgeSettings, Mode
from proctor.limits import Limits
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

MODES: tuple[Mode, ...] = ("official", "standard")
SETTINGS = {mode: JudgeSettings(mode, Limits(cpu=2.0)) for mode in MODES}
PAIR = CallTask("def f(a, b=2):\n    return (a, [b])", "f", "f(1, b=3)", "(1, [3])")


def grade(pool: Pool, task: Task, text: str, mode: Mode = "standard") -> Judgement:
    return begin(pool, task, text, SETTINGS[mode]).result()


def begin(pool: Pool, task: Task, text: str, settings: JudgeSettings) -> Future[Judgement]:
    return start(Problem("prediction", (), running=task), Program(text), settings, pool)


def gives(expression: str, output: str) -> CallTask:
    """A task whose call gives the value of an expression."""
    return CallTask(f"def f():\n    return {expression}", "f", "f()", output)


@pytest.mark.parametrize(
    "text", ["(1, [3])", " (1,[3,])\n", "(1.0, [3])", "(True, [3])", "f(1, b=3) == (1, [3])"]
)
def test_right_outputs(pool: Pool, text: str) -> None:
    judgement = grade(pool, PAIR, text)
    assert judgement.verdict is Verdict.AC, judgement.message
    assert judgement.score == 1.0
    assert judgement.isolation is not None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(1, (3,))", "not what the call gives"),
        ("[1, [3]]", "not what the call gives"),
        ("0 or True", "not a literal"),
        ("f(1, b=3)", "not a literal"),
        ("__import__('os')._exit(0)", "not a literal"),
        ("type('E', (), {'__eq__': lambda *a: True})()", "not a literal"),
        ("(lambda: 1)()", "not a literal"),
        ("[x for x in (1,)]", "not a literal"),
        ("f'{1}'", "not a literal"),
        ("(1, [3]) == (1, [3]) == (1, [3])", "not a literal"),
        ("(1, [3]) != 7", "not a literal"),
        ("I think it is (1, [3])", "not a literal"),
        ("1; (1, [3])", "not a literal"),
        ("...", "not what the call gives"),
        ("1 + 2j", "not what the call gives"),
        ("9" * 5000, "not a literal"),
        ("[" * 50 + "]" * 50, "not what the call gives"),
        ("[" * 150 + "]" * 150, "not what the call gives"),
        ("[" * 100_000, "not a literal"),
        ("-" * 3000 + "1", ""),
        ("'" + "a" * 3_000_000 + "'", "larger"),
        ("[" + "0," * 100_000 + "]", "larger"),
        ("\x00", "not a literal"),
        ("\ud800", "not a literal"),
    ],
)  # fmt: skip
def test_nothing_else_passes(pool: Pool, text: str, says: str) -> None:
    judgement = grade(pool, PAIR, text)
    assert judgement.verdict in {Verdict.WA, Verdict.RE}, judgement.message
    assert judgement.score == 0.0
    assert says in judgement.message
    assert judgement.message


def test_no_prediction(pool: Pool) -> None:
    for mode in MODES:
        assert grade(pool, PAIR, " \n", mode).verdict is Verdict.NC


@pytest.mark.parametrize(
    ("expression", "output", "text"),
    [
        ("float('nan')", "nan", "nan"),
        ("[float('nan')]", "[nan]", "[float('nan')]"),
        ("-float('inf')", "-inf", "-inf"),
        ("{1, 2}", "{1, 2}", "{2, 1}"),
        ("set()", "set()", "set()"),
        ("{'a': 1, 'b': None}", "{'a': 1, 'b': None}", "{'b': None, 'a': True}"),
        ("10 ** 300", "1" + "0" * 300, "1" + "0" * 300),
        ("b'a\\x00'", "b'a\\x00'", "b'a\\x00'"),
        ("'== ]'", "'== ]'", "'== ]'"),
        ("frozenset('a')", "frozenset({'a'})", "{'a'}"),
        ("__import__('collections').Counter('aab')", "Counter({'a': 2, 'b': 1})", "{'a': 2, 'b': 1}"),
        ("''.join(map(chr, [0xd800]))", "'\\ud800'", "'\\ud800'"),
    ],
)  # fmt: skip
def test_values_are_compared_as_python_does(
    pool: Pool, expression: str, output: str, text: str
) -> None:
    judgement = grade(pool, gives(expression, output), text)
    assert judgement.verdict is Verdict.AC, judgement.message


@pytest.mark.slow("task6-TLE")
@pytest.mark.parametrize(
    ("task", "says"),
    [
        (replace(PAIR, code="def f(a):"), "IndentationError"),
        (replace(PAIR, code="def g(a):\n    return a"), "NameError"),
        (gives("1 // 0", "0"), "ZeroDivisionError"),
        (gives("object()", "object()"), "no literal equals"),
        (gives("iter([1])", "1"), "no literal equals"),
        (gives("2", "3"), "does not give what"),
        (replace(PAIR, code="while True: pass"), "TLE"),
        (replace(PAIR, code="__import__('os')._exit(0)"), "gives no value"),
    ],
)
def test_a_broken_task_is_nobody_elses_fault(pool: Pool, task: CallTask, says: str) -> None:
    judgement = grade(pool, task, "(1, [3])")
    assert judgement.verdict is Verdict.TASK_FAULT
    assert says in judgement.message


INPUT = CallTask("def f(a, n):\n    return sorted(a)[:n]", "f", "f([2, 1, 3], 2)", "[1, 2]",
                 wanted="input")  # fmt: skip


@pytest.mark.parametrize(
    "text", ["f([2, 1, 3], 2)", "f([1, 2], 5)", "[1, 2], 9", "f(n=2, a={1, 2})", "a=[1, 2], n=2"]
)
def test_any_input_that_gives_the_output_is_right(pool: Pool, text: str) -> None:
    judgement = grade(pool, INPUT, text)
    assert judgement.verdict is Verdict.AC, judgement.message


@pytest.mark.parametrize(
    ("text", "verdict", "says"),
    [
        ("f([2, 1], 1)", Verdict.WA, "another value"),
        ("f(sorted([1, 2]), 2)", Verdict.WA, "not a literal"),
        ("f(*[[1, 2], 2])", Verdict.WA, "not a literal"),
        ("f(**{'a': [1, 2], 'n': 2})", Verdict.WA, "not a literal"),
        ("f((1).__class__, 1)", Verdict.WA, "not a literal"),
        ("[1, 2]", Verdict.RE, "TypeError"),
        ("f([1, 'a'], 2)", Verdict.RE, "TypeError"),
        ("g([1, 2], 2)", Verdict.WA, "not a literal"),
        ("1)\nimport os\nos._exit(0", Verdict.WA, "not a literal"),
        ("[1, 2] or f([1, 2], 2)", Verdict.WA, "not a literal"),
        ("f([1, 2], 2) #", Verdict.AC, ""),
    ],
)
def test_other_inputs(pool: Pool, text: str, verdict: Verdict, says: str) -> None:
    judgement = grade(pool, INPUT, text)
    assert (judgement.verdict, says in judgement.message) == (verdict, True), judgement.message


@pytest.mark.slow
def test_an_input_that_takes_for_ever(pool: Pool) -> None:
    task = CallTask("def f(n):\n    while n: n -= 1", "f", "f(0)", "None", wanted="input")
    assert grade(pool, task, "f(-1)").verdict is Verdict.TLE


def test_arguments_of_the_task_that_are_no_literals(pool: Pool) -> None:
    """Twelve of CRUXEval's 800: their own text is right, and no other expression."""
    task = CallTask("def f(a, key):\n    return [key(x) for x in a]", "f", "f([1], lambda x: x + 1)",
                    "[2]", wanted="input")  # fmt: skip
    assert grade(pool, task, "f([1], lambda x: x + 1)").verdict is Verdict.AC
    assert grade(pool, task, "[1], lambda x: x + 1").verdict is Verdict.AC
    assert grade(pool, task, "f([1], lambda x: 2)").verdict is Verdict.WA


@pytest.mark.slow("(lambda f: f(f))(lambda f: [0 for _ in iter(int, 1)])-TLE")
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("(1, [3])", Verdict.AC),
        ("0 or True", Verdict.AC),
        ("type('E', (), {'__eq__': lambda *a: True})()", Verdict.AC),
        ("(1, [4])", Verdict.WA),
        ("f(1, b=3)", Verdict.WA),
        ("f(1, 3)", Verdict.AC),
        ("__import__('os')._exit(0)", Verdict.RE),
        ("exit()", Verdict.RE),
        ("it is", Verdict.RE),
        ("nowhere", Verdict.RE),
        ("__import__('os').write(3, b'[' * 9_000_000)", Verdict.WA),
        ("(lambda f: f(f))(lambda f: [0 for _ in iter(int, 1)])", Verdict.TLE),
    ],
)
def test_official_is_upstreams_assertion(pool: Pool, text: str, verdict: Verdict) -> None:
    judgement = grade(pool, PAIR, text, "official")
    assert judgement.verdict is verdict, judgement.message


def test_what_official_mode_is_told_may_be_forged(pool: Pool) -> None:
    """A prediction that runs could have the host decode megabytes, for seconds and a gigabyte."""
    forger = (
        "(1, [3])\nimport json\n"
        "json.dumps = lambda *a, **k: '[true,[' + '[],' * 1_000_000 + '1]]'\n"
    )
    judgement = grade(pool, PAIR, forger, "official")
    assert judgement.verdict is Verdict.WA
    assert "larger" in judgement.message


def test_official_inputs(pool: Pool) -> None:
    for text, verdict in (
        ("f([2, 1, 3], 2)", Verdict.AC),
        ("f(sorted([1, 2]), 2)", Verdict.AC),
        ("[1, 2]", Verdict.WA),
        ("f([2], 2)", Verdict.WA),
    ):
        assert grade(pool, INPUT, text, "official").verdict is verdict, text


def test_lcb_runners_imports(pool: Pool) -> None:
    code = "def g(xs: List[int]):\n    return Counter(xs).most_common(1), inf, commonprefix(['ab', 'ac'])"
    task = CallTask(code, "g", "g(xs = [1, 1])", "([(1, 2)], inf, 'a')", lcb=True)
    for mode in MODES:
        assert grade(pool, task, "([(1, 2)], inf, 'a')", mode).verdict is Verdict.AC
    assert grade(pool, replace(task, lcb=False), "0").verdict is Verdict.TASK_FAULT


ASSERTION = AssertionTask("f([1], True)", '[1, true, null, {"a": 1.0}]')
RIGHT = "assert f([1], True) == [1, True, None, {'a': 1}]"


@pytest.mark.parametrize(
    ("text", "official", "standard"),
    [
        (RIGHT, Verdict.AC, Verdict.AC),
        (RIGHT + ", 'why'", Verdict.AC, Verdict.AC),
        (RIGHT + "  # TODO", Verdict.AC, Verdict.AC),
        (RIGHT.replace("True, None", "1, None"), Verdict.AC, Verdict.AC),
        ("[1, True, None, {'a': 1}]", Verdict.AC, Verdict.AC),
        (RIGHT + " == 5", Verdict.AC, Verdict.WA),
        ("assert f() == [1, 2 > 1, None, dict(a=1)]", Verdict.AC, Verdict.WA),
        ("assert f() == json.loads(expected_output)", Verdict.RE, Verdict.WA),
        ("assert f() == type('E', (), {'__eq__': lambda *a: True})()", Verdict.WA, Verdict.WA),
        ("assert f() == (1, True, None, {'a': 1})", Verdict.WA, Verdict.WA),
        ("assert f() == __import__('os')._exit(0)", Verdict.RE, Verdict.WA),
        ("assert f()", Verdict.RE, Verdict.WA),
        ("assert", Verdict.RE, Verdict.WA),
    ],
)
def test_assertions(pool: Pool, text: str, official: Verdict, standard: Verdict) -> None:
    assert grade(pool, ASSERTION, text, "official").verdict is official
    assert grade(pool, ASSERTION, text, "standard").verdict is standard


def test_an_assertion_task_without_json(pool: Pool) -> None:
    judgement = grade(pool, AssertionTask("f()", "[1"), "1")
    assert judgement.verdict is Verdict.TASK_FAULT


@pytest.mark.slow
def test_all_of_cruxeval_with_its_own_answers(pool: Pool, test_data: Path) -> None:
    rows = [
        json.loads(line)
        for line in (test_data / "cruxeval" / "cruxeval.jsonl").read_text("utf-8").splitlines()
    ]
    begun = {}
    for row in rows:
        call = f"f({row['input']})"
        for wanted, text in (("output", row["output"]), ("input", call)):
            task = CallTask(row["code"], "f", call, row["output"], wanted)  # type: ignore[arg-type]
            for mode, settings in SETTINGS.items():
                begun[row["id"], wanted, mode] = begin(pool, task, text, settings)
    assert len(begun) == 800 * 4
    failed = {key: future.result() for key, future in begun.items() if not future.result().passed}
    assert failed == {}
