"""Settings of Piston's API: Piston's own environment variables, as far as they apply here.

They are listed in docs/reference/piston.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import msgspec

from proctor.errors import SettingsError
from proctor.limits import GIB, MIB

_PREFIX = "PISTON_"


@dataclass(frozen=True, slots=True)
class PistonSettings:
    """Times in ms, sizes in bytes. 0 or less: not configured."""

    run_timeout: int = -1
    """Most milliseconds that a request may ask for, and the default if it names none."""
    compile_timeout: int = -1
    run_cpu_time: int = -1
    compile_cpu_time: int = -1
    run_memory_limit: int = -1
    compile_memory_limit: int = -1
    output_max_size: int = 64 * MIB
    """Bytes of stdout and of stderr each. Piston's default of 1024 ends honest programs."""
    max_file_size: int = 64 * MIB
    """Bytes that a program may write to its working directory in all."""
    max_process_count: int = 64
    limit_overrides: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Other values of the fields above, by the name of a language."""
    packages: str = ""
    """Directory of packages: see packages.py. Not a variable of Piston."""

    def __post_init__(self) -> None:
        for name in ("output_max_size", "max_file_size", "max_process_count"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{_PREFIX}{name.upper()} must be more than zero")

    def of(self, language: str, package: Mapping[str, int]) -> "PistonSettings":
        """Return the settings for a language; `package` are the overrides of its package."""
        found: dict[str, Any] = {**package, **self.limit_overrides.get(language, {})}
        return replace(self, **found) if found else self

    def most(self, name: str) -> int:
        """Return the configured limit of a request's field, such as `run_timeout`."""
        value: int = getattr(self, name)
        return value


LIMITS = tuple(
    each.name for each in fields(PistonSettings) if each.name not in {"limit_overrides", "packages"}
)
"""Names of limits that may be overridden."""
_WITHOUT_EFFECT = ("max_open_files",)
RUN_TIME = 10_000
"""Milliseconds for a run where neither the request nor the settings have a limit."""
COMPILE_TIME = 30_000
"""Milliseconds for compiling where neither the request nor the settings have a limit."""
UNLIMITED_TIME = 3_600_000
"""Milliseconds for a request that removes a limit by -1; also the most for any request."""
MEMORY = 4 * GIB
"""Bytes where neither the request nor the settings have a limit."""


def read_settings(environment: Mapping[str, str]) -> PistonSettings:
    """Read PISTON_RUN_TIMEOUT and so on. Raises SettingsError."""
    found: dict[str, Any] = {}
    for each in fields(PistonSettings):
        variable = _PREFIX + each.name.upper()
        text = environment.get(variable, "").strip()
        if not text:
            continue
        try:
            match each.name:
                case "packages":
                    found[each.name] = text
                case "limit_overrides":
                    found[each.name] = _overrides(text)
                case _:
                    found[each.name] = int(text)
        except ValueError:
            raise SettingsError(f"{variable} must be a whole number, not {text!r}") from None
    return PistonSettings(**found)


def _overrides(text: str) -> dict[str, dict[str, int]]:
    variable = f"{_PREFIX}LIMIT_OVERRIDES"
    try:
        found = msgspec.json.decode(text, type=dict[str, dict[str, int]])
    except msgspec.MsgspecError as error:
        raise SettingsError(f"{variable}: {error}") from error
    return {
        language: known_limits(limits, f"{variable}: {language}")
        for language, limits in found.items()
    }


def known_limits(limits: Mapping[str, int], where: str) -> dict[str, int]:
    """Return the overrides but those of 0, which means no override. Raises SettingsError."""
    for name in limits:
        if name not in LIMITS and name not in _WITHOUT_EFFECT:
            raise SettingsError(f"{where}: {name!r} is not one of {', '.join(LIMITS)}")
    return {name: value for name, value in limits.items() if value and name in LIMITS}
