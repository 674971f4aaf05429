"""Lint of packages: each planted fault is found by its own rule, and nothing in what is sound."""

from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import PACKAGES, appended, copied, remove, replaced, write
from proctor.formats.packages.input_validators import load_input_validators
from proctor.formats.packages.package import load
from proctor.judging.lint.package import lint_package
from proctor.sandbox.pool import Pool

Files = dict[str, str]
Change = Callable[[Path], None]

SUM: Files = {
    "problem.toml": """
id = "sum"
limits = { cpu = "900ms" }
tests = { inputs = "tests/*.in", answers = "tests/*.ans" }
validator = "validator.py"
submission = [{ path = "right.py", verdict = "AC" }, { path = "wrong.py", verdict = "WA" }]
""",
    "tests/1.in": "1 2\n", "tests/1.ans": "3\n",
    "tests/2.in": "50 5\n", "tests/2.ans": "55\n",
    "tests/3.in": "-3 1\n", "tests/3.ans": "-2\n",
    "tests/4.in": "1000000 1\n", "tests/4.ans": "1000001\n",
    "right.py": "print(sum(map(int, input().split())))\n",
    "wrong.py": "print(sum(abs(int(word)) for word in input().split()))\n",
    "validator.py": r"""
import re, sys
text = sys.stdin.read()
assert re.fullmatch(r"(0|-?[1-9]\d*) (0|-?[1-9]\d*)\n", text), "two numbers are expected"
""",
}  # fmt: skip

SPLIT: Files = {
    "problem.toml": """
id = "split"
tests = { inputs = "tests/*.in", answers = "tests/*.ans" }
grading = { checker = "check.py", convention = "testlib" }
submission = [{ path = "right.py", verdict = "AC" }, { path = "wrong.py", verdict = ["WA", "PE"] }]
""",
    "tests/1.in": "10\n", "tests/1.ans": "4 6\n",
    "tests/2.in": "17\n", "tests/2.ans": "16 1\n",
    "right.py": "print(1, int(input()) - 1)\n",
    "wrong.py": "print(0, int(input()))\n",
    "check.py": """
import sys
def end(code, message):
    print(message, file=sys.stderr)
    sys.exit(code)
total = int(open(sys.argv[1]).read())
words = open(sys.argv[2], "rb").read(1000).split()
if len(words) != 2 or not all(word.isdigit() and len(word) < 10 for word in words):
    end(2, "two numbers are expected")
a, b = map(int, words)
if a < 1 or b < 1 or a + b != total:
    end(1, "not two positive numbers of that sum")
end(0, "right")
""",
}  # fmt: skip

HUNT: Files = {
    "problem.toml": """
id = "hunt"
tests = { inputs = "tests/*.in" }
running = { type = "interactive", interactor = "interactor.py", convention = "testlib" }
submission = [{ path = "right.py", verdict = "AC" }, { path = "wrong.py", verdict = "WA" }]
""",
    "tests/1.in": "700\n", "tests/2.in": "3\n",
    "interactor.py": """
import sys
def end(code, message):
    print(message, file=sys.stderr)
    sys.exit(code)
secret = int(open(sys.argv[1]).read())
for _ in range(10):
    line = sys.stdin.buffer.readline(100).strip()
    if not line:
        end(1, "nothing is asked")
    if not line.isdigit():
        end(2, "a number is expected")
    guess = int(line)
    try:
        print("found" if guess == secret else "more" if guess < secret else "less", flush=True)
    except BrokenPipeError:
        end(1, "nobody listens")
    if guess == secret:
        end(0, "found")
end(1, "not found within ten guesses")
""",
    "right.py": """
low, high = 1, 1000
while True:
    guess = (low + high) // 2
    print(guess, flush=True)
    answer = input()
    if answer == "found":
        break
    low, high = (guess + 1, high) if answer == "more" else (low, guess - 1)
""",
    "wrong.py": "for guess in range(11, 30):\n    print(guess, flush=True)\n    input()\n",
}  # fmt: skip

KATTIS: Files = {
    "problem.yaml": "name: Sum\nlimits:\n  time_limit: 1.0\n  time_safety_margin: 2\n",
    "data/sample/1.in": "1 2\n", "data/sample/1.ans": "3\n",
    "data/secret/1.in": "1 2\n", "data/secret/1.ans": "3\n",
    "data/secret/2.in": "-3 1\n", "data/secret/2.ans": "-2\n",
    "data/secret/large/testdata.yaml": "input_validator_flags: 1000000\n",
    "data/secret/large/1.in": "999999 1\n", "data/secret/large/1.ans": "1000000\n",
    "input_validators/check.py": r"""
import re, sys
most = int(sys.argv[1]) if len(sys.argv) > 1 else 100
found = re.fullmatch(r"(-?\d+) (-?\d+)\n", sys.stdin.read())
sys.exit(42 if found and all(abs(int(word)) <= most for word in found.groups()) else 43)
""",
    "submissions/accepted/right.py": SUM["right.py"],
    "submissions/wrong_answer/wrong.py": SUM["wrong.py"],
}  # fmt: skip

