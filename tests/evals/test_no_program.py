"""Replies without a program: each is counted with its reason, wherever figures are shown."""

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from proctor_command import Proctor
from stub import Call, completion, serving

from proctor.evals.models.model import ModelReply
from proctor.evals.no_program import reason_of
from proctor.evals.records import records
from proctor.evals.store import RunStore
from proctor.evals.store_file import FILE
from proctor.reports.no_program import NoProgramCounter, Reason
from proctor.reports.records import SampleRecord
from proctor.reports.tallies import Mode
from proctor.verdict import Verdict

BLOCK = "```python\nprint(1)\n```"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ModelReply(""), Reason.EMPTY),
        (ModelReply(" \n"), Reason.EMPTY),
        (ModelReply("", finish_reason="length"), Reason.CUT_SHORT),
        (ModelReply("I think", reasoning=BLOCK, finish_reason="length"), Reason.CUT_SHORT),
        (ModelReply("", finish_reason="content_filter"), Reason.CONTENT_FILTER),
        (ModelReply("I'm sorry, but I can't help with that."), Reason.REFUSAL),
        (ModelReply("I\u2019m unable to do this."), Reason.REFUSAL),
        (ModelReply("Use a queue."), Reason.NO_BLOCK),
        (ModelReply("Sorry. " + "It is long. " * 500), Reason.NO_BLOCK),
        (ModelReply("It is done.", reasoning=f"So: {BLOCK}"), Reason.ONLY_IN_REASONING),
        (ModelReply(f"<think>{BLOCK}"), Reason.ONLY_IN_REASONING),
        (ModelReply("<think>Hm.</think>"), Reason.EMPTY),
    ],
)
def test_the_reason(reply: ModelReply, reason: Reason) -> None:
    assert reason_of(reply) is reason


def made(call: Call) -> None:
    """One right reply, an empty one, one cut short, one refused."""
    prompt = call.body["messages"][-1]["content"]
    body: dict[str, Any] = completion(right_reply(prompt))
    choice = body["choices"][0]
    if "# Ferry Queue\n" in prompt:
        choice["message"]["content"] = ""
    elif "# Lantern" in prompt:
        choice |= {"finish_reason": "length"}
        choice["message"]["content"] = "First of all"
    elif "# quiet-hours" in prompt:
        choice["message"] = {"role": "assistant", "content": None, "refusal": "I can't do that."}
    call.send(json.dumps(body).encode())


def test_a_run_says_how_many_and_why(proctor: Proctor, tmp_path: Path) -> None:
    run, table, page = tmp_path / "run", tmp_path / "run.csv", tmp_path / "run.html"
    with serving(made) as stub:
        done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url,
                       "--out", run)  # fmt: skip
    assert done.returncode == 0, done.stderr
    with RunStore.open(run) as store:
        found = [sample.generation for sample in store.samples()]
        reasons = sorted(each.no_program for each in found if each is not None)
        rules = sorted(each.rule for each in found if each is not None)
    assert reasons == ["", "cut-short", "empty", "refusal"]
    assert rules == ["", "", "", "block"]
    assert "warning: 3 of 4 replies hold no program and count as failed: 1 " in done.stdout
    assert "1 cut short at the token limit" in done.stdout
    assert "pass@1 of the others: 100.0%" in done.stdout

    again = json.loads(proctor("resume", run, "--json").stdout)["no_program"]
    assert again == {
        "replies": 4,
        "count": 3,
        "reasons": {"cut-short": 1, "empty": 1, "refusal": 1},
        "pass_at_1_of_the_others": 1.0,
    }

    assert proctor("report", run, "--out", page).returncode == 0
    assert "3 of 4 replies hold no program and count as failed" in page.read_text()
    assert proctor("export", run, "--format", "csv", "--out", table).returncode == 0
    with table.open(newline="") as file:
        assert sorted(row["no_program"] for row in csv.DictReader(file)) == reasons


def test_a_store_of_before_is_read_and_gone_on_with(proctor: Proctor, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with serving(made) as stub:
        assert proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url,
                       "--out", run).returncode == 0  # fmt: skip
        connection = sqlite3.connect(run / FILE)
        for column in ("rule", "no_program"):
            connection.execute(f"ALTER TABLE generation DROP COLUMN {column}")
        connection.execute(
            "DELETE FROM generation WHERE problem_id = (SELECT problem_id FROM generation "
            "WHERE code != '' ORDER BY problem_id LIMIT 1)"
        )
        connection.commit()
        connection.close()
        done = proctor("resume", run, "--json")
    assert done.returncode == 0, done.stderr
    with RunStore.open(run) as store:
        kinds = sorted(each.no_program for each in records(store))
        rules = [each.generation.rule for each in store.samples() if each.generation]
    assert "block" in rules, "what was made now has its rule"
    assert set(kinds) == {"", "no-block"}, "why is not known of replies of before"


def sample(problem: str, verdict: Verdict, reason: str = "") -> SampleRecord:
    return SampleRecord(problem, 0, standard=verdict, no_program=reason)


def test_the_others_alone() -> None:
    counter = NoProgramCounter(Mode.STANDARD)
    for number in range(98):
        counter.add(sample(str(number), Verdict.AC if number < 49 else Verdict.WA))
    counter.add(sample("98", Verdict.NC, "empty"))
    counter.add(sample("99", Verdict.NC, "empty"))
    found = counter.found()
    assert (found.count, found.replies, found.many) == (2, 100, False)
    assert found.without is not None
    assert found.without.value == 0.5
    counter.add(sample("100", Verdict.NC, "refusal"))
    assert counter.found().many
    assert counter.found().words == "2 empty, 1 refused"
    counter.add(SampleRecord("101", 0, fault="model-stalled: for 10 s"))
    assert counter.found().replies == 101
    counter.add(sample("102", Verdict.NC, "of a later version"))
    assert counter.found().reasons[Reason.NO_BLOCK] == 1
