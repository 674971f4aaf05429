"""The run: every missing sample is generated, extracted, judged and stored, many at once."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from proctor.errors import (
    InfraFault,
    ModelFault,
    ModelRefused,
    ModelUnreachable,
    ProctorError,
    SettingsError,
)
from proctor.evals.agent import AgenticAdapter
from proctor.evals.benchmark import Benchmark, Graded, Grader, Instance, Rehearsing
from proctor.evals.commits import Commits
from proctor.evals.extraction import Extracted
from proctor.evals.journal import Journal, usage
from proctor.evals.models.model import (
    ManyAtOnce,
    Message,
    Model,
    ModelReply,
    ModelRequest,
    plain,
    prompt_hash,
)
from proctor.evals.no_program import reason_of
from proctor.evals.one_sample import graded_by, taken_from
from proctor.evals.settings import Settings
from proctor.evals.store import Missing, RunStore
from proctor.evals.stored import Generation, Prompt, SampleJudgement, Turn
from proctor.evals.workers import for_each
from proctor.verdict import Verdict

_logger = logging.getLogger(__name__)
GIVE_UP_AFTER = 10
"""Requests in a row that fail before a run ends: the server is down, or the request wrong."""


@dataclass(frozen=True, slots=True)
class Done:
    """A sample that is complete, and on the disk."""

    problem_id: str
    sample: int
    verdicts: Mapping[str, Verdict]
    """Verdicts by mode."""
    fault: str = ""
    """Reason why there is no reply; empty if there is one."""
    generation: Generation | None = None
    """Reply that the model was asked for now; None where it was there before."""


@dataclass(slots=True)
class RunPlan:
    """How samples are made and judged."""

    benchmark: Benchmark[Any]
    settings: Settings
    model: Model
    grader: Grader[Any] | None = None
    """Opened grader; None where nothing is graded, and no agent at work."""
    judges: Mapping[str, str] = field(default_factory=dict)
    """Keys of the judges by mode; empty to grade nothing."""
    in_flight: Callable[[], int] = lambda: 16
    """Returns how many samples to have under way at once; those of one request count as one."""
    on_done: Callable[[Done], None] = lambda _done: None
    """Called when a sample is complete; also tells a caller that a kill now loses nothing of it."""
    agent: AgenticAdapter | None = None
    """Agent that works on samples; None for single shots."""


async def evaluate(store: RunStore, instances: Iterable[Instance], plan: RunPlan) -> None:
    """Generate and judge what is missing for these instances.

    A model's fault is stored and the run goes on, unless the server fails GIVE_UP_AFTER requests
    in a row: then raises that ModelFault. Raises CellStartFailed and PlatformError as judging does.
    Cancelled, it stores what was made and stops.
    """
    commits = Commits(store.write)
    run = _Run(store, plan, commits)
    # The writer ends first only if the disk fails; then nothing waits for it.
    writer = asyncio.create_task(commits.run())
    try:
        await for_each(_work(store, instances, plan), run.do, plan.in_flight, [writer])
    finally:
        commits.finish()
        await asyncio.gather(writer, return_exceptions=True)
    writer.result()


def _work(
    store: RunStore, instances: Iterable[Instance], plan: RunPlan
) -> Iterator[tuple[Instance, list[Missing]]]:
    """Yield missing samples one at a time, or as many as one request may ask for."""
    together = plan.agent is None and isinstance(plan.model, ManyAtOnce)
    most = plan.settings.request_n if together else 1
    for instance in instances:
        group: list[Missing] = []
        for missing in store.missing(instance.id, plan.judges):
            if missing.generation is not None:
                yield instance, [missing]
                continue
            group.append(missing)
            if len(group) == most:
                yield instance, group
                group = []
        if group:
            yield instance, group


class _Run:
    def __init__(self, store: RunStore, plan: RunPlan, commits: Commits) -> None:
        self._store = store
        self._plan = plan
        self._commits = commits
        self._sent: tuple[tuple[Message, ...], str] = ((), "")
        self._refusals = 0

    async def do(self, work: tuple[Instance, list[Missing]]) -> None:
        """Complete one sample, or several for which one request asks."""
        instance, group = work
        if len(group) == 1:
            await self._sample(instance, group[0])
        else:
            await self._together(instance, group)

    async def _sample(self, instance: Instance, missing: Missing) -> None:
        generation = missing.generation or await self._generated(instance, missing.sample)
        await self._graded(instance, missing, generation)

    async def _together(self, instance: Instance, group: list[Missing]) -> None:
        """Ask for several samples in one request, then one by one for those still missing."""
        try:
            made = await self._generated_together(instance, [missing.sample for missing in group])
        except ProctorError:
            raise
        except Exception:  # an error for one sample must not lose the others
            _logger.exception("one request for several samples failed; asking for each")
            made = []
        await asyncio.gather(
            *(self._graded(instance, *each) for each in zip(group, made, strict=False))
        )
        for missing in group[len(made) :]:
            await self._sample(instance, missing)

    async def _graded(self, instance: Instance, missing: Missing, generation: Generation) -> None:
        on_done, number = self._plan.on_done, missing.sample
        asked = None if missing.generation is not None else generation
        if generation.fault:
            done = Done(instance.id, number, {}, generation.fault, asked)
        else:
            judging = [self._judged(instance, generation, mode) for mode in missing.modes]
            made = await asyncio.gather(*judging) if len(judging) != 1 else [await judging[0]]
            verdicts = dict(zip(missing.modes, made, strict=True))
            done = Done(instance.id, number, verdicts, generation=asked)
        self._commits.put([], lambda: on_done(done))
        await self._commits.room()

    async def _generated(self, instance: Instance, sample: int) -> Generation:
        try:
            return await self._asked(instance, sample)
        except ProctorError:
            raise
        except Exception as error:  # one sample's misfortune must not cost the others
            _logger.exception("please report this")
            fault = InfraFault(f"internal error: {error!r}")
            generation = self._with_turns(_faulty(instance.id, sample, "", fault))
            self._commits.put([generation])
            return generation

    async def _asked(self, instance: Instance, sample: int) -> Generation:
        plan = self._plan
        asked = plan.benchmark.messages(instance, sample, plan.settings)
        if isinstance(asked, ModelReply):
            generation = self._generation(
                instance, ModelRequest((), instance.id, sample), "", asked
            )
            self._commits.put([generation])
            return generation
        digest = ""
        failed: ModelFault | None = None
        try:
            if plan.agent is not None:
                asked = plan.agent.messages(asked)
            digest = self._prompt(asked)
            request = ModelRequest(asked, instance.id, sample, plan.settings.sampling)
            if plan.agent is not None:
                generation = await self._worked_on(plan.agent, request, instance, digest)
            else:
                reply = await plan.model.generate(request)
                generation = self._generation(instance, request, digest, reply)
            self._refusals = 0
        except ModelFault as fault:
            failed = fault
            generation = self._with_turns(_faulty(instance.id, sample, digest, fault))
        self._put([generation])
        if failed is not None:
            self._count(failed)
        return generation

    async def _generated_together(self, instance: Instance, samples: list[int]) -> list[Generation]:
        """Generate these samples, or the first ones, in one commit; none if prompts differ."""
        plan = self._plan
        asked, *others = (
            plan.benchmark.messages(instance, sample, plan.settings) for sample in samples
        )
        if isinstance(asked, ModelReply) or any(other != asked for other in others):
            return []
        digest = self._prompt(asked)
        request = ModelRequest(asked, instance.id, samples[0], plan.settings.sampling)
        failed: ModelFault | None = None
        try:
            assert isinstance(plan.model, ManyAtOnce)
            replies = await plan.model.generate_many(request, len(samples))
            made = [
                self._generation(instance, replace(request, sample=sample), digest, reply)
                for sample, reply in zip(samples, replies, strict=False)
            ]
            self._refusals = 0
        except ModelFault as fault:
            failed = fault
            made = [_faulty(instance.id, sample, digest, fault) for sample in samples]
        self._put(made)
        if failed is not None:
            self._count(failed)
        return made

    def _prompt(self, asked: tuple[Message, ...]) -> str:
        """Return the hash of a prompt that is about to be sent, and keep it."""
        if asked != self._sent[0]:
            made = Prompt(prompt_hash(asked), msgspec.json.encode(plain(asked)).decode())
            self._commits.put([made])
            self._sent = asked, made.hash
        return self._sent[1]

    def _put(self, made: Sequence[Generation]) -> None:
        """Commit replies soon; sooner if they were paid for."""
        paid = any(self._plan.model.recorded(each.problem_id) is None for each in made)
        self._commits.put(made, urgent=paid)

    async def _worked_on(
        self, agent: AgenticAdapter, request: ModelRequest, instance: Instance, digest: str
    ) -> Generation:
        """Let an agent work; it sees public tests only."""
        grader = self._grader
        if not isinstance(grader, Rehearsing):
            raise SettingsError(f"{self._plan.benchmark.name} has no tests that an agent may run")

        async def run_public(code: str) -> str:
            return await grader.rehearse(instance, code)

        async def keep(turn: Turn) -> None:
            await self._commits.kept([turn])

        recorded = {turn.number: turn for turn in self._store.turns(instance.id, request.sample)}

        def taken(text: str) -> Extracted:
            return self._plan.benchmark.extract(instance, text, self._plan.settings)

        journal = Journal(request, self._plan.model, run_public, recorded, keep, taken)
        solved = await agent.solve(request.messages, journal)
        made = self._generation(instance, request, digest, solved.reply)
        return msgspec.structs.replace(
            made, policy="agent", turns=solved.turns, stop_reason=solved.stop_reason
        )

    def _with_turns(self, generation: Generation) -> Generation:
        """Add the tokens of an agent's turns to the fault that ended it: they were paid for."""
        if self._plan.agent is None:
            return generation
        turns = self._store.turns(generation.problem_id, generation.sample)
        asked = [turn for turn in turns if turn.kind == "model"]
        if not asked:
            return generation
        spent = usage(asked)
        return msgspec.structs.replace(
            generation,
            prompt_tokens=spent.prompt,
            completion_tokens=spent.completion,
            reasoning_tokens=spent.reasoning,
            cached_tokens=spent.cached,
            seconds=sum(turn.seconds for turn in asked),
            turns=len(asked),
        )

    def _count(self, fault: ModelFault) -> None:
        """Count a fault; ends the run when too many came in a row."""
        if self._plan.settings.batch:  # all failures are past: going on costs nothing
            return
        self._refusals += isinstance(fault, ModelUnreachable | ModelRefused)
        if self._refusals >= GIVE_UP_AFTER:
            raise fault

    async def _judged(self, instance: Instance, generation: Generation, mode: str) -> Verdict:
        graded = await graded_by(self._grader, instance, generation.code, mode)
        self._commits.put([judged(generation, mode, self._plan.judges[mode], graded)])
        return graded.verdict

    @property
    def _grader(self) -> Grader[Any]:
        if self._plan.grader is None:
            raise SettingsError("the run has no grader")
        return self._plan.grader

    def _generation(
        self, instance: Instance, request: ModelRequest, digest: str, reply: ModelReply
    ) -> Generation:
        settings = self._plan.settings
        fault, found = "", Extracted(reply.code or "")
        if reply.code is None:
            found, fault = taken_from(self._plan.benchmark, instance, reply.text, settings)
        return Generation(
            problem_id=request.problem_id,
            sample=request.sample,
            prompt_hash=digest,
            text=reply.text,
            reasoning=reply.reasoning,
            code=found.code,
            policy="given" if reply.code is not None else settings.extraction,
            rule=found.rule,
            no_program="" if found.code.strip() or fault else reason_of(reply),
            finish_reason=reply.finish_reason,
            prompt_tokens=reply.usage.prompt,
            completion_tokens=reply.usage.completion,
            reasoning_tokens=reply.usage.reasoning,
            cached_tokens=reply.usage.cached,
            seconds=reply.seconds,
            fault=InfraFault.code if fault else "",
            fault_message=fault,
        )


def _faulty(problem_id: str, sample: int, digest: str, fault: ProctorError) -> Generation:
    return Generation(problem_id, sample, digest, fault=fault.code, fault_message=str(fault))


def judged(generation: Generation, mode: str, key: str, graded: Graded) -> SampleJudgement:
    """Make the row of a grade."""
    return SampleJudgement(
        problem_id=generation.problem_id,
        sample=generation.sample,
        mode=mode,
        judge=key,
        verdict=graded.verdict.value,
        score=graded.score,
        message=graded.message,
        cpu=graded.cpu,
        slowest_share=graded.slowest_share,
        level=graded.level,
        tests=graded.tests,
        upstream=graded.upstream,
        machine=graded.machine,
    )
