"""Samples of a run of `proctor eval` as recorded judgements.

The run's benchmark itself is asked: its grader, given judges that only note what they are to judge,
turns the sample's program into a problem, a program and settings as it did then.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.evals.benchmark import Benchmark, Instance, Source, takes_judges
from proctor.evals.benchmark_file.same_process import SOLUTION_FAILS
from proctor.evals.own_runs import is_own, obeyed
from proctor.evals.records import current_judges
from proctor.evals.replaying.questions import asked_by
from proctor.evals.replaying.recorded import (
    InputFiles,
    RecordedJudgement,
    Surroundings,
    isolation_of,
)
from proctor.evals.replaying.rows import judgement_of_points, tests_of
from proctor.evals.rounds import Round, rounds
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, SampleJudgement
from proctor.judgement import Judgement, UpstreamReport
from proctor.judging.judges import Judges
from proctor.limits import Limits, check_limits
from proctor.verdict import Verdict

_FORM = "a sample is PROBLEM:SAMPLE, or PROBLEM:SAMPLE:MODE where it was judged by two rules"
_MODES = ("official", "standard")


@dataclass(frozen=True, slots=True)
class _FoundSample:
    """A sample of a run, and one judgement of it."""

    store: RunStore
    settings: Settings
    generation: Generation
    judged: SampleJudgement

    @property
    def name(self) -> str:
        """Reference by which it is found again."""
        made = self.judged
        return f"{self.store.directory}#{made.problem_id}:{made.sample}:{made.mode}"

    @property
    def round(self) -> Round | None:
        """Round of judging that made the judgement; None if it is not recorded."""
        made = rounds(self.store)
        return next((each for each in made if self.judged.judge in each.judges.values()), None)


def of_run(directory: Path, wanted: str, given: InputFiles) -> RecordedJudgement:
    """Find a sample: PROBLEM:SAMPLE or PROBLEM:SAMPLE:MODE.

    Raises InputError for one that is not there or was not judged, for problems that are not what
    they were, and for a benchmark that does not let proctor judge; SettingsError, InfraFault, and
    what `obeyed` raises.
    """
    with RunStore.open(directory) as store:
        ioi = store.recall("benchmark") == "ioi"
        given.check(f"a run of {store.recall('benchmark')}", "tasks" if ioi else "problems")
        moved = ",".join(given.tasks) if ioi else given.problems
        run = obeyed(store, {**given.named, **({"source": moved} if moved else {})})
        settings, benchmark = run.settings, run.benchmark
        found = _find(store, settings, wanted)
        source = benchmark.open_source(settings)
        if _contents(source.provenance()) != _contents(store.recall("provenance")):
            raise InputError(
                f"holds other problems than when {directory} was begun", file=source.name
            )
        return _recorded(found, benchmark, source)


def _find(store: RunStore, settings: Settings, wanted: str) -> _FoundSample:
    problem_id, number, mode = _parsed(store, wanted)
    samples = store.samples(problem_id, exact=True)
    sample = next((each for each in samples if each.number == number), None)
    place = f"{store.directory}#{problem_id}:{number}"
    if sample is None:
        raise InputError(f"there is no such sample; {_FORM}", file=place)
    generation = sample.generation
    if generation is None or generation.fault:
        why = "it was not made yet" if generation is None else generation.fault_message
        raise InputError(f"there is no program: {why}", file=place)
    judges = current_judges(store, settings)
    made = {each.mode: each for each in sample.judgements if judges.get(each.mode) == each.judge}
    if mode is None and len(made) > 1:
        both = " or ".join(f"{place}:{each}" for each in made)
        raise InputError(f"it was judged by two rules: {both}", file=place)
    judged = made.get(mode) if mode is not None else next(iter(made.values()), None)
    if judged is None:
        by = f" by {mode} rules" if mode else ""
        raise InputError(f"it was not judged{by}; `proctor resume` judges it", file=place)
    return _FoundSample(store, settings, generation, judged)


def _parsed(store: RunStore, wanted: str) -> tuple[str, int, str | None]:
    """Split PROBLEM:SAMPLE[:MODE]; a problem's id may have colons itself. Raises InputError."""
    ids = [info.id for info in store.problems()]
    if wanted in ids:
        return wanted, 0, None
    rest, mode = wanted, None
    if wanted.rpartition(":")[2] in _MODES:
        rest, _, mode = wanted.rpartition(":")
    problem_id, _, number = rest.rpartition(":")
    if problem_id not in ids or not (number.isascii() and number.isdecimal()):
        first = f"{store.directory}#{ids[0]}:0"
        what = f"has no sample {wanted!r}; " if wanted else ""
        raise InputError(f"{what}{_FORM}, such as {first}", file=str(store.directory))
    return problem_id, int(number), mode


def _contents(provenance: Any) -> list[Any]:
    """Return the digests of source files, without their paths, which may have changed."""
    described = provenance if isinstance(provenance, list) else [provenance]
    return [each.get("sha256", each) if isinstance(each, Mapping) else each for each in described]


def _recorded(
    found: _FoundSample, benchmark: Benchmark[Any], source: Source[Any]
) -> RecordedJudgement:
    judged, settings, name = found.judged, found.settings, found.name
    instance: Instance = next(iter(source.instances([judged.problem_id])))

    def grade(judges: Judges) -> None:
        with benchmark.open_grader(settings, judges) as grader:
            asyncio.run(grader.grade(instance, found.generation.code, judged.mode))

    if not takes_judges(benchmark):
        raise InputError(f"{benchmark.name} is graded by means of its own", file=name)
    asked = asked_by(grade)
    if asked is None:
        raise InputError(f"nothing was run for it: {judged.message}", file=name)
    outcome, made = outcome_of(judged, name), found.round
    limits = asked.settings.limits if made is None else _limits(made, judged.mode)
    if not is_own(found.store):
        check_limits(limits)
    notes = []
    if judged.message.startswith(SOLUTION_FAILS):
        notes.append(f"{judged.message}, which makes its verdict TASK_FAULT")
    problem = replace(asked.problem, id=judged.problem_id)
    return RecordedJudgement(
        name, problem, asked.program, replace(asked.settings, limits=limits), outcome,
        asked.subtasks, _surroundings(made, judged), {**settings.pool, "cells": None},
        tuple(notes),
    )  # fmt: skip


def _limits(made: Round, mode: str) -> Limits:
    return msgspec.convert(made.limits[mode], Limits)


def _surroundings(made: Round | None, judged: SampleJudgement) -> Surroundings:
    if made is None:
        return Surroundings(isolation=judged.level)
    return Surroundings(
        made.proctor, made.python or made.host.get("python", ""), "", made.host.get("system", ""),
        made.host.get("cpu", ""), isolation=judged.level,
    )  # fmt: skip


def outcome_of(judged: SampleJudgement, name: str) -> Judgement:
    """Return the recorded outcome of a judgement; `name` is for errors. Raises InputError."""
    try:
        upstream = json.loads(judged.upstream) if judged.upstream else {}
        if "all_subtasks_results" in upstream:
            return judgement_of_points(upstream)
        report = msgspec.convert(upstream, UpstreamReport) if upstream else None
        tests, verdict = tests_of(json.loads(judged.tests)), Verdict(judged.verdict)
        if judged.message.startswith(SOLUTION_FAILS) and tests:  # the verdict before that was known
            verdict = tests[0].verdict
        return Judgement(
            verdict, judged.score, tests, judged.message,
            isolation_of(judged.level), report,
        )  # fmt: skip
    except ValueError as error:
        raise InputError(f"its judgement cannot be read: {error}", file=name) from error
