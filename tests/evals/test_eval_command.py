"""`proctor eval livecodebench` against a server on loopback, and the commands for runs."""

import json
from pathlib import Path

import pytest
from answers import right_reply
from command import problem, write_rows
from proctor_command import Proctor, report
from stub import Call, serving

EVAL = ("eval", "livecodebench")


def answer_rightly(call: Call) -> None:
    call.reply(right_reply(call.body["messages"][-1]["content"]))


def test_a_right_model_scores_all_four(proctor: Proctor, tmp_path: Path) -> None:
    """Defect 1 of the harness this replaces: a perfect model scored 0 of 4."""
    with serving(answer_rightly) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--json", env={"OPENAI_API_KEY": "sk-very-secret"})  # fmt: skip
        found = report(done)
        assert len(stub.calls) == 4
        assert set(stub.keys) == {"Bearer sk-very-secret"}
    for mode in ("official", "standard"):
        assert (found[mode]["passed"], found[mode]["scored"]) == (4, 4)
        assert found[mode]["pass_at_k"]["1"] == 1.0
    assert found["completion_tokens"] == 80
    for path in (tmp_path / "run").iterdir():
        assert b"sk-very-secret" not in path.read_bytes()


def test_resume_of_a_finished_run_asks_nobody(proctor: Proctor, tmp_path: Path) -> None:
    with serving(answer_rightly) as stub:
        proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run")
        before = stub.calls.total()
        found = report(proctor("resume", tmp_path / "run", "--json"))
        assert stub.calls.total() == before == 4
    assert found["unfinished"] == 0
    assert found["standard"]["passed"] == 4


def test_a_dead_endpoint_is_one_sentence(proctor: Proctor, tmp_path: Path) -> None:
    done = proctor(*EVAL, "--model", "m", "--base-url", "http://127.0.0.1:9/v1",
                   "--out", tmp_path / "run")  # fmt: skip
    assert done.returncode == 125
    assert "no usable model at http://127.0.0.1:9/v1" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_an_address_that_is_no_api(proctor: Proctor, tmp_path: Path) -> None:
    with serving(answer_rightly) as stub:
        stub.listing = lambda call: call.send(b"<html>Welcome</html>", kind="text/html")
        done = proctor(*EVAL, "--model", "m", "--base-url", stub.url, "--out", tmp_path / "run")
    assert done.returncode == 125
    assert "is it the address of an API?" in done.stderr


def test_a_wrong_key(proctor: Proctor, tmp_path: Path) -> None:
    with serving(answer_rightly) as stub:
        stub.listing = lambda call: call.send(b'{"error": {"message": "bad key"}}', status=401)
        done = proctor(*EVAL, "--model", "m", "--base-url", stub.url, "--out", tmp_path / "run")
    assert done.returncode == 125
    assert "check OPENAI_API_KEY" in done.stderr


@pytest.mark.slow
def test_a_fault_of_the_server_is_in_no_score(proctor: Proctor, tmp_path: Path) -> None:
    """Defect 15: what failed left the denominator, and the rate rose."""

    def answer(call: Call) -> None:
        if "Ferry Queue" in call.body["messages"][-1]["content"] and not healed:
            call.send(b'{"error": {"message": "no"}}', status=400)
        else:
            answer_rightly(call)

    healed: list[bool] = []
    with serving(answer) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--json")  # fmt: skip
        assert done.returncode == 125
        found = json.loads(done.stdout)
        assert found["model_faults"] == {"model-refused": 1}
        assert found["standard"]["scored"] == 3
        assert found["bounds"]["standard"] == [0.75, 1.0]
        healed.append(True)
        again = report(proctor("retry", tmp_path / "run", "--json"))
        assert stub.calls.total() == 5
    assert again["standard"]["passed"] == 4
    assert again["bounds"] == {}


def test_rejudge_asks_nobody_and_keeps_old_verdicts(proctor: Proctor, tmp_path: Path) -> None:
    from proctor.evals.store import RunStore

    with serving(answer_rightly) as stub:
        proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                "--mode", "standard", "--limit", "2")  # fmt: skip
        found = report(proctor("rejudge", tmp_path / "run", "--json"))
        assert stub.calls.total() == 2
    assert found["standard"]["passed"] == 2
    with RunStore.open(tmp_path / "run") as store:
        assert [len(sample.judgements) for sample in store.samples()] == [2, 2]


def test_rejudged_with_a_cache_nothing_is_judged(proctor: Proctor, tmp_path: Path) -> None:
    with serving(answer_rightly) as stub:
        cache = ("--cache", tmp_path / "cache", "--json")
        begun = report(proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out",
                               tmp_path / "run", *cache))  # fmt: skip
        again = report(proctor("rejudge", tmp_path / "run", *cache))
    for mode in ("official", "standard"):
        assert (begun[mode]["passed"], again[mode]["passed"]) == (4, 4)
    assert (begun["cache"]["hits"], begun["cache"]["kept"]) == (0, 8)
    assert (again["cache"]["hits"], again["cache"]["misses"]) == (8, 0)
    assert "verdicts from" not in (tmp_path / "run" / "run.db").read_bytes().decode("latin-1")


