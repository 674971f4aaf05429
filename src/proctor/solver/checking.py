"""Checks of inputs and results, in separate processes, and of users' predicates, in cells."""

import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

import msgspec

from proctor.errors import InfraFault, PlatformError, ProctorError
from proctor.execution import Execution
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.helper import Helper, HelperTimeout
from proctor.solver.envelope import SolveRefused
from proctor.solver.profile import Profile
from proctor.solver.report import ValidationReport, Violation, report

REJECTED = "base_validator"
"""Kind of the violation by a result that the validator fails on."""
_PROCESS = "proctor.solver.validator_process"
_MOST_PREDICATES = 100
_HELD = {"ok": True, "ran": True, "message": ""}
"""Outcome of a predicate that holds."""
_MOST_REMEMBERED = 256
_PREDICATE = """
import ast, json, sys
source, job = map(json.loads, sys.stdin)
data, result = job["input"], job["result"]
names = {"schedule": job["solution"], "data": data, "result": result}
given = list(names.values())
try:
    tree = ast.parse(source, "predicate", "eval")
    code = compile(tree, "predicate", "eval")
except SyntaxError:
    exec(compile(source, "predicate", "exec"), names)
    if "check" not in names:
        others = [name for name, value in names.items() if hasattr(value, "__code__")]
        named = f", but {', '.join(others[:3])}: its name must be check" if others else ""
        sys.exit("it is not an expression, and defines no check(schedule, data)" + named)
    value = names["check"](names["schedule"], data)
else:
    value = eval(code, names)
    # `schedule and all(...)` is the schedule if that is empty, which says nothing.
    if not isinstance(value, bool) and isinstance(tree.body, ast.BoolOp):
        sys.exit(f"its `and` or `or` comes to {type(value).__name__}: write bool(...)")
if any(value is each for each in given):
    sys.exit("it returns what it was given, which is neither true nor false")
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


class _PredicateAnswer(msgspec.Struct, frozen=True):
    ok: bool
    message: str


class CheckResult(msgspec.Struct, frozen=True):
    """The outcome of a check of an input or of a result."""

    problems: tuple[str, ...] = ()
    """Mismatches with the schema; for an input, also mistakes that the profile's check names."""
    report: ValidationReport | None = None
    refused: str = ""
    """Why the validator refuses the input."""
    failed: str = ""
    """Why the validator has no report, or why there is no summary."""
    summary: dict[str, Any] = {}
    """The profile's summary of a result."""


def need_schemas(profile: Profile) -> None:
    """Raise PlatformError if the profile has schemas and jsonschema is not installed."""
    if (profile.input.schema or profile.result.schema) and find_spec("jsonschema") is None:
        raise PlatformError(
            f"profile {profile.name} has schemas, and jsonschema is missing:"
            " pip install 'proctor[solver]'"
        )


