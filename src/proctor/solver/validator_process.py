"""A program that checks inputs and results for a host, which ends it when it takes too long.

Its code is proctor's or the profile's, and trusted; its data is not. Here the data can use up
nothing but this process's time and memory.
"""

import json
import os
import resource
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import msgspec

from proctor.errors import InputError
from proctor.limits import MIB
from proctor.sandbox.helper import LENGTH
from proctor.solver.report import ValidationReport

Validate = Callable[..., ValidationReport]
Check = Callable[[Any], Sequence[str]]
_MOST_PROBLEMS = 20
_MOST_ANSWER = 16 * MIB
_MOST_SAID = 400
"""Characters of an error's message that are told: it may quote a whole result."""


class _CheckRequest(msgspec.Struct, forbid_unknown_fields=True):
    schema: str = ""
    """File with a JSON Schema for `value`."""
    value: Any = None
    check: str = ""
    """Function that names further mistakes of `value`, an input."""
    validator: str = ""
    summary: str = ""
    """Function that returns a small object about `value`, a result."""
    directory: str = ""
    """Folder of files with functions."""
    given: Any = None
    """Input that `value` is a result for."""
    custom_checks: list[dict[str, Any]] = []
    references: list[Any] = []
    """The request's reference data, for a validator that takes it; else nothing."""
    memory: int = 0
    """Limit on address space, in bytes; 0 for none."""


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a validator prints must not be taken for an answer
    answers.write(b"!")
    while head := _exactly(requests, LENGTH.size):
        (size,) = LENGTH.unpack(head)
        request = msgspec.json.decode(_exactly(requests, size), type=_CheckRequest)
        answer = _encoded(request)
        answers.write(LENGTH.pack(len(answer)))
        view = memoryview(answer)
        while view:
            view = view[answers.write(view) :]


def _exactly(stream: BinaryIO, size: int) -> bytes:
    return stream.read(size) or b""


def _encoded(request: _CheckRequest) -> bytes:
    """Return the answer: `problems`, a list of texts, `report`, `summary`, `refused`, `failed`."""
    try:
        answer = json.dumps(_answer(request), allow_nan=False, ensure_ascii=False).encode()
        if len(answer) > _MOST_ANSWER:  # the process that asked would have to hold it
            raise ValueError("its report is too large")
    except InputError as error:
        answer = _told("refused", error, "")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the profile's own code; its failure is reported
        answer = _told("failed", error, _line_of(error, request.directory))
    return answer


def _told(how: str, error: BaseException, where: str) -> bytes:
    said = str(error).encode("utf-8", "replace").decode()[:_MOST_SAID]
    name = "" if how == "refused" else f"{type(error).__name__}: "
    return json.dumps({how: f"{name}{said}{where}"}).encode()


def _answer(request: _CheckRequest) -> dict[str, Any]:
    """Return the answer. Raises InputError for a bad input, and errors of a profile's functions."""
    if request.memory:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (request.memory, most))
    if request.summary:
        summary: Callable[[Any], dict[str, Any]] = _function(request.summary, request.directory)
        return {"summary": dict(summary(request.value))}
    problems = _problems(request)
    if not problems and request.check:
        check: Check = _function(request.check, request.directory)
        problems = msgspec.convert(list(check(request.value)), list[str])[:_MOST_PROBLEMS]
    if problems or not request.validator:
        return {"problems": problems}
    validate: Validate = _function(request.validator, request.directory)
    report = validate(request.given, request.value, request.custom_checks, *request.references)
    if not isinstance(report, ValidationReport):
        raise TypeError(f"the validator returns no ValidationReport but {type(report).__name__}")
    # Converted, and so checked: a validator may put anything into it.
    checked = _consistent(msgspec.convert(msgspec.to_builtins(report), ValidationReport))
    return {"report": msgspec.to_builtins(checked)}


def _consistent(report: ValidationReport) -> ValidationReport:
    """Return a report that is not `ok` if it lists a hard constraint as broken or unchecked."""
    listed = [each.severity for each in (*report.violations, *report.hard_violations)]
    listed += [each.severity for each in report.unchecked]
    hard = "hard" in listed or bool(report.hard_unchecked_constraint_ids)
    return msgspec.structs.replace(report, ok=report.ok and not hard)


def _line_of(error: BaseException, directory: str) -> str:
    """Return the place in the profile's own files that raised an error; empty if elsewhere."""
    frames = [
        each
        for each in traceback.extract_tb(error.__traceback__)
        if directory and Path(each.filename).is_relative_to(directory)
    ]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def _problems(request: _CheckRequest) -> list[str]:
    if not request.schema:
        return []
    found = []
    for error in _schema(request.schema).iter_errors(request.value):
        found.append(f"{error.json_path[:200]}: {error.message[:300]}")
        if len(found) == _MOST_PROBLEMS:
            break
    return found


@cache
def _schema(file: str) -> Any:
    import jsonschema

    schema = json.loads(Path(file).read_text("utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


@cache
def _function(name: str, directory: str) -> Any:
    """Import a function: `module:function`, or `file.py:function` in the profile's directory."""
    home, _, function = name.partition(":")
    module = _of_file(Path(directory, home)) if home.endswith(".py") else import_module(home)
    return getattr(module, function)


@cache
def _of_file(path: Path) -> ModuleType:
    """Import a file, which may import modules that lie beside it, as a script may."""
    spec = util.spec_from_file_location(f"proctor_validator_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and annotations look the module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


if __name__ == "__main__":
    main()
