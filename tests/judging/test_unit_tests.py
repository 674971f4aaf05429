"""Test code that calls a submission's functions from a cell of its own."""

from collections.abc import Iterator

import pytest

from proctor.judgement import Judgement
from proctor.judging.judge import PoolJudges
from proctor.judging.unit_tests.judge import Reference, UnitTestJudge, UnitTests
from proctor.limits import Limits
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

DOUBLE = "def double(x):\n    return x + x\n"
TESTS = UnitTests(
    ("double",), "assert double(2) == 4\nassert double('ab') == 'abab'\n", solution=DOUBLE
)
REFERENCE = Reference(DOUBLE, "double", ("[[1], [2.5]]", '[["x"], [[1, 2]]]'))


@pytest.fixture(params=["namespaces", "landlock"])
def judge(request: pytest.FixtureRequest) -> Iterator[UnitTestJudge]:
    name = "contest_pool" if request.param == "namespaces" else "landlock_pool"
    contest_pool: Pool = request.getfixturevalue(name)
    return UnitTestJudge(PoolJudges(contest_pool))


def judged(judge: UnitTestJudge, source: str, tests: UnitTests = TESTS) -> Judgement:
    return judge.judge(tests, source, Limits(cpu=2.0))


@pytest.mark.slow(
    "landlock-def double(x):\\n    while True: pass-TLE",
    "namespaces-def double(x):\\n    while True: pass-TLE",
)
@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (DOUBLE, Verdict.AC),
        ("double = lambda x: x * 2\nprint('noise' * 10_000)", Verdict.AC),
        (
            f"{DOUBLE}import threading\nthreading.Thread(target=threading.Event().wait).start()",
            Verdict.AC,
        ),
        ("def double(x): return 2 * x if x == 2 else 'ba'", Verdict.WA),
        ("def double(x): raise ValueError('no')", Verdict.RE),
        ("x = 1", Verdict.RE),
        ("def double(x):\n    while True: pass", Verdict.TLE),
        ("def double(x): return (", Verdict.CE),
        ("", Verdict.NC),
    ],
)
def test_verdicts(judge: UnitTestJudge, source: str, verdict: Verdict) -> None:
    assert judged(judge, source).verdict is verdict


@pytest.mark.parametrize(
    "source",
    [
        "import sys; sys.exit(0)",
        "import os\ndef double(x): os._exit(0)",
        "import os\ndef double(x): os._exit(42)",
        "class Equal:\n    def __eq__(self, other): return True\ndef double(x): return Equal()",
        "class Four(int):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "def double(x): return Four(7)",
        "import builtins\nbuiltins.exec = lambda *a: None\ndef double(x): return 0",
        "import __main__\n__main__.encode = lambda value: b'4'\ndef double(x): return 1",
        "import sys, gc\ndef double(x):\n"
        "    for frame in gc.get_objects():\n"
        "        if isinstance(frame, dict) and 'solution' in frame: return frame['solution']\n"
        "    return None",
        "import os\nfor n in range(3, 20):\n"
        "    try: os.write(n, b'true\\n' * 10)\n    except OSError: pass\n"
        "def double(x): return True",
        "import glob\ndef double(x):\n"
        "    return ''.join(open(n).read() for n in glob.glob('**', recursive=True) if 'txt' in n)",
        "def double(x): return {'dict': [[1, 2]]}",
    ],
)  # fmt: skip
def test_cheats_fail(judge: UnitTestJudge, source: str) -> None:
    found = judged(judge, source)
    assert not found.passed
    assert not found.verdict.is_fault, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        # Whatever it has open: half an answer, and then no more of it.
        ("import os, time\nfor n in range(3, 20):\n"
         "    try: os.write(n, b'[1, ')\n    except OSError: pass\ntime.sleep(10**6)",
         Verdict.ILE),
        ("import os\nos.closerange(0, 20)\nwhile True: pass", Verdict.TLE),
        # An answer without end.
        ("import os\nwhile True:\n    for n in range(3, 20):\n"
         "        try: os.write(n, b'1' * 65536)\n        except OSError: pass", Verdict.WA),
        # A child that lives on with the pipes; a parent that is gone.
        ("import os, time\nif os.fork() == 0: time.sleep(10**6)\nos._exit(0)", Verdict.WA),
        # The pipes in a message that nobody will ever receive.
        ("import array, os, socket\n"
         "ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
         "for end in ends:\n"
         "    socket.send_fds(end, [b'x'], [0, 1, ends[0].fileno(), ends[1].fileno()])\n"
         "os._exit(0)", Verdict.WA),
    ],
)  # fmt: skip
def test_nothing_makes_the_tests_wait(contest_pool: Pool, source: str, verdict: Verdict) -> None:
    assert judged(UnitTestJudge(PoolJudges(contest_pool)), source).verdict is verdict


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("def f(n): return {k: k for k in range(n)}", "f(50_000) == {k: k for k in range(50_000)}"),
        ("def f(n): return {(k, k) for k in range(n)}", "len(f(50_000)) == 50_000"),
        ("def f(d): return sum(d.values())", "f({k: 1 for k in range(50_000)}) == 50_000"),
        ("def f(n): return list(range(n))", "f(2_500_000) == list(range(2_500_000))"),
        ("def f(ns): return len(ns)", "f([7] * 2_500_000) == 2_500_000"),
        ("def f(n): return 'é' * n", "f(2_000_000) == 'é' * 2_000_000"),
        ("def f(n): return n if n == 0 else 1 + f(n - 1) - 1", "f(3_000) == 0"),
        ("def f(n): return [float('inf'), float('nan')]", "f(0)[0] > 1e308 and f(0)[1] != f(0)[1]"),
        ("# coding: latin-1\ndef f(n): return 'é'", "f(0) == chr(233)"),
    ],
)
def test_right_results_may_be_large(contest_pool: Pool, source: str, test: str) -> None:
    found = judged(
        UnitTestJudge(PoolJudges(contest_pool)), source, UnitTests(("f",), f"assert {test}")
    )
    assert found.passed, found


