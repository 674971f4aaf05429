"""One program from gate to envelope."""

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from proctor.errors import Cancelled, InfraFault, InputError, PlatformError, ProctorError
from proctor.execution import Execution, Isolation, LimitHit
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox import workplace
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.stop import Stop
from proctor.sandbox.workplace import Job, Worked
from proctor.solver import checking, claim, gate, request, strict_json
from proctor.solver.checking import Checked, Checker
from proctor.solver.claim import Claim, Unreadable
from proctor.solver.envelope import (
    NOTHING,
    Artifact,
    Envelope,
    Fault,
    Partial,
    Phase,
    Truncated,
    Usage,
)
from proctor.solver.incumbents import Hear, Incumbents, best
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from proctor.solver.resources import modules, roundtrip

_DEEPEST_INPUT = 256
_NONE = re.compile(r"(?!)")
Opening = Callable[[Profile], Submitting]
"""Returns a pool for programs of a profile. Raises PlatformError."""


class Ended(Exception):
    """A run that ends before there is a result to look at."""

    def __init__(self, phase: Phase, detail: str, digest: str) -> None:
        self.phase, self.detail, self.digest = phase, detail, digest
        super().__init__(digest)


@dataclass(slots=True)
class Solving:
    """One run; solve() does it."""

    asked: SolveRequest
    checker: Checker
    stop: Stop
    hear: Hear
    began: float = field(default_factory=time.monotonic)
    warnings: list[str] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    """Fields of the envelope that are known whatever happens from now on."""
    disk: int = 0
    """Bytes that the program is given; a container is started for so much."""
    worked: Worked | None = None
    """For the host to keep files of."""

    @property
    def profile(self) -> Profile:
        """The profile that is asked for."""
        return self.asked.profile

    def solve(self, open_pool: Opening) -> Envelope:
        """Do all of it; what can go wrong is in the envelope."""
        job_id = self.asked.job_id or f"job_{secrets.token_hex(8)}"
        self.known |= {"job_id": job_id, "profile": self.profile.name}
        try:
            envelope = self._solve(open_pool)
        except Ended as ended:
            envelope = self._crashed(ended.phase, ended.detail, ended.digest)
        except Cancelled as error:
            envelope = self._envelope("run", "cancelled", digest=str(error))
        except InputError as error:
            envelope = self._crashed("prepare", "invalid_input", str(error))
        except ProctorError as error:
            envelope = self._fault(error)
        took = round((time.monotonic() - self.began) * 1000)
        return msgspec.structs.replace(
            envelope, duration_ms=took, warnings=tuple(dict.fromkeys(self.warnings))
        )

    def _solve(self, open_pool: Opening) -> Envelope:
        checking.need_schemas(self.profile)
        steps, threads = request.ladder(self.asked), request.workers(self.asked)
        limits = request.limits(self.asked, steps, threads)
        self.disk = limits.disk
        proof = roundtrip(self.profile) if self.asked.roundtrip else None
        self.known |= {"solver_workers": threads, "limits": _limits(steps, limits)}
        given = self._given()
        code = gate.size(self.asked.code, self.profile)
        if isinstance(code, gate.Gated):
            raise Ended("compile", code.detail, code.error or "")
        pool = open_pool(self.profile)
        incumbents = Incumbents(self.profile, self.hear)
        job = self._job(code, steps, threads)
        self.worked = worked = self._run(job, limits, pool, incumbents)
        gated = gate.of(worked)
        if not gated.ok:
            raise Ended("compile", gated.detail, gated.error or "")
        self.warnings += gate.advice(gated, self.profile)
        self._note(worked, incumbents)
        envelope = self._judge(worked, given, pool)
        if proof is None or not envelope.accepted:
            return envelope
        return self._proved(
            envelope, replace(job, interim=_NONE, collect=None, compiled=False), proof, limits, pool
        )

    def _given(self) -> Any:
        """Read the input. Raises Ended, InfraFault."""
        rule = self.profile.input
        if len(self.asked.given) > rule.max_bytes:
            size = len(self.asked.given)
            raise Ended(
                "prepare", "invalid_input",
                f"the input has {size} bytes, more than {rule.max_bytes}",
            )  # fmt: skip
        try:
            given = strict_json.decode(self.asked.given, _DEEPEST_INPUT)
        except ValueError as error:
            raise Ended("prepare", "invalid_input", f"the input is not JSON: {error}") from error
        problems = self.checker.given(given, self.profile)
        if problems:
            raise Ended("prepare", "invalid_input", "the input: " + "; ".join(problems))
        return given

    def _job(self, code: bytes, steps: request.Ladder, threads: int) -> Job:
        profile = self.profile
        return Job(
            Program(
                code.decode(),
                name=profile.entry,
                files={profile.input.file: self.asked.given, **modules(profile)},
            ),
            result=profile.result.file,
            interim=re.compile(profile.incumbents.files),
            environment=request.environment(self.asked, steps, threads),
            collect=re.compile(profile.artifacts.files) if profile.artifacts.files else None,
            most=profile.result.max_bytes,
            compiled=True,
            grace=steps.grace,
        )

    def _run(self, job: Job, limits: Limits, pool: Submitting, incumbents: Incumbents) -> Worked:
        """Run the program. Raises Cancelled, InfraFault, NoIsolation."""
        asked = time.monotonic()

        def run(cell: Any, _queued: float) -> Worked:
            self.known["usage"] = Usage(queue_ms=round((time.monotonic() - asked) * 1000))
            if self.stop.wanted:
                raise Cancelled("the job was cancelled before it began")
            worked: Worked = cell.work(job, limits, self.stop, incumbents.heard)
            return worked

        return pool.submit(run).result()

    def _note(self, worked: Worked, incumbents: Incumbents) -> None:
        """Take down the facts."""
        done = worked.execution
        stdout, stdout_left = claim.shown(done.stdout)
        stderr, stderr_left = claim.shown(done.stderr)
        usage: Usage = self.known["usage"]
        self.known |= {
            "stdout": stdout, "stderr": stderr, "truncated": Truncated(stdout_left, stderr_left),
            "exit_code": done.exit_code, "signal": done.signal,
            "oom": done.limit is LimitHit.MEMORY,
            "marker_count": claim.markers(done.stdout, self.profile.marker),
            "incumbents": incumbents.events,
            "usage": Usage(
                wall_ms=round(done.wall * 1000), cpu_ms=round(done.cpu * 1000),
                peak_memory_mb=round(done.memory / MIB, 1), queue_ms=usage.queue_ms,
            ),
            **_isolation(done.isolation),
            "artifacts": tuple(self._artifacts(worked)),
        }  # fmt: skip
        if incumbents.left_out:
            self.warnings.append(f"{incumbents.left_out} more incumbents are not listed")

    def _artifacts(self, worked: Worked) -> list[Artifact]:
        rule, total = self.profile.artifacts, 0
        found: list[Artifact] = []
        for each in worked.collected:
            total += len(each.data)
            if len(found) == rule.max_files or total > rule.max_bytes:
                self.warnings.append("not all artifacts were kept")
                break
            digest = hashlib.sha256(each.data).hexdigest()
            found.append(Artifact(each.name, len(each.data), digest))
        return found

    def _judge(self, worked: Worked, given: Any, pool: Submitting) -> Envelope:
        """Say what a run came to: the first of these that holds."""
        done = worked.execution

        def check(found: Claim) -> Checked:
            custom = checking.predicates(given, found.data, self.profile, pool, self.disk)
            return self.checker.result(given, found.data, self.profile, custom)

        def partial() -> Partial:
            return best(worked.interim, done.wall, self.profile, check)

        if worked.stopped:
            return self._envelope("run", "cancelled", "cancelled", "the job was cancelled",
                                  partial=partial())  # fmt: skip
        if done.limit in {LimitHit.WALL, LimitHit.IDLE, LimitHit.CPU}:
            return self._timeout(partial())
        crash = _crash(done)
        if crash is not None:
            return self._crashed("run", *crash, partial=partial())
        count, rule = self.known["marker_count"], self.profile.marker
        if rule.text and count > rule.max:
            times = "more than once" if rule.max == 1 else f"{count} times"
            return self._crashed(
                "parse", "marker_count",
                f"Invalid marker count: {rule.text} appears {times}.", partial=partial(),
            )  # fmt: skip
        read = claim.read(worked.result, worked.complaint, self.profile)
        if isinstance(read, Unreadable):
            return self._crashed("parse", read.detail, read.why, partial=partial())
        return self._claimed(read, check, count)

    def _timeout(self, partial: Partial) -> Envelope:
        seconds = self.known["limits"]["wallSeconds"]
        detail = "with_solution" if partial.valid else "without_solution"
        return self._envelope(
            "run", "timeout", detail, f"Execution timed out after {seconds:g}s",
            ok=partial.valid, accepted=_accepted(partial), partial=partial,
        )  # fmt: skip

    def _claimed(self, read: Claim, check: Any, count: int) -> Envelope:
        """Believe of a claim what the validator does."""
        more: dict[str, Any] = {
            "claimed_status": read.word, "result_data": read.data,
            "result_summary": claim.summary(read.data),
        }  # fmt: skip
        if not read.solved:
            if count and self.profile.marker.text:
                self.warnings.append(f"{self.profile.marker.text} without a solution")
            detail = "empty_solution" if read.empty else (read.word or "no_status").lower()[:40]
            stderr: bytes = self.worked.execution.stderr if self.worked is not None else b""
            return self._envelope("run", read.status, detail, claim.digest(stderr), **more)
        rule = self.profile.marker
        if rule.text and rule.require and not count:
            return self._crashed("parse", "marker_missing", f"{rule.text} was not printed.")
        checked = check(read)
        if checked.problems:
            why = f"{self.profile.result.file}: {'; '.join(checked.problems)}"
            return self._crashed("parse", "result_schema", why)
        if checked.failed:
            self.warnings.append(f"the validator has no answer: {checked.failed[:500]}")
        status = self._believed(read, checked)
        report = checked.report
        digest = ""
        if report is not None and not report.ok:
            first = [each.message for each in report.hard_violations[:5]]
            digest = "\n".join([*first, *report.unchecked_notes[:5]])[:800]
        return self._envelope(
            "run", status, "" if not digest else "invalid", digest, ok=True,
            accepted=report is not None and report.ok, validation=report, **more,
        )  # fmt: skip

    def _believed(self, read: Claim, checked: Checked) -> Any:
        """Return the status that a claim deserves, with a warning if it is a lesser one."""
        tolerance, doubts = self.profile.objective.tolerance, []
        known = checked.report.objective if checked.report is not None else None
        objective = read.objective
        if self.profile.objective.recompute and known is not None:
            if objective is not None and abs(objective - known) > tolerance:
                doubts.append(f"it claims objective {objective:g}, which is {known:g}")
            objective = known
        if objective is not None and read.bound is not None:
            gap = objective - read.bound
            if read.status == "optimal" and abs(gap) > tolerance:
                doubts.append(f"it claims to be optimal at {objective:g} with bound {read.bound:g}")
        if checked.report is not None and not checked.report.ok:
            doubts.append("it breaks hard constraints, or some could not be checked")
        self.warnings += doubts
        doubted = doubts or checked.failed  # a result can be made such that checking has no end
        return "feasible" if doubted and read.status == "optimal" else read.status

    def _proved(
        self, envelope: Envelope, job: Job, proof: str, limits: Limits, pool: Submitting
    ) -> Envelope:
        """Have the profile's own model agree, all of the solution fixed. Raises InfraFault."""
        found = envelope.result_data if envelope.partial is NOTHING else envelope.partial.data
        files = {**job.program.files, "claimed.json": msgspec.json.encode(found)}
        job = replace(job, program=Program(proof, name=job.program.name, files=files))
        worked: Worked = pool.submit(
            lambda cell, _queued: cell.work(job, limits, self.stop, workplace.ignore)
        ).result()
        read = claim.read(worked.result, worked.complaint, self.profile)
        agrees = worked.execution.ok and isinstance(read, Claim) and read.solved
        if not agrees:
            said = claim.digest(worked.execution.stderr) or "it finds no solution"
            self.warnings.append(f"the profile's own model does not agree: {said}")
        return msgspec.structs.replace(
            envelope, roundtrip=agrees, accepted=envelope.accepted and agrees
        )

    def _crashed(self, phase: Phase, detail: str, digest: str, **more: Any) -> Envelope:
        return self._envelope(phase, "crashed", detail, digest, **more)

    def _fault(self, error: ProctorError) -> Envelope:
        sandbox = isinstance(error, PlatformError)
        if not sandbox and not isinstance(error, InfraFault):
            raise error
        detail = "sandbox_unavailable" if sandbox else "infra_fault"
        fault = Fault(error.code, str(error))
        phase: Phase = "sandbox" if sandbox else "run"
        return self._crashed(phase, detail, str(error), fault=fault)

    def _envelope(
        self, phase: Phase, status: Any, detail: str = "", digest: str = "", **more: Any
    ) -> Envelope:
        fields = {"ok": False, **self.known, **more}
        return Envelope(
            phase=phase, status=status, status_detail=detail, error_digest=digest, **fields
        )


def _accepted(partial: Partial) -> bool:
    return partial.valid and partial.validation is not None


def _crash(done: Execution) -> tuple[str, str] | None:
    """Return a word and a digest for a program that did not end well by itself."""
    said = claim.digest(done.stderr, done.stdout)
    if done.limit is LimitHit.MEMORY:
        return "oom", said or "the program used more memory than it may"
    if done.limit is not None:
        return str(done.limit), f"the program reached its limit on {done.limit}"
    if done.signal is not None:
        return "signal", said or f"the program was ended by signal {done.signal}"
    if done.exit_code:
        return "exit_code", said or f"the program ended with exit code {done.exit_code}"
    return None


def _limits(steps: request.Ladder, limits: Limits) -> dict[str, float]:
    return {
        "innerSeconds": steps.inner,
        "wallSeconds": steps.wall,
        "graceSeconds": steps.grace,
        "transportSeconds": steps.transport,
        "memoryBytes": limits.memory,
        "diskBytes": limits.disk,
        "outputBytes": limits.output,
        "processes": limits.processes,
    }


def _isolation(held: Isolation) -> dict[str, Any]:
    guarantees = {name: str(each) for name, each in held.guarantees.items()}
    return {"isolation": held.level, "guarantees": guarantees}
