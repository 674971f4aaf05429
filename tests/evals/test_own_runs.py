"""Runs from elsewhere: what they name is neither executed nor imported, opened or contacted."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command import proctor as command
from command import write_rows
from proctor_command import Done, Proctor
from stub import serving

from proctor import signatures
from proctor.cli.named_settings import NAMED
from proctor.evals.own_runs import OPTIONS, is_own
from proctor.evals.settings import Settings
from proctor.evals.store import SIGNATURES, RunStore

BENCHMARK = """
name = "doubled"
[rows]
file = "rows.jsonl"
id = "id"
statement = "q"
[prompt]
user = "{{ q }}"
[grading]
kind = "stdio"
tests = "tests"
"""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two samples, one made; its benchmark and replies lie beside it."""
    place = tmp_path_factory.mktemp("begun")
    (place / "b.toml").write_text(BENCHMARK)
    write_rows(place / "rows.jsonl", [
        {"id": each, "q": "?", "tests": [{"input": "1", "output": "2"}]} for each in ("a", "b")
    ])  # fmt: skip
    replies = write_rows(place / "replies.jsonl", [
        {"question_id": each, "generation": "```python\nprint(2)\n```"} for each in ("a", "b")
    ])  # fmt: skip
    done = command("eval", place / "b.toml", "--model", f"replay:{replies}", "--out", place / "run")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def run(begun: Path, tmp_path: Path) -> Path:
    """A copy of the run in a new directory, as by `cp -r`."""
    return Path(shutil.copytree(begun / "run", tmp_path / "run"))


def changed(run: Path, *, undo: bool = False, **settings: Any) -> Path:
    """Change settings in the record, as whoever hands on a run can."""
    with closing(sqlite3.connect(run / "run.db")) as connection, connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE name = 'settings'").fetchone()
        text = json.dumps(json.loads(text) | settings)
        connection.execute("UPDATE meta SET value = ? WHERE name = 'settings'", (text,))
        if undo:
            connection.execute("DELETE FROM judged")
            connection.execute("DELETE FROM generation")
    return run


def remembered(run: Path, **values: Any) -> Path:
    """Change values of the record beside the settings; None removes one."""
    with closing(sqlite3.connect(run / "run.db")) as connection, connection:
        for name, value in values.items():
            connection.execute("DELETE FROM meta WHERE name = ?", (name,))
            if value is not None:
                row = (name, json.dumps(value))
                connection.execute("INSERT INTO meta VALUES (?, ?)", row)
    return run


def refused(done: Done, *told: str) -> None:
    assert done.returncode == 2, done.stdout + done.stderr
    assert "is not as you wrote it on this machine" in done.stderr
    for each in told:
        assert each in done.stderr


def test_all_settings_with_effects_have_an_option() -> None:
    assert NAMED == OPTIONS


def test_a_copy_of_an_own_run_is_own(proctor: Proctor, run: Path) -> None:
    with RunStore.open(run) as store:
        assert is_own(store)
    assert proctor("replay", f"{run}#a:0").returncode == 0


@pytest.mark.parametrize(
    ("setting", "value", "option"),
    [
        ("python", "/tmp/python", "--python"),
        ("packages", ["/root"], "--packages"),
        ("preload", ["antigravity"], "--preload"),
        ("isolation", "none", "--isolation"),
        ("min_isolation", "landlock", "--min-isolation"),
        ("source", "/etc/passwd", "--source"),
        ("source", "hf:evil/rows", "--source"),
        ("jobs", 4000, "--jobs"),
        ("earlier", "/srv/run", "--from"),
        ("upstream", "/srv/upstream", "--upstream"),
        ("medals", "/etc/passwd", "--medals"),
    ],
)
@pytest.mark.parametrize("action", ["replay", "rejudge", "resume", "retry"])
def test_what_judging_would_obey(
    proctor: Proctor, run: Path, action: str, setting: str, value: Any, option: str
) -> None:
    changed(run, **{setting: value})
    done = proctor(action, f"{run}#a:0" if action == "replay" else run)
    refused(done, f"{setting} = ", f"{option} ")


