"""Results of programs that leave no file: what they print last, or what their function returns.

A value without a status is a solution: `{"status": "FEASIBLE", "solution": value}`, by the
profile's own names of these fields. None is no solution. Each value that a generator yields is left
as an incumbent too, the last 16 at a time, so that the best of them counts.
"""

from typing import Any

import msgspec

from proctor.sandbox.directory_job import DirectoryResult
from proctor.solver import strict_json
from proctor.solver.profile import Profile

_CALL = """

if __name__ == "__main__":
    def _proctor_leave_result():
        import json
        import os
        from pathlib import Path
        from types import GeneratorType

        with open({input!r}, encoding="utf-8") as file:
            given = json.load(file)
        returned = {function}({arguments})
        yields = isinstance(returned, GeneratorType)
        for number, value in enumerate(returned if yields else [returned]):
            if value is None:
                value = {{{status!r}: "UNKNOWN"}}
            elif not isinstance(value, dict) or {status!r} not in value:
                value = {{{status!r}: "FEASIBLE", {solution!r}: value}}
            text = json.dumps(value)
            for name in [f"inc_{{number}}.json", {result!r}] if yields else [{result!r}]:
                with open(name + ".draft", "w", encoding="utf-8") as file:
                    file.write(text)
                os.replace(name + ".draft", name)
            if yields and number >= 16:
                Path(f"inc_{{number - 16}}.json").unlink(missing_ok=True)

    _proctor_leave_result()
"""


def program(source: str, profile: Profile) -> str:
    """Return the program; with a call of its function, if that is where the result comes from."""
    rule = profile.result
    if rule.source != "function":
        return source
    return source + _CALL.format(
        input=profile.input.file, function=rule.function,
        arguments="**given" if rule.arguments == "keywords" else "given",
        status=profile.status.field, solution=profile.status.solution, result=rule.file,
    )  # fmt: skip


def result(worked: DirectoryResult, profile: Profile) -> tuple[bytes | None, str]:
    """Return a run's result as JSON, and the complaint if there is none."""
    rule = profile.result
    if rule.source != "stdout":
        return worked.result, worked.complaint
    line = _last_line(worked.execution.stdout, profile.marker.text)
    if not line:
        return None, "was not written"
    if len(line) > rule.max_bytes:
        return None, f"has {len(line)} bytes, more than {rule.max_bytes}"
    try:
        value = strict_json.decode(line, rule.max_depth, rule.max_values)
    except ValueError:
        return line, ""  # claim.read() will say what is wrong
    return msgspec.json.encode(_with_status(value, profile)), ""


def _last_line(printed: bytes, marker: str) -> bytes:
    """Return the last line that is neither empty nor the marker."""
    rest = printed.rstrip()
    while rest:  # once for each marker: lines of blanks, of which there may be millions, go at once
        start = rest.rfind(b"\n") + 1
        line = rest[start:].strip()
        if line.upper() != marker.encode().upper():
            return line
        rest = rest[:start].rstrip()
    return b""


def _with_status(value: Any, profile: Profile) -> Any:
    rule = profile.status
    if value is None:
        return {rule.field: "UNKNOWN"}
    if isinstance(value, dict) and rule.field in value:
        return value
    return {rule.field: "FEASIBLE", rule.solution: value}
