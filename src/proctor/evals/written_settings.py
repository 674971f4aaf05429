"""Settings from values as people write them: times with units, sizes, lists."""

from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.errors import SettingsError
from proctor.evals.models.request_options import header_of
from proctor.evals.settings import Settings
from proctor.units import seconds, size

_TIMES = ("timeout", "test_timeout", "agentic_time_budget")
_LISTS = ("platforms", "difficulties")


def parsed(written: Mapping[str, Any], where: str) -> Settings:
    """Return the settings that these values stand for; `where` names their origin in errors.

    Raises UsageError.
    """
    values = values_of(written)
    if values.get("agent"):
        values["agentic_mode"] = True
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, SettingsError):
            raise error.__cause__ from error
        raise SettingsError(f"{where}: {error}") from error


def values_of(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with values instead of the texts that flags give. Raises UsageError."""
    values = dict(written)
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
    return values


def _object(text: str, option: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise SettingsError(f"{option} is not JSON: {error}") from error
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