@pytest.mark.slow
def test_results_that_break_the_tests_are_the_submissions_fault(contest_pool: Pool) -> None:
    """Otherwise a program that cannot be right would have no verdict, which is better than WA."""
    # Multiples of the modulus of CPython's hash all collide: a set of them takes quadratic time.
    source = "def double(x): return [n * ((1 << 61) - 1) for n in range(200_000)]"
    for solution in ("", "def double(x): return [x, -x]"):
        greedy = UnitTests(("double",), "assert len(set(double(1))) == 2\n", solution=solution)
        found = judged(UnitTestJudge(PoolJudges(contest_pool)), source, greedy)
        assert found.verdict is Verdict.WA
        assert found.message.startswith("the interactor exceeded its cpu limit; ")


@pytest.mark.parametrize("kind", ["set", "frozenset", "dict.fromkeys"])
def test_results_that_would_take_quadratic_time_to_build_are_no_values(
    contest_pool: Pool, kind: str
) -> None:
    """The program's own class tells them apart; the numbers that they are all have one hash."""
    source = (
        "class N(int):\n    def __hash__(self): return id(self)\n"
        f"def double(x): return {kind}([N(n * ((1 << 61) - 1)) for n in range(100_000)])"
    )
    found = judged(
        UnitTestJudge(PoolJudges(contest_pool)),
        source,
        UnitTests(("double",), "assert double(1) == 2"),
    )
    assert (found.verdict, found.message) == (Verdict.WA, "what double returned is no value")


@pytest.mark.parametrize(
    "code", ["assert triple(1) == 3", "assert (", "raise ValueError", "import os; os._exit(0)"]
)
def test_broken_tests_are_a_fault(contest_pool: Pool, code: str) -> None:
    for solution in ("", DOUBLE):
        tests = UnitTests(("double",), code, solution=solution)
        assert (
            judged(UnitTestJudge(PoolJudges(contest_pool)), DOUBLE, tests).verdict
            is Verdict.TASK_FAULT
        )


