"""A run of this benchmark as rows of the IOI pipeline: submissions, with their judgements."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proctor.evals.ioi.benchmark import open_source, subtask_of
from proctor.evals.ioi.report import PointsReport, load_thresholds, summarise, worths
from proctor.evals.ioi.submissions import DEFAULT_LANGUAGE
from proctor.evals.records import current_judges, settings_of
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, ProblemInfo

STRATEGIES = ("best", "union")


def result_rows(store: RunStore) -> Iterator[dict[str, Any]]:
    """Yield a row for each reply, which `proctor ioi score` takes as a submission.

    A judged reply's row also has the fields that this command writes for it, except the digest.
    """
    settings = settings_of(store)
    judge = current_judges(store, settings).get("standard")
    infos = {info.id: info for info in store.problems()}
    for sample in store.samples():
        if sample.generation is None or sample.generation.fault:
            continue
        row = _submission(infos[sample.problem_id], sample.generation, settings)
        for made in sample.judgements:
            if made.judge == judge and made.upstream:
                row |= json.loads(made.upstream)
        yield row


def _submission(info: ProblemInfo, made: Generation, settings: Settings) -> dict[str, Any]:
    (year, task), subtask = subtask_of(info)
    seed = {} if settings.seed is None else {"seed": settings.seed + made.sample}
    return {
        "row": f"{info.id}/{made.sample}",
        "uuid": info.id,
        "solution_number": made.sample,
        "year": year,
        "problem_id": task,
        "target_subtask": subtask,
        "language": DEFAULT_LANGUAGE,
        "code": made.code,
        "generation": made.text,
        "model_kwargs": {"model": settings.model, **seed},
        "metadata": {
            "usage": {
                "prompt_tokens": made.prompt_tokens,
                "completion_tokens": made.completion_tokens,
            },
            "stop_reason": made.finish_reason,
        },
    }


def points(store: RunStore, settings: Settings) -> PointsReport:
    """Points by task and year, of what is judged so far; the settings name files that are opened.

    Raises InputError, InfraFault.
    """
    thresholds = load_thresholds(Path(settings.medals)) if settings.medals else {}
    judged = (row for row in result_rows(store) if "verdict" in row)
    tasks = worths(open_source(settings).subtasks())
    return summarise(judged, tasks, STRATEGIES, thresholds)