BURN = "import time\nwhile time.process_time() < {}: pass\n"


def files(some: Files) -> Change:
    def change(package: Path) -> None:
        for name, text in some.items():
            write(name, text)(package)

    return change


def binary(name: str, data: bytes) -> Change:
    return lambda package: (package / name).write_bytes(data) and None


REJECTS = """#include <cstdio>
int main() { long long n; return std::scanf("%lld", &n) == 1 && n < 10 ? 0 : 1; }
"""

PLANTED: dict[str, tuple[Files, list[Change], set[str]]] = {
    "one input, two answers": (
        SUM, [write("tests/5.in", "1 2\n"), write("tests/5.ans", "4\n")], {"same-input", "label"}),
    "a test twice": (
        SUM, [write("tests/5.in", "1 2\n"), write("tests/5.ans", "3\n")], {"duplicate-test"}),
    "lines end with CR LF": (
        SUM, [binary("tests/2.in", b"50 5\r\n"), remove("validator.py"),
              replaced("problem.toml", 'validator = "validator.py"\n', "")], {"line-ends"}),
    "a last line without its end": (
        SUM, [binary("tests/2.in", b"50 5"), remove("validator.py"),
              replaced("problem.toml", 'validator = "validator.py"\n', "")], {"no-last-newline"}),
    "the same answer everywhere": (
        SUM, [files({"tests/2.in": "0 3\n", "tests/2.ans": "3\n", "tests/3.in": "-1 4\n",
                     "tests/3.ans": "3\n", "tests/4.in": "2 1\n", "tests/4.ans": "3\n"})],
        {"constant-answer"}),
    "an answer is wrong": (SUM, [write("tests/2.ans", "56\n")], {"label"}),
    "tests too weak for the wrong one": (
        SUM, [remove("tests/3.in"), remove("tests/3.ans")], {"weak-tests"}),
    "nothing wrong to be caught": (
        SUM, [replaced("problem.toml", ', { path = "wrong.py", verdict = "WA" }', "")],
        {"no-wrong"}),
    "nothing known to be right": (
        SUM, [replaced("problem.toml", '{ path = "right.py", verdict = "AC" }, ', "")],
        {"no-right"}),
    "a limit that is too tight": (
        SUM, [replaced("right.py", "print", BURN.format(0.55) + "print")], {"tight-limit"}),
    "an input that is not valid": (SUM, [write("tests/4.in", "01000000 1\n")], {"input-refused"}),
    "a validator that accepts anything": (
        SUM, [write("validator.py", "import sys; sys.stdin.read()\n")], {"validator-lenient"}),
    "a wrong label": (SUM, [replaced("problem.toml", '"WA"', '"TLE"')], {"label"}),
    "an answer that the checker refuses": (
        SPLIT, [write("tests/1.ans", "0 10\n")], {"answer-refused"}),
    "a checker that reads two words": (
        SPLIT, [replaced("check.py", "words = open(sys.argv[2], \"rb\").read(1000).split()",
                         "words = open(sys.argv[2], \"rb\").read(1000).split()[:2]")],
        {"checker-lenient"}),
    "a checker that crashes": (
        SPLIT, [replaced("check.py", " or not all(word.isdigit() and len(word) < 10 for word in words)",
                         "")], {"checker-fails"}),
    "a checker that takes nothing for right": (
        SPLIT, [replaced("check.py", "if len(words)", "if not words:\n    end(0, '')\nif len(words)")],
        {"checker-lenient"}),
    "a checker that takes anything for right": (
        SPLIT, [write("check.py", "")], {"checker-lenient", "weak-tests"}),
    "an interactor that crashes": (
        HUNT, [replaced("interactor.py", "if not line.isdigit()", "if line == b'?'")],
        {"interactor-fails"}),
    "an interactor that lets the silent pass": (
        HUNT, [replaced("interactor.py", "end(1, \"nothing is asked\")", "end(0, '')")],
        {"interactor-lenient"}),
    "a slow one that is just too slow": (
        KATTIS, [write("submissions/time_limit_exceeded/slow.py",
                       BURN.format(1.2) + SUM["right.py"])], {"loose-limit"}),
    "a validator that ends as others do": (
        KATTIS, [replaced("input_validators/check.py", "42 if", "0 if")], {"input-refused"}),
    "an input beyond its group's bounds": (
        KATTIS, [remove("data/secret/large/testdata.yaml")], {"input-refused"}),
    "a submission that nobody can read": (
        KATTIS, [write("submissions/wrong_answer/notes.txt", "todo")], {"left-out"}),
}  # fmt: skip

