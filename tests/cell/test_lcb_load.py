"""How official mode loads and calls programs: each outcome was measured on lcb_runner."""

# a test's name says what it tests; two ways must agree inside

from types import CodeType
from typing import Any

import pytest
from compiling_process import by_tree
from official_process import DIED, ONE, RE, TLE, WA, Quirk, check, play

from proctor.cell import lcb_load
from proctor.cell.lcb_text import clean_if_name, make_function
from proctor.judgement import UpstreamReport

# fmt: off
WRAPPING = [
    Quirk("main guard", "def f(): print(5)\nif __name__ == '__main__':\n    f()", [True],
        tests=ONE),
    Quirk(
        "main guard with else",
        "if __name__ == '__main__':\n    print(5)\nelse:\n    print(6)",
        [True],
        tests=ONE,
    ),
    Quirk("swapped guard", "if '__main__' == __name__:\n    print(5)", [WA], WA),
    Quirk("guard with in", "if __name__ in ('__main__',):\n    print(5)", [WA], WA),
    Quirk("guard with and", "if __name__ == '__main__' and 1:\n    print(5)", [WA], WA),
    Quirk("statement after the guard", "if __name__ == '__main__':\n    print(5)\nx = 1", [WA], WA),
    Quirk("u-string guard", "if __name__ == u'__main__':\n    print(5)", [WA], WA),
    Quirk("imports in the guard", "if __name__ == '__main__':\n    import os\n    print(5)", [True],
        tests=ONE),
    Quirk("name", "print(__name__)", [True], tests=(("", "tmp_sol"),)),
    Quirk(
        "global of a top-level variable",
        "n = 4\ndef f():\n    global n\n    n += 1\nf()\nprint(n)",
        [RE],
        RE,
        "NameError",
    ),
    Quirk("list rebound", "a = list(map(int, '23'))\nlist = a", [RE], RE, "UnboundLocalError"),
    Quirk("sum rebound", "sum = sum([2, 3])", [RE], RE, "UnboundLocalError"),
    Quirk("input rebound late", "import sys\nn = input()\ninput = sys.stdin.readline", [RE], RE,
        "UnboundLocalError"),
    Quirk("input rebound first", "import sys\ninput = sys.stdin.readline\nprint(int(input()) + 3)",
        [True], tests=ONE),
    Quirk("future import", "from __future__ import annotations\nprint(5)", [RE], RE,
        "Error during testing: from __future__ imports must occur at the beginning of the file "
        "(<string>, line 37)"),
    Quirk("star import in try", "try:\n    from math import *\nexcept ImportError: pass", [RE], RE,
        "Error during testing: import * only allowed at module level (<string>, line 40)"),
    Quirk("star import", "from math import *\nprint(floor(5.5))", [True], tests=ONE),
    Quirk("definition by exec", "exec('x = 5')\nprint(x)", [RE], RE, "NameError"),
    Quirk("definition by globals", "globals()['y5'] = 5\nprint(y5)", [True], tests=ONE),
    Quirk("class Solution", "class Solution:\n    pass\nprint(5)", [RE], RE,
        "Error during testing: module 'tmp_sol' has no attribute 'Solution'"),
    Quirk("class SolutionSet", "class SolutionSet:\n    pass\nprint(5)", [RE], RE, "'Solution'"),
    Quirk("spaced class Solution", "class  \\\n Solution: pass", [RE], RE, "'Solution'"),
    Quirk("class Solution in a comment", "# class Solution\nprint(5)", [True], tests=ONE),
    Quirk("class Solution in a string", "x = 'class Solution'\nprint(5)", [RE], RE, "'Solution'"),
    Quirk("class Solution joined", "x = 'class ' 'Solution'\nprint(5)", [RE], RE, "'Solution'"),
    Quirk("pickle of a class", "import pickle\nclass A: pass\npickle.dumps(A())", [RE], RE,
        "Can't pickle"),
    Quirk("top-level return", "print(5)\nreturn\nprint(6)", [True], tests=ONE),
    Quirk("top-level yield", "print(5)\nyield", [WA], WA),
    Quirk("top-level await", "await x", [RE], RE,
        "Error during testing: 'await' outside async function (<string>, line 39)"),
    Quirk("nonlocal", "x = 5\ndef f():\n    nonlocal x\n    x += 0\nf()\nprint(x)", [True],
        tests=ONE),
    Quirk("top-level nonlocal", "nonlocal x\nprint(5)", [RE], RE, "no binding for nonlocal"),
    Quirk("syntax error", "x = = 5", [RE], RE,
        "Error during testing: invalid syntax (<string>, line 1)"),
    Quirk("late syntax error", "# a\nx = 1\nbreak", [RE], RE,
        "Error during testing: 'break' outside loop (<string>, line 40)"),
    Quirk("bad indentation", "def f():\nreturn 1", [RE], RE,
        "Error during testing: expected an indented block after function definition on line 1 "
        "(<string>, line 2)"),
    Quirk("empty", "", [RE], RE,
        "Error during testing: expected an indented block after function definition on line 38 "
        "(<string>, line 38)"),
    Quirk("imports only", "import os\nimport sys", [RE], RE, "(<string>, line 39)"),
    Quirk("comments only", "# nothing\n", [RE], RE, "line 38"),
    Quirk("null byte", "print(5)\0", [RE], RE,
        "Error during testing: source code string cannot contain null bytes"),
    Quirk("surrogate in the source", "print('\ud800')", [RE], RE,
        "Error during testing: 'utf-8' codec can't encode character '\\ud800' in position 7: "
        "surrogates not allowed"),
    Quirk("byte order mark", "\ufeffprint(5)", [RE], RE,
        "Error during testing: invalid non-printable character U+FEFF (<string>, line 1)"),
    Quirk("missing module", "import no_such_module\nprint(5)", [RE], RE,
        "Error during testing: No module named 'no_such_module'"),
    Quirk("missing import forgiven", "print(len(deque([1])) + gcd(4, 8))", [True], tests=ONE),
    Quirk("bisect is the module", "bisect([1], 1)", [RE], RE, "'module' object is not callable"),
    Quirk("copy is the module", "copy([1])", [RE], RE, "'module' object is not callable"),
    Quirk("random is the module", "random()", [RE], RE, "'module' object is not callable"),
    Quirk("pow is the builtin", "print(pow(3, 2, 4) + 4)", [True], tests=ONE),
    Quirk("quit", "print(5)\nquit()", [RE], RE, "'NoneType' object is not callable"),
    Quirk("exit", "print(5)\nexit(3)", [True], tests=ONE),
    Quirk("sys.exit", "import sys\nprint(5)\nsys.exit('no')", [True], tests=ONE),
    Quirk("sys.exit before output", "import sys\nsys.exit(0)", [WA], WA),
    Quirk("help", "help()", [RE], RE, "'NoneType' object is not callable"),
    Quirk("resource", "import resource\nprint(5)", [RE], RE, "import of resource halted"),
    Quirk("getcwd", "import os\nos.getcwd()", [RE], RE, "'NoneType' object is not callable"),
    Quirk("tempfile", "import tempfile\ntempfile.TemporaryFile()", [RE], RE, "NoneType"),
    Quirk("subprocess", "import subprocess\nsubprocess.run(['true'])", [RE], RE, "NoneType"),
    Quirk("environment", "import os\nprint(os.environ['OMP_NUM_THREADS'])", [True],
        tests=(("", "1"),)),
    Quirk("environment set", "import os\nos.environ['X'] = '1'", [RE], RE, "NoneType"),
    Quirk("multiprocessing", "import multiprocessing\nprint(5)", [True], tests=ONE),
    Quirk("recursion", "def f(n): return n and 1 + f(n - 1)\nprint(f(20000))", [True],
        tests=(("", "20000"),)),
    Quirk("long integer out", "print(10 ** 4999)", [True], tests=(("", "1" + "0" * 4999),)),
    Quirk("too long integer out", "print(10 ** 50000)", [RE], RE, "Exceeds the limit (50000"),
    Quirk("runtime error", "1 / 0", [RE], RE, "ZeroDivisionError('division by zero')"),
    Quirk("named like a time-out",
        "class TimeoutExceptionX(Exception): pass\nraise TimeoutExceptionX",
        [TLE], TLE, "TimeoutExceptionX()"),
    Quirk("own alarm", "import signal, time\nsignal.alarm(1)\ntime.sleep(2)", [TLE], TLE,
        "TimeoutException()"),
    Quirk("repr fails", "class E(Exception):\n    def __repr__(self): return 1 / 0\nraise E", [RE],
        RE, "Error during testing: division by zero"),
    Quirk("exception in a thread", "import threading\nt = threading.Thread(target=lambda: 1 / 0)\n"
        "t.start(); t.join(); print(5)", [True], tests=ONE),
    Quirk("os._exit", "import os\nprint(5)\nos._exit(0)", [-2], DIED, "TestRunnerError"),
    Quirk("keyboard interrupt", "raise KeyboardInterrupt", [-2], DIED, "TestRunnerError"),
    Quirk("f-string", "x = 5\nprint(f'{x}')", [True], tests=ONE),
    Quirk("f-string with quotes", "d = {'a': 5}\nprint(f\"{d['a']}\")", [True], tests=ONE),
    Quirk("f-string out of quotes",
        "d = {'a': 5}\nprint(f'''{d[\"a\"]}''' f\"{d['a']}'\\\"\")", [WA],
        WA, "55'\" != 5"),
    Quirk("deep expression", "print(" + "+".join(["1"] * 900) + ")", [RE], RE, ""),
    Quirk("module attributes last",
        "import math\nmath.n = getattr(math, 'n', 4) + 1\nprint(math.n)",
        [True, True], tests=(("", "5"), ("", "6"))),
    Quirk("decimal context lasts", "import decimal\nprint(decimal.getcontext().prec)\n"
        "decimal.getcontext().prec = 5", [True, True], tests=(("", "28"), ("", "5"))),
    Quirk("locals do not last", "try:\n    x += 1\nexcept NameError:\n    x = 5\nprint(x)",
        [True, True], tests=ONE * 2),
]


