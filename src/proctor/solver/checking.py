"""Having inputs and results checked, in a process of its own, and users' predicates, in cells."""

import json
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import msgspec

from proctor.errors import PlatformError, ProctorError
from proctor.execution import Execution
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.helper import Helper, HelperTimeout
from proctor.solver.profile import Profile
from proctor.solver.validation.report import Report

_WORKER = "proctor.solver.validation.worker"
_MOST_PREDICATES = 100
_PREDICATE = """
import json, sys
job = json.load(sys.stdin)
source, data, result = job["source"], job["input"], job["result"]
names = {"schedule": job["solution"], "data": data, "result": result}
try:
    code = compile(source, "predicate", "eval")
except SyntaxError:
    exec(compile(source, "predicate", "exec"), names)
    if "check" not in names:
        sys.exit("it is no expression, and defines no check(schedule, data)")
    value = names["check"](names["schedule"], data)
else:
    value = eval(code, names)
match value:
    case bool():
        ok, said = value, ""
    case (bool() as ok, (str() | None) as said):
        pass
    case str() | list():
        ok, said = not value, value
    case _:
        sys.exit(f"it returns {type(value).__name__}, which is neither true nor false")
said = said or ""
print(json.dumps({"ok": ok, "message": said if isinstance(said, str) else json.dumps(said)}))
"""


class Checked(msgspec.Struct, frozen=True):
    """What is known of a value."""

    problems: tuple[str, ...] = ()
    """Where it does not fit its schema."""
    report: Report | None = None
    failed: str = ""
    """Why the validator has no report."""


def need_schemas(profile: Profile) -> None:
    """Raise PlatformError if the profile has schemas, and nothing here can check them."""
    if (profile.input.schema or profile.result.schema) and find_spec("jsonschema") is None:
        raise PlatformError(
            f"profile {profile.name} has schemas, and jsonschema is missing:"
            " pip install 'proctor[solver]'"
        )


class Checker:
    """Checks for one host; close it."""

    def __init__(self) -> None:
        self._helper = Helper(_WORKER)

    def given(self, value: Any, profile: Profile) -> tuple[str, ...]:
        """Return where an input does not fit. Raises InfraFault."""
        if not profile.input.schema:
            return ()
        return self._ask(profile, profile.input.schema, value, {}).problems

    def result(
        self, given: Any, value: Any, profile: Profile, custom: list[dict[str, Any]]
    ) -> Checked:
        """Check a result by schema and validator."""
        rule = profile.validator
        if not profile.result.schema and not rule.function:
            return Checked()
        more = {
            "validator": rule.function,
            "directory": profile.directory,
            "given": given,
            "custom_checks": custom,
            "memory": int(rule.memory),
        }
        try:
            return self._ask(profile, profile.result.schema, value, more)
        except HelperTimeout as error:
            return Checked(failed=f"{error} (validator's limit: {float(rule.timeout):g} s)")

    def _ask(self, profile: Profile, schema: str, value: Any, more: Mapping[str, Any]) -> Checked:
        file = str(profile.path(schema)) if schema else ""
        request = {"schema": file, "value": value, **more}
        answer = self._helper.ask(request, float(profile.validator.timeout))
        return msgspec.convert(answer, Checked)

    def close(self) -> None:
        """End the process."""
        self._helper.close()


def predicates(
    given: Any, value: Any, profile: Profile, pool: Submitting, disk: int = 0
) -> list[dict[str, Any]]:
    """Run the predicates that an input brings, each in a cell; one that fails has not passed.

    `disk`: as for gate.check().
    """
    rule = profile.predicates
    listed = given.get(rule.constraints) if rule.constraints and isinstance(given, dict) else None
    asked = [
        each
        for each in listed or ()
        if isinstance(each, dict) and (not rule.kind or each.get("kind") == rule.kind)
        and isinstance(each.get(rule.source), str)
    ]  # fmt: skip
    limits = Limits(cpu=float(rule.timeout), memory=512 * MIB, output=MIB, disk=disk)
    found = []
    for each in asked:
        if len(found) >= _MOST_PREDICATES:
            why = f"the predicate was not run: {_MOST_PREDICATES} are, of {len(asked)}"
            found.append(_said(each, {"ok": False, "ran": False, "message": why}))
            continue
        job = {
            "source": each[rule.source], "input": given, "result": value,
            "solution": value.get(profile.status.solution) if isinstance(value, dict) else None,
        }  # fmt: skip
        found.append(_said(each, _outcome(pool, json.dumps(job).encode(), limits)))
    return found


def _said(constraint: Mapping[str, Any], outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {"constraintId": str(constraint.get("id")), **outcome}


def _outcome(pool: Submitting, stdin: bytes, limits: Limits) -> dict[str, Any]:
    program = Program(_PREDICATE)
    try:
        done: Execution = pool.submit(lambda cell, _: cell.run(program, stdin, limits)).result()
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        if not done.ok or not lines:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            why = said[-1] if said else f"limit {done.limit}"
            return {"ok": False, "ran": False, "message": f"the predicate failed: {why[:500]}"}
        answer = msgspec.json.decode(lines[-1], type=_Answer)
        return {"ok": answer.ok, "ran": True, "message": answer.message[:2000]}
    except (msgspec.MsgspecError, ProctorError) as error:
        return {"ok": False, "ran": False, "message": f"the predicate failed: {error}"}


class _Answer(msgspec.Struct, frozen=True):
    ok: bool
    message: str
