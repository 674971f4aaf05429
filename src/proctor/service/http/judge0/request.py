"""Submissions, checked as Judge0 checks them."""

import binascii
import math
import re
import shlex
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import InputError
from proctor.languages.run import RunRequest
from proctor.languages.scripts import ALL_FILES, BASH, COMPILE, RUN, Scripts
from proctor.limits import LEAST, LEAST_MEMORY, MIB, Limits
from proctor.program import Program
from proctor.service.http.judge0 import archive
from proctor.service.http.judge0.callback import CallbackAddress, address
from proctor.service.http.judge0.languages import MULTI_FILE, Judge0Language, with_options
from proctor.service.http.judge0.settings import Judge0Settings

KB = 1024
DISK = 64 * MIB
_LONGEST = 512
"""Characters of options and arguments."""
_TEXTS = ("source_code", "stdin", "expected_output")
"""Fields that are base64 if the query says so."""
_SWITCHES = {
    "enable_per_process_and_thread_time_limit": "this option cannot be enabled",
    "enable_per_process_and_thread_memory_limit": "this option cannot be enabled",
    "enable_network": "enabling network is not allowed",
}
_CALLBACK = (
    "setting callback is not allowed: who names the address would choose what this server talks to;"
    " JUDGE0_CALLBACK_HOSTS names hosts that may be called; or ask for the token, or wait=true"
)
_MADE = (BASH, "-c", "test -f run.sh && exec bash run.sh; exec bash run")
"""Command that runs a script made by `compile`, if the archive holds no run script."""
_FILTERED = re.compile(r"[$&;<>|`]")

Errors = dict[str, list[str]]


class InvalidSubmission(Exception):
    """A submission that is refused. `errors` are Judge0's messages by field."""

    def __init__(self, errors: Errors) -> None:
        super().__init__(str(errors))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Judge0Submission:
    """A submission that has been checked: its run, and its fields to be shown again."""

    request: RunRequest
    runs: int
    expected: bytes | None
    """Expected output; it stays in this process, and no cell sees it."""
    shown: Mapping[str, Any]
    """Fields of the request as Judge0 shows them again, `bytes` where they are texts."""
    callback: CallbackAddress | None = None
    """Address to send the result to."""


def parsed(
    body: Mapping[str, Any],
    known: Mapping[int, Judge0Language],
    settings: Judge0Settings,
    *,
    base64: bool,
) -> Judge0Submission:
    """Check a submission. Raises InvalidSubmission. Unpacks archives: not for an event loop."""
    fields = _FieldReader(body, settings)
    texts = {name: fields.text(name, base64=base64) for name in _TEXTS}
    archived = fields.text("additional_files", base64=True)
    language = _language(fields, known)
    several = language is not None and language.id == MULTI_FILE
    _check_given(fields, texts["source_code"], archived, several=several)
    fields.refuse_switches()
    merged = fields.switch("redirect_stderr_to_stdout")
    callback = _callback(fields)
    limits = _limits(fields)
    runs = int(fields.number("number_of_runs", 1, settings.max_number_of_runs, whole=True))
    arguments = _arguments(fields)
    files = _files(fields, archived)
    language_id = _with_options(fields, language)
    source = texts["source_code"] or b""
    text = "" if language is not None and language.script else _source(fields, source)
    if fields.errors:
        raise InvalidSubmission(fields.errors)
    assert language is not None
    files.pop(language.source_file, None)  # an additional file must not overwrite the submission
    scripts = None
    if language.script:
        files[language.source_file] = source
        scripts = Scripts(language.script, ())
    elif several:
        scripts = _scripts(files, settings)
    try:
        request = RunRequest(
            Program(text, language_id, files=files),
            texts["stdin"] or b"",
            () if several else arguments,  # as in Judge0, a program of several files gets none
            limits=limits,
            collect=ALL_FILES if archived else (),
            most=settings.max_extract_size * KB,
            merged=merged,
            scripts=scripts,
        )
    except InputError as error:
        raise InvalidSubmission({"additional_files": [error.message]}) from error
    shown = {**fields.given, **texts, "additional_files": archived, "number_of_runs": runs}
    shown["language"] = {"id": language.id, "name": language.name}
    return Judge0Submission(request, runs, texts["expected_output"], shown, callback)


class _FieldReader:
    """Reads fields one by one, and gathers what is wrong with them."""

    def __init__(self, body: Mapping[str, Any], settings: Judge0Settings) -> None:
        self.body, self.settings = body, settings
        self.errors: Errors = {}
        self.given: dict[str, Any] = {}
        """Fields with the values that are in force."""

    def complain(self, field: str, what: str) -> None:
        self.errors.setdefault(field, []).append(what)

    def text(self, field: str, *, base64: bool) -> bytes | None:
        value = self.body.get(field)
        if value is None:
            return None
        if not isinstance(value, str):
            self.complain(field, "must be a string")
            return None
        if not base64:
            return value.encode("utf-8", "surrogatepass")
        packed = "".join(value.split())
        try:
            return b64decode(packed + "=" * (-len(packed) % 4), validate=True)
        except (binascii.Error, ValueError):
            self.complain(field, "is not base64")
            return None

    def line(self, field: str) -> str:
        """Return a short text that is never base64."""
        value = self.body.get(field)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.complain(field, "must be a string")
            return ""
        if len(value) > _LONGEST:
            self.complain(field, f"is too long (maximum is {_LONGEST} characters)")
            return ""
        self.given[field] = value
        return value.strip()

    def number(self, field: str, default: float, most: float, *, whole: bool = False) -> float:
        value = self.body.get(field)
        if value is None or value == "":
            self.given[field] = default
            return default
        try:
            found = float(value)
            if isinstance(value, bool) or math.isnan(found):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            self.complain(field, "is not a number")
            return default
        if found < LEAST:
            self.complain(field, "must be greater than 0")
        elif found > most:
            self.complain(field, f"must be less than or equal to {most:g}")
        elif whole and found != int(found):
            self.complain(field, "must be an integer")
        else:
            self.given[field] = int(found) if whole else found
            return self.given[field]  # type: ignore[no-any-return]
        return default

    def switch(self, field: str) -> bool:
        """Return whether something is switched on."""
        on = self.body.get(field) not in (None, False, "", "false", 0, "0")
        self.given[field] = on
        return on

    def refuse_switches(self) -> None:
        for field, complaint in _SWITCHES.items():
            if self.switch(field):
                self.complain(field, complaint)


