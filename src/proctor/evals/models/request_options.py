"""Additions of a user to each request: headers, and further fields of the body.

They are part of a run's record, so a secret has no place in them: a header takes it from an
environment variable, `X-Api-Key: $TEAM_KEY`, and the record has the variable's name.
"""

import re
from collections.abc import Mapping
from typing import Any

from proctor.errors import SettingsError
from proctor.evals.redaction import DEEPEST, VARIABLE, names_variable, secret_in

OPTIONS_OF = {
    "temperature": "--temperature", "top_p": "--top-p", "max_tokens": "--max-tokens",
    "max_completion_tokens": "--max-tokens", "seed": "--seed", "stop": "--stop",
    "top_k": "--top-k", "min_p": "--min-p", "reasoning_effort": "--reasoning-effort",
    "chat_template_kwargs": "--chat-template", "n": "--request-n", "model": "--model",
}  # fmt: skip
"""Options by the field of the body that they set."""
_OURS = frozenset({"messages", "tools", "stream"})
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")


def header_of(text: str) -> tuple[str, str]:
    """Split `NAME: VALUE`. Raises SettingsError."""
    name, colon, value = text.partition(":")
    if not colon:
        # Do not quote what was given: it may be a key.
        raise SettingsError("--header is 'NAME: VALUE', with a colon between the two")
    return name.strip(), value.strip()


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise SettingsError for a header that cannot be sent, or whose value should not be kept."""
    for name, value in headers.items():
        if not _NAME.match(name):
            raise SettingsError("--header begins with a name of letters, digits and dashes")
        if not value.isascii() or any(ord(each) < 32 for each in value):
            raise SettingsError(f"--header {name}: the value must be of printable ASCII characters")
        if secret_in({name: value}) is not None and not names_variable(value):
            raise SettingsError(
                f"--header {name} looks like a secret, and headers are written into the record: "
                f"put its value into an environment variable, and give '{name}: $VARIABLE'"
            )


def check_extra_body(body: Mapping[str, Any]) -> None:
    """Raise SettingsError for a field that an option or proctor sets, and for secrets."""
    for name in body:
        if name in OPTIONS_OF:
            raise SettingsError(f"--extra-body: {name} is given by {OPTIONS_OF[name]}")
        if name in _OURS:
            raise SettingsError(f"--extra-body: {name} is set by proctor")
    _check_depth(body)
    check_secrets(body, "--extra-body")


def check_secrets(value: Any, option: str) -> None:
    """Raise SettingsError for a secret in what an option gives, at any depth."""
    if (secret := secret_in(value)) is not None:
        raise SettingsError(
            f"{option}: {secret} looks like a secret, and is written into the record; "
            "send it as a header that names an environment variable (--header)"
        )


def _check_depth(value: Any, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise SettingsError("--extra-body is nested too deeply")
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list | tuple):
        for each in inner:
            _check_depth(each, depth + 1)


def expanded(headers: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return headers with variables of the environment put in. Raises SettingsError."""

    def value_of(found: re.Match[str]) -> str:
        variable = found[1] or found[2]
        if not environment.get(variable):
            raise SettingsError(f"a header of the run needs ${variable}, which is not set")
        return environment[variable]

    made = {name: VARIABLE.sub(value_of, value) for name, value in headers.items()}
    for name, value in made.items():
        if not value.isascii() or any(ord(each) < 32 for each in value):
            raise SettingsError(f"header {name}: its variable holds what no header can")
    return made
