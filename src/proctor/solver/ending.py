"""How a run ended, and what of its last word is believed."""

from dataclasses import dataclass

from proctor.execution import Execution, LimitHit
from proctor.sandbox.directory_job import DirectoryResult
from proctor.solver import digest
from proctor.solver.checking import Checked
from proctor.solver.claim import Claim
from proctor.solver.envelope import Ending, Phase
from proctor.solver.profile import Profile
from proctor.solver.validation.report import Report


@dataclass(frozen=True, slots=True)
class Lost:
    """An end after which a run's last word counts for nothing; fields as in the envelope."""

    phase: Phase
    status: Ending
    detail: str
    digest: str


@dataclass(frozen=True, slots=True)
class Believed:
    """What is believed of a run that ended well; fields as in the envelope."""

    status: Ending
    detail: str
    digest: str
    ok: bool = False
    accepted: bool = False
    report: Report | None = None
    doubts: tuple[str, ...] = ()


def lost(worked: DirectoryResult, profile: Profile, markers: int, wall: float) -> Lost | None:
    """Return how a run ended if not well, by the first of these that holds; `wall`: its limit."""
    done, rule = worked.execution, profile.marker
    if worked.stopped:
        return Lost("run", "cancelled", "cancelled", "the job was cancelled")
    if done.limit in {LimitHit.WALL, LimitHit.IDLE, LimitHit.CPU}:
        return Lost("run", "timeout", "", f"Execution timed out after {wall:g}s")
    crash = _crash(done, digest.of_program(done.stderr, done.stdout, profile.entry, rule.text))
    if crash is not None:
        return Lost("run", "crashed", *crash)
    if rule.text and markers > rule.max:
        times = "more than once" if rule.max == 1 else f"{markers} times"
        why = f"Invalid marker count: {rule.text} appears {times}."
        return Lost("parse", "crashed", "marker_count", why)
    return None


def _crash(done: Execution, said: str) -> tuple[str, str] | None:
    """Return a word and a digest for a program that did not end well by itself."""
    if done.limit is LimitHit.MEMORY:
        return "oom", said or "the program used more memory than it may"
    if done.limit is not None:
        return str(done.limit), f"the program reached its limit on {done.limit}"
    if done.signal is not None:
        return "signal", said or f"the program was ended by signal {done.signal}"
    if done.exit_code:
        return "exit_code", said or f"the program ended with exit code {done.exit_code}"
    return None


def refused(checked: Checked, profile: Profile, markers: int) -> Lost | None:
    """Return why a claimed solution is none, whatever it is worth."""
    rule = profile.marker
    if rule.text and rule.require and not markers:
        return Lost("parse", "crashed", "marker_missing", f"{rule.text} was not printed.")
    if checked.problems:
        why = f"{profile.result.file}: {'; '.join(checked.problems)}"
        return Lost("parse", "crashed", "result_schema", why)
    return None


def believed(read: Claim, checked: Checked | None, done: Execution, profile: Profile) -> Believed:
    """Return what a last word comes to; `checked`: what is known of it, if it is a solution."""
    if checked is None:
        said = f"status {read.word[:80]!r}" if read.word is not None else "no status"
        program = digest.of_program(done.stderr, b"", profile.entry)
        why = f"{profile.result.file} has {said}\n{program}".rstrip()[: digest.MOST]
        return Believed(read.status, (read.word or "no_status").lower()[:40], why)
    report = checked.report
    if report is None:
        return _unchecked(read, checked, profile)
    why = digest.of_report(report)
    if read.empty and not report.ok:
        return Believed(profile.status.empty, "empty_solution", why, report=report)
    doubts = _doubts(read, report, profile)
    status = "feasible" if doubts else read.status
    detail = "" if report.ok else "invalid"
    return Believed(status, detail, why, True, report.ok, report, doubts)


def _unchecked(read: Claim, checked: Checked, profile: Profile) -> Believed:
    """Return what a solution comes to that no validator has said anything of."""
    failed = checked.failed or checked.refused
    if not failed:
        why = f"profile {profile.id} names no validator: nothing was checked"
        if read.empty:
            return Believed("unknown", "empty_solution", why)
        doubts = _doubts(read, None, profile)
        status = "feasible" if doubts else read.status
        return Believed(status, "unchecked", why, ok=True, doubts=doubts)
    why = f"the validator has no answer: {failed[:500]}"
    if read.empty:
        return Believed("unknown", "empty_solution", why, doubts=(why,))
    # A result can be made such that checking it has no end.
    return Believed("feasible", "unchecked", why, ok=True, doubts=(why,))


def _doubts(read: Claim, report: Report | None, profile: Profile) -> tuple[str, ...]:
    """Return what speaks against a claim: it then deserves a lesser status."""
    rule, objective, doubts = profile.objective, read.objective, []
    known = report.objective if report is not None and rule.recompute else None
    if known is not None:
        if objective is not None and abs(objective - known) > rule.tolerance:
            doubts.append(f"it claims objective {objective:g}, which is {known:g}")
        objective = known
    if objective is not None and read.bound is not None:
        gap = abs(objective - read.bound)
        if read.status == "optimal" and gap > rule.tolerance:
            doubts.append(f"it claims to be optimal at {objective:g} with bound {read.bound:g}")
    if report is not None and not report.ok:
        doubts.append("it breaks hard constraints, or some could not be checked")
    return tuple(doubts)