def _callback(fields: _FieldReader) -> CallbackAddress | None:
    url = fields.body.get("callback_url")
    fields.given["callback_url"] = url or None
    if not url:
        return None
    if not fields.settings.callback_hosts:
        fields.complain("callback_url", _CALLBACK)
        return None
    if not isinstance(url, str):
        fields.complain("callback_url", "must be a string")
        return None
    try:
        return address(url, fields.settings.callback_hosts)
    except InputError as error:
        fields.complain("callback_url", error.message)
        return None


def _language(fields: _FieldReader, known: Mapping[int, Judge0Language]) -> Judge0Language | None:
    asked = fields.body.get("language_id")
    if asked is None or asked == "":
        fields.complain("language_id", "can't be blank")
        return None
    try:
        found = known.get(int(asked))
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None:
        fields.complain("language_id", f"language with id {asked} doesn't exist")
        return None
    fields.given["language_id"] = found.id
    return found


def _check_given(
    fields: _FieldReader, source: bytes | None, archived: bytes | None, *, several: bool
) -> None:
    """Complain unless there is a source or, if a program has several files, an archive instead."""
    if not several and not source:
        fields.complain("source_code", "can't be blank")
    if several and source:
        fields.complain("source_code", "must be blank")
    if several and not archived and "additional_files" not in fields.errors:
        fields.complain("additional_files", "can't be blank")


def _scripts(files: Mapping[str, bytes], settings: Judge0Settings) -> Scripts:
    """Return the scripts of an archive. Compiling has the highest limits that a run may request."""
    compiling = next((name for name in ("compile.sh", COMPILE) if name in files), None)
    running = next((name for name in ("run.sh", RUN) if name in files), None)
    limits = Limits(
        settings.max_cpu_time_limit, None, settings.max_memory_limit * KB,
        settings.max_max_file_size * KB, settings.max_max_processes_and_or_threads, DISK,
        settings.max_stack_limit * KB,
    )  # fmt: skip
    return Scripts(
        run=_MADE if running is None else (BASH, running),
        compile=() if compiling is None else (BASH, compiling),
        limits=limits,
    )


def _source(fields: _FieldReader, data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        fields.complain("source_code", "is not UTF-8")
        return ""


def _limits(fields: _FieldReader) -> Limits:
    settings = fields.settings
    cpu = fields.number("cpu_time_limit", settings.cpu_time_limit, settings.max_cpu_time_limit)
    _extra_time(fields)
    # Wall time includes delays by the machine's load: it is limited only on request.
    wall = None
    if fields.body.get("wall_time_limit") not in (None, ""):
        wall = fields.number("wall_time_limit", 1.0, settings.max_wall_time_limit)
    memory = _kb(fields, "memory_limit", settings.memory_limit, settings.max_memory_limit)
    stack = _kb(fields, "stack_limit", settings.stack_limit, settings.max_stack_limit)
    output = _kb(fields, "max_file_size", settings.max_file_size, settings.max_max_file_size)
    processes = fields.number(
        "max_processes_and_or_threads", settings.max_processes_and_or_threads,
        settings.max_max_processes_and_or_threads, whole=True,
    )  # fmt: skip
    return Limits(cpu, wall, memory, output, int(processes), DISK, stack)


def _extra_time(fields: _FieldReader) -> None:
    """Check a field without effect: in Judge0, too, extra time does not raise the limit."""
    if fields.body.get("cpu_extra_time") not in (None, "", 0, "0"):
        fields.number("cpu_extra_time", 1.0, fields.settings.max_cpu_extra_time)


def _kb(fields: _FieldReader, field: str, default: int, most: int) -> int:
    found = int(fields.number(field, default, most) * KB)
    if field == "memory_limit" and found < LEAST_MEMORY:
        fields.complain(field, f"must be greater than or equal to {LEAST_MEMORY // KB}")
        return default * KB
    return found


def _arguments(fields: _FieldReader) -> tuple[str, ...]:
    """Return the arguments as bash would split them, without characters that Judge0 removes."""
    text = _FILTERED.sub("", fields.line("command_line_arguments"))
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        fields.complain("command_line_arguments", f"cannot be split into words: {error}")
        return ()
    if any("\0" in word for word in words):
        fields.complain("command_line_arguments", "cannot hold NUL")
    return words


def _files(fields: _FieldReader, archived: bytes | None) -> dict[str, bytes]:
    if not archived:
        return {}
    try:
        return archive.unpacked(archived, fields.settings.max_extract_size * KB)
    except InputError as error:
        fields.complain("additional_files", error.message)
        return {}


def _with_options(fields: _FieldReader, language: Judge0Language | None) -> str:
    options = fields.line("compiler_options")
    if language is None or not options:
        return "" if language is None else language.language_id
    if not language.compiled:
        what = "setting compiler options is only allowed for compiled languages"
        fields.complain("compiler_options", what)
        return language.language_id
    found = with_options(language.language_id, options)
    if found is None:
        what = "only -std= and options that do not change what a program does are served here"
        fields.complain("compiler_options", what)
    return found or language.language_id
