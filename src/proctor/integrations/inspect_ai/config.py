"""Configuration of a sandbox of inspect_ai: an object, or a file of YAML or TOML."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from proctor import units
from proctor.errors import InputError
from proctor.limits import GIB, MIB, Limits

FILES = ("proctor.yaml", "proctor.yml", "proctor.toml")
"""Names of configuration files that inspect_ai finds beside a task."""
IDLE = 14 * 86400.0
"""Seconds after which an unused session ends: a model may think for long."""


def _size(value: Any) -> Any:
    return _parsed(units.size, value) if isinstance(value, str) else value


def _seconds(value: Any) -> Any:
    return _parsed(units.seconds, value) if isinstance(value, str) else value


def _parsed(parse: Callable[[str, str], float], text: str) -> float:
    try:
        return parse(text, "")
    except InputError as error:  # pydantic says where it is only for a ValueError
        raise ValueError(error.message) from error


Size = Annotated[int, BeforeValidator(_size)]
Seconds = Annotated[float, BeforeValidator(_seconds)]


class SandboxConfig(BaseModel, frozen=True, extra="forbid"):
    """Limits and isolation of a sample's sandbox. Sizes as `512M`, times as `90s`, or plain."""

    memory: Size = 2 * GIB
    """Bytes of memory of the whole sandbox, including its files, which are in memory."""
    disk: Size = GIB
    """Bytes of the working directory, including /tmp."""
    processes: int = 256
    """Processes and threads alive at once, of the whole sandbox."""
    cpu: Seconds = 3600.0
    """CPU seconds of one command."""
    wall: Seconds = 86400.0
    """Wall seconds of one command for which inspect_ai sets no timeout."""
    output: Size = 64 * MIB
    """Bytes of a stream after which a command is ended. inspect_ai gets the last 10 MiB of less."""
    isolation: str | None = None
    min_isolation: str | None = None
    python: str | None = None
    packages: tuple[str, ...] = Field(default=())
    preload: tuple[str, ...] = Field(default=())
    directories: tuple[str, ...] = Field(default=())
    """Directories of the host that may be read, by the same path. The rest is as in open_pool."""

    @property
    def limits(self) -> Limits:
        """Limits of the session and of each of its programs. Raises InputError."""
        return Limits(
            cpu=self.cpu, wall=self.wall, memory=self.memory, output=self.output,
            processes=self.processes, disk=self.disk,
        )  # fmt: skip


def resolved(config: BaseModel | str | None) -> SandboxConfig:
    """Return the configuration that inspect_ai hands over. Raises InputError."""
    if config is None:
        return SandboxConfig()
    if isinstance(config, SandboxConfig):
        return config
    if not isinstance(config, str):
        raise InputError(f"the sandbox takes a SandboxConfig, not a {type(config).__name__}")
    return _read(Path(config))


def _read(path: Path) -> SandboxConfig:
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
        return SandboxConfig.model_validate(content or {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        raise InputError(str(error), file=str(path)) from error
    except RecursionError as error:
        raise InputError("is nested too deeply", file=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(first["msg"], file=str(path), field=field) from error
