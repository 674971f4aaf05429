"""LiveCodeBench's test output prediction: what a function of a problem must return.

Source of the prompt's contract and of the publishers' extraction: prompts/test_output_prediction.py
and utils/extraction_utils.py of lcb_runner.
"""

from dataclasses import replace
from typing import cast

from proctor.evals.benchmark import Benchmark
from proctor.evals.benchmark_file.benchmark import PublishedPrompts
from proctor.evals.benchmark_file.loading import bundled
from proctor.evals.benchmark_file.tasks import RowTask
from proctor.evals.livecodebench.upstream import prompts
from proctor.evals.livecodebench.upstream.names import is_upstream
from proctor.evals.livecodebench.upstream.templates import pinned
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.formats.replies import asserted_line
from proctor.prediction import AssertionTask


def _ask(task: RowTask, settings: Settings) -> tuple[Message, ...]:
    running = cast("AssertionTask", task.problem.running)
    return prompts.output_prediction(task.info, running, settings)


def _taken(reply: str, _prompt: str) -> str:
    return asserted_line(reply)


BENCHMARK: Benchmark[RowTask] = replace(
    bundled("testoutputprediction.toml"),
    published=PublishedPrompts(
        is_upstream, _ask, lambda settings: pinned(settings, "testoutputprediction"), _taken
    ),
)
