"""Verdicts on runs that nothing judges: OK, CE, RE, TLE, ILE, MLE or OLE."""

from proctor.execution import LimitHit
from proctor.judging.standard import OVERRUN
from proctor.languages.run import Ran


def verdict_of(ran: Ran) -> str:
    """Return the verdict on a run: CE if it does not compile, else that of verdict_by."""
    if ran.execution is None:
        return "CE"
    return verdict_by(ran.execution.limit, ok=ran.execution.ok)


def verdict_by(limit: LimitHit | None, *, ok: bool) -> str:
    """Return the verdict for the limit that a run hit; without one, OK if `ok`, else RE."""
    if limit is not None:
        return OVERRUN[limit][0].value
    return "OK" if ok else "RE"