def _call(name: str, source: str, expected: str, *outcome: Any, **more: Any) -> Quirk:
    more.setdefault("tests", (("1", expected),))
    return Quirk(name, source, *outcome, function="f", **more)


def _returns(value: str, expected: str, *outcome: Any) -> Quirk:
    source = f"def f(n):\n    return {value}"
    return _call(f"{value} for {expected}", source, expected, *(outcome or ([True],)))


def _differs(value: str, expected: str) -> Quirk:
    return _returns(value, expected, [False], WA, "Wrong Answer")


CALLS = [
    _call("plain function", "def f(n): return n + 1", "2", [True]),
    _call("Solution", "class Solution:\n    def f(self, n): return n + 1", "2", [True]),
    _call("arguments", "def f(a, b): return a[0] + b", "5", [True], tests=(("[2]\n3", "5"),)),
    _call("shared instance", "class Solution:\n    acc = 0\n    def f(self, n):\n"
        "        self.acc += n\n        return self.acc", "", [True, False], WA,
        tests=(("1", "1"), ("1", "1"))),
    _call("comment counts", "# class Solution\ndef f(n): return 1", "1", [RE], RE,
        "Error during testing: module 'tmp_sol' has no attribute 'Solution'"),
    _call("guard never runs", "def f(n): return 1\nif __name__ == '__main__': 1 / 0", "1", [True]),
    _call("missing function", "def g(n): return 1", "1", [RE], RE,
        "Error during testing: cannot unpack non-iterable NoneType object"),
    _call("function is None", "f = None", "1", [RE], RE, "cannot unpack non-iterable NoneType"),
    _call("syntax error", "def f(n) return 1", "1", [RE], RE,
        "Error during testing: expected ':' (<string>, line 38)"),
    _call("future import", "from __future__ import annotations\ndef f(n): return 1", "1", [RE], RE,
        "from __future__ imports must occur at the beginning of the file (<string>, line 38)"),
    _call("byte order mark", "\ufeffdef f(n): return 1", "1", [RE], RE,
        "invalid non-printable character U+FEFF (<string>, line 38)"),
    _call("surrogate in the source", "def f(n): '\ud800'", "1", [RE], RE,
        "'utf-8' codec can't encode character '\\ud800' in position 648"),
    _call("null byte", "def f(n): return 1\0", "1", [RE], RE, "null bytes"),
    _call("empty", "", "1", [RE], RE, "cannot unpack"),
    _call("raises at the top", "1 / 0", "1", [RE], RE, "Error during testing: division by zero"),
    _call("raises in Solution()", "class Solution:\n    def __init__(self): 1 / 0", "1", [RE], RE,
        "Error during testing: division by zero"),
    _call("exits at the top", "import sys\nsys.exit()", "1", [-2], DIED),
    _call("exits when called", "def f(n): exit()", "1", [-2], DIED),
    _call("raises", "def f(n): return [][0]", "1", [RE], RE, "IndexError"),
    _call("wrong arguments", "def f(): return 1", "1", [RE], RE, "takes 0 positional arguments"),
    _call("missing imports forgiven",
        "def f(n: List[int]) -> Optional[int]: return Counter([1])[1]",
        "1", [True]),
    _call("stdin is empty", "def f(n): return sys.stdin.read()", '""', [True]),
    _call("print is not heard", "def f(n): print(n); return 1", "1", [True]),
    _call("blank line in the input", "def f(n): return 1", "1", [RE], RE,
        "Error during testing: Expecting value: line 1 column 1 (char 0)", tests=(("1\n", "1"),)),
    _call("bad output", "def f(n): return 1", "1", [RE], RE, "Expecting value",
        tests=(("1", "1"), ("1", "x"))),
    _returns("(1, 2)", "[1, 2]"),
    _returns("[(1, 2)]", "[[1, 2]]", [False], WA),
    _returns("1.0", "1"), _returns("True", "1"), _returns("1", "true"), _returns("None", "null"),
    _returns("0.1 + 0.2", "0.3", [False], WA),
    _differs("{1: 2}", '{"1": 2}'), _returns("{'a': 2}", '{"a": 2}'),
    _differs("deque([1])", "[1]"), _differs("{1}", "[1]"), _differs("(x for x in [1])", "[1]"),
    _differs("range(2)", "[0, 1]"), _differs("float('nan')", "NaN"), _returns("inf", "Infinity"),
    _differs("b'a'", '"a"'), _returns("Counter('a')", '{"a": 1}'),
    _returns("defaultdict(int, a=1)", '{"a": 1}'), _returns("[inf, -0.0]", "[Infinity, 0]"),
    _returns("__import__('fractions').Fraction(1, 2)", "0.5"),
    _returns("__import__('decimal').Decimal('0.5')", "0.5"),
    _differs("__import__('decimal').Decimal('0.1')", "0.1"), _returns("1 + 0j", "1"),
    _returns("10 ** 300", "1e300", [False], WA), _returns("int(1e300)", "1e300"),
    _returns("10 ** 20", "1" + "0" * 20), _returns("10 ** 4500", "1" + "0" * 4500),
    _returns("[2 ** 166097]", "2", [False, RE], RE, "Exceeds the limit (50000 digits)"),
    _returns("2 ** 200000", "2", [False, RE], RE, "Exceeds the limit (50000 digits)"),
    _differs("[2 ** 166096]", "2"),
    _returns("'\\ud83d\\ude00'", '"\\ud83d\\ude00"', [False], WA),
    _returns("'\\ud800'", '"\\ud800"'),
    _returns("'é😀'", '"é😀"'),
]

