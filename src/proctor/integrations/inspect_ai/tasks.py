"""Benchmarks as tasks: `inspect eval proctor/humaneval`, and so on; scorers by mode of grading.

inspect_ai asks the model, or lets an agent work; prompts, extraction and grading are proctor's.
"""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    Score,
    Scorer,
    Target,
    accuracy,
    grouped,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

from proctor.errors import SettingsError
from proctor.evals.benchmark import Grader
from proctor.evals.bundled import FAMILIES, Family
from proctor.evals.models.model import Message
from proctor.integrations.grading import loop_thread
from proctor.integrations.inspect_ai.scorer import unscored
from proctor.integrations.prepared_benchmarks import (
    NAMES,
    GradedReply,
    InstanceShelf,
    PreparedBenchmark,
    PromptRow,
    plain_options,
    prepare,
)
from proctor.per_process import PerProcess
from proctor.verdict import Verdict

_MESSAGES = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
_GROUPS = ("platform", "difficulty")


@dataclass(frozen=True, slots=True)
class _OpenBenchmark:
    """A benchmark at work in this process: cells start on demand, and end with the process."""

    prepared: PreparedBenchmark
    shelf: InstanceShelf
    grader: Grader[Any]

    async def graded(self, id_: str, reply: str, mode: str) -> GradedReply:
        instance = await asyncio.to_thread(self.shelf.get, id_)
        return await self.prepared.grade(self.grader, instance, reply, mode)


_stack = ExitStack()


def _open(name: str, options: str) -> _OpenBenchmark:
    prepared = prepare(name, msgspec.json.decode(options))
    return _OpenBenchmark(
        prepared, InstanceShelf(prepared), _stack.enter_context(prepared.open_grader())
    )


_opened = PerProcess(_open)


def _at_work(name: str, options: Mapping[str, Any]) -> _OpenBenchmark:
    return _opened.get(name, msgspec.json.encode(options, order="deterministic").decode())


@scorer(metrics=[accuracy(), stderr()])
def official(benchmark: str, options: dict[str, Any] | None = None) -> Scorer:
    """Grade replies to a benchmark's prompts by its publishers' rules. See `standard`."""
    return _scorer("official", benchmark, options)


@scorer(metrics=[accuracy(), stderr()])
def standard(benchmark: str, options: dict[str, Any] | None = None) -> Scorer:
    """Grade replies to a benchmark's prompts by proctor's rules.

    The samples' ids are those of the benchmark's problems; `options` are those of its task. A
    score is C or I, or the share of points. A fault of the task or of the machinery is not a score:
    `reason` is then task_fault or infra_fault. Raises UsageError, PlatformError.
    """
    return _scorer("standard", benchmark, options)


def _scorer(mode: str, benchmark: str, options: dict[str, Any] | None) -> Scorer:
    given = plain_options(options or {})

    async def score(state: TaskState, target: Target) -> Score:
        del target
        at_work, reply = _at_work(benchmark, given), state.output.completion
        grading = at_work.graded(str(state.sample_id), reply, mode)
        return _score(await asyncio.wrap_future(loop_thread.get().begin(grading)))

    return score


def _score(reply: GradedReply) -> Score:
    graded, verdict = reply.graded, reply.graded.verdict
    if reply.is_fault:
        return unscored(verdict, graded.message, reply.code)
    value: str | float = CORRECT if verdict.passed else INCORRECT
    return Score(
        value=graded.score if verdict is Verdict.PA else value,
        answer=reply.code,
        explanation=f"{verdict}: {graded.message}" if graded.message else str(verdict),
        reason="invalid_response_format" if verdict is Verdict.NC else None,
        metadata={"verdict": str(verdict), "cpu": graded.cpu, "isolation": graded.level or None},
    )


@task
def benchmark_file(file: str, **options: Any) -> Task:
    """Make a task of a benchmark file. Raises UsageError, PlatformError."""
    return _task(str(Path(file).absolute()), options)


def _task(name: str, options: Mapping[str, Any]) -> Task:
    for option, value in options.items():
        if isinstance(value, date):  # YAML's; a retry of the log would ask for the day `date`
            raise SettingsError(f"inspect_ai logs no dates: -T \"{option}='{value}'\" is a text")
    given = plain_options(options)
    prepared = _at_work(
        name, given
    ).prepared  # what is missing here is reported before a model is asked
    if prepared.for_base_models:
        raise SettingsError(
            f"inspect_ai asks in chats; prompt {prepared.settings.prompt} is a text"
        )
    rows = list(prepared.rows())
    sampling = prepared.settings.sampling
    scorers = {"official": official, "standard": standard}
    return Task(
        dataset=MemoryDataset([_sample(row) for row in rows], name=prepared.benchmark.name),
        solver=generate(),
        scorer=[scorers[mode](name, given) for mode in prepared.settings.modes],
        metrics=_metrics(rows),
        config=GenerateConfig(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            max_tokens=sampling.max_tokens,
            stop_seqs=list(sampling.stop) or None,
        ),
        version=prepared.benchmark.version,
        metadata={
            "source": prepared.planned.source.name,
            "left_out": prepared.planned.selection.left_out,
            "prompt": prepared.settings.prompt,
            "extraction": prepared.settings.extraction,
            "modes": {mode: prepared.benchmark.modes[mode] for mode in prepared.settings.modes},
        },
    )


def _sample(row: PromptRow) -> Sample:
    info = row.info
    messages: list[ChatMessage] = list(map(_message, row.messages))
    metadata = {name: getattr(info, name) for name in ("title", *_GROUPS, "contest")}
    metadata["published"] = info.published.isoformat() if info.published else None
    return Sample(input=messages, id=row.id, metadata=metadata)


def _message(message: Message) -> ChatMessage:
    return _MESSAGES[message.role](content=message.content)


def _metrics(rows: list[PromptRow]) -> list[Metric]:
    """Accuracy of all, and for each platform and difficulty where there are several."""
    several = [name for name in _GROUPS if len({getattr(row.info, name) for row in rows}) > 1]
    return [
        accuracy(),
        stderr(),
        *(
            grouped(accuracy(), name, all=False, name_template=f"{name}: {{group_name}}")
            for name in several
        ),
    ]


def _register(name: str, family: Family) -> None:
    @task(name=name)
    def of_family(**options: Any) -> Task:
        choice = str(options.pop(family.choice, family.choices[0]))
        chosen = family.benchmark(choice)
        if chosen is None:
            known = ", ".join(family.choices)
            raise SettingsError(f"{family.choice} is one of {known}, not {choice!r}")
        return _task(chosen, options)


for _name, _family in FAMILIES.items():
    if set(_family.modules) & set(NAMES):
        _register(_name, _family)