def test_check_is_called_with_the_function(contest_pool: Pool) -> None:
    tests = UnitTests(
        ("double",), "def check(candidate):\n    assert candidate(x=3) == 6\n", check="double"
    )
    assert judged(UnitTestJudge(PoolJudges(contest_pool)), DOUBLE, tests).passed
    wrong = judged(UnitTestJudge(PoolJudges(contest_pool)), "def double(x): return x", tests)
    assert wrong.verdict is Verdict.WA


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (DOUBLE, Verdict.AC),
        ("def double(x): return x + x + (1e-9 if isinstance(x, float) else x * 0)", Verdict.AC),
        ("def double(x): return x + x + (1e-3 if isinstance(x, float) else x * 0)", Verdict.WA),
        ("def double(x):\n    x += x\n    return x", Verdict.AC),  # changes what it was given
        ("def double(x): return tuple(x + x) if isinstance(x, list) else x + x", Verdict.WA),
    ],
)
def test_a_reference_is_compared_with(contest_pool: Pool, source: str, verdict: Verdict) -> None:
    tests = UnitTests(("double",), reference=REFERENCE)
    found = judged(UnitTestJudge(PoolJudges(contest_pool)), source, tests)
    assert found.verdict is verdict, found


def test_nan_is_right_where_the_reference_says_so(contest_pool: Pool) -> None:
    code = "def f(x): return [x, float('nan')]"
    tests = UnitTests(("f",), reference=Reference(code, "f", ("[[1.0]]",)))
    assert judged(UnitTestJudge(PoolJudges(contest_pool)), code, tests).passed
    for wrong in ("[float('nan'), x]", "[x, x]", "[float('nan')] * 2"):
        source = f"def f(x): return {wrong}"
        assert judged(UnitTestJudge(PoolJudges(contest_pool)), source, tests).verdict is Verdict.WA


def test_a_reference_that_fails_is_never_the_submissions_fault(contest_pool: Pool) -> None:
    code = "def f(x): return 1 / x"
    tests = UnitTests(("f",), reference=Reference(code, "f", ("[[2], [0]]",)), solution=code)
    found = judged(
        UnitTestJudge(PoolJudges(contest_pool)), "def f(x): return 1 / x if x else 0", tests
    )
    assert found.verdict is Verdict.TASK_FAULT, found


def test_an_oracle_accepts_others(contest_pool: Pool) -> None:
    oracle = "def oracle(arguments, result):\n    return result ** 2 == arguments[0]\n"
    reference = Reference(f"def root(x): return 2\n{oracle}", "root", ("[[4]]",))
    tests = UnitTests(("root",), reference=reference)
    assert judged(UnitTestJudge(PoolJudges(contest_pool)), "def root(x): return -2", tests).passed
    assert not judged(
        UnitTestJudge(PoolJudges(contest_pool)), "def root(x): return 3", tests
    ).passed


def test_arguments_may_be_what_json_has_not(contest_pool: Pool) -> None:
    code = "def kind(x): return type(x).__name__\n"
    hook = "def arguments_from_json(arguments):\n    return [tuple(arguments[0])]\n"
    tests = UnitTests(("kind",), reference=Reference(code + hook, "kind", ("[[[4]], [[]]]",)))
    judge = UnitTestJudge(PoolJudges(contest_pool))
    assert judged(
        judge, "def kind(x): return 'tuple' if isinstance(x, tuple) else '?'", tests
    ).passed
    assert not judged(judge, "def kind(x): return 'list'", tests).passed


def test_values_of_all_plain_kinds_come_and_go(contest_pool: Pool) -> None:
    tests = UnitTests(
        ("same", "kind"),
        "for value in (None, True, 2 ** 200, -0.5, 1j, 'é', b'x', (1, [2]), {3}, {4: {'5'}}):\n"
        "    assert same(value) == value and type(same(value)) is type(value)\n"
        "assert kind(5, int) and not kind('5', int)\n",
    )
    source = "def same(x): return x\ndef kind(x, t): return isinstance(x, t)\n"
    found = judged(UnitTestJudge(PoolJudges(contest_pool)), source, tests)
    assert found.passed, found


def test_the_tests_own_time_is_bounded_by_the_submissions(
    contest_pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.judging.unit_tests.judge._TESTS_MORE", 0.5)
    code = "import time\ndouble(1)\nwhile time.process_time() < 5: pass\n"
    judge = UnitTestJudge(PoolJudges(contest_pool))
    found = judge.judge(UnitTests(("double",), code), DOUBLE, Limits(cpu=0.5))
    assert found.verdict is Verdict.WA
    assert found.message.startswith("the interactor exceeded its cpu limit; ")