NUMPY = [
    Quirk("numpy in stdio", "import numpy as np\nprint(np.int64(2) + 3)", [True], tests=ONE),
    *(
        _call(f"{value} for {expected}", f"import numpy as np\ndef f(n): return {value}", expected,
              *outcome)
        for value, expected, *outcome in [
            ("np.int64(3)", "3", [True]),
            ("np.bool_(False)", "false", [True]),
            ("np.float64(1.5)", "1.5", [True]),
            ("[np.int64(3)]", "[3]", [True]),
            ("np.array([1])", "[1]", [True]),
            ("np.array(1)", "1", [True]),
            ("np.array([1])", "[2]", [False], WA, "Wrong Answer"),
            ("np.array([1, 2])", "[1, 2]", [True, RE], RE, "is ambiguous"),
            ("np.array([1, 2])", "[2, 2]", [False, RE], RE, "is ambiguous"),
            ("np.array([1, 2])", "[1, 2, 3]", [RE], RE, "with shapes (2,) (3,) "),
            ("np.array([[1, 2]])", "[1, 2]", [True, RE], RE, "is ambiguous"),
            ("np.array([1, 2])", "[1, [2]]", [RE], RE, "inhomogeneous"),
            ("[np.array([1, 2])]", "[[1, 2]]", [RE], RE, "is ambiguous"),
            ("[np.array([1])]", "[[1]]", [True]),
            ("[1, np.array([1, 2])]", "[2, [1, 2]]", [False], WA),
            ("[np.array([1, 2])]", "[[1, 2], 3]", [False], WA),
        ]
    ),
]
# fmt: on

