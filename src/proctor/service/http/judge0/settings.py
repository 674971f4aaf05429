"""Settings of Judge0's API: Judge0's own environment variables with `JUDGE0_` before them.

They are listed in docs/reference/judge0.md; the defaults are Judge0's, but for the batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from proctor.errors import SettingsError

_PREFIX = "JUDGE0_"


@dataclass(frozen=True, slots=True)
class Judge0Settings:
    """Times in seconds, sizes in KB (1024 bytes). `max_` is what a submission may ask for."""

    cpu_time_limit: float = 5.0
    max_cpu_time_limit: float = 15.0
    max_cpu_extra_time: float = 5.0
    max_wall_time_limit: float = 20.0
    memory_limit: int = 128_000
    max_memory_limit: int = 512_000
    stack_limit: int = 64_000
    max_stack_limit: int = 128_000
    max_processes_and_or_threads: int = 60
    max_max_processes_and_or_threads: int = 120
    max_file_size: int = 1024
    """KB of stdout and of stderr each."""
    max_max_file_size: int = 4096
    max_number_of_runs: int = 20
    max_extract_size: int = 10_240
    """KB of additional_files in all."""
    max_submission_batch_size: int = 200
    """Submissions in one batch; Judge0's default of 20 is for a server with a database."""
    callback_hosts: tuple[str, ...] = ()
    """HOST or HOST:PORT that results may be PUT to, divided by commas: see callback.py."""
    callbacks_max_tries: int = 3
    callbacks_timeout: float = 5.0

    def __post_init__(self) -> None:
        for each in fields(self):
            if each.name == "callback_hosts":
                continue
            if not 0 < getattr(self, each.name) < float("inf"):
                raise SettingsError(f"{_PREFIX}{each.name.upper()} must be more than zero")


def read_settings(environment: Mapping[str, str]) -> Judge0Settings:
    """Read JUDGE0_MAX_CPU_TIME_LIMIT and so on. Raises SettingsError."""
    found: dict[str, Any] = {}
    for each in fields(Judge0Settings):
        text = environment.get(_PREFIX + each.name.upper(), "").strip()
        if not text:
            continue
        if each.name == "callback_hosts":
            found[each.name] = tuple(
                host.strip().lower() for host in text.split(",") if host.strip()
            )
            continue
        kind = float if isinstance(each.default, float) else int
        try:
            found[each.name] = kind(text)
        except ValueError:
            what = "a number" if kind is float else "a whole number"
            raise SettingsError(
                f"{_PREFIX}{each.name.upper()} must be {what}, not {text!r}"
            ) from None
    return Judge0Settings(**found)