@pytest.mark.parametrize(("name", "value"), [("memory", 1 << 60), ("test_timeout", 1e9)])
def test_limits_that_no_stranger_may_set(
    proctor: Proctor, run: Path, name: str, value: float
) -> None:
    changed(run, **{name: value})
    for action in ("rejudge", "resume"):
        done = proctor(action, run)
        assert done.returncode == 2
        assert "at most" in done.stderr
    done = proctor("replay", f"{run}#a:0")
    assert (done.returncode, "at most" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("settings", "option"),
    [
        ({"base_url": "http://127.0.0.1:9/v1", "model": "m"}, "--base-url http://127.0.0.1:9/v1"),
        ({"base_url": "", "model": "m"}, "--base-url"),
        ({"model": "replay:/etc/passwd"}, "--model replay:/etc/passwd"),
        ({"model": "litellm:x/y"}, "--model litellm:x/y"),
        ({"headers": {"X-A": "$HOME"}}, "--header"),
        ({"extra_body": {"plugins": ["x"]}}, "--extra-body"),
        ({"batch": "openai", "model": "m"}, "--batch openai"),
        ({"agent": "evil:Agent", "agentic_mode": True}, "--agent evil:Agent"),
    ],
)
def test_what_asking_would_obey(
    proctor: Proctor, run: Path, settings: dict[str, Any], option: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    changed(run, undo=True, **settings)
    for action in ("resume", "retry", "rejudge"):
        refused(proctor(action, run), option)
    assert not (tmp_path / "imported").exists()
    assert "evil" not in sys.modules


def test_no_key_goes_to_a_recorded_address(proctor: Proctor, run: Path) -> None:
    with serving(lambda call: call.reply("```python\nprint(2)\n```")) as stub:
        changed(run, undo=True, base_url=stub.url, model="m")
        key = {"OPENAI_API_KEY": "sk-very-secret"}
        refused(proctor("resume", run, env=key), stub.url)
        assert stub.keys == []
        done = proctor("resume", run, "--base-url", stub.url, "--model", "m", env=key)
        assert done.returncode == 0, done.stderr
        assert set(stub.keys) == {"Bearer sk-very-secret"}


def test_what_is_named_is_obeyed(proctor: Proctor, run: Path) -> None:
    changed(run, python="/tmp/not/there", jobs=1)
    refused(proctor("rejudge", run, "--jobs", "1"), "--python /tmp/not/there")
    done = proctor("rejudge", run, "--jobs", "1", "--python", sys.executable, "--json")
    assert done.returncode == 0, done.stderr
    assert (
        proctor("replay", f"{run}#a:0", "--jobs", "1", "--python", sys.executable).returncode == 0
    )


def test_a_benchmark_file_of_another(proctor: Proctor, run: Path, begun: Path) -> None:
    other = run.parent / "other.toml"
    other.write_text(BENCHMARK)
    remembered(run, benchmark_file=str(other))
    for action in ("rejudge", "resume"):
        refused(proctor(action, run), f"--benchmark {other}")
    refused(proctor("replay", f"{run}#a:0"), f"--benchmark {other}")
    done = proctor("replay", f"{run}#a:0", "--benchmark", begun / "b.toml")
    assert done.returncode == 0, done.stderr


def test_a_benchmark_of_a_package(proctor: Proctor, run: Path) -> None:
    remembered(run, benchmark_file=None, benchmark="of-a-package")
    refused(proctor("rejudge", run), "--benchmark of-a-package")


@pytest.mark.parametrize("signed", [None, {}, [], {"run": 7, "python": 7, "benchmark": None}])
def test_a_run_without_signatures(proctor: Proctor, run: Path, begun: Path, signed: Any) -> None:
    """Unsigned runs, as earlier versions left them, need each setting named once, and no more."""
    remembered(run, **{SIGNATURES: signed})
    refused(proctor("replay", f"{run}#a:0"), "--benchmark")
    done = proctor("replay", f"{run}#a:0", "--benchmark", begun / "b.toml")
    assert done.returncode == 0, done.stderr


def test_signatures_of_another_run_do_not_count(proctor: Proctor, run: Path, begun: Path) -> None:
    """One setting's signature, of a run that its user began himself, makes no other's true."""
    with RunStore.open(begun / "run") as store:
        (one,) = [store.recall(SIGNATURES)]
    remembered(changed(run, python="/tmp/python"), **{SIGNATURES: one | {"python": one["agent"]}})
    refused(proctor("replay", f"{run}#a:0"), "--python /tmp/python")
    remembered(run, **{SIGNATURES: one | {"run": "0" * 32}})
    refused(proctor("replay", f"{run}#a:0"), "--python /tmp/python")


def test_where_no_key_can_be_kept_a_run_is_made_all_the_same(
    proctor: Proctor, begun: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    signatures._warn.cache_clear()
    nowhere = {"XDG_STATE_HOME": "/dev/null"}
    made = proctor(
        "eval", begun / "b.toml", "--model", f"replay:{begun}/replies.jsonl",
        "--out", tmp_path / "made", env=nowhere,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "cannot be signed" in caplog.text
    refused(proctor("rejudge", tmp_path / "made", env=nowhere), "--benchmark")


def test_reading_goes_on_and_has_no_effect(proctor: Proctor, run: Path, tmp_path: Path) -> None:
    changed(
        run, python="/tmp/python", source="/etc/passwd", base_url="http://127.0.0.1:9/v1",
        agent="evil:Agent", agentic_mode=True, medals="/etc/passwd",
    )  # fmt: skip
    remembered(run, **{SIGNATURES: None})
    before = (run / "run.db").read_bytes()
    assert proctor("runs", run.parent, "--json").returncode == 0
    for format_ in ("jsonl", "json", "csv", "lcb", "inspect"):
        assert proctor("export", run, "--format", format_).returncode == 0, format_
    assert proctor("report", run, "--out", tmp_path / "report").returncode == 0
    assert proctor("compare", run, run).returncode == 0
    assert (run / "run.db").read_bytes() == before
    assert "evil" not in sys.modules


def test_an_export_writes_where_it_is_told(proctor: Proctor, run: Path, tmp_path: Path) -> None:
    remembered(changed(run, model=".."), begun="/../../../../x")
    place = tmp_path / "a" / "b" / "out"
    done = proctor("export", run, "--format", "lm-eval", "--out", place)
    assert done.returncode == 0, done.stderr
    assert {each.parent for each in tmp_path.rglob("*.json*")} == {place / "__.."}


def test_repairs_open_no_source_of_another(proctor: Proctor, tmp_path: Path) -> None:
    """The run whose programs are repaired is named, but not the problems that it names."""
    run = tmp_path / "run"
    with RunStore.create(run, {"model": "m", "mode": "standard"}) as store:
        store.remember({"benchmark": "livecodebench", "source": "/etc/passwd", "provenance": []})
        store.plan([])
    done = proctor(
        "eval", "livecodebench", "--scenario", "selfrepair", "--from", run, "--model", "m",
        "--base-url", "http://127.0.0.1:9/v1", "--dry-run",
    )  # fmt: skip
    refused(done, "--source /etc/passwd")


def test_settings_that_cannot_be_are_an_error_of_the_run(proctor: Proctor, run: Path) -> None:
    for settings in ({"n": "many"}, {"extraction": "none"}, {"unknown": 1}):
        done = proctor("rejudge", changed(run, **settings))
        assert done.returncode == 2
        assert f"{run}: its settings: " in done.stderr


def test_every_field_is_described_or_has_an_effect() -> None:
    """A new field of the settings must be put on one of both sides."""
    described = {
        "platforms", "difficulties", "min_release_date", "max_release_date", "years", "all_subtasks",
        "limit", "sample_id", "n", "request_n", "temperature", "top_p", "max_tokens", "seed", "stop",
        "top_k", "min_p", "reasoning_effort", "chat_template", "preset", "language", "prompt",
        "few_shot", "extraction", "mode", "run_tests", "timeout", "max_connections", "concurrency",
        "max_retries", "retry_budget", "agentic_mode", "agentic_turn_budget", "agentic_protocol",
        "agentic_token_budget", "agentic_time_budget", "normalise_cpu", "prices",
    }  # fmt: skip
    effects = {"headers" if name == "header" else name for name in OPTIONS} - {"benchmark"}
    assert set(Settings.__struct_fields__) == described | effects
    assert not described & effects


@pytest.mark.parametrize(
    "damage", ["DROP TABLE judged", "UPDATE generation SET text = CAST(x'ff' AS TEXT)"]
)
def test_a_damaged_run_of_ones_own_is_told(proctor: Proctor, run: Path, damage: str) -> None:
    with closing(sqlite3.connect(run / "run.db")) as connection, connection:
        connection.execute(damage)
    done = proctor("export", run, "--format", "jsonl")
    assert (done.returncode, "of a run cannot be read: " in done.stderr) == (2, True), done.stderr
    assert proctor("runs", run.parent).returncode == 0
