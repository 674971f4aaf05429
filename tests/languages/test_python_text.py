"""Looking into Python that strangers wrote."""

import os
import tracemalloc

import pytest

from proctor.languages import python_text
from proctor.languages.python_text import (
    LONGEST,
    Definition,
    Outline,
    Uses,
    called_from_outside,
    literal,
    outline,
    uses,
)

MODULE = '''"""Said."""
from __future__ import annotations
import os, sys as s
from . import near

@cache
def f(a): return a + b

async def g(): pass

class C:
    async def no(self): pass
    def yes(self): pass
'''


def test_an_outline() -> None:
    found = outline(MODULE)
    assert found == Outline(
        acts=True,
        definitions=(
            Definition("f", 6), Definition("g", 9),
            Definition("C", 11, is_class=True, methods=("yes",)),
        ),
        imports=(
            "from __future__ import annotations", "import os, sys as s", "from . import near",
        ),
        names=frozenset({"a", "b", "cache"}),
        future_lines=2,
    )  # fmt: skip
    assert outline("") == Outline()
    assert outline("Yes") == Outline(names=frozenset({"Yes"}))
    assert outline("no program") is None
    assert outline("'\ud800'") is None
    assert outline("\0") is None


def test_literals() -> None:
    assert literal("{'a': (1, True, null), 'b': -1.5}") == '{"a": [1, true, null], "b": -1.5}'
    for text in ("f()", "1 +", "{1}", "1" * 5000, "x", "'\ud800'"):
        assert literal(text) is None


# Each takes the host's only thread for a minute, or gigabytes, or its life.
HOSTILE = {
    "import": "import " + ".".join("a" * (LONGEST // 2 - 8)),
    "from": "from " + ".".join("a" * (LONGEST // 2 - 16)) + " import b",
    "brackets": "(" * (LONGEST - 1),
    "minus": "-" * (LONGEST - 1) + "1",
    "not": "not " * (LONGEST // 4 - 1) + "1",
    "attributes": "a" + ".a" * (LONGEST // 2 - 1),
    "calls": "a" + "()" * (LONGEST // 2 - 1),
    "powers": "1" + "**1" * (LONGEST // 3 - 1),
    "ifs": "if a: pass\n" + "elif a: pass\n" * (LONGEST // 13 - 2),
    "f-strings": "f'''" + "{a}" * (LONGEST // 3 - 4) + "'''",
    "dictionaries": "{0:" * (LONGEST // 3 - 1),
    "lambdas": "lambda:" * (LONGEST // 7 - 1) + "1",
    "long names": f"import {'a' * (LONGEST // 2)} as b\n"
    + "".join(f"b.c{n}\n" for n in range(10_000)),
    "blocks": "".join(" " * n + "if a:\n" for n in range(99)) + " " * 99 + "pass",
}


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("assert add(1, 2) == 3", "add"),
        ("def check(f):\n    assert f(1) == 2\ncheck(add)", "add"),
        ("import math\nassert abs(root(2) - math.sqrt(2)) < 1e-9 and max(low([1]), 2)", "low root"),
        ("for given, right in [(1, 2)]:\n    assert twice(given) == right, f'{given}'", "twice"),
        ("stack = Stack()\nassert stack.top() == 1", ""),
        ("assert isinstance(make(), Stack)", ""),
        ("assert limit == 3 and add(1, 2)", ""),
        ("assert add.calls == 1", ""),
        ("assert apply(lambda each: each, 1) == 1", ""),
        ("def one(): return 1\nassert apply([one], 1) == 1", ""),
        ("given = []\nfill(given)\nassert given == [1]", ""),
        ("try:\n    add()\nexcept TypeError: pass", ""),
        ("import pytest\nwith pytest.raises(TypeError): assert add()", ""),
        ("import unittest\nclass T(unittest.TestCase):\n    def test(self): assert f()", ""),
        ("if __name__ == '__main__': assert add(1) == 1", ""),
        ("from solution import *\nassert add(1) == 1", ""),
        ("async def go(): return await add()", ""),
        ("import sys\nsys.stdout = None\nassert add(1)", ""),
        ("assert 1 == 1", ""),
        ("assert (", ""),
    ],
)
def test_functions_that_test_code_only_calls(text: str, called: str) -> None:
    assert called_from_outside(text) == frozenset(called.split())


def test_uses() -> None:
    assert uses("") == Uses()
    assert uses("no program") is None
    assert uses(
        "import os.path, numpy as np\nfrom sys import argv as arguments, stdin\nfrom . import a\n"
        "def f(x, *, y=len, **z):\n"
        "    import json\n"
        "    for line in stdin:\n"
        "        json.loads(line), os.path.join(x, y, z)\n"
        "    w = np.linalg.norm(w)[0].real\n"
        "print(f(k=arguments).b, open(0), open('/dev/stdin'), np)\n"
        "global_ = open(f'a'), [open('b') for open in abs]\n"
    ) == Uses(
        frozenset({"os.path", "numpy", "sys.argv", "sys.stdin", "..a", "json"}),
        frozenset({"len", "print", "abs"}),
        {
            "sys.stdin": 2,
            "json.loads": 2,
            "os.path.join": 2,
            "numpy.linalg.norm": 1,
            "numpy": 1,
            "sys.argv": 1,
        },
        frozenset({"loads", "path", "join", "linalg", "norm", "real", "b"}),
    )
    hidden = "class A:\n    __slots__ = ()\nmatch 1:\n    case A(f_back=x):\n        x.y = 1"
    assert uses(hidden) == Uses(attributes=frozenset({"__slots__", "f_back", "y"}))
    assert uses("open('a')\nopen(0, 'r', b)") == Uses(names=frozenset({"open", "b"}))


@pytest.mark.slow("f-strings")
@pytest.mark.usefixtures("ends")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_nothing_of_the_host(name: str) -> None:
    text = HOSTILE[name]
    assert len(text) <= LONGEST
    before = os.times()
    tracemalloc.start()
    try:
        outline(text)
        uses(text)
        literal(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    after = os.times()
    # What the other process used shows once it has ended.
    assert after.user - before.user < 2.0
    assert peak < 32 << 20
    # And the next one is none the worse for it.
    assert literal("1") == "1"


def test_a_long_text_is_not_looked_into() -> None:
    assert outline("#" * LONGEST) == Outline()
    assert outline("#" * (LONGEST + 1)) is None


def test_a_fork_asks_a_process_of_its_own() -> None:
    assert literal("1") == "1"
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writes, (literal("(2,)") or "").encode())
            python_text._workers[0].close()
        finally:
            os._exit(0)
    assert literal("3") == "3"
    assert os.read(reads, 10) == b"[2]"
    assert os.waitpid(child, 0)[1] == 0
    assert literal("4") == "4"
    os.close(reads)
    os.close(writes)


@pytest.mark.slow
def test_an_honest_text_as_long_and_dense_as_may_be() -> None:
    line = "x=[[1,2,3],[4,5,6]]\n"
    assert outline(line * (LONGEST // len(line))) is not None
    assert literal("[" + "[1,2,3]," * (LONGEST // 8 - 1) + "]") is not None
