"""A store's samples as records, from which reports and statistics are made."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.evals.benchmark import Benchmark
from proctor.evals.prices import remembered
from proctor.evals.registry import benchmark_named
from proctor.evals.rounds import rounds
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, ProblemInfo, Sample, SampleJudgement
from proctor.json_values import convert_json
from proctor.reports.no_program import Reason
from proctor.reports.records import SampleRecord
from proctor.verdict import Verdict


def current_judges(store: RunStore, settings: Settings) -> dict[str, str]:
    """Return the keys of the judges whose verdicts count, by mode: those of the latest round.

    What is recorded decides, not this version of proctor: an update loses no verdict.
    """
    made = rounds(store)
    return made[-1].judges if made else settings.judges(0)


def records(store: RunStore) -> Iterator[SampleRecord]:
    """Read one record for every sample that has been made, by problem and number, in pages.

    A sample that has a reply but no verdict yet is among them only if the run judges nothing.
    """
    judges = current_judges(store, settings_of(store))
    order = {key: each.number for each in rounds(store) for key in each.judges.values()}
    price = remembered(store.recall("price"))
    problem = ProblemInfo("")
    for sample in store.samples(texts=False):
        if sample.generation is None:
            continue
        made = {
            each.mode: each for each in sample.judgements if judges.get(each.mode) == each.judge
        }
        if not sample.generation.fault and judges and not made:
            continue
        if problem.id != sample.problem_id:
            problem = store.problem(sample.problem_id)
        record = _record(problem, sample, sample.generation, made, order)
        yield record if price is None else replace(record, cost=price.cost(sample.generation))


def benchmark_of(store: RunStore) -> Benchmark[Any]:
    """Return the benchmark of a run that may have effects. Raises InputError if it is not there."""
    file = store.recall("benchmark_file")
    if file is None:
        return benchmark_named(store.recall("benchmark"))
    from proctor.evals.benchmark_file.loading import load

    return load(Path(file))


class StoredRecords(Collection[SampleRecord]):
    """Records of an open run, read again on each iteration."""

    def __init__(self, store: RunStore) -> None:
        """Count the records of an open run."""
        self._store = store
        self._count = store.recorded(current_judges(store, settings_of(store)))

    def __iter__(self) -> Iterator[SampleRecord]:
        return records(self._store)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, record: object) -> bool:
        return any(record == each for each in self)


def settings_of(store: RunStore) -> Settings:
    """Return the settings that a run was begun with, which a stranger may have written.

    They describe the run; what has effects is taken from `own_runs.obeyed`. Raises InputError.
    """
    try:
        return convert_json(store.settings, Settings)
    except msgspec.ValidationError as error:
        raise InputError(f"its settings: {error}", file=str(store.directory)) from error


def _record(
    problem: ProblemInfo,
    sample: Sample,
    generation: Generation,
    made: Mapping[str, SampleJudgement],
    order: Mapping[str, int],
) -> SampleRecord:
    standard, official = made.get("standard"), made.get("official")
    timed = standard or official
    return SampleRecord(
        problem_id=problem.id,
        sample=sample.number,
        title=problem.title,
        cluster=problem.contest,
        platform=problem.platform,
        difficulty=problem.difficulty,
        published=problem.published,
        official=_verdict(official),
        standard=_verdict(standard),
        earlier_official=_earlier(sample, "official", official, order),
        earlier_standard=_earlier(sample, "standard", standard, order),
        fault=_fault(generation, made),
        program=_digest(generation.code),
        no_program=_no_program(generation),
        prompt_tokens=generation.prompt_tokens,
        completion_tokens=generation.completion_tokens,
        reasoning_tokens=generation.reasoning_tokens,
        model_seconds=generation.seconds,
        judge_cpu=sum(each.cpu for each in made.values()),
        slowest_share=timed.slowest_share if timed else None,
        finish_reason=generation.finish_reason,
        turns=generation.turns,
        stop_reason=generation.stop_reason,
    )


def _verdict(judged: SampleJudgement | None) -> Verdict | None:
    return None if judged is None else Verdict(judged.verdict)


def _earlier(
    sample: Sample, mode: str, current: SampleJudgement | None, order: Mapping[str, int]
) -> tuple[Verdict, ...]:
    """Verdicts that no longer count, the oldest first; see `RunStore.set_aside` for the keys."""
    if len(sample.judgements) < 2:
        return ()  # nearly always: one verdict, in one mode
    found = [each for each in sample.judgements if each.mode == mode and each is not current]
    found.sort(key=lambda each: (order.get(each.judge.partition("~")[0], -1), "~" not in each.judge,
                                 each.judge))  # fmt: skip
    return tuple(Verdict(each.verdict) for each in found)


def _fault(generation: Generation, made: Mapping[str, SampleJudgement]) -> str:
    if generation.fault:
        return f"{generation.fault}: {generation.fault_message}"
    faults = (each for each in made.values() if Verdict(each.verdict).is_fault)
    return next((f"{each.verdict}: {each.message}" for each in faults), "")


def _no_program(generation: Generation) -> str:
    # A run of an earlier version did not record the reason.
    known = generation.no_program or Reason.NO_BLOCK
    return "" if generation.fault or generation.code.strip() else known


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()[:16] if code else ""
