"""One program from gate to envelope."""

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
from proctor.execution import Isolation, LimitHit
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox import directory_job
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.directory_job import DirectoryJob, DirectoryResult, FoundFile
from proctor.sandbox.stop import Stop
from proctor.solver import checking, claim, digest, ending, gate, request, strict_json
from proctor.solver.artifacts import Store
from proctor.solver.best import Best
from proctor.solver.checking import Checked, Checker, Unfit
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
from proctor.solver.incumbents import Hear, Incumbents
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
    open_checks: Callable[[], Submitting]
    """Returns a pool for predicates, which are asked while the program runs."""
    store: Store | None
    began: float = field(default_factory=time.monotonic)
    warnings: list[str] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    """Fields of the envelope that are known whatever happens from now on."""
    disk: int = 0
    """Bytes that the program is given; a container is started for so much."""
    path: Path | None = None
    """Where the result is kept."""
    best: Best | None = None
    left: tuple[FoundFile, ...] = ()
    """Further files that the program left."""

    @property
    def profile(self) -> Profile:
        """The profile that is asked for."""
        return self.asked.profile

    def solve(self, open_pool: Opening) -> Envelope:
        """Do all of it; what can go wrong is in the envelope."""
        job_id = self.asked.job_id or f"job_{secrets.token_hex(8)}"
        self.known |= {"job_id": job_id, "profile": self.profile.name}
        if self.store is not None:
            self.path = self.store.new(job_id)
        try:
            envelope = self._solve(open_pool)
        except Ended as ended:
            envelope = self._crashed(ended.phase, ended.detail, ended.digest)
        except Cancelled as error:
            envelope = self._envelope("run", "cancelled", digest=str(error), partial=self._found())
        except InputError as error:
            envelope = self._crashed("prepare", "invalid_input", str(error))
        except ProctorError as error:
            envelope = self._fault(error)
        envelope = self._kept(envelope)
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
        self.best = best = Best(self.profile, lambda found: self._check(given, found), self._keep)
        incumbents = Incumbents(self.profile, self.hear, best)
        job = self._job(code, steps, threads)
        worked = self._run(job, limits, pool, incumbents)
        best.end()
        gated = gate.of(worked)
        if not gated.ok:
            raise Ended("compile", gated.detail, gated.error or "")
        self.warnings += gate.advice(gated, self.profile)
        self._note(worked, incumbents)
        envelope = self._judge(worked, best)
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
        try:
            self.checker.input(self.asked.given, given, self.profile)
        except Unfit as unfit:
            raise Ended("prepare", unfit.detail, unfit.digest) from unfit
        return given

    def _check(self, given: Any, found: Claim) -> Checked:
        """Check a solution. Raises InfraFault, PlatformError."""
        custom = checking.predicates(given, found.data, self.profile, self.open_checks, self.disk)
        return self.checker.result(given, found.data, self.profile, custom)

    def _keep(self, found: Partial) -> None:
        """Put the best so far into the store, where it outlasts whatever happens to us."""
        if self.store is not None and self.path is not None:
            try:
                self.store.put(self.path, msgspec.json.encode(found.data))
            except InputError as error:
                self.warnings.append(f"the result was not kept: {error}")

    def _kept(self, envelope: Envelope) -> Envelope:
        """Put the result into the store."""
        if self.store is None or self.path is None or envelope.solution is None:
            return envelope
        try:
            data = msgspec.json.encode(envelope.solution)
            self.store.save(self.path, data, self.left[: len(envelope.artifacts)])
        except InputError as error:
            self.warnings.append(f"the result was not kept: {error}")
            return envelope
        return msgspec.structs.replace(envelope, result_path=str(self.path))

    def _job(self, code: bytes, steps: request.Ladder, threads: int) -> DirectoryJob:
        profile = self.profile
        return DirectoryJob(
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

    def _run(
        self, job: DirectoryJob, limits: Limits, pool: Submitting, incumbents: Incumbents
    ) -> DirectoryResult:
        """Run the program. Raises Cancelled, InfraFault, NoIsolation."""
        asked = time.monotonic()

        def run(cell: Any, _queued: float) -> DirectoryResult:
            self.known["usage"] = Usage(queue_ms=round((time.monotonic() - asked) * 1000))
            if self.stop.wanted:
                raise Cancelled("the job was cancelled before it began")
            worked: DirectoryResult = cell.run_in_directory(
                job, limits, self.stop, incumbents.heard
            )
            return worked

        return pool.submit(run).result()

    def _note(self, worked: DirectoryResult, incumbents: Incumbents) -> None:
        """Take down the facts."""
        done, self.left = worked.execution, worked.collected
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

    def _artifacts(self, worked: DirectoryResult) -> list[Artifact]:
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

    def _judge(self, worked: DirectoryResult, best: Best) -> Envelope:
        """Say what a run came to; the best that it found is in the answer."""
        name, wall = self.profile.result.file, worked.execution.wall
        count = self.known["marker_count"]
        lost = ending.lost(worked, self.profile, count, self.known["limits"]["wallSeconds"])
        read = claim.read(worked.result, worked.complaint, self.profile)
        if lost is None and isinstance(read, Unreadable):
            lost = ending.Lost("parse", "crashed", read.detail, read.why)
        word = None
        if lost is None and isinstance(read, Claim) and read.solved:
            assert worked.result is not None
            word = best.result(worked.result, read, wall)
            lost = ending.refused(word.checked, self.profile, count)
        best.settle()
        found = best.partial(wall)
        if lost is not None:
            return self._lost(lost, found)
        assert isinstance(read, Claim)
        self.known |= {
            "claimed_status": read.word, "result_data": read.data,
            "result_summary": claim.summary(read.data),
        }  # fmt: skip
        if word is None and count and self.profile.marker.text:
            self.warnings.append(f"{self.profile.marker.text} without a solution")
        checked = None if word is None else word.checked
        believed = ending.believed(read, checked, worked.execution, self.profile)
        self.warnings += believed.doubts
        envelope = self._envelope(
            "run", believed.status, believed.detail, believed.digest, ok=believed.ok,
            accepted=believed.accepted, validation=believed.report,
        )  # fmt: skip
        if word is not None and not best.beats(word):
            return envelope
        if not _accepted(found):  # nobody has said that it is better
            return msgspec.structs.replace(envelope, partial=found)
        why = (
            f"status {read.word}" if word is None else "a solution that is worse, or does not hold"
        )
        self.warnings.append(f"the solution is {found.file}: {name} has {why}")
        return msgspec.structs.replace(
            envelope, status="feasible", ok=True, accepted=True, status_detail="incumbent",
            partial=found,
        )  # fmt: skip

    def _lost(self, lost: ending.Lost, found: Partial) -> Envelope:
        """Answer a run that did not end well: with what it had found before."""
        timeout, detail = lost.status == "timeout", lost.detail
        if timeout:
            detail = "with_solution" if found.valid else "without_solution"
        return self._envelope(
            lost.phase, lost.status, detail, lost.digest, partial=found,
            ok=timeout and found.valid, accepted=timeout and _accepted(found),
        )  # fmt: skip

    def _proved(
        self, envelope: Envelope, job: DirectoryJob, proof: str, limits: Limits, pool: Submitting
    ) -> Envelope:
        """Have the profile's own model agree, all of the solution fixed. Raises InfraFault."""
        claimed = msgspec.json.encode(envelope.solution)
        files = {**job.program.files, "claimed.json": claimed}
        job = replace(job, program=Program(proof, name=job.program.name, files=files))
        worked: DirectoryResult = pool.submit(
            lambda cell, _queued: cell.run_in_directory(
                job, limits, self.stop, directory_job.ignore
            )
        ).result()
        read = claim.read(worked.result, worked.complaint, self.profile)
        agrees = worked.execution.ok and isinstance(read, Claim) and read.solved and not read.empty
        if agrees:
            return msgspec.structs.replace(envelope, roundtrip=True)
        said = digest.of_program(worked.execution.stderr, b"", self.profile.entry)
        why = f"the profile's own model does not agree: {said or 'it finds no solution'}"
        self.warnings.append(why)
        return msgspec.structs.replace(
            envelope, roundtrip=False, accepted=False, status_detail="roundtrip", error_digest=why
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
        return self._crashed(phase, detail, str(error), fault=fault, partial=self._found())

    def _found(self) -> Partial:
        """Return the best that was checked before all else failed."""
        if self.best is None:
            return NOTHING
        self.best.end()
        return self.best.partial(None)

    def _envelope(
        self, phase: Phase, status: Any, detail: str = "", digest: str = "", **more: Any
    ) -> Envelope:
        fields = {"ok": False, **self.known, **more}
        return Envelope(
            phase=phase, status=status, status_detail=detail, error_digest=digest, **fields
        )


def _accepted(partial: Partial) -> bool:
    return partial.valid and partial.validation is not None


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
