"""Fields and headers that a user adds to requests: sent, recorded, and without secrets."""

import json
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from proctor_command import Done, Proctor
from stub import Call, serving

from proctor.errors import SettingsError
from proctor.evals.models.request_options import expanded
from proctor.evals.provenance import provenance
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore

EVAL = ("eval", "livecodebench", "--model", "stub", "--limit", "1")
SECRET = "tk-5f0c19a7"
OPTIONS = (
    "--top-k", "40", "--min-p", "0.05", "--reasoning-effort", "high", "--stop", "###",
    "--chat-template", "enable_thinking=false", "--chat-template", "style=brief",
    "--extra-body", '{"repetition_penalty": 1.1, "provider": {"order": ["a"]}}',
    "--header", "X-Team: blue", "--header", "X-Api-Key: Key $TEAM_KEY",
)  # fmt: skip


def answer(call: Call) -> None:
    call.reply(right_reply(call.body["messages"][-1]["content"]))


def evaluated(
    proctor: Proctor, run: Path, url: str, *more: str, env: dict[str, str] | None = None
) -> Done:
    return proctor(*EVAL, "--base-url", url, "--out", run, *more, env=env or {})


def test_all_of_them_are_sent_and_recorded(proctor: Proctor, tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []

    def noting(call: Call) -> None:
        seen.append({name.lower(): value for name, value in call.headers.items()})
        answer(call)

    run = tmp_path / "run"
    with serving(noting) as stub:
        done = evaluated(proctor, run, stub.url, *OPTIONS, env={"TEAM_KEY": SECRET})
        assert done.returncode == 0, done.stderr
        body = stub.bodies[0]
    assert {name: body[name] for name in body if name not in {"model", "messages"}} == {
        "top_k": 40, "min_p": 0.05, "reasoning_effort": "high", "stop": ["###"],
        "chat_template_kwargs": {"enable_thinking": False, "style": "brief"},
        "repetition_penalty": 1.1, "provider": {"order": ["a"]},
    }  # fmt: skip
    assert seen[0]["x-team"] == "blue"
    assert seen[0]["x-api-key"] == f"Key {SECRET}"
    with RunStore.open(run) as store:
        found = provenance(store)
    assert found["sampling"]["top_k"] == 40
    assert found["sampling"]["chat_template"] == {"enable_thinking": False, "style": "brief"}
    assert found["sampling"]["extra_body"]["provider"] == {"order": ["a"]}
    assert found["headers"] == {"X-Team": "blue", "X-Api-Key": "Key $TEAM_KEY"}
    # What asks no model needs no key.
    assert proctor("rejudge", run, "--json").returncode == 0
    for path in run.iterdir():
        assert SECRET.encode() not in path.read_bytes()


def test_a_run_without_them_is_recorded_as_before(proctor: Proctor, tmp_path: Path) -> None:
    with serving(answer) as stub:
        assert evaluated(proctor, tmp_path / "run", stub.url).returncode == 0
        assert set(stub.bodies[0]) == {"model", "messages"}
    with RunStore.open(tmp_path / "run") as store:
        found = provenance(store)
    assert set(found["sampling"]) == {"temperature", "top_p", "max_tokens", "seed", "stop"}
    assert "headers" not in found


def test_they_may_stand_in_a_file(proctor: Proctor, tmp_path: Path) -> None:
    config = tmp_path / "eval.toml"
    config.write_text(
        'top-k = 7\n[extra-body]\ntop_a = 0.2\n[chat-template]\nenable_thinking = true\n'
        '[headers]\n"X-Team" = "red"\n'
    )  # fmt: skip
    with serving(answer) as stub:
        done = evaluated(proctor, tmp_path / "run", stub.url, "--config", str(config))
        assert done.returncode == 0, done.stderr
        body = stub.bodies[0]
    assert (body["top_k"], body["top_a"]) == (7, 0.2)
    assert body["chat_template_kwargs"] == {"enable_thinking": True}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--extra-body", "{"), "--extra-body is not JSON"),
        (("--extra-body", "[1]"), "--extra-body is a JSON object"),
        (("--extra-body", '{"temperature": 1}'), "temperature is given by --temperature"),
        (("--extra-body", '{"stream": true}'), "stream is set by proctor"),
        (("--extra-body", '{"a": [{"api_key": "x"}]}'), "api_key looks like a secret"),
        (("--header", "no colon"), "--header is 'NAME: VALUE'"),
        (("--header", "two words: x"), "--header begins with a name"),
        (("--header", "X-Token: abcdef"), "X-Token looks like a secret"),
        (("--header", "Authorization: Bearer abcdef"), "give 'Authorization: $VARIABLE'"),
        (("--header", "X-A: ü"), "printable ASCII"),
        (("--header", "X-Token: $NOT_THERE"), "a header of the run needs $NOT_THERE"),
        (("--chat-template", "thinking"), "--chat-template is NAME=VALUE"),
        (("--top-k", "0"), "--top-k must be at least 1"),
    ],
)
def test_wrong_ones_are_one_sentence(
    proctor: Proctor, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    done = evaluated(proctor, tmp_path / "run", "http://127.0.0.1:9/v1", *options)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "abcdef" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_server_that_says_the_key_back(proctor: Proctor, tmp_path: Path) -> None:
    def refuse(call: Call) -> None:
        said = {
            "error": {"message": f"{call.headers['authorization']}, {call.headers['x-token'][4:]}?"}
        }
        call.send(json.dumps(said).encode(), 400)

    with serving(refuse) as stub:
        done = evaluated(
            proctor, tmp_path / "run", stub.url, "--header", "X-Token: Key $TEAM_KEY",
            env={"TEAM_KEY": SECRET, "OPENAI_API_KEY": "sk-very-secret"},
        )  # fmt: skip
    assert done.returncode == 125
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())
    assert b"Bearer ***, ***?" in kept
    for secret in (SECRET, "sk-very-secret"):
        assert secret.encode() not in kept
        assert secret not in done.stdout + done.stderr


def test_braces_and_several_variables() -> None:
    made = expanded({"X": "${A}-$B"}, {"A": "1", "B": "2"})
    assert made == {"X": "1-2"}
    with pytest.raises(SettingsError, match="holds what no header can"):
        expanded({"X": "$A"}, {"A": "line\nline"})


def test_deep_bodies_are_refused() -> None:
    body: Any = {}
    for _ in range(100):
        body = {"a": body}
    with pytest.raises(SettingsError, match="nested too deeply"):
        Settings(extra_body=body)
