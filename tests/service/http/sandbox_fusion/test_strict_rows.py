"""Rows whose tests are Python: what a program may do that does not solve them."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from language_here import need
from served import Served, serving

HUMANEVAL = {
    "task_id": "mine/0",
    "prompt": 'def add(a: int, b: int) -> int:\n    """Add."""\n',
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(2, 2) == 4\n",
    "entry_point": "add",
}
MULTIPL_E = {
    "name": "mine_1",
    "language": "py",
    "prompt": "def add(a: int, b: int) -> int:\n",
    "tests": "def check(candidate):\n    assert candidate(1, 2) == 3\n\ncheck(add)\n",
    "stop_tokens": ["\nif"],
}
AUTO = {
    "id": 3,
    "content": "Write add.",
    "labels": {"programming_language": "python"},
    "test": {"code": "assert add(1, 2) == 3\nassert add(2, 2) == 4\n"},
}
PLACED = {**AUTO, "test": {"code": "#<INSERT>\nassert add(1, 2) == 3\n"}}
OBJECT = {**AUTO, "test": {"code": "adder = Adder()\nassert adder.add(1, 2) == 3\n"}}
ROWS = {
    "HumanEval": ("HumanEvalDataset", "humaneval_python", HUMANEVAL),
    "uncalled": ("HumanEvalDataset", "mine", HUMANEVAL),
    "MultiPL-E": ("MultiPLEDataset", "multiple_py", MULTIPL_E),
    "AutoEval": ("AutoEvalDataset", "mine", AUTO),
    "placed": ("AutoEvalDataset", "mine", PLACED),
}
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 0\n"
CHEATS = {
    "wrong": WRONG,
    "leaves": "import sys\nsys.exit(0)",
    "leaves at once": "import os\nos._exit(0)",
    "leaves when called": "import os\ndef add(a, b):\n    os._exit(0)",
    "raises SystemExit": "def add(a, b):\n    raise SystemExit",
    "equals all": "class All:\n    def __eq__(self, other): return True\ndef add(a, b): return All()",
    "number that equals all": (
        "class All(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
        "def add(a, b): return All(0)"
    ),
    "at exit": f"import atexit, os\natexit.register(lambda: os._exit(0))\n{WRONG}",
    "kills itself": "import os\ndef add(a, b): os.kill(os.getpid(), 9)",
    "own builtins": f"import builtins\nbuiltins.AssertionError = ZeroDivisionError\n{WRONG}",
    "own check": f"def check(candidate): pass\n{WRONG}",
    "own modules": f"import sys\nsys.modules['builtins'] = sys\nsys.modules['__main__'] = sys\n{WRONG}",
    "closes stdout": f"import os\nos.close(1); os.close(2)\n{WRONG}",
    "prints its source": (
        "import sys\nprint(open(sys.argv[0]).read(), flush=True)\nimport os\nos._exit(0)"
    ),
    "generator": "def add(a, b):\n    yield 3",
    "threads": (
        f"import threading, os, time\n{WRONG}"
        "threading.Thread(target=lambda: os._exit(0)).start()"
    ),
    "except hook": f"import sys, os\nsys.excepthook = lambda *_: os._exit(0)\n{WRONG}",
    "traces": (
        "import sys, os\ndef trace(frame, what, _):\n    if what == 'exception': os._exit(0)\n"
        f"    return trace\nsys.settrace(trace)\n{WRONG}"
    ),
}  # fmt: skip
_FEW = ("wrong", "leaves", "leaves when called", "equals all", "prints its source", "at exit")


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "2", "--sessions", "0", "--no-access-log") as served:
        yield served


def submitted(
    server: Served, kind: str, table: str, row: Any, code: str, seconds: float = 20, **extra: Any
) -> Any:
    config = {
        "dataset_type": kind,
        "provided_data": row,
        "run_timeout": seconds,
        "extra": {"is_freeform": True, **extra},
    }
    reply = f"```python\n{code}\n```"
    asked = {"dataset": table, "id": 0, "completion": reply, "config": config}
    with server.client() as client:
        answer: httpx.Response = client.post("/submit", json=asked)
    assert answer.status_code == httpx.codes.OK, answer.text
    return answer.json()


@pytest.mark.parametrize("row", ROWS)
def test_a_program_counts_if_it_passes_and_not_by_what_else_it_does(
    server: Served, row: str
) -> None:
    assert submitted(server, *ROWS[row], RIGHT)["accepted"]
    cheats = CHEATS if row == "HumanEval" else {name: CHEATS[name] for name in _FEW}
    passed = [name for name in cheats if submitted(server, *ROWS[row], CHEATS[name])["accepted"]]
    assert passed == []


@pytest.mark.parametrize("row", ["HumanEval", "AutoEval"])
def test_the_originals_way_is_a_switch(server: Served, row: str) -> None:
    for name in ("leaves", "equals all"):
        assert submitted(server, *ROWS[row], CHEATS[name], mode="official")["accepted"]
    assert not submitted(server, *ROWS[row], WRONG, mode="official")["accepted"]


def test_no_other_mode_is_known(server: Served) -> None:
    config = {"dataset_type": "AutoEvalDataset", "provided_data": AUTO, "extra": {"mode": "x"}}
    asked = {"dataset": "mine", "id": 0, "completion": RIGHT, "config": config}
    with server.client() as client:
        answer = client.post("/submit", json=asked)
    assert (answer.status_code, "standard or official" in answer.text) == (400, True)


def test_the_answer_says_how_it_was_judged(server: Served) -> None:
    found = submitted(server, *ROWS["AutoEval"], WRONG)
    (case,) = found["tests"]
    assert (found["extra"], case["exec_info"]["verdict"]) == (None, "WA")
    assert case["exec_info"]["run_result"]["return_code"] == 1
    right = submitted(server, *ROWS["AutoEval"], RIGHT)["tests"][0]["exec_info"]
    assert (right["status"], right["verdict"]) == ("Success", "OK")
    slow = submitted(server, *ROWS["AutoEval"], "def add(a, b):\n    while True: pass", 0.2)
    assert slow["tests"][0]["exec_info"]["run_result"]["status"] == "TimeLimitExceeded"


def test_tests_of_objects_run_beside_the_program(server: Served) -> None:
    """Such an object could not be in another process; whoever leaves early fails all the same."""
    right = "class Adder:\n    def add(self, a, b):\n        return a + b\n"
    asked = ("AutoEvalDataset", "mine", OBJECT)
    found = submitted(server, *asked, right)
    assert (found["accepted"], "pretend" in found["extra"]["integrity"]) == (True, True)
    assert not submitted(server, *asked, right.replace("+", "-"))["accepted"]
    for name in ("leaves", "leaves at once"):
        assert not submitted(server, *asked, CHEATS[name])["accepted"]


UNITTEST = """
import unittest
class AdderTest(unittest.TestCase):
    def test(self):
        self.assertEqual(Adder().add(1, 2), 3)
