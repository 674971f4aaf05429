"""LiveCodeBench in other languages than Python."""

from pathlib import Path

import pytest
from benchmark_files import fenced, replies
from proctor_command import Proctor, report

LANTERNS = {
    "cpp17": """#include <iostream>
#include <numeric>
int main() {
    long long n, a, b;
    std::cin >> n >> a >> b;
    std::cout << n / a + n / b - n / std::lcm(a, b) << std::endl;
}""",
    "javascript": """const [n, a, b] = require("fs").readFileSync(0, "utf8").trim().split(" ").map(BigInt);
const gcd = (x, y) => (y ? gcd(y, x % y) : x);
console.log(String(n / a + n / b - n / ((a / gcd(a, b)) * b)));""",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "language",
    [
        pytest.param("cpp17", marks=pytest.mark.language("cpp")),
        pytest.param("javascript", marks=pytest.mark.language("javascript")),
    ],
)
def test_programs_are_judged_by_a_contests_rules(
    proctor: Proctor, tmp_path: Path, language: str
) -> None:
    right = LANTERNS[language]
    wrong = right.replace("n / a +", "n /")
    model = replies(
        tmp_path,
        ("proctor-01-lantern-rows", fenced(right, language.removesuffix("17"))),
        ("proctor-03-ferry-queue", fenced(wrong, language.removesuffix("17"))),
        ("proctor-02-quiet-hours", fenced(right)),  # asks for a method: not for other languages
    )
    done = proctor("eval", "livecodebench", "--language", language, "--model", model,
                   "--out", tmp_path / "run", "--json")  # fmt: skip
    found = report(done)
    assert "official" not in found
    assert found["standard"]["verdicts"]["AC"] == 1
    assert sum(found["standard"]["verdicts"].values()) == 2
    assert found["left_out"] == {"asks for a Python method": 2}


def test_prompt_names_the_language(proctor: Proctor) -> None:
    done = proctor("eval", "livecodebench", "--language", "c++", "--model", "m", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "contest problems in C++17" in done.stdout
    assert "fenced cpp block" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mode", "official"), "lcb_runner's prompts and rules are for Python"),
        (("--prompt", "upstream"), "lcb_runner's prompts and rules are for Python"),
        (("--agentic-mode",), "agents, --packages and --preload are for Python"),
        (("--extraction", "upstream"), "finds no C++17"),
        (("--scenario", "codeexecution"), "--language is one of"),
        (("--scenario", "selfrepair", "--from", "run"), "repaired in Python"),
    ],
)
def test_what_is_for_python_alone(proctor: Proctor, options: tuple[str, ...], words: str) -> None:
    done = proctor("eval", "livecodebench", "--language", "cpp", *options, "--dry-run")
    assert done.returncode == 2
    assert words in done.stderr


def test_a_language_that_is_not_there(proctor: Proctor) -> None:
    done = proctor("eval", "livecodebench", "--language", "klingon", "--dry-run")
    assert done.returncode == 2
    assert "klingon" in done.stderr
