"""Requests that the page of `proctor view` makes, over a real run."""

import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from command import COMMAND, environment
from recorded_replies import evaluate
from stub import Call
from stub import serving as model_serving
from viewed import JUDGES, PROBLEM, Viewed, content, made_up, viewing

from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, ProblemInfo, SampleJudgement
from waiting import PATIENCE


@pytest.fixture(scope="module")
def served(evaluated: Path) -> Iterator[Viewed]:
    with viewing(evaluated) as found:
        yield found


def ask(served: Viewed, path: str, **parameters: Any) -> Any:
    answer = served.get(f"/api/{path}", **parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(served: Viewed, path: str, **parameters: Any) -> tuple[int, str]:
    answer = served.get(f"/api/{path}", **parameters)
    return answer.status_code, answer.json()["detail"]


def test_the_list_of_runs(served: Viewed) -> None:
    first, second = ask(served, "runs")
    assert (first["name"], second["name"]) == ("first", "second")
    assert {(each["state"], each["done"], each["total"]) for each in (first, second)} == {
        ("done", 12, 12)
    }
    assert first["benchmark"] == "livecodebench"
    assert first["modes"]["standard"] == {
        "pass_at_1": pytest.approx(1 / 3), "verdicts": {"AC": 4, "WA": 4, "RE": 4},
    }  # fmt: skip
    assert second["modes"]["standard"]["pass_at_1"] == pytest.approx(2 / 3)
    assert second["no_program"] == 4


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({}, 12),
        ({"verdict": "passed"}, 4),
        ({"verdict": "failed", "mode": "official"}, 8),
        ({"verdict": "WA", "mode": "standard"}, 4),
        ({"verdict": "RE"}, 4),
        ({"verdict": "differs"}, 0),
        ({"platform": "codeforces"}, 3),
        ({"difficulty": "hard", "verdict": "AC"}, 1),
        ({"q": "LANTERN rows"}, 3),
        ({"q": "lantern hours"}, 0),
        ({"text": "from MATH import gcd"}, 1),
        ({"text": "~%~"}, 0),
    ],
)
def test_samples_are_chosen(served: Viewed, given: dict[str, str], count: int) -> None:
    page = ask(served, "samples", run="first", **given)
    assert (page["found"], len(page["rows"]), page["total"]) == (count, count, 12)
    assert page["facets"]["platform"] == ["atcoder", "codeforces", "leetcode"]


def test_replies_without_a_program_are_chosen_by_reason(served: Viewed) -> None:
    page = ask(served, "samples", run="second", no_program="refusal")
    assert [row["sample"] for row in page["rows"]] == [1] * 4
    assert page["facets"]["no_program"] == ["refusal"]
    assert {row["standard"] for row in page["rows"]} == {"NC"}


def test_samples_are_sorted(served: Viewed) -> None:
    page = ask(served, "samples", run="first", sort="-judge_cpu")
    cpu = [row["judge_cpu"] for row in page["rows"]]
    assert cpu == sorted(cpu, reverse=True)
    page = ask(served, "samples", run="first", sort="standard")
    verdicts = [row["standard"] for row in page["rows"]]
    assert verdicts == ["AC"] * 4 + ["RE"] * 4 + ["WA"] * 4


def test_a_sample_with_its_neighbours(served: Viewed) -> None:
    found = ask(served, "sample", run="first", problem=PROBLEM, sample=1, verdict="WA")
    assert found["problem"]["title"] == "Lantern Rows"
    assert found["facts"]["rule"] == "block"
    assert [each["who"] for each in found["prompt"]] == ["system", "user"]
    assert found["reply"]["text"].startswith("Mine.")
    assert found["reply"]["size"] == len(found["reply"]["text"])
    assert found["program"]["text"] in found["reply"]["text"]
    assert [(each["mode"], each["verdict"]) for each in found["judgements"]] == [
        ("official", "WA"), ("standard", "WA"),
    ]  # fmt: skip
    assert found["judgements"][1]["tests"][0]["verdict"] == "WA"
    assert found["recorded"]["expected"] == "333333333333\n"
    assert (found["position"], found["found"], found["previous"]) == (1, 4, None)
    after = found["next"]
    again = ask(served, "sample", run="first", problem=after[0], sample=after[1], verdict="WA")
    assert again["previous"] == [PROBLEM, 1]
    elsewhere = ask(served, "sample", run="first", problem=PROBLEM, sample=1, verdict="AC")
    assert elsewhere["position"] is None