if __name__ == "__main__":
    unittest.main()
"""


def test_tests_that_leave_by_themselves(server: Served) -> None:
    right = "class Adder:\n    def add(self, a, b):\n        return a + b\n"
    asked = ("AutoEvalDataset", "mine", {**AUTO, "test": {"code": UNITTEST}})
    assert submitted(server, *asked, right)["accepted"]
    for code in (
        right.replace("+", "-"),
        right.replace("return", "raise SystemExit"),
        CHEATS["leaves"],
        CHEATS["leaves at once"],
    ):
        assert not submitted(server, *asked, code)["accepted"], code


@pytest.mark.parametrize(
    ("language", "tag", "right", "leaves", "tests"),
    [
        ("javascript", "js", "function add(a, b) { return a + b }", "process.exit(0)",
         "const assert = require('node:assert');\nassert.deepEqual(add(1, 2), 3);"),
        ("php", "php", "<?php\nfunction add($a, $b) { return $a + $b; }", "<?php exit(0);",
         "if (add(1, 2) !== 3) { throw new Exception('wrong'); }"),
        ("perl", "pl", "sub add { return $_[0] + $_[1]; }", "exit 0;",
         "if (add(1, 2) != 3) { exit 1; }"),
        ("bash", "sh", "add() { echo $(($1 + $2)); }", "exit 0",
         "[ $(add 1 2) = 3 ] || exit 1"),
    ],
)  # fmt: skip
def test_a_program_in_another_language_does_not_pass_by_leaving(
    server: Served, language: str, tag: str, right: str, leaves: str, tests: str
) -> None:
    need(language)
    row = {"name": "mine", "language": tag, "prompt": "", "tests": tests, "stop_tokens": []}
    config = {"dataset_type": "MultiPLEDataset", "provided_data": row}
    accepted = []
    for code, mode in ((right, "standard"), (leaves, "standard"), (leaves, "official")):
        extra = {"extra": {"mode": mode}}
        asked = {"dataset": f"m_{tag}", "id": 0, "completion": code, "config": config | extra}
        with server.client() as client:
            accepted.append(client.post("/submit", json=asked).json()["accepted"])
    assert accepted == [True, False, True]


def test_tests_that_are_broken_are_no_verdict(server: Served) -> None:
    row = {**AUTO, "test": {"code": "1 / 0\nassert add(1, 2) == 3\n"}}
    config = {"dataset_type": "AutoEvalDataset", "provided_data": row}
    asked = {"dataset": "mine", "id": 0, "completion": RIGHT, "config": config}
    with server.client() as client:
        answer = client.post("/submit", json=asked)
    assert (answer.status_code, "fail by themselves" in answer.text) == (400, True)
