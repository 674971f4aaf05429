"""Generated solvers that attack the host that reads their results.

Three solutions are right: one that any program may give (`allowed`), one that a program knows but
must not get accepted, because it comes too late (`late`), and one in a file of the host's, which it
knows by its path alone (`right`).
"""

import json
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from proctor.errors import NoIsolation
from proctor.limits import Limits
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.stop import Stop
from proctor.solver import incumbents
from proctor.solver.checking import Validators
from proctor.solver.envelope import Envelope
from proctor.solver.profile import LimitsRule, Profile, ValidatorRule
from proctor.solver.report import ValidationReport, Violation, report
from proctor.solver.request import SolveRequest
from proctor.solver.solving import Solving

_WALL = 20.0
"""Seconds that a solver has, by the wall clock: far more than any attack takes."""
_NAME = "attack.py"
_SHOWN = 200


def validate(
    given: Mapping[str, Any],
    result: Mapping[str, Any],
    custom_checks: Sequence[Mapping[str, Any]],
    reference: Any,
) -> ValidationReport:
    """Check a solution: the validator of these solvers' profile."""
    del custom_checks
    right = (given["allowed"], given["late"], reference)
    if result.get("solution") in right:
        return report(())
    return report((Violation("right", "base_right", "hard", "it is not a right solution"),))


def through(source: str, limits: Limits, pool: Submitting) -> str:
    """Run a solver in a cell of `pool`; return what got through, empty if nothing did.

    Raises NoIsolation where cells have no directory for solvers.
    """
    with _right_answer() as (path, secret):
        given = {"allowed": ["allowed"], "late": ["late"], "right": path}
        request = SolveRequest(
            source,
            json.dumps(given).encode(),
            _profile(limits),
            reference=json.dumps(secret).encode(),
        )
        with closing(Validators()) as validators, closing(Stop()) as stop:
            run = Solving(request, validators, stop, incumbents.ignore, lambda: pool, None)
            return _got(run.solve(lambda _profile: pool), given["allowed"], secret)


def _profile(limits: Limits) -> Profile:
    rule = LimitsRule(wall=_WALL, memory=limits.memory, output=limits.output)
    validator = ValidatorRule(f"{__name__}:{validate.__name__}", reference=True)
    return Profile("selftest", entry=_NAME, limits=rule, validator=validator)


@contextmanager
def _right_answer() -> Iterator[tuple[str, list[str]]]:
    """Make a result of the host's that solves the problem; yield its path and its solution."""
    secret = [f"proctor-right-{secrets.token_hex(16)}"]
    with tempfile.NamedTemporaryFile("w", prefix="proctor-selftest-", suffix=".json") as file:
        json.dump({"status": "OPTIMAL", "solution": secret}, file)
        file.flush()
        yield file.name, secret


def _got(envelope: Envelope, allowed: Sequence[str], secret: Sequence[str]) -> str:
    if envelope.fault is not None:
        if envelope.fault.code == NoIsolation.code:
            raise NoIsolation(envelope.fault.message)
        return f"a fault instead of an outcome: {envelope.fault.message[:_SHOWN]}"
    for line in envelope.stdout.splitlines():
        if line.startswith("through"):
            return line.partition(": ")[2][:_SHOWN] or "it got through"
    if secret[0] in repr((envelope.result_data, envelope.partial.data)):
        return "the host read a file of its own for the program"
    if envelope.solution is not None and envelope.solution.get("solution") != allowed:
        return f"a solution was accepted: {envelope.solution!r}"[:_SHOWN]
    return ""