def test_tests_with_their_contents(served: Viewed) -> None:
    key = {"run": "first", "problem": PROBLEM, "sample": 1, "mode": "standard"}
    page = ask(served, "tests", **key)
    assert page["total"] == len(page["tests"]) == 7
    first = page["tests"][0]
    assert first["public"]
    assert first["outcome"]["verdict"] == "WA"
    assert first["input"]["text"] == "1000000000000 4 6\n"
    assert first["expected"]["text"] == "333333333333\n"
    assert len(ask(served, "tests", **key, begin=6)["tests"]) == 1
    whole = served.get("/api/text", **key, test="0", part="expected")
    assert whole.text == "333333333333\n"
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.headers["x-content-type-options"] == "nosniff"


def test_a_verdict_is_made_again_and_the_run_stays_as_it_is(
    served: Viewed, evaluated: Path
) -> None:
    before = content(evaluated / "first")
    target = {"run": "first", "problem": PROBLEM, "sample": 1, "mode": "official"}
    with served.client(Origin=served.url) as client:
        begun = client.post("/api/replay", json=target)
        assert begun.status_code == 201, begun.text
        busy = client.post("/api/replay", json=target)
        state = begun.json()
        while state["state"] == "running":
            state = client.get("/api/replay").json()
    assert busy.status_code in {201, 429}  # 201 if the first had ended by then
    assert state["target"] == target
    assert (state["state"], state["then"], state["now"]) == ("done", "WA", "WA"), state
    assert state["said"] == "same verdict: WA"
    first = state["tests"][0]
    assert first["now"]["verdict"] == "WA"
    assert first["output"]["text"] == "375000000000\n"
    given = {**target, "test": "0", "part": "output"}
    assert served.get("/api/text", **given).text == "375000000000\n"
    assert content(evaluated / "first") == before


def test_replays_that_cannot_be_asked_for(served: Viewed) -> None:
    target = {"run": "none", "problem": PROBLEM, "sample": 1, "mode": "standard"}
    with served.client(Origin=served.url) as client:
        assert client.post("/api/replay", json={"run": "second"}).status_code == 400
        assert client.post("/api/replay", json=target).status_code == 404


def test_two_runs_compared(served: Viewed) -> None:
    found = ask(served, "difference", run="first", **{"with": "second"})
    assert found["counts"] == {"gained": 4, "lost": 0, "other": 4}
    assert (found["common"], found["mode"], found["modes"]) == (
        12, "standard", ["official", "standard"],
    )  # fmt: skip
    headline = found["headlines"][1]
    assert headline["difference"] == pytest.approx(1 / 3)
    assert (headline["wins"], headline["losses"]) == (4, 0)
    assert found["warnings"] == []
    gained = ask(served, "difference", run="first", kind="gained", **{"with": "second"})["rows"]
    assert {(row["a"], row["b"], row["sample"]) for row in gained} == {("RE", "AC", 2)}
    back = ask(served, "difference", run="second", kind="lost", **{"with": "first"})["rows"]
    assert [row["problem_id"] for row in back] == [row["problem_id"] for row in gained]


@pytest.mark.parametrize(
    ("path", "given", "status", "said"),
    [
        ("samples", {"run": "none"}, 404, "there is no run 'none'"),
        ("samples", {"run": "../evaluated"}, 404, "there is no run"),
        ("samples", {"run": "first", "sort": "code"}, 422, "is not one of problem_id"),
        ("samples", {"run": "first", "mode": "kind"}, 422, "official or standard"),
        ("samples", {"run": "first", "colour": "red"}, 422, "colour"),
        ("samples", {"run": "first", "page": "one"}, 422, "page"),
        ("samples", {}, 422, "run"),
        ("sample", {"run": "first", "problem": "none"}, 404, "'none' is not there"),
        ("sample", {"run": "first", "problem": PROBLEM, "sample": 77}, 404, "sample 77"),
        ("tests", {"run": "first", "problem": PROBLEM, "sample": 1, "mode": "x"}, 422, "sample"),
        ("text", {"run": "first", "problem": PROBLEM, "sample": 0, "part": "x"}, 404, "no text"),
        ("difference", {"run": "first", "with": "second", "mode": "x"}, 422, "both were judged"),
    ],
)
def test_what_cannot_be_answered_is_said(
    served: Viewed, path: str, given: dict[str, Any], status: int, said: str
) -> None:
    found, detail = refused(served, path, **given)
    assert found == status
    assert said in detail


