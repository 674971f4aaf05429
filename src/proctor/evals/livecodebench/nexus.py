"""A run's summary under the keys of nexus-eval-livecodebench 0.3."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from proctor.evals.records import records
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.reports.records import SampleRecord
from proctor.verdict import Verdict

VARIANT = "code_generation"
NOTE_TESTS = "programs were run on all tests"
NOTE_NO_TESTS = "no tests were run: an instance passes if its reply has code"


def summary(store: RunStore, settings: Settings, milliseconds: int) -> dict[str, Any]:
    """The summary under its model's keys. Every instance is in `total`, those that failed too."""
    with_code = {
        (sample.problem_id, sample.number)
        for sample in store.samples()
        if sample.generation is not None and sample.generation.code.strip()
    }

    def passed(record: SampleRecord) -> bool:
        if settings.run_tests:
            return record.standard is Verdict.AC
        return (record.problem_id, record.sample) in with_code

    made = list(records(store))
    failed = [record for record in made if record.fault]
    note = NOTE_TESTS if settings.run_tests else NOTE_NO_TESTS
    rate = _score(made, passed)
    metadata: dict[str, Any] = {
        "byPlatform": _grouped(made, passed, lambda record: record.platform),
        "byDifficulty": _grouped(made, passed, lambda record: record.difficulty),
        "note": note,
    }
    if failed:
        metadata["failureCount"] = len(failed)
        metadata["sampleFailure"] = failed[0].fault
        metadata["passRateBounds"] = [
            rate["passRate"], (rate["passed"] + len(failed)) / rate["total"],
        ]  # fmt: skip
    if settings.agentic_mode:
        metadata["turnsUsed"] = sum(record.turns or 0 for record in made)
    return {"name": "livecodebench", "variant": VARIANT, **rate, "runTimeMs": milliseconds,
            "metadata": metadata}  # fmt: skip


def _score(made: Iterable[SampleRecord], passed: Callable[[SampleRecord], bool]) -> dict[str, Any]:
    results = [passed(record) for record in made]
    rate = sum(results) / len(results) if results else 0.0
    return {"total": len(results), "passed": sum(results), "passRate": rate}


def _grouped(
    made: Sequence[SampleRecord],
    passed: Callable[[SampleRecord], bool],
    group: Callable[[SampleRecord], str],
) -> dict[str, Any]:
    names = sorted({group(record) for record in made})
    return {
        name: _score((record for record in made if group(record) == name), passed) for name in names
    }
