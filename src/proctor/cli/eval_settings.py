"""Settings of an evaluation from flags, environment and file."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.evals.livecodebench.upstream.leaderboard import preset
from proctor.evals.settings import Settings
from proctor.evals.written_settings import parsed

_ENVIRONMENT = {"model": "MODEL_ID", "base_url": "OPENAI_BASE_URL"}


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
    where = config or ("options, or `settings` of the benchmark file" if own else "options")
    return parsed(values, where)


def _file(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error
    return {name.replace("-", "_"): value for name, value in table.items()}