def test_runs_that_are_broken_harm_no_other(evaluated: Path, tmp_path: Path) -> None:
    place = tmp_path / "runs"
    shutil.copytree(evaluated / "first", place / "first")
    for name, data in (("garbage", b"\0garbage" * 1000), ("empty", b"")):
        (place / name).mkdir(parents=True)
        (place / name / "run.db").write_bytes(data)
    shutil.copytree(evaluated / "first", place / "cut")
    half = (place / "cut/run.db").read_bytes()
    (place / "cut/run.db").write_bytes(half[: len(half) // 2])
    shutil.copytree(evaluated / "first", place / "odd")  # its rows count as its user's own
    with closing(sqlite3.connect(place / "odd/run.db")) as connection, connection:
        connection.execute("UPDATE generation SET prompt_tokens = 'many'")
    (place / "a file").write_text("none")
    with viewing(place) as served:
        found = {each["name"]: each for each in ask(served, "runs")}
        assert {name: each["state"] for name, each in found.items()} == {
            "cut": "broken", "empty": "broken", "first": "done", "garbage": "broken",
            "odd": "broken",
        }  # fmt: skip
        assert all(found[name]["error"] for name in ("cut", "empty", "garbage", "odd"))
        for path in ("samples", "run"):
            answer = served.get(f"/api/{path}", run="cut")
            assert answer.status_code == 200 if path == "run" else answer.status_code < 500
        assert ask(served, "samples", run="first")["found"] == 12
        shutil.rmtree(place / "first")
        assert "first" not in {each["name"] for each in ask(served, "runs")}


def test_tests_whose_source_is_gone(tmp_path: Path) -> None:
    made_up(
        tmp_path / "runs/lost", [(ProblemInfo("p", "Title"), 1)],
        [
            Generation("p", 0, text="text", code="print(1)"),
            SampleJudgement("p", 0, "standard", JUDGES["standard"], "WA", message="wrong",
                            tests='[{"verdict": "WA", "cpu": 0.5, "message": "wrong"}]'),
        ],
    )  # fmt: skip
    with viewing(tmp_path / "runs") as served:
        status, said = refused(served, "tests", run="lost", problem="p", sample=0, mode="standard")
        assert status == 422
        assert "there is no such file" in said
        target = {"run": "lost", "problem": "p", "sample": 0, "mode": "standard"}
        state = served.replay(target).json()
        while state["state"] == "running":
            state = ask(served, "replay")
        assert state["state"] == "failed"
        assert "there is no such file" in state["said"]
        found = ask(served, "sample", run="lost", problem="p", sample=0)
        assert found["judgements"][0]["tests"][0]["message"] == "wrong"
        assert found["program"]["text"] == "print(1)"


def test_a_run_of_somebody_else_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    """Its samples can be read; its source is not opened, nor its Python started."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    python.chmod(0o755)
    made_up(
        tmp_path / "runs/foreign", [(ProblemInfo("p", "Title"), 1)],
        [
            Generation("p", 0, text="text", code="print(1)"),
            SampleJudgement("p", 0, "standard", JUDGES["standard"], "WA"),
        ],
    )  # fmt: skip
    with RunStore.open(tmp_path / "runs/foreign", write=True) as store:
        changed = store.settings | {"python": str(python), "source": "/etc/passwd"}
        store.remember({"settings": changed})
    with viewing(tmp_path / "runs") as served:
        key = {"run": "foreign", "problem": "p", "sample": 0}
        assert ask(served, "sample", **key)["program"]["text"] == "print(1)"
        status, said = refused(served, "tests", mode="standard", **key)
        assert status == 400
        assert f"source = /etc/passwd, python = {python}" in said
        state = served.replay(key | {"mode": "standard"}).json()
        while state["state"] == "running":
            state = ask(served, "replay")
        assert state["state"] == "failed"
        assert f"--python {python}" in state["said"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_tests_that_are_no_input_and_output(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    evaluate(runs, "values", [{"question_id": "proctor-c2", "generation": "[ANSWER]1[/ANSWER]"}],
             "cruxeval")  # fmt: skip
    evaluate(runs, "unit", [{"question_id": "Own/0", "code": "def digit_sum(n):\n    return 0"}],
             "humaneval")  # fmt: skip
    with viewing(runs) as served:
        key = {"sample": 0, "mode": "standard"}
        (asked,) = ask(served, "tests", run="values", problem="proctor-c2", **key)["tests"]
        assert asked["input"]["text"].endswith("f([('oak', 3), ('elm', 4), ('oak', 2)])\n")
        assert asked["expected"]["text"] == "('oak', 2)"
        assert asked["outcome"]["verdict"] == "WA"
        (unit,) = ask(served, "tests", run="unit", problem="Own/0", **key)["tests"]
        assert "def check(candidate)" in unit["input"]["text"]
        assert (unit["name"], unit["outcome"]["name"], unit["outcome"]["verdict"]) == (
            "tests", "0", "WA",
        )  # fmt: skip


@pytest.mark.slow
def test_a_run_that_another_process_writes(tmp_path: Path) -> None:
    asked, go = threading.Semaphore(0), threading.Event()

    def answer(call: Call) -> None:
        prompt = call.body["messages"][-1]["content"]
        if "# Lantern Rows\n" not in prompt:
            asked.release()
            assert go.wait(PATIENCE)
        call.reply(right_reply(prompt))

    run = tmp_path / "runs/live"
    run.parent.mkdir()
    with model_serving(answer) as stub, viewing(run.parent) as served:
        assert ask(served, "runs") == []
        writer = subprocess.Popen(
            [COMMAND, "eval", "livecodebench", "--model", "stub", "--base-url", stub.url,
             "--out", str(run)],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            for _ in range(3):
                assert asked.acquire(timeout=PATIENCE)
            found: list[Any] = []
            one = {"pass_at_1": 1.0, "verdicts": {"AC": 1}}
            while not found or found[0]["modes"] != {"official": one, "standard": one}:
                found = ask(served, "runs")  # as the page does
                assert {each["state"] for each in found} <= {"uncounted", "running"}
            assert (found[0]["state"], found[0]["done"], found[0]["total"]) == ("running", 1, 4)
            assert ask(served, "samples", run="live")["found"] == 1
            go.set()
            while found[0]["state"] == "running":
                found = ask(served, "runs")
                ask(served, "samples", run="live", text="print")
            said, _ = writer.communicate(timeout=PATIENCE)
        finally:
            go.set()
            writer.kill()
        assert writer.returncode == 0, said
        while found[0]["done"] != 4 or found[0]["modes"]["standard"]["verdicts"] != {"AC": 4}:
            found = ask(served, "runs")
        assert (found[0]["state"], found[0]["modes"]["standard"]["pass_at_1"]) == ("done", 1.0)


@pytest.mark.slow
def test_of_ten_thousand_samples_one_page_is_sent(tmp_path: Path) -> None:
    made_up(
        tmp_path / "runs/large",
        ((ProblemInfo(f"p{n:04}", f"Title {n}", difficulty="hard"), 10) for n in range(1000)),
        (
            change
            for n in range(1000)
            for sample in range(10)
            for change in (
                Generation(f"p{n:04}", sample, text=f"reply {n} " * 50, code=f"print({n})"),
                SampleJudgement(f"p{n:04}", sample, "standard", JUDGES["standard"],
                                "AC" if n % 3 else "WA"),
            )
        ),
    )  # fmt: skip
    with viewing(tmp_path / "runs") as served:
        answer = served.get("/api/samples", run="large")
        page = answer.json()
        assert (len(page["rows"]), page["pages"], page["found"]) == (50, 200, 10_000)
        assert len(answer.content) < 20_000
        last = ask(served, "samples", run="large", page=999, sort="-sample", verdict="AC")
        assert (last["page"], last["found"], len(last["rows"])) == (134, 6660, 10)
        assert ask(served, "samples", run="large", text="reply 777 ")["found"] == 10
        at = ask(served, "sample", run="large", problem="p0500", sample=5)
        assert (at["position"], at["next"]) == (5006, ["p0500", 6])