class Validators:
    """Processes that check for one host, as many as there are checks at once. Close it."""

    def __init__(self) -> None:
        self._idle: dict[str, list[Helper]] = {}
        """Processes by the folder of their profile, whose modules they may have imported."""
        self._passed: dict[bytes, bool] = {}
        """Digests of inputs that passed, and whether results can have an objective."""

    def input(self, data: bytes, value: Any, profile: Profile, reference: Any = None) -> bool:
        """Check an input, and that the validator can work on it, before any program is run.

        Returns False if the validator computes no objective whatever the result is. Raises
        SolveRefused, InfraFault.
        """
        parts = (msgspec.json.encode(profile), data, msgspec.json.encode(reference))
        key = hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in parts)).digest()
        if key in self._passed:
            return self._passed[key]
        rule = profile.input
        if rule.schema or rule.check:
            checked = self._ask(profile, rule.schema, value, {"check": rule.check})
            if checked.failed:
                why = f"inputs cannot be checked: {checked.failed}"
                raise SolveRefused("prepare", "invalid_profile", why)
            if problems := checked.problems or (checked.refused and [checked.refused]):
                why = f"the input: {'; '.join(problems)}"
                raise SolveRefused("prepare", "invalid_input", why)
        has_objective = True
        if profile.validator.function or profile.result.schema:
            has_objective = self._try_validator(value, profile, reference)
        if len(self._passed) >= _MOST_REMEMBERED:
            self._passed.clear()
        self._passed[key] = has_objective
        return has_objective

    def _try_validator(self, given: Any, profile: Profile, reference: Any) -> bool:
        """Let the validator check an empty solution, since programs may leave one.

        Returns False if it cannot check a constraint of the input, and computes no objective. That
        it computes none of an empty solution says by itself nothing of others. Raises SolveRefused,
        InfraFault.
        """
        held = [_answer(each, _HELD) for each in _with_predicate(given, profile)]
        rule = profile.status
        words = [word for word, meant in rule.table.items() if meant in {"feasible", "optimal"}]
        solutions: tuple[Any, ...] = ([], {}, "")
        for empty in solutions:
            result = {rule.field: (words or [""])[-1], rule.solution: empty}
            checked = self._validated(given, result, profile, held, reference)
            if checked.refused:
                raise SolveRefused("prepare", "invalid_input", f"the input: {checked.refused}")
            if checked.failed:
                named = profile.validator.function or profile.result.schema
                why = f"validator {named} fails over an empty solution: {checked.failed}"
                raise SolveRefused("prepare", "invalid_profile", why)
            if checked.report is not None:
                found = checked.report
                return found.objective is not None or not found.unchecked
        return True

    def result(
        self,
        given: Any,
        value: Any,
        profile: Profile,
        custom: list[dict[str, Any]],
        reference: Any = None,
    ) -> CheckResult:
        """Check a result by schema and validator.

        A validator that fails over it rejects it, since programs can make results that no validator
        survives. Raises SolveRefused or InfraFault if it now fails over an empty solution too.
        """
        if not profile.result.schema and not profile.validator.function:
            return CheckResult()
        checked = self._attempt(given, value, profile, custom, reference)
        failed = checked.failed or checked.refused
        if not failed:
            return checked
        self._try_validator(given, profile, reference)
        why = f"the validator works on an empty solution, and failed on this result: {failed}"
        return CheckResult(report=report([Violation(REJECTED, REJECTED, "hard", why)]))

    def summary(self, value: Any, profile: Profile) -> CheckResult:
        """Return the profile's summary of a result, or why there is none."""
        function = profile.result.summary
        if not function:
            return CheckResult()
        options = {"summary": function, "memory": int(profile.validator.memory)}
        try:
            return self._ask(profile, "", value, options)
        except (HelperTimeout, InfraFault) as error:  # a result can be made such that it never ends
            return CheckResult(failed=str(error))

    def _attempt(
        self,
        given: Any,
        value: Any,
        profile: Profile,
        custom: list[dict[str, Any]],
        reference: Any,
    ) -> CheckResult:
        """Check a result; if that fails once more, in a process that has seen no other result."""
        try:
            checked = self._validated(given, value, profile, custom, reference)
            if checked.failed:
                checked = self._validated(given, value, profile, custom, reference)
            return checked
        except HelperTimeout as error:  # a result can be made such that its check never ends
            most = float(profile.validator.timeout)
            return CheckResult(failed=f"{error} (validator's limit: {most:g} s)")

    def _validated(
        self,
        given: Any,
        value: Any,
        profile: Profile,
        custom: list[dict[str, Any]],
        reference: Any,
    ) -> CheckResult:
        rule = profile.validator
        options = {
            "validator": rule.function, "given": given, "custom_checks": custom,
            "memory": int(rule.memory), "references": [reference] if rule.reference else [],
        }  # fmt: skip
        return self._ask(profile, profile.result.schema, value, options)

    def _ask(
        self, profile: Profile, schema: str, value: Any, options: Mapping[str, Any]
    ) -> CheckResult:
        file = str(profile.path(schema)) if schema else ""
        request = {"schema": file, "value": value, "directory": profile.directory, **options}
        idle = self._idle.setdefault(profile.directory, [])
        try:
            helper = idle.pop()
        except IndexError:
            helper = Helper(_PROCESS)
        try:
            answer = helper.ask(request, float(profile.validator.timeout))
            checked = msgspec.convert(answer, CheckResult)
            if checked.failed:  # what failed may have left little memory to the next
                helper.close()
        finally:
            idle.append(helper)
        return checked

    def close(self) -> None:
        """End the processes; no check may follow."""
        while self._idle:
            for helper in self._idle.popitem()[1]:
                helper.close()


def predicates(
    given: Any, value: Any, profile: Profile, open_pool: Callable[[], Submitting], disk: int = 0
) -> list[dict[str, Any]]:
    """Run an input's predicates, each in a cell; one that fails to run does not pass.

    `disk`: bytes of a program's working directory, the size that a container is started with.
    Raises PlatformError, InfraFault if no pool can be opened.
    """
    rule, constraints = profile.predicates, _with_predicate(given, profile)
    if not constraints:
        return []
    pool = open_pool()
    limits = Limits(cpu=float(rule.timeout), memory=512 * MIB, output=MIB, disk=disk)
    solution = value.get(profile.status.solution) if isinstance(value, dict) else None
    job = json.dumps({"input": given, "result": value, "solution": solution})
    running = [
        _started(pool, each[rule.source], job, limits) for each in constraints[:_MOST_PREDICATES]
    ]
    found = [
        _answer(each, _outcome(done)) for each, done in zip(constraints, running, strict=False)
    ]
    why = f"the predicate was not run: {_MOST_PREDICATES} are, of {len(constraints)}"
    left_out = {"ok": False, "ran": False, "message": why}
    return found + [_answer(each, left_out) for each in constraints[_MOST_PREDICATES:]]


def _with_predicate(given: Any, profile: Profile) -> list[Mapping[str, Any]]:
    """Return the constraints of an input that bring their own check."""
    rule = profile.predicates
    listed = given.get(rule.constraints) if rule.constraints and isinstance(given, dict) else None
    return [
        each
        for each in listed or ()
        if isinstance(each, dict) and (not rule.kind or each.get("kind") == rule.kind)
        and isinstance(each.get(rule.source), str)
    ]  # fmt: skip


def _answer(constraint: Mapping[str, Any], outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {"constraintId": str(constraint.get("id")), **outcome}


def _started(pool: Submitting, source: str, job: str, limits: Limits) -> "Future[Execution]":
    def run(cell: Any, _queued: float) -> Execution:
        stdin = f"{json.dumps(source)}\n{job}".encode()  # made only now: it may be large
        done: Execution = cell.run(Program(_PREDICATE), stdin, limits)
        return done

    return pool.submit(run)


def _outcome(running: "Future[Execution]") -> dict[str, Any]:
    try:
        done = running.result()
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        if not done.ok or not lines:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            why = said[-1] if said else f"limit {done.limit}"
            return {"ok": False, "ran": False, "message": f"the predicate failed: {why[:500]}"}
        answer = msgspec.json.decode(lines[-1], type=_PredicateAnswer)
        return {"ok": answer.ok, "ran": True, "message": answer.message[:2000]}
    except (msgspec.MsgspecError, ProctorError) as error:
        return {"ok": False, "ran": False, "message": f"the predicate failed: {error}"}
