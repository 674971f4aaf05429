"""How checkers, validators, interactors and managers are called, and what their answers mean.

Sources: testlib.h (exit codes), the CMS documentation (score on stdout, message on stderr), the
Kattis problem package format, versions legacy and 2023-07 (exit codes 42 and 43, the feedback
directory), the judges of HUSTOJ and QDUOJ, and the way open-r1's codeforces checkers are called.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from proctor.execution import Execution
from proctor.grading import Convention
from proctor.verdict import Verdict

# testlib.h: ok, wa, pe, dirt (more output than expected), unexpected end; 3 is a checker's failure.
_TESTLIB_VERDICTS = {
    0: Verdict.AC, 1: Verdict.WA, 2: Verdict.PE, 4: Verdict.PE, 8: Verdict.PE,
}  # fmt: skip
_HUSTOJ_VERDICTS: dict[int | None, Verdict] = {0: Verdict.AC, 2: Verdict.PE}
_TESTLIB_POINTS, _TESTLIB_PARTIAL = 7, 50
_BROKE_DOWN = {101: b"panicked at", 120: b"Exception ignored "}
"""Exit codes, by which testlib.h gives a part of the points, of programs in Rust that panic and in
Python that lost output, and what these runtimes then write to stderr."""
_KATTIS_AC, _KATTIS_WA = 42, 43
_SHOWN = 2000
_SCORE = re.compile(r"[+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_POINTS = re.compile(r"points\s+(\S+)")
FEEDBACK = "feedback"
"""Name of the Kattis feedback directory in a validator's working directory."""
COLLECTED = (
    f"{FEEDBACK}/score*.txt", f"{FEEDBACK}/nextpass.in", f"{FEEDBACK}/**", f"{FEEDBACK}/.*",
)  # fmt: skip
"""Files brought back from it: first those that decide, for which there is always room."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A checker's judgement of one output."""

    verdict: Verdict
    """AC, PA, WA, PE; TASK_FAULT if it failed at its own work."""
    score: float
    message: str = ""
    """Message to the author of the submission."""
    log: str = ""
    """Message to the author of the problem."""


def opinion(
    convention: Convention,
    execution: Execution,
    files: Mapping[str, bytes],
    *,
    stderr_scores: bool = False,
    full: float = 1.0,
    who: str = "checker",
) -> Opinion:
    """Return the opinion of a checker that has ended. `files` are its feedback directory's.

    `stderr_scores` is for SCORE: True if the score is the first line of stderr, since an
    interactor's stdout goes to the submission. `full` is for KATTIS and TESTLIB: the number that
    means full marks. `who` is what messages call the program.
    """
    found = _opinion(convention, execution, files, full, stderr_scores=stderr_scores)
    if found.verdict is not Verdict.TASK_FAULT:
        return found  # its message is the program's own
    return replace(found, message=found.message.replace("the checker", f"the {who}", 1))


def _opinion(  # noqa: PLR0911 - one for each convention
    convention: Convention,
    execution: Execution,
    files: Mapping[str, bytes],
    full: float,
    *,
    stderr_scores: bool,
) -> Opinion:
    if execution.limit is not None:
        return fault(f"the checker exceeded its {execution.limit.value} limit", execution)
    if execution.signal is not None:
        return fault(f"the checker was ended by signal {execution.signal}", execution)
    match convention:
        case Convention.TESTLIB:
            return _testlib(execution, full)
        case Convention.HUSTOJ:
            verdict = _HUSTOJ_VERDICTS.get(execution.exit_code, Verdict.WA)
            return Opinion(verdict, float(verdict.passed), _text(execution.stderr))
        case Convention.EXIT_CODE | Convention.QDUOJ:
            if execution.exit_code not in {0, 1}:
                return fault(f"the checker ended with exit code {execution.exit_code}", execution)
            return _testlib(execution, full)
        case Convention.KATTIS:
            return _kattis(execution, files, full)
        case Convention.PRINTED:
            return _printed(execution)
        case Convention.SCORE | Convention.TESTLIB_SCORE:
            return _scored(execution, on_stderr=stderr_scores)


