"""Settings of Piston's API: Piston's own environment variables, as far as they apply here.

They are listed in docs/reference/piston.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from proctor.errors import SettingsError
from proctor.limits import GIB, MIB

_PREFIX = "PISTON_"


@dataclass(frozen=True, slots=True)
class PistonSettings:
    """Times in ms, sizes in bytes. 0 or less: not configured."""

    run_timeout: int = -1
    """The most that a request may ask for, and what it gets if it asks for nothing, in ms."""
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
    packages: str = ""
    """Directory of packages: see packages.py. Not a variable of Piston."""

    def __post_init__(self) -> None:
        for name in ("output_max_size", "max_file_size", "max_process_count"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{_PREFIX}{name.upper()} must be more than zero")

    def most(self, name: str) -> int:
        """Return the configured limit of a request's field, such as `run_timeout`."""
        value: int = getattr(self, name)
        return value


RUN_TIME = 10_000
"""Milliseconds for a run where neither the request nor the settings have a limit."""
COMPILE_TIME = 30_000
"""Likewise for compiling."""
UNLIMITED_TIME = 3_600_000
"""Milliseconds where a request removes a limit by asking for -1; the most of any."""
MEMORY = 4 * GIB
"""Bytes where neither the request nor the settings have a limit."""


def read_settings(environment: Mapping[str, str]) -> PistonSettings:
    """Read PISTON_RUN_TIMEOUT and so on. Raises SettingsError."""
    found: dict[str, Any] = {}
    for field in fields(PistonSettings):
        text = environment.get(_PREFIX + field.name.upper(), "").strip()
        if not text:
            continue
        try:
            found[field.name] = text if field.name == "packages" else int(text)
        except ValueError:
            what = f"{_PREFIX}{field.name.upper()} must be a whole number, not {text!r}"
            raise SettingsError(what) from None
    return PistonSettings(**found)
