"""Secrets in settings: refused where they are given, hidden where they are stored and shown."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from proctor_command import Proctor

from proctor.errors import SettingsError
from proctor.evals.redaction import HIDDEN, redacted, redacted_settings, secret_in
from proctor.evals.settings import Settings
from proctor.evals.store import FILE, RunStore
from proctor.evals.stored import ProblemInfo

TOKEN = "tk5f0c19a7"
SECRETS: list[dict[str, Any]] = [
    {"headers": {"api_key": TOKEN}},
    {"metadata": {"authorization": f"Bearer {TOKEN}"}},
    {"metadata": {"note": f"Bearer {TOKEN}"}},
    {"note": f"Authorization: Bearer {TOKEN}"},
    {"auth": {"accessToken": TOKEN}},
    {"a": [{"b": [[{"clientSecret": TOKEN}]]}]},
    {"openAIKey": TOKEN},
    {"apiKeyValue": TOKEN},
    {"x-auth-token-2": TOKEN},
    {"api_keys": [TOKEN]},
    {"tokens": {"team": TOKEN}},
    {"extra_headers": [["Authorization", TOKEN]]},
    {"extra_headers": [{"name": "X-Api-Key", "value": TOKEN}]},
    {"extra_headers": [{"key": "Cookie", "value": TOKEN}]},
    {"nested": json.dumps({"api_key": TOKEN})},
    {"nested": json.dumps({"a": json.dumps([{"password": TOKEN}])})},
    {"hook": f"https://me:{TOKEN}@host/"},
    {"hook": f"https://host/?token={TOKEN}"},
    {"command": f"serve --api-key {TOKEN}"},
    {"command": ["serve", "--api-key", TOKEN]},
    {"any": f"sk-{TOKEN}"},
    {"any": f"-----BEGIN PRIVATE KEY-----\n{TOKEN}"},
    {"pin_password": 12345},
]
HARMLESS: list[dict[str, Any]] = [
    {"thinking": {"type": "enabled", "budget_tokens": 24000}},
    {"max_new_tokens": 7, "stop_token_ids": [1, 2], "eos_token_id": 2},
    {"provider": {"order": ["a"]}, "service_tier": "auto", "author": "x", "monkey": "x"},
    {"text": "the key of the secret of life", "more": "bearer of news, basic programming"},
    {"guided_json": {"type": "object", "properties": {"name": {"type": "string"}}}},
    {"use_auth": False, "token": None},
    {"note": "{not json", "more": "[1]"},
]


@pytest.mark.parametrize("body", SECRETS, ids=json.dumps)
def test_a_secret_is_found_and_hidden(body: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="looks like a secret") as told:
        Settings(extra_body=body)
    assert TOKEN not in str(told.value)
    shown = json.dumps(redacted(body))
    assert TOKEN not in shown
    assert "12345" not in shown
    assert HIDDEN in shown
    assert secret_in(redacted(body)) is None
    assert redacted(redacted(body)) == redacted(body)


@pytest.mark.parametrize("body", HARMLESS, ids=json.dumps)
def test_what_is_no_secret_stays(body: dict[str, Any]) -> None:
    assert secret_in(body) is None
    assert redacted(body) == body
    Settings(extra_body=body)


def test_too_deep_to_look_is_hidden() -> None:
    body: Any = {"a": TOKEN}
    for _ in range(100):
        body = [body]
    assert TOKEN not in json.dumps(redacted(body))


@pytest.mark.parametrize("settings", [
    {"chat_template": {"api_key": TOKEN}},
    {"headers": {"X-Team": f"Bearer {TOKEN}"}},
    {"base_url": f"https://me:{TOKEN}@host/v1"},
    {"base_url": f"https://host/v1?api_key={TOKEN}"},
])  # fmt: skip
def test_other_settings_too(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="looks like a secret") as told:
        Settings(**settings)
    assert TOKEN not in str(told.value)
    assert TOKEN not in json.dumps(redacted_settings(settings))


def test_a_header_that_names_a_variable_stays() -> None:
    headers = {"Authorization": "Bearer $TEAM_KEY", "X-Key": "${KEY}", "X-Team": "red"}
    Settings(headers=headers)
    assert redacted_settings({"headers": headers}) == {"headers": headers}


@pytest.mark.parametrize("body", SECRETS[:3], ids=json.dumps)
def test_neither_stored_nor_exported(
    proctor: Proctor, tmp_path: Path, body: dict[str, Any]
) -> None:
    """Runs of before have such settings; who reads or exports one does not see them."""
    run = tmp_path / "run"
    settings = msgspec.to_builtins(Settings(model="m")) | {"extra_body": body}
    with RunStore.create(run, settings) as store:
        store.remember({"benchmark": "x", "source": "fixture"})
        store.plan([(ProblemInfo("p"), 1)])
    assert all(TOKEN.encode() not in each.read_bytes() for each in run.iterdir())
    with closing(sqlite3.connect(run / FILE)) as connection, connection:
        connection.execute(
            "UPDATE meta SET value = ? WHERE name = 'settings'", (json.dumps(settings),)
        )
    for format_ in ("json", "jsonl", "inspect", "lcb"):
        done = proctor("export", run, "--format", format_)
        assert done.returncode == 0, done.stderr
        assert TOKEN not in done.stdout
    assert TOKEN not in proctor("resume", run).stderr


def test_a_command_that_serves_a_model(tmp_path: Path) -> None:
    from proctor.cli.model_access import START_SERVER, ModelAccess

    with RunStore.create(tmp_path / "run", {}) as store:
        ModelAccess(start_server=f"serve --api-key={TOKEN} --port {{port}}").remember(store)
        assert TOKEN not in str(store.recall(START_SERVER))