SOUND: dict[str, tuple[Files, list[Change]]] = {
    "sum": (SUM, []),
    "sum without a validator": (SUM, [replaced("problem.toml", 'validator = "validator.py"\n', "")]),
    "sum with tests of subtasks that are the same": (
        SUM, [files({"tests/5.in": "1 2\n", "tests/5.ans": "3\n"}),
              replaced("problem.toml", '"WA"', '["WA", "PA"]'), appended("problem.toml", """
[[subtask]]
name = "a"
points = 10
tests = ["1", "2"]
[[subtask]]
name = "b"
points = 90
tests = ["3", "4", "5"]
""")]),
    "split": (SPLIT, []),
    "split with answers that are no outputs": (
        SPLIT, [write("tests/1.ans", "yes\n"), write("tests/2.ans", "no\n")]),
    "hunt": (HUNT, []),
    "kattis": (KATTIS, []),
}  # fmt: skip


UNLABELLED = {
    "halving": {"no-wrong"},
    "dosage": {"no-wrong"},
    "splitsum": {"no-wrong", "no-last-newline"},
}
"""Packages of formats that know no wrong submissions."""


def found(package: Path, pool: Pool) -> set[str]:
    loaded = load(package)
    validators, notes = load_input_validators(loaded)
    assert not notes
    return {finding.rule for finding in lint_package(loaded, pool, validators)}


@pytest.mark.sampled(3)
@pytest.mark.slow("a slow one that is just too slow")
@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_fault_is_found_and_no_other(
    name: str, tmp_path: Path, contest_pool: Pool
) -> None:
    base, changes, rules = PLANTED[name]
    for change in (files(base), *changes):
        change(tmp_path)
    assert found(tmp_path, contest_pool) == rules


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_found_in_what_is_sound(name: str, tmp_path: Path, contest_pool: Pool) -> None:
    base, changes = SOUND[name]
    for change in (files(base), *changes):
        change(tmp_path)
    assert found(tmp_path, contest_pool) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(each.name for each in PACKAGES.iterdir() if each.is_dir()))
def test_nothing_is_found_in_the_packages_that_come_with_the_tests(
    name: str, contest_pool: Pool
) -> None:
    assert found(PACKAGES / name, contest_pool) == UNLABELLED.get(name, set())


@pytest.mark.slow
def test_polygon_s_validators_are_told_the_group(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "nearest")
    validator = """import sys
words = sys.stdin.read().split()
group = sys.argv[sys.argv.index("--group") + 1]
most = 10**18 if group == "large" else 1000
sys.exit(0 if words and all(w.isdigit() and int(w) <= most for w in words) else 1)
"""
    write("files/validator.py", validator)(package)
    replaced(
        "problem.xml",
        "    <solutions>",
        '    <validators><validator><source path="files/validator.py" type="python.3"/>'
        "</validator></validators>\n    <solutions>",
    )(package)
    validators, notes = load_input_validators(load(package))
    assert (len(validators), notes) == (1, ())
    assert found(package, contest_pool) == set()
    replaced("files/validator.py", '"large"', '"small"')(package)
    assert found(package, contest_pool) == {"input-refused"}


@pytest.mark.slow
def test_tps_s_validators_are_run_for_their_subtasks(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "relay")
    write("validator/small.cpp", REJECTS)(package)
    replaced("subtasks.json", '"score": 30, "validators": []',
             '"score": 30, "validators": ["small.cpp"]')(package)  # fmt: skip
    loaded = load(package)
    ((validator,), notes) = load_input_validators(loaded)
    small = next(each for each in loaded.problem.subtasks if each.name == "small")
    assert (validator.name, validator.tests, notes) == (
        "validator/small.cpp",
        frozenset(small.tests),
        (),
    )
    (finding,) = lint_package(loaded, contest_pool, [validator])
    assert finding.rule == "input-refused"
    assert all(
        name in small.tests for name in finding.message.split(":")[0].split(" ", 1)[1].split(", ")
    )
