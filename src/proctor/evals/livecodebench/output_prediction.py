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
from proctor.prediction import AssertionTask


def _ask(task: RowTask, settings: Settings) -> tuple[Message, ...]:
    running = cast("AssertionTask", task.problem.running)
    return prompts.output_prediction(task.info, running, settings)


def _taken(reply: str, _prompt: str) -> str:
    lines = reply.split("\n")
    if stated := [line for line in lines if line.startswith("assert")]:
        return stated[-1]
    fences = [number for number, line in enumerate(lines) if "```" in line]
    named = [number for number in fences if "```python" in lines[number].replace("P", "p")]
    if named:
        fences = [number for number in fences if number >= named[0]]
    return "\n".join(lines[fences[0] + 1 : fences[1]]) if len(fences) > 1 else ""


BENCHMARK: Benchmark[RowTask] = replace(
    bundled("testoutputprediction.toml"),
    published=PublishedPrompts(
        is_upstream, _ask, lambda settings: pinned(settings, "testoutputprediction"), _taken
    ),
)
