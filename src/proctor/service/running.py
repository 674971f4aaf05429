"""The outcomes of running one program, in the words that clients of the service know."""

from proctor.execution import LimitHit
from proctor.languages import registry
from proctor.languages.run import PYTHON, Compilation, Ran, Runner, RunRequest

__all__ = [
    "PYTHON", "Compilation", "Ran", "RunRequest", "Runner", "checked_language", "verdict_by",
    "verdict_of",
]  # fmt: skip
_VERDICTS = {
    LimitHit.CPU: "TLE", LimitHit.WALL: "ILE", LimitHit.IDLE: "ILE", LimitHit.MEMORY: "MLE",
    LimitHit.OUTPUT: "OLE", LimitHit.DISK: "OLE", LimitHit.PROCESSES: "RE",
}  # fmt: skip


def verdict_of(ran: Ran) -> str:
    """Say how a run ended: OK, CE, RE, TLE, ILE, MLE or OLE."""
    if ran.execution is None:
        return "CE"
    return verdict_by(ran.execution.limit, ok=ran.execution.ok)


def verdict_by(limit: LimitHit | None, *, ok: bool) -> str:
    """Say how something that was run ended: by a limit, else well or not."""
    if limit is not None:
        return _VERDICTS[limit]
    return "OK" if ok else "RE"


def checked_language(name: str) -> str:
    """Return the id of a language, by id or alias. Raises InputError if there is none."""
    return PYTHON if name == PYTHON else registry.get(name).id
