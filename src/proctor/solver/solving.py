"""One run of a generated solver, from the request to the envelope."""

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import Cancelled, InfraFault, InputError, PlatformError, ProctorError
from proctor.execution import LimitHit
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox import directory_job
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.directory_job import DirectoryJob, DirectoryResult, FoundFile
from proctor.sandbox.stop import Stop
from proctor.solver import checking, claim, digest, gate, profile, request, returned
from proctor.solver.checking import CheckResult, Validators
from proctor.solver.claim import ClaimedResult, UnreadableResult
from proctor.solver.envelope import (
    NOTHING,
    Artifact,
    Conclusion,
    Envelope,
    Fault,
    Incumbent,
    Partial,
    SolveRefused,
    Truncated,
    Usage,
)
from proctor.solver.incumbents import BestSolution, Incumbents, OnIncumbent
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest, TimeLimits
from proctor.solver.store import ResultStore

_NO_FILE = re.compile(r"(?!)")
OpenPool = Callable[[Profile], Submitting]
"""Returns a pool for programs of a profile. Raises PlatformError."""


@dataclass(frozen=True, slots=True)
class SolveFacts:
    """Facts about a run, however it ends; fields as in the envelope."""

    solver_workers: int = 0
    limits: dict[str, float] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    stdout: str = ""
    stderr: str = ""
    truncated: Truncated = field(default_factory=Truncated)
    marker_count: int = 0
    exit_code: int | None = None
    signal: int | None = None
    oom: bool = False
    isolation: str | None = None
    guarantees: dict[str, str] = field(default_factory=dict)
    incumbents: tuple[Incumbent, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    claimed_status: str | None = None
    result_data: Any = None


@dataclass(slots=True)
class Solving:
    """One run of a solver, carried out by solve()."""

    request: SolveRequest
    validators: Validators
    stop: Stop
    on_incumbent: OnIncumbent
    open_predicates: Callable[[], Submitting]
    """Returns a pool for predicates, which are run while the program runs."""
    store: ResultStore | None
    began: float = field(default_factory=time.monotonic)
    warnings: list[str] = field(default_factory=list)
    facts: SolveFacts = field(default_factory=SolveFacts)
    disk: int = 0
    """Bytes of the program's working directory, the size that a container is started with."""
    path: Path | None = None
    """Path under which the result is kept."""
    best: BestSolution | None = None
    collected: tuple[FoundFile, ...] = ()
    """Further files that the program left."""

    @property
    def profile(self) -> Profile:
        """The profile of the request."""
        return self.request.profile

    def solve(self, open_pool: OpenPool) -> Envelope:
        """Run, check and store; the envelope reports whatever went wrong."""
        job_id = self.request.job_id or f"job_{secrets.token_hex(8)}"
        if self.store is not None:
            self.path = self.store.new(job_id)
        try:
            conclusion = self._solve(open_pool)
        except SolveRefused as refused:
            conclusion = replace(refused.conclusion, partial=self._found())
        except Cancelled as error:
            conclusion = Conclusion("run", "cancelled", "", str(error), partial=self._found())
        except InputError as error:
            conclusion = Conclusion("prepare", "crashed", "invalid_input", str(error))
        except ProctorError as error:
            conclusion = self._fault(error)
        envelope = self._envelope(job_id, conclusion)
        summary = self._summary(envelope)
        path = self._keep_result(envelope)
        took = round((time.monotonic() - self.began) * 1000)
        return msgspec.structs.replace(
            envelope, result_summary=summary, result_path=path, duration_ms=took,
            warnings=tuple(dict.fromkeys(self.warnings)),
        )  # fmt: skip

    def _solve(self, open_pool: OpenPool) -> Conclusion:
        checking.need_schemas(self.profile)
        times, threads = request.time_limits(self.request), request.workers(self.request)
        limits = request.limits(self.request, times, threads)
        self.disk = limits.disk
        proof = profile.roundtrip(self.profile) if self.request.roundtrip else None
        self.facts = SolveFacts(solver_workers=threads, limits=request.in_force(times, limits))
        given, reference = request.decoded(self.request)
        self.validators.input(self.request.given, given, self.profile, reference)
        code = gate.encode(self.request.code, self.profile)
        if isinstance(code, gate.GateResult):
            raise SolveRefused("compile", code.detail, code.error or "")
        pool = open_pool(self.profile)
        self.best = best = BestSolution(
            self.profile, lambda read: self._check(given, read, reference), self._keep_best
        )
        incumbents = Incumbents(self.profile, self.on_incumbent, best)
        job = self._job(code, times, threads)
        worked = self._run(job, limits, pool, incumbents)
        best.end()
        gated = gate.of(worked)
        if not gated.ok:
            raise SolveRefused("compile", gated.detail, gated.error or "")
        self.warnings += gate.advice(gated, self.profile)
        self._note(worked, incumbents)
        conclusion = self._judge(worked, best, limits)
        if proof is None or not conclusion.accepted:
            return conclusion
        job = replace(job, interim=_NO_FILE, collect=None, compiled=False)
        return self._proved(conclusion, job, proof, limits, pool)

    def _check(self, given: Any, read: ClaimedResult, reference: Any) -> CheckResult:
        """Check a solution. Raises InfraFault, PlatformError."""
        custom = checking.predicates(
            given, read.data, self.profile, self.open_predicates, self.disk
        )
        return self.validators.result(given, read.data, self.profile, custom, reference)

    def _keep_best(self, best: Partial) -> None:
        """Store the best solution so far, so that it outlasts this process."""
        if self.store is not None and self.path is not None:
            try:
                self.store.put(self.path, msgspec.json.encode(best.data))
            except InputError as error:
                self.warnings.append(f"the result was not kept: {error}")

    def _keep_result(self, envelope: Envelope) -> str | None:
        """Store the result; return its path."""
        found = envelope.solution
        if envelope.answer is None:  # what was rejected is kept too, as the first hosts keep it
            found = envelope.partial.data if envelope.result_data is None else envelope.result_data
        if self.store is None or self.path is None or found is None:
            return None
        try:
            data = msgspec.json.encode(found)
            self.store.save(self.path, data, self.collected[: len(envelope.artifacts)])
        except InputError as error:
            self.warnings.append(f"the result was not kept: {error}")
            return None
        return str(self.path)

    def _summary(self, envelope: Envelope) -> dict[str, Any]:
        """Return the profile's summary of the answer, else of the result."""
        data = envelope.result_data if envelope.answer is None else envelope.solution
        if data is None:
            return {}
        found = self.validators.summary(data, self.profile)
        if why := found.failed or found.refused:
            self.warnings.append(f"the result has no summary: {why}")
        return found.summary

    def _job(self, code: bytes, times: TimeLimits, threads: int) -> DirectoryJob:
        known = self.profile
        return DirectoryJob(
            Program(
                returned.program(code.decode(), known),
                name=known.entry,
                files={known.input.file: self.request.given, **profile.modules(known)},
            ),
            result=known.result.file,
            interim=re.compile(known.incumbents.files),
            environment=request.environment(self.request, times, threads),
            collect=re.compile(known.artifacts.files) if known.artifacts.files else None,
            most=known.result.max_bytes,
            compiled=True,
            grace=times.grace,
        )

    def _run(
        self, job: DirectoryJob, limits: Limits, pool: Submitting, incumbents: Incumbents
    ) -> DirectoryResult:
        """Run the program. Raises Cancelled, InfraFault, NoIsolation."""
        submitted = time.monotonic()

        def run(cell: Any, _queued: float) -> DirectoryResult:
            queued = Usage(queue_ms=round((time.monotonic() - submitted) * 1000))
            self.facts = replace(self.facts, usage=queued)
            if self.stop.wanted:
                raise Cancelled("the job was cancelled before it began")
            worked: DirectoryResult = cell.run_in_directory(job, limits, self.stop, incumbents.add)
            return worked

        return pool.submit(run).result()

    def _note(self, worked: DirectoryResult, incumbents: Incumbents) -> None:
        """Record the facts of the run."""
        done, self.collected = worked.execution, worked.collected
        stdout, stdout_left = claim.shown(done.stdout)
        stderr, stderr_left = claim.shown(done.stderr)
        self.facts = replace(
            self.facts,
            stdout=stdout,
            stderr=stderr,
            truncated=Truncated(stdout_left, stderr_left),
            exit_code=done.exit_code,
            signal=done.signal,
            oom=done.limit is LimitHit.MEMORY,
            marker_count=claim.markers(done.stdout, self.profile.marker),
            incumbents=incumbents.events,
            usage=Usage(
                wall_ms=round(done.wall * 1000),
                cpu_ms=round(done.cpu * 1000),
                peak_memory_mb=round(done.memory / MIB, 1),
                queue_ms=self.facts.usage.queue_ms,
            ),
            isolation=done.isolation.level,
            guarantees={name: str(each) for name, each in done.isolation.guarantees.items()},
            artifacts=tuple(self._artifacts(worked)),
        )
        if incumbents.left_out:
            self.warnings.append(f"{incumbents.left_out} more incumbents are not listed")

    def _artifacts(self, worked: DirectoryResult) -> list[Artifact]:
        rule, total = self.profile.artifacts, 0
        found: list[Artifact] = []
        for each in worked.collected:
            total += len(each.data)
            if len(found) == rule.max_files or total > rule.max_bytes:
                self.warnings.append("not all artifacts were kept")
                break
            sha256 = hashlib.sha256(each.data).hexdigest()
            found.append(Artifact(each.name, len(each.data), sha256))
        return found

    def _judge(self, worked: DirectoryResult, best: BestSolution, limits: Limits) -> Conclusion:
        """Return the conclusion on a run, with the best solution from before its end."""
        known, wall, count = self.profile, worked.execution.wall, self.facts.marker_count
        failed = claim.failure(worked, known, count, limits)
        read, final = None, None
        if failed is None:
            data, complaint = returned.result(worked, known)
            read = claim.read(data, complaint, known)
            if isinstance(read, UnreadableResult):
                failed = Conclusion("parse", "crashed", read.detail, read.why)
            elif read.solved:
                assert data is not None
                final = best.final(data, read, wall)
                failed = claim.refusal(final.checked, known, count)
        best.settle()
        found = best.partial(wall)
        if failed is not None:
            return _with_best(failed, found)
        assert isinstance(read, ClaimedResult)
        self.facts = replace(self.facts, claimed_status=read.word, result_data=read.data)
        if final is None and count and known.marker.text:
            self.warnings.append(f"{known.marker.text} without a solution")
        checked = None if final is None else final.checked
        conclusion = claim.conclusion(read, checked, worked.execution, known)
        self.warnings += conclusion.doubts
        if final is not None and not best.beats(final):
            return conclusion
        if not _accepted(found):  # no validator has accepted it
            return replace(conclusion, partial=found)
        why = (
            f"status {read.word}" if final is None else "a solution that is worse, or does not hold"
        )
        self.warnings.append(f"the solution is {found.file}: {known.result.named} has {why}")
        return replace(
            conclusion, status="feasible", ok=True, accepted=True, detail="incumbent", partial=found
        )

    def _proved(
        self,
        conclusion: Conclusion,
        job: DirectoryJob,
        proof: str,
        limits: Limits,
        pool: Submitting,
    ) -> Conclusion:
        """Let the profile's own model confirm the solution. Raises InfraFault."""
        claimed = msgspec.json.encode(self._envelope("", conclusion).solution)
        files = {**job.program.files, "claimed.json": claimed}
        job = replace(job, program=Program(proof, name=job.program.name, files=files))
        worked: DirectoryResult = pool.submit(
            lambda cell, _queued: cell.run_in_directory(
                job, limits, self.stop, directory_job.ignore
            )
        ).result()
        read = claim.read(worked.result, worked.complaint, self.profile)
        solved = isinstance(read, ClaimedResult) and read.solved and not read.empty
        if worked.execution.ok and solved:
            return replace(conclusion, roundtrip=True)
        said = digest.of_program(worked.execution.stderr, b"", self.profile.entry)
        why = f"the profile's own model does not agree: {said or 'it finds no solution'}"
        self.warnings.append(why)
        return replace(conclusion, roundtrip=False, accepted=False, detail="roundtrip", digest=why)

    def _fault(self, error: ProctorError) -> Conclusion:
        """Return the conclusion for a fault that the program is not to blame for."""
        fault = Fault(error.code, str(error))
        found = self._found()
        if isinstance(error, PlatformError):
            detail = "sandbox_unavailable"
            return Conclusion("sandbox", "crashed", detail, str(error), partial=found, fault=fault)
        if isinstance(error, InfraFault):
            detail = "infra_fault"
            return Conclusion("run", "crashed", detail, str(error), partial=found, fault=fault)
        raise error

    def _found(self) -> Partial:
        """Return the best solution that was checked before a fault."""
        if self.best is None:
            return NOTHING
        self.best.end()
        return self.best.partial(None)

    def _envelope(self, job_id: str, end: Conclusion) -> Envelope:
        facts = self.facts
        return Envelope(
            job_id=job_id,
            profile=self.profile.name,
            phase=end.phase,
            status=end.status,
            ok=end.ok,
            accepted=end.accepted,
            status_detail=end.detail,
            claimed_status=facts.claimed_status,
            error_digest=end.digest,
            result_data=facts.result_data,
            partial=end.partial,
            incumbents=facts.incumbents,
            validation=end.validation,
            roundtrip=end.roundtrip,
            stdout=facts.stdout,
            stderr=facts.stderr,
            truncated=facts.truncated,
            marker_count=facts.marker_count,
            exit_code=facts.exit_code,
            signal=facts.signal,
            oom=facts.oom,
            usage=facts.usage,
            solver_workers=facts.solver_workers,
            limits=facts.limits,
            isolation=facts.isolation,
            guarantees=facts.guarantees,
            artifacts=facts.artifacts,
            fault=end.fault,
        )


def _accepted(partial: Partial) -> bool:
    return partial.valid and partial.validation is not None


def _with_best(failed: Conclusion, best: Partial) -> Conclusion:
    """Return the conclusion of a run that failed, with the best solution from before."""
    if failed.status != "timeout":
        return replace(failed, partial=best)
    return replace(
        failed,
        detail="with_solution" if best.valid else "without_solution",
        ok=best.valid,
        accepted=_accepted(best),
        partial=best,
    )
