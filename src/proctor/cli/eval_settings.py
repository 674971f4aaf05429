"""Settings of an evaluation from flags, environment and file."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError, SettingsError
from proctor.evals.livecodebench.upstream.leaderboard import preset
from proctor.evals.models.request_options import header_of
from proctor.evals.settings import Settings
from proctor.units import seconds, size

_TIMES = ("timeout", "test_timeout", "agentic_time_budget")
_ENVIRONMENT = {"model": "MODEL_ID", "base_url": "OPENAI_BASE_URL"}
_LISTS = ("platforms", "difficulties")


def merged(
    given: Mapping[str, Any], config: str | None, own: Mapping[str, Any] | None = None
) -> Settings:
    """Settings from flags, else the environment, else the file, else the benchmark's own.

    Raises UsageError.
    """
    values = dict(own or {}) | (_file(Path(config)) if config is not None else {})
    batch = given.get("batch") or values.get("batch")
    variables = _ENVIRONMENT | ({"base_url": "ANTHROPIC_BASE_URL"} if batch == "anthropic" else {})
    for name, variable in variables.items():
        if os.environ.get(variable):
            values[name] = os.environ[variable]
    values.update({name: value for name, value in given.items() if value is not None})
    if values.get("preset"):
        values = preset(values["preset"], values) | values
    _parse_texts(values)
    if values.get("agent"):
        values["agentic_mode"] = True
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, SettingsError):
            raise error.__cause__ from error
        where = config or ("options, or `settings` of the benchmark file" if own else "options")
        raise SettingsError(f"{where}: {error}") from error


def _parse_texts(values: dict[str, Any]) -> None:
    """Replace texts, as flags give them, by values. Raises UsageError."""
    for name in _LISTS:
        if isinstance(values.get(name), list):
            values[name] = ",".join(map(str, values[name]))
    for name in _TIMES:
        if isinstance(values.get(name), str):
            values[name] = seconds(values[name], "--" + name.replace("_", "-"))
    if isinstance(values.get("memory"), str):
        values["memory"] = size(values["memory"], "--memory")
    if isinstance(values.get("header"), list):
        values["headers"] = dict(map(header_of, values.pop("header")))
    if isinstance(values.get("extra_body"), str):
        values["extra_body"] = _object(values["extra_body"], "--extra-body")
    if isinstance(values.get("chat_template"), list):
        values["chat_template"] = dict(map(_switch, values["chat_template"]))


def _object(text: str, option: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise SettingsError(f"{option} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise SettingsError(f'{option} is a JSON object such as {{"top_a": 0.2}}')
    return found


def _switch(text: str) -> tuple[str, Any]:
    """Return name and value of NAME=VALUE; the value is JSON, or else a text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise SettingsError(f"--chat-template is NAME=VALUE, not {text!r}")
    try:
        return name, msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return name, value


def _file(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error
    return {name.replace("-", "_"): value for name, value in table.items()}
