"""Benchmarks as adapters: partial failure, time limits, order, cancellation."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from answers import right_reply

from proctor.errors import ModelStalled, SettingsError
from proctor.evals.adapter import InstanceOutcome, run_benchmark
from proctor.evals.livecodebench.adapter import LiveCodeBench
from proctor.evals.models.scripted import ScriptedModel
from proctor.sandbox.pool import Pool

Outcomes = Sequence[InstanceOutcome[int, int]]


class Doubling:
    """Doubles numbers; some of them badly."""

    name = "doubling"

    def __init__(self) -> None:
        self.running = self.most = 0
        self.cancelled = 0

    def load_instances(self) -> range:
        return range(8)

    async def run_instance(self, instance: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0)
            if instance == 2:
                raise ModelStalled("no whole reply")
            if instance == 3:
                raise ZeroDivisionError
            if instance == 4:
                await asyncio.Event().wait()
            return instance * 2 + (instance == 5)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1

    async def evaluate(self, instance: int, prediction: int) -> int:
        return prediction - instance * 2

    def is_pass(self, result: int) -> bool:
        return result == 0

    def summarize(self, outcomes: Outcomes) -> Outcomes:
        return outcomes


@pytest.mark.parametrize("concurrency", [1, 3, 100])
def test_one_instance_s_fault_is_its_own(concurrency: int) -> None:
    adapter = Doubling()
    seen: list[int] = []
    outcomes = asyncio.run(
        run_benchmark(
            adapter, concurrency=concurrency, instance_timeout=1,
            on_progress=lambda outcome: seen.append(outcome.instance),
        )
    )  # fmt: skip
    assert [outcome.instance for outcome in outcomes] == list(range(8))
    assert sorted(seen) == list(range(8))
    assert [outcome.passed for outcome in outcomes] == [True, True, *[False] * 4, True, True]
    assert [outcome.fault.partition(":")[0] for outcome in outcomes] == [
        "", "", "model-stalled", "adapter-error", "timeout", "", "", "",
    ]  # fmt: skip
    assert adapter.most <= concurrency


def test_cancelling_cancels_what_is_under_way() -> None:
    adapter = Doubling()

    async def stopped() -> None:
        task = asyncio.create_task(
            run_benchmark(adapter, concurrency=8, instance_timeout=None,
                          on_progress=lambda outcome: outcome.instance == 7 and task.cancel())
        )  # fmt: skip
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    assert adapter.running == 0
    assert adapter.cancelled == 1


def test_limit_and_wrong_use() -> None:
    assert len(asyncio.run(run_benchmark(Doubling(), limit=2))) == 2
    with pytest.raises(SettingsError):
        asyncio.run(run_benchmark(Doubling(), concurrency=0))


def test_livecodebench_is_one(pool: Pool) -> None:
    model = ScriptedModel(lambda request: right_reply(request.messages[-1].content))
    outcomes: list[Any] = []
    benchmark = LiveCodeBench(model, pool)
    found = asyncio.run(run_benchmark(benchmark, concurrency=4, on_progress=outcomes.append))
    assert found.modes["standard"].passed == 4, outcomes
    assert model.calls == 4
