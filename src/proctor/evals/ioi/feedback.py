"""The published pipeline's words for the result of a test; other programs parse them.

A test's outcome there is a pair of texts: score and feedback.
"""

import re

from proctor.judgement import TestResult
from proctor.verdict import Verdict

COMPILE_ERROR = "Compilation error exit code"
MEMORY = "Memory limit exceeded"
TIME = "Time limit exceeded"
RUNTIME = "Runtime error with exit code"
RIGHT = "Output is correct (diff)"
WRONG = "Output isn't correct (diff)"
UNKNOWN = "Unknown error"

_PHRASES = (
    ("Compilation error", Verdict.CE),
    (MEMORY, Verdict.MLE),
    (TIME, Verdict.TLE),
    ("Output isn't correct", Verdict.WA),
)
_CRASHED = re.compile(rf"{RUNTIME}|{UNKNOWN}|Protocol violation", re.IGNORECASE)

_CODE = re.compile(r"exit code ([0-9]{1,9})\b")
_SIGNAL = re.compile(r"signal ([0-9]{1,9})\b")
_FIXED = {
    Verdict.MLE: MEMORY,
    Verdict.TLE: TIME,
    Verdict.ILE: TIME,
    # 128 and the number of SIGXFSZ, which a program gets when its file grows too large.
    Verdict.OLE: f"{RUNTIME} {128 + 25}",
}


def verdict_of(score: float, feedback: str) -> Verdict:
    """Read a verdict out of score and feedback, as the published pipeline does.

    The pipeline calls every other score of 0 RE; here RE needs its own words for a crash, or no
    feedback at all. A checker's message on a wrong answer is WA.
    """
    if score >= 1.0:
        return Verdict.AC
    if score > 0.0:
        return Verdict.PA
    for phrase, verdict in _PHRASES:
        if phrase in feedback:
            return verdict
    return Verdict.RE if _CRASHED.search(feedback) or not feedback.strip() else Verdict.WA


def words(test: TestResult, *, compared: bool, compiler_output: str = "") -> str:
    """Return the published words for a test's result.

    `compared` is whether outputs are compared without a checker. Raises ValueError for a fault,
    which has no published words.
    """
    if compared and test.verdict in {Verdict.AC, Verdict.WA}:
        return RIGHT if test.verdict.passed else WRONG
    if test.verdict in {Verdict.AC, Verdict.PA, Verdict.WA, Verdict.PE}:
        return test.message
    if test.verdict in _FIXED:
        return _FIXED[test.verdict]
    if test.verdict is Verdict.CE:
        return f"{COMPILE_ERROR} 1\n{compiler_output}"
    if test.verdict is Verdict.RE:
        return f"{RUNTIME} {exit_code(test.message)}"
    raise ValueError(f"no words for {test.verdict}")


def exit_code(message: str) -> int:
    """Return the exit code, as a shell has it, from a message on a crash; 1 if it names none."""
    if found := _SIGNAL.search(message):
        return 128 + int(found[1])
    if found := _CODE.search(message):
        return int(found[1])
    return 1
