"""Programs of authors that let whoever checks their package wait."""

import dataclasses
import json
from pathlib import Path

import pytest

from package_changes import write
from proctor.errors import Cancelled
from proctor.formats.packages.input_validators import load_input_validators
from proctor.formats.packages.package import load
from proctor.formats.problem_rows import read_problem_rows
from proctor.judging import input_programs
from proctor.judging.lint.package import lint_package
from proctor.judging.lint.rows import lint_rows
from proctor.judging.total_time import TotalTime
from proctor.judging.verify import verify
from proctor.sandbox.pool import Pool

SLEEPS = "import time\ntime.sleep(100000)\n"
SPINS = "while True: pass\n"
FILES = {
    "problem.toml": """
id = "sum"
limits = { cpu = "900s" }
tests = { inputs = "tests/*.in", answers = "tests/*.ans" }
validator = "validator.py"
submission = [{ path = "right.py", verdict = "AC" }, { path = "wrong.py", verdict = "WA" }]
""",
    "tests/1.in": "1 2\n", "tests/1.ans": "3\n",
    "tests/2.in": "50 5\n", "tests/2.ans": "55\n",
    "right.py": "print(sum(map(int, input().split())))\n",
    "wrong.py": "print(3)\n",
    "validator.py": "import sys\nsys.exit(not sys.stdin.read().split()[0].isdigit())\n",
}  # fmt: skip
BARE = FILES["problem.toml"].replace('validator = "validator.py"\n', "")
CHECKED = BARE.replace(
    "tests =", 'grading = { checker = "check.py", convention = "testlib" }\ntests ='
)


def package(directory: Path, **changed: str) -> Path:
    for name, text in FILES.items():
        write(name, changed.pop(name.replace(".", "_"), text))(directory)
    for name, text in changed.items():
        write(name.replace("_", "."), text)(directory)
    return directory


def findings(place: Path, pool: Pool, seconds: float) -> list[tuple[str, str]]:
    loaded = load(place)
    validators, _ = load_input_validators(loaded)
    found = lint_package(loaded, pool, validators, time=TotalTime(seconds))
    return [(each.rule, each.message) for each in found]


@pytest.mark.parametrize(
    ("changed", "who"),
    [
        ({"validator_py": SLEEPS}, "validator validator.py"),
        ({"right_py": SLEEPS, "problem_toml": BARE}, "submission right.py"),
        ({"check_py": SLEEPS, "problem_toml": CHECKED}, ""),  # cells may take longer to start
    ],
)
def test_lint_ends_when_its_time_is_over_and_names_who_used_it(
    changed: dict[str, str], who: str, tmp_path: Path, contest_pool: Pool
) -> None:
    (*_, (rule, message)) = findings(package(tmp_path, **changed), contest_pool, 3.0)
    assert rule == "time-over"
    assert "the 3 s for all checks are over" in message
    assert who in message


def test_a_slow_validator_is_not_tried_on_every_test(
    tmp_path: Path, contest_pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = dataclasses.replace(input_programs.LIMITS, cpu=0.2)
    monkeypatch.setattr(input_programs, "LIMITS", limits)
    found = findings(package(tmp_path, validator_py=SPINS), contest_pool, 600.0)
    ((rule, message),) = found
    assert rule == "validator-slow"
    assert message.startswith("validator validator.py does not end in its time")
    assert "(test 1)" in message


def test_verify_ends_when_its_time_is_over(tmp_path: Path, contest_pool: Pool) -> None:
    loaded = load(package(tmp_path, right_py=SLEEPS))
    with TotalTime(3.0) as time, pytest.raises(Cancelled):
        verify(loaded, contest_pool, time=time)
    assert "submission right.py" in time.said()


def test_lint_of_rows_ends_when_its_time_is_over(tmp_path: Path, contest_pool: Pool) -> None:
    row = {
        "question_id": "a", "question_title": "A", "question_content": "Sleep.", "platform": "x",
        "starter_code": "", "difficulty": "easy", "contest_date": "2030-01-01", "contest_id": "1",
        "public_test_cases": json.dumps([{"input": "1", "output": "1", "testtype": "stdin"}]),
        "private_test_cases": "[]", "metadata": "{}", "solutions": [SLEEPS],
    }  # fmt: skip
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps({**row, "question_id": "b"}) + "\n")
    found = list(lint_rows(read_problem_rows(file), contest_pool, 1, TotalTime(3.0)))
    assert [each.rule for each in found] == ["time-over"]
    assert "line 1 took" in found[0].message