def fault(message: str, execution: Execution) -> Opinion:
    """Return the TASK_FAULT of a checker that failed, with its output as the log."""
    said = _text(execution.stdout) + _text(execution.stderr)
    return Opinion(Verdict.TASK_FAULT, 0.0, message, said)


def _testlib(execution: Execution, full: float) -> Opinion:
    message = _text(execution.stderr)
    code = execution.exit_code
    if code is not None and code in _TESTLIB_VERDICTS:
        verdict = _TESTLIB_VERDICTS[code]
        return Opinion(verdict, float(verdict.passed), message)
    if code == _TESTLIB_POINTS:
        found = _POINTS.match(message)
        score = _number(found[1]) if found else None
        if score is None or score > full:
            given = f"points {found[1][:40]}" if found else "no points"
            what = f"the checker gives {given}, and must give a number from 0 to {full:g}"
            return fault(what, execution)
        return _graded(score / full, message)
    broke_down = code in _BROKE_DOWN and _BROKE_DOWN[code] in execution.stderr
    if code is not None and _TESTLIB_PARTIAL <= code <= _TESTLIB_PARTIAL + 100 and not broke_down:
        return _graded((code - _TESTLIB_PARTIAL) / 100, message)
    return fault(f"the checker ended with exit code {code}", execution)


def _kattis(execution: Execution, files: Mapping[str, bytes], full: float) -> Opinion:
    message = _text(files.get(f"{FEEDBACK}/teammessage.txt", b""))
    log = _text(files.get(f"{FEEDBACK}/judgemessage.txt", b""))
    code = execution.exit_code
    if code not in {_KATTIS_AC, _KATTIS_WA}:
        found = fault(f"the validator ended with exit code {code}, neither 42 nor 43", execution)
        return Opinion(found.verdict, 0.0, found.message, log + found.log)
    if code == _KATTIS_WA:
        return Opinion(Verdict.WA, 0.0, message, log)
    for name, most in (("score.txt", full), ("score_multiplier.txt", 1.0)):
        given = files.get(f"{FEEDBACK}/{name}")
        if given is None:
            continue
        score = _number(_text(given))
        if score is None or score > most:
            shown = _text(given).strip()[:40]
            message = f"the validator's {name} holds {shown!r}, no number from 0 to {most:g}"
            return fault(message, execution)
        return _graded(score / most, message, log)
    return Opinion(Verdict.AC, 1.0, message, log)


def _printed(execution: Execution) -> Opinion:
    if execution.exit_code != 0:
        return fault(f"the checker ended with exit code {execution.exit_code}", execution)
    words = execution.stdout.split()
    score = _number(_text(words[0])) if words else None
    if score is None or score > 100:
        return fault("the checker printed no number from 0 to 100", execution)
    return _graded(score / 100 if score > 1 else score, _text(execution.stderr))


def _scored(execution: Execution, *, on_stderr: bool) -> Opinion:
    if execution.exit_code != 0:
        return fault(f"the checker ended with exit code {execution.exit_code}", execution)
    first, second = _text(execution.stdout), _text(execution.stderr)
    if on_stderr:
        first, _, second = second.partition("\n")
    score = _number(first.strip().split("\n")[0].strip())
    if score is None or score > 1:
        return fault("the checker printed no score from 0 to 1", execution)
    return _graded(score, second.strip())


def _graded(score: float, message: str, log: str = "") -> Opinion:
    if score >= 1:
        return Opinion(Verdict.AC, 1.0, message, log)
    return Opinion(Verdict.PA if score > 0 else Verdict.WA, score, message, log)


def _number(text: str) -> float | None:
    """Parse a decimal number from 0 on; None for anything else, nan and inf included."""
    return float(text) if len(text) < 100 and _SCORE.fullmatch(text) else None


def _text(data: bytes) -> str:
    return data[:_SHOWN].decode("utf-8", "replace").strip()
