"""The envelope in the form of Tack's execution host: its fields and words beside proctor's.

Tack knows phases compile, run and parse, and statuses optimal, feasible, infeasible, unknown,
timeout and crashed; over HTTP also timeout_with_solution.
"""

from typing import Any

import msgspec

from proctor.solver.envelope import Envelope, Partial, Phase

_PHASES: dict[Phase, str] = {
    "prepare": "parse", "compile": "compile", "sandbox": "run", "run": "run", "parse": "parse",
}  # fmt: skip
_LINES = 40
"""Lines of a stream that are answered over HTTP."""
TIMED_OUT = "Python execution timed out."
NO_CODE = "Missing python code."
TIMEOUT = 360.0
"""Wall seconds where neither request nor environment names a timeout."""


def fields(envelope: Envelope) -> dict[str, Any]:
    """Return the envelope as the daemon and the command answer it, in JSON's own types.

    Where `ok`, the answer is in `resultData`, though it be from before the end; a result that is
    rejected stands there too, as Tack has it, with `accepted` false.
    """
    empty = envelope.phase == "compile" and envelope.status_detail == "empty"
    found: dict[str, Any] = msgspec.to_builtins(envelope)
    found |= {
        "phase": "parse" if empty else _PHASES[envelope.phase],
        "status": "crashed" if envelope.status == "cancelled" else envelope.status,
        "errorDigest": "" if envelope.ok else envelope.error_digest,
    }
    if envelope.ok and envelope.answer is not None:
        found |= {
            "resultData": envelope.answer.data, "validation": msgspec.to_builtins(envelope.report),
        }  # fmt: skip
    return found


def over_http(envelope: Envelope) -> dict[str, Any] | None:
    """Return the `result` of python-execute; None for a time-out without a solution."""
    if envelope.status == "timeout" and not envelope.ok:
        return None
    found = fields(envelope)
    for stream in ("stdout", "stderr"):
        lines = found[stream].splitlines()
        if len(lines) > _LINES:
            more = f"...[truncated {len(lines) - _LINES} lines]"
            found[stream] = "\n".join([*lines[:_LINES], more])
    if envelope.status == "timeout":
        proved = _is_proved(envelope.partial)
        found["status"] = "optimal" if proved else "timeout_with_solution"
    return found


def crashed(digest: str) -> dict[str, Any]:
    """Return the answer to a request that cannot be used."""
    return fields(Envelope("", "", "parse", "crashed", ok=False, error_digest=digest))


def _is_proved(partial: Partial) -> bool:
    """Return whether a solution claims to be optimal and its bound does not contradict that."""
    data = partial.data
    claimed = isinstance(data, dict) and str(data.get("status")).upper() == "OPTIMAL"
    return claimed and partial.bound in {None, partial.objective}