def test_below_the_gate(proctor: Proctor, tmp_path: Path) -> None:
    with serving(lambda call: call.reply("I do not know.")) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--fail-under", "0.5", "--limit", "1", "--json")  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout)["standard"]["verdicts"] == {"NC": 1}


def test_dry_run_asks_nobody(proctor: Proctor, tmp_path: Path) -> None:
    done = proctor(*EVAL, "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run",
                   "--platforms", "leetcode", "--n", "3", "--json")  # fmt: skip
    found = report(done)
    assert (found["problems"], found["samples"]) == (2, 6)
    assert found["left_out"] == {"platform": 2}
    assert "Expected output" in found["first_prompt"][-1]["content"]


def test_flags_go_above_the_environment_and_the_file(proctor: Proctor, tmp_path: Path) -> None:
    (tmp_path / "eval.toml").write_text(
        'model = "file"\nplatforms = ["leetcode"]\ntest-timeout = "2s"\nlimit = "1"\n'
    )
    rows = write_rows(tmp_path / "replay.jsonl", [
        {"question_id": "proctor-02-quiet-hours", "generation": "```python\nx\n```"},
    ])  # fmt: skip
    done = proctor(*EVAL, "--config", tmp_path / "eval.toml", "--model", f"replay:{rows}",
                   "--out", tmp_path / "run", "--json", env={"MODEL_ID": "environment"})  # fmt: skip
    found = report(done)
    assert found["model"] == f"replay:{rows}"
    assert found["samples"] == 1
    (tmp_path / "bad.toml").write_text("modle = 1\n")
    wrong = proctor(*EVAL, "--config", tmp_path / "bad.toml")
    assert wrong.returncode == 2
    assert "modle" in wrong.stderr


def test_upstream_rows_without_a_date_are_counted(proctor: Proctor, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "problems.jsonl", [
        problem("dated", [("1\n", "1\n")], contest_date="2024-08-01T00:00:00"),
        problem("early", [("1\n", "1\n")], contest_date="2023-08-01T00:00:00"),
        problem("undated", [("1\n", "1\n")]),
    ])  # fmt: skip
    done = proctor(*EVAL, "--source", rows, "--min-release-date", "2024-01-01", "--dry-run",
                   "--json")  # fmt: skip
    found = report(done)
    assert found["problems"] == 1
    assert found["left_out"] == {"date": 1, "undated": 1}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--platforms", "topcoder"], "topcoder"),
        (["--min-release-date", "01.08.2024"], "--min-release-date"),
        (["--limit", "abc"], "abc"),
        (["--sample-id", "nothing"], "nothing"),
        (["--source", "huggingface:release_v99"], "release_v99"),
        (["--timeout", "5 apples"], "--timeout"),
        (["--n", "0"], "--n"),
    ],
)
def test_wrong_options_are_said(
    proctor: Proctor, options: list[str], word: str, tmp_path: Path
) -> None:
    done = proctor(*EVAL, "--model", "m", "--base-url", "http://127.0.0.1:9", *options, "--dry-run")
    assert done.returncode == 2
    assert word in done.stderr


def test_exports(proctor: Proctor, tmp_path: Path) -> None:
    with serving(answer_rightly) as stub:
        proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run")
    rows = [json.loads(line) for line in proctor("export", tmp_path / "run").stdout.splitlines()]
    assert [row["judgements"]["standard"]["verdict"] for row in rows] == ["AC"] * 4
    assert all(
        (row["prompt_hash"] and "def" in row["code"]) or "input" in row["code"] for row in rows
    )
    lcb = json.loads(proctor("export", tmp_path / "run", "--format", "lcb").stdout)
    assert [row["graded_list"] for row in lcb] == [[True]] * 4
    assert [row["pass@1"] for row in lcb] == [1.0] * 4
    table = proctor("export", tmp_path / "run", "--format", "csv").stdout.splitlines()
    assert len(table) == 5
    whole = json.loads(proctor("export", tmp_path / "run", "--format", "json").stdout)
    assert whole["figures"]["standard"]["passed"] == 4
    listed = json.loads(proctor("runs", tmp_path, "--json").stdout)
    assert [(row["samples"], row["unfinished"]) for row in listed] == [(4, 0)]


def test_a_module_that_cells_lack_is_named(proctor: Proctor, tmp_path: Path) -> None:
    with serving(lambda call: call.reply("```python\nimport pytest\nprint(1)\n```")) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--json")  # fmt: skip
    assert report(done)["missing_modules"] == {"pytest": 4}
    said = "4 programs import pytest, which cells do not have: --packages "
    place = done.stderr.partition(said)[2].splitlines()[0]
    assert (Path(place) / "pytest").is_dir()
