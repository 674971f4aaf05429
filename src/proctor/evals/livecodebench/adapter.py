"""LiveCodeBench as an adapter: one sample a problem, nothing stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor.evals import evaluation
from proctor.evals.adapter import InstanceOutcome
from proctor.evals.figures import Figures, figures
from proctor.evals.livecodebench import prompts
from proctor.evals.livecodebench.generation import BENCHMARK
from proctor.evals.models.model import Model, ModelReply, ModelRequest
from proctor.evals.settings import Settings
from proctor.judgement import Judgement
from proctor.judging.judge import judge_async
from proctor.judging.settings import Mode
from proctor.problem import Problem
from proctor.program import Program
from proctor.reports.records import SampleRecord
from proctor.sandbox.pool import Pool


@dataclass(frozen=True, slots=True)
class LiveCodeBench:
    """Single-shot code generation with a model, judged in one mode."""

    model: Model
    pool: Pool
    settings: Settings = Settings()  # noqa: RUF009 - frozen
    mode: Mode = "standard"

    @property
    def name(self) -> str:
        return BENCHMARK.name

    def load_instances(self) -> Iterator[Problem]:
        planned = evaluation.plan(BENCHMARK, self.settings, self.model)
        return planned.source.instances([info.id for info in planned.selection.problems])

    async def run_instance(self, instance: Problem) -> ModelReply:
        messages = prompts.messages(instance, self.settings.prompt)
        request = ModelRequest(messages, instance.id, sampling=self.settings.sampling)
        return await self.model.generate(request)

    async def evaluate(self, instance: Problem, prediction: ModelReply) -> Judgement:
        code = prediction.code
        if code is None:
            code = BENCHMARK.extract(instance, prediction.text, self.settings).code
        settings = self.settings.judge_settings(self.mode)
        return await judge_async(instance, Program(code), settings=settings, pool=self.pool)

    def is_pass(self, result: Judgement) -> bool:
        return result.passed

    def summarize(self, outcomes: Sequence[InstanceOutcome[Problem, Judgement]]) -> Figures:
        records = (self._record(outcome) for outcome in outcomes)
        return figures(records, (self.mode,), (1,))

    def _record(self, outcome: InstanceOutcome[Problem, Judgement]) -> SampleRecord:
        problem = outcome.instance
        verdict = outcome.result.verdict if outcome.result is not None else None
        return SampleRecord(
            problem_id=problem.id,
            sample=0,
            platform=problem.platform,
            difficulty=problem.difficulty,
            published=problem.published,
            official=verdict if self.mode == "official" else None,
            standard=verdict if self.mode == "standard" else None,
            fault=outcome.fault,
        )
