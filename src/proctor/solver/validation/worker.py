"""Run as a program: checks inputs and results for a host, which ends it when it takes too long.

The code is ours or the profile's, and trusted; the data is not. Here it can use up nothing but
this process's time and memory.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module, util
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from proctor.limits import MIB
from proctor.sandbox.helper import LENGTH
from proctor.solver.validation.report import Report

Validate = Callable[[Any, Any, Sequence[Mapping[str, Any]]], Report]
_MOST_PROBLEMS = 20
_MOST_ANSWER = 16 * MIB


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    schema: str = ""
    """File with a JSON Schema for `value`."""
    value: Any = None
    validator: str = ""
    directory: str = ""
    """Where the validator's file is, if it is one."""
    given: Any = None
    """The input that `value` is a result for."""
    custom_checks: list[dict[str, Any]] = []
    memory: int = 0
    """Bytes of address space."""


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a validator prints is no answer
    answers.write(b"!")
    while head := _exactly(requests, LENGTH.size):
        (size,) = LENGTH.unpack(head)
        request = msgspec.json.decode(_exactly(requests, size), type=_Request)
        answer = json.dumps(_answer(request), allow_nan=False).encode()
        if len(answer) > _MOST_ANSWER:  # whoever asked would have to hold it
            answer = b'{"problems": [], "report": null, "failed": "its report is too large"}'
        answers.write(LENGTH.pack(len(answer)))
        view = memoryview(answer)
        while view:
            view = view[answers.write(view) :]


def _exactly(stream: BinaryIO, size: int) -> bytes:
    return stream.read(size) or b""


def _answer(request: _Request) -> dict[str, Any]:
    """Return `problems`, a list of texts, and if there are none `report`, or `failed`."""
    if request.memory:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (request.memory, most))
    problems = _problems(request)
    if problems or not request.validator:
        return {"problems": problems, "report": None}
    try:
        validate = _function(request.validator, request.directory)
        report = validate(request.given, request.value, request.custom_checks)
        if not isinstance(report, Report):
            raise TypeError(f"the validator returns no Report but {type(report).__name__}")
        return {"problems": [], "report": msgspec.to_builtins(report)}
    except Exception as error:  # noqa: BLE001 - the profile's own code; its failure is reported
        return {"problems": [], "report": None, "failed": f"{type(error).__name__}: {error}"}


def _problems(request: _Request) -> list[str]:
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
def _function(name: str, directory: str) -> Validate:
    """Import a validator: `module:function`, or `file.py:function` in the profile's directory."""
    home, _, function = name.partition(":")
    if home.endswith(".py"):
        path = Path(directory, home)
        spec = util.spec_from_file_location(f"proctor_validator_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python file")
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = import_module(home)
    found: Validate = getattr(module, function)
    return found


if __name__ == "__main__":
    main()
