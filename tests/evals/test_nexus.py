"""`proctor-nexus`: another program's command line, without its faults."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from command import problem, write_rows
from stub import Call, Stub, serving
from test_agent import work

from proctor.cli.nexus import main
from waiting import PATIENCE


def answer_rightly(call: Call) -> None:
    call.reply(right_reply(call.body["messages"][-1]["content"]))


class Nexus:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capfd = monkeypatch, capfd

    def __call__(self, stub: Stub | None, *arguments: str) -> tuple[int, Any]:
        self.monkeypatch.setenv("OPENAI_BASE_URL", stub.url if stub else "http://127.0.0.1:9/v1")
        self.monkeypatch.setenv("MODEL_ID", "stub")
        self.monkeypatch.setattr(sys, "argv", ["proctor-nexus", *arguments])
        self.capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = self.capfd.readouterr()
        if "--json" in arguments and said.out:
            return int(ended.value.code or 0), json.loads(said.out)
        return int(ended.value.code or 0), said.out + said.err


@pytest.fixture
def nexus(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Nexus:
    return Nexus(monkeypatch, capfd)


def test_a_right_model_scores_all_four(nexus: Nexus) -> None:
    """Defect 1: 0 of 4 in its default mode."""
    with serving(answer_rightly) as stub:
        code, found = nexus(stub, "run", "--source", "fixture", "--concurrency", "4", "--json")
    assert code == 0
    assert (found["name"], found["variant"]) == ("livecodebench", "code_generation")
    assert (found["total"], found["passed"], found["passRate"]) == (4, 4, 1.0)
    metadata = found["metadata"]
    assert metadata["byPlatform"]["leetcode"] == {"total": 2, "passed": 2, "passRate": 1.0}
    assert metadata["byDifficulty"].keys() == {"easy", "medium", "hard"}
    assert sum(each["total"] for each in metadata["byDifficulty"].values()) == 4
    assert found["runTimeMs"] > 0


def test_an_agent_scores_all_four(nexus: Nexus) -> None:
    """Defects 2 to 4 and 16: LeetCode never passed, turns never reached the summary."""
    with serving(work) as stub:
        code, found = nexus(stub, "--agentic-mode", "--json")
    assert (code, found["passed"]) == (0, 4)
    assert found["metadata"]["turnsUsed"] == 12


def test_without_tests_code_is_a_pass_and_said_so(nexus: Nexus) -> None:
    """Defect 17: the note did not say what was measured."""
    with serving(lambda call: call.reply("```python\nx = 1\n```")) as stub:
        code, found = nexus(stub, "--no-run-tests", "--json")
    assert (code, found["passed"]) == (0, 4)
    assert "no tests were run" in found["metadata"]["note"]


def test_what_failed_stays_in_the_total(nexus: Nexus) -> None:
    """Defect 15."""

    def answer(call: Call) -> None:
        if "Ferry Queue" in call.body["messages"][-1]["content"]:
            call.send(b"no", status=400)
        else:
            answer_rightly(call)

    with serving(answer) as stub:
        code, found = nexus(stub, "--json")
    assert code == 1
    assert (found["total"], found["passed"], found["passRate"]) == (4, 3, 0.75)
    assert found["metadata"]["failureCount"] == 1
    assert found["metadata"]["passRateBounds"] == [0.75, 1.0]


@pytest.mark.slow
def test_the_timeout_stops_a_request(nexus: Nexus) -> None:
    """Defect 14: it was inert."""
    import threading

    ended = threading.Event()
    with serving(lambda call: ended.wait(PATIENCE)) as stub:
        code, found = nexus(stub, "--timeout", "200", "--limit", "1", "--json")
        ended.set()
    assert code == 1
    assert "model-stalled" in found["metadata"]["sampleFailure"]


@pytest.mark.parametrize(
    "arguments",
    [["--limit", "abc"], ["--platforms", "x"], ["--min-release-date", "x"], ["--wrong"],
     ["--concurrency", "0"]],
)  # fmt: skip
def test_wrong_usage(nexus: Nexus, arguments: list[str]) -> None:
    with serving(answer_rightly) as stub:
        code, _ = nexus(stub, *arguments)
    assert code == 2


def test_nobody_there(nexus: Nexus) -> None:
    code, said = nexus(None)
    assert code == 2
    assert "no usable model" in said


HOSTILE = {
    "a child that keeps stdout": (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\nprint(input())",
        None,
    ),
    "exit before the answer": ("import sys\nsys.exit(0)", 0),
    "5000 characters": ("print(input())", 1),
    "CRLF in what is expected": ("print(input())", 1),
    "trailing blanks": ("print(input() + '  ')", 1),
    "secrets": ("import os\nprint(input() if 'OPENAI_API_KEY' not in os.environ else 'leak')", 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_judging(nexus: Nexus, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Defects 5 and 10 to 13: exit codes as verdicts, output cut, line ends, hangs, secrets."""
    program, passes = HOSTILE[name]
    text = "x" * 5000 + "\n"
    expected = text.replace("\n", "\r\n") if name.startswith("CRLF") else text
    rows = write_rows(tmp_path / "rows.jsonl", [
        problem("p", [(text, expected)], platform="codeforces", difficulty="easy")
    ])  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(lambda call: call.reply(f"```python\n{program}\n```")) as stub:
        code, found = nexus(stub, "--source", str(rows), "--json")
    if passes is None:
        assert found["total"] == 1, "it ended"
    else:
        assert (code, found["passed"]) == (1 - passes, passes)


def test_the_problems_are_listed_without_a_model(nexus: Nexus) -> None:
    code, said = nexus(None, "--list", "--platforms", "leetcode", "--limit", "1")
    assert code == 0
    found = json.loads(said)
    assert (found["instanceId"], found["platform"]) == ("proctor-02-quiet-hours", "leetcode")
    assert found["publicTests"][0].keys() == {"input", "expectedOutput"}
    assert found["row"]["question_id"] == found["instanceId"]
    code, said = nexus(None, "--list", "--source", "/nowhere")
    assert (code, "there is no such file" in said) == (2, True)


def test_help_tells_each_option_and_its_default(nexus: Nexus) -> None:
    code, said = nexus(None, "--help")
    assert code == 0
    # Below 80 columns argparse breaks lines.
    told = " ".join(said.split())
    for option in ("--model-id ID", "--source SOURCE", "--platforms LIST", "--difficulties LIST",
                   "--min-release-date YYYY-MM-DD", "--limit N", "--concurrency N", "--timeout MS",
                   "--test-timeout MS", "--no-run-tests", "--agentic-mode",
                   "--agentic-turn-budget N", "--json", "--list", "--out DIR"):  # fmt: skip
        meaning = told.rpartition(option)[2].partition(" --")[0]
        assert "(default: " in meaning, option
    assert "(default: 300000)" in told
    assert "PROCTOR_CACHE_DIR" in told
