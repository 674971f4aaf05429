"""The small form of a benchmark: an adapter with five methods, which keeps its own results.

`run_benchmark` does what is the same for all: many instances at once, a time limit for each, faults
that do not end the run, progress, cancellation. It stores nothing, since instances, predictions and
results are whatever the adapter makes of them; only a run of a `Benchmark` (benchmark.py, run.py)
survives a kill.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, TypeVar

from proctor.errors import ProctorError, SettingsError
from proctor.evals.workers import for_each
from proctor.shown import quoted, shown

_logger = logging.getLogger(__name__)
Instance = TypeVar("Instance")
Prediction = TypeVar("Prediction")
Result = TypeVar("Result")
Summary_co = TypeVar("Summary_co", covariant=True)


@dataclass(frozen=True, slots=True, repr=False)
class InstanceOutcome(Generic[Instance, Result]):
    """Result of one instance of `run_benchmark`, or the fault instead."""

    instance: Instance
    """Instance as the adapter loaded it."""
    result: Result | None
    """None where there is a fault."""
    passed: bool
    """True if its result is a pass; False where there is a fault."""
    fault: str = ""
    """Code and message of what went wrong, or empty. Such an outcome is listed, and not scored."""

    def __repr__(self) -> str:
        state = "fault" if self.fault else "passed" if self.passed else "not passed"
        result = "" if self.result is None else f"result {quoted(repr(self.result))}"
        return shown(self, state, quoted(self.fault) if self.fault else "", result, name="Outcome")


class BenchmarkAdapter(Protocol[Instance, Prediction, Result, Summary_co]):
    """Protocol of a benchmark that generates, grades and sums up by itself.

    Instances, predictions, results and the summary are of any types: proctor hands them on.
    """

    @property
    def name(self) -> str:
        """Name in records."""
        ...

    def load_instances(self) -> Iterable[Instance]:
        """Return instances in a fixed order; read as they are needed."""
        ...

    async def run_instance(self, instance: Instance) -> Prediction:
        """Make a prediction, by a model or otherwise. An exception is this instance's fault."""
        ...

    async def evaluate(self, instance: Instance, prediction: Prediction) -> Result:
        """Grade a prediction."""
        ...

    def is_pass(self, result: Result) -> bool:
        """Return True if a grade is a pass."""
        ...

    def summarize(self, outcomes: Sequence[InstanceOutcome[Instance, Result]]) -> Summary_co:
        """Add outcomes up, in the order of the instances, faults among them."""
        ...


async def run_benchmark(
    adapter: BenchmarkAdapter[Instance, Prediction, Result, Summary_co],
    *,
    concurrency: int = 1,
    instance_timeout: float | None = 300.0,
    limit: int | None = None,
    on_progress: Callable[[InstanceOutcome[Instance, Result]], None] | None = None,
) -> Summary_co:
    """Run all instances of a benchmark, or the first `limit`, and return its summary.

    `concurrency` instances are under way at once, each for at most `instance_timeout` seconds.
    `on_progress` is called with each outcome, in the event loop.

    A fault of one instance is its outcome; the others go on. Cancelling cancels all that is under
    way. Raises SettingsError for a concurrency below 1.
    """
    if concurrency < 1:
        raise SettingsError(f"concurrency must be at least 1, not {concurrency}")
    outcomes: dict[int, InstanceOutcome[Instance, Result]] = {}

    async def do(numbered: tuple[int, Instance]) -> None:
        number, instance = numbered
        outcomes[number] = await _outcome(adapter, instance, instance_timeout)
        if on_progress is not None:
            on_progress(outcomes[number])

    await for_each(enumerate(islice(adapter.load_instances(), limit)), do, lambda: concurrency)
    return adapter.summarize([outcomes[number] for number in sorted(outcomes)])


async def _outcome(
    adapter: BenchmarkAdapter[Instance, Prediction, Result, Summary_co],
    instance: Instance,
    timeout: float | None,
) -> InstanceOutcome[Instance, Result]:
    try:
        async with asyncio.timeout(timeout):
            prediction = await adapter.run_instance(instance)
            result = await adapter.evaluate(instance, prediction)
        return InstanceOutcome(instance, result, adapter.is_pass(result))
    except TimeoutError:
        return InstanceOutcome(instance, None, False, f"timeout: not done within {timeout:g} s")
    except ProctorError as error:
        return InstanceOutcome(instance, None, False, f"{error.code}: {error}")
    except Exception as error:
        # An adapter is somebody else's code; one instance's mistake must not cost the others.
        _logger.warning("instance of %s failed", adapter.name, exc_info=error)
        return InstanceOutcome(instance, None, False, f"adapter-error: {error!r}")
