"""Submissions as Judge0 shows them: the fields that are asked for, as text or as base64."""

from base64 import encodebytes
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.service.http.judge0.result import DESCRIPTIONS, Result

USUAL = ("stdout", "time", "memory", "stderr", "token", "compile_output", "message", "status")
OURS = ("verdict", "limit", "isolation", "queue_time")
"""Shown with the usual ones."""
ALL = (
    "source_code", "language_id", "stdin", "expected_output", "stdout", "status_id", "created_at",
    "finished_at", "time", "memory", "stderr", "token", "number_of_runs", "cpu_time_limit",
    "cpu_extra_time", "wall_time_limit", "memory_limit", "stack_limit",
    "max_processes_and_or_threads", "enable_per_process_and_thread_time_limit",
    "enable_per_process_and_thread_memory_limit", "max_file_size", "compile_output", "exit_code",
    "exit_signal", "message", "wall_time", "compiler_options", "command_line_arguments",
    "redirect_stderr_to_stdout", "callback_url", "additional_files", "enable_network", "status",
    "language",
)  # fmt: skip


class NoText(Exception):
    """Bytes that are no UTF-8 where text was asked for."""


def wanted(text: str | None) -> tuple[tuple[str, ...], list[str]]:
    """Return the fields of a query, and those that there are not."""
    if not text:
        return (*USUAL, *OURS), []
    names = [name.strip() for name in text.split(",") if name.strip()]
    if "*" in names:
        return (*ALL, *OURS), []
    return tuple(names), [name for name in names if name not in ALL and name not in OURS]


def shown(
    token: str,
    given: Mapping[str, Any],
    result: Result,
    names: Sequence[str],
    *,
    base64: bool,
) -> dict[str, Any]:
    """Return these fields. Raises NoText."""
    status = {"id": int(result.status), "description": DESCRIPTIONS[result.status]}
    values = {**given, **result.fields, "token": token, "status": status}
    values["status_id"] = int(result.status)
    return {
        name: _encoded(values.get(name), base64=base64 or name == "additional_files")
        for name in names
    }


def _encoded(value: Any, *, base64: bool) -> Any:
    if not isinstance(value, bytes):
        return value
    if base64:
        return encodebytes(value).decode()
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise NoText from error