QUIRKS = [*WRAPPING, *CALLS, *NUMPY]
REPORTS: dict[int, UpstreamReport] = {}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(QUIRKS)), ids=[one.name for one in QUIRKS])
def test_outcome_is_what_lcb_runner_says(number: int) -> None:
    if not REPORTS:
        REPORTS.update(enumerate(play(QUIRKS)))
    check(QUIRKS[number], REPORTS[number])


def test_the_direct_way_is_the_way_through_text() -> None:
    source = (
        "import os\ndef f(x):\n    return [y for y in x if y]\n"
        "if __name__ == '__main__':\n    f([])\n"
    )
    direct = by_tree(source)
    through_text = compile(make_function(clean_if_name(source)), "<string>", "exec")
    assert direct is not None
    ours, theirs = (_function_named("wrapped_function", one) for one in (direct, through_text))
    assert ours.co_code == theirs.co_code
    assert ours.co_names == theirs.co_names


def _function_named(name: str, code: CodeType) -> CodeType:
    return next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("print(f'{x} {y:.2f} a\\n')", False),
        ("print('f', x)", True),
        ("elif_ = 'if'; buf = ''", False),
        ("f'{d[\"a\"]}'", True),
        ('f"{x}" "y"', True),
        ('"y" f"{x}"', True),
        ("f'{x:{w}}'", True),
        ("from __future__ import annotations", True),
        ("class Solution: pass", True),
        ("# the Solution", False),
    ],
)
def test_text_is_made_only_where_it_could_matter(source: str, needed: bool) -> None:
    assert lcb_load._needs_text(source) is needed
