"""Statuses and fields of submissions, by Judge0's numbers and names."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

USUAL_FIELDS = (
    "stdout",
    "time",
    "memory",
    "stderr",
    "token",
    "compile_output",
    "message",
    "status",
)
"""Fields that are shown unless a query names others."""
FILES_FIELDS = ("additional_files", "post_execution_filesystem")
"""Fields that are archives, and so base64 in any case."""
OWN_FIELDS = ("verdict", "limit", "isolation", "queue_time")
"""Proctor's own fields, shown to those who name them: its clients refuse unknown ones."""
ALL_FIELDS = (
    "source_code", "language_id", "stdin", "expected_output", "stdout", "status_id", "created_at",
    "finished_at", "time", "memory", "stderr", "token", "number_of_runs", "cpu_time_limit",
    "cpu_extra_time", "wall_time_limit", "memory_limit", "stack_limit",
    "max_processes_and_or_threads", "enable_per_process_and_thread_time_limit",
    "enable_per_process_and_thread_memory_limit", "max_file_size", "compile_output", "exit_code",
    "exit_signal", "message", "wall_time", "compiler_options", "command_line_arguments",
    "redirect_stderr_to_stdout", "callback_url", "additional_files", "enable_network", "status",
    "language", "post_execution_filesystem",
)  # fmt: skip
"""Judge0's fields of a submission; the last is of its version 1.14."""


class Judge0Status(IntEnum):
    """Status of a submission, by Judge0's number."""

    IN_QUEUE = 1
    PROCESSING = 2
    ACCEPTED = 3
    WRONG_ANSWER = 4
    TIME_LIMIT = 5
    COMPILATION = 6
    SIGSEGV = 7
    SIGXFSZ = 8
    SIGFPE = 9
    SIGABRT = 10
    NZEC = 11
    OTHER = 12
    INTERNAL = 13
    EXEC_FORMAT = 14


DESCRIPTIONS = {
    Judge0Status.IN_QUEUE: "In Queue",
    Judge0Status.PROCESSING: "Processing",
    Judge0Status.ACCEPTED: "Accepted",
    Judge0Status.WRONG_ANSWER: "Wrong Answer",
    Judge0Status.TIME_LIMIT: "Time Limit Exceeded",
    Judge0Status.COMPILATION: "Compilation Error",
    Judge0Status.SIGSEGV: "Runtime Error (SIGSEGV)",
    Judge0Status.SIGXFSZ: "Runtime Error (SIGXFSZ)",
    Judge0Status.SIGFPE: "Runtime Error (SIGFPE)",
    Judge0Status.SIGABRT: "Runtime Error (SIGABRT)",
    Judge0Status.NZEC: "Runtime Error (NZEC)",
    Judge0Status.OTHER: "Runtime Error (Other)",
    Judge0Status.INTERNAL: "Internal Error",
    Judge0Status.EXEC_FORMAT: "Exec Format Error",
}


@dataclass(frozen=True, slots=True)
class Judge0Result:
    """Outcome of a submission: fields by Judge0's names, `bytes` where they are texts."""

    status: Judge0Status
    fields: Mapping[str, Any]
