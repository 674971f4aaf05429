"""LiveCodeBench's code execution: what a call of a solution returns.

Source of the publishers' extraction: extract_execution_code in utils/extraction_utils.py of
lcb_runner.
"""

from dataclasses import replace
from typing import cast

from proctor.evals.benchmark import Benchmark
from proctor.evals.benchmark_file.benchmark import PublishedPrompts
from proctor.evals.benchmark_file.loading import bundled
from proctor.evals.benchmark_file.tasks import RowTask
from proctor.evals.livecodebench.upstream import prompts
from proctor.evals.livecodebench.upstream.names import is_upstream, parse
from proctor.evals.livecodebench.upstream.templates import pinned
from proctor.evals.models.model import Message
from proctor.evals.predictions import THINKING
from proctor.evals.settings import Settings
from proctor.formats.replies import stated_value
from proctor.prediction import CallTask


def _ask(task: RowTask, settings: Settings) -> tuple[Message, ...]:
    return prompts.execution(cast("CallTask", task.problem.running), settings)


def _taken(reply: str, prompt: str) -> str:
    thinking = parse(prompt).cot if is_upstream(prompt) else prompt == THINKING
    return stated_value(reply, thinking=thinking)


BENCHMARK: Benchmark[RowTask] = replace(
    bundled("codeexecution.toml"),
    published=PublishedPrompts(
        is_upstream, _ask, lambda settings: pinned(settings, "codeexecution"), _taken
    ),
)
