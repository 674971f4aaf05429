"""A run as lcb_runner's `_eval_all.json`."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, BinaryIO

from proctor.evals.records import current_judges, settings_of
from proctor.evals.store import RunStore
from proctor.evals.stored import ProblemInfo, Sample
from proctor.reports.pass_at_k import pass_at_k


def write_lcb(store: RunStore, out: BinaryIO) -> None:
    """One object a problem, sorted by id; samples without a verdict in official mode are left out.

    Source of the shape: `save_eval_results` and `insert_output_eval` of lcb_runner.
    """
    settings = settings_of(store)
    mode = "official" if "official" in settings.modes else "standard"
    key = current_judges(store, settings).get(mode, "")
    out.write(b"[")
    separator = "\n"
    for problem_id, samples in groupby(store.samples(), key=lambda each: each.problem_id):
        row = _lcb_row(store.problem(problem_id), samples, mode, key)
        if row is not None:
            out.write((separator + json.dumps(row)).encode())
            separator = ",\n"
    out.write(b"\n]\n")


def _lcb_row(
    info: ProblemInfo, samples: Iterator[Sample], mode: str, key: str
) -> dict[str, Any] | None:
    outputs, codes, grades, metadata = [], [], [], []
    for sample in samples:
        made = next((e for e in sample.judgements if (e.mode, e.judge) == (mode, key)), None)
        if sample.generation is None or made is None or made.verdict.endswith("_FAULT"):
            continue
        outputs.append(sample.generation.text or sample.generation.code)
        codes.append(sample.generation.code)
        grades.append(made.verdict == "AC")
        upstream: Mapping[str, Any] = json.loads(made.upstream) if made.upstream else {}
        metadata.append(json.dumps(upstream.get("metadata", {})))
    if not codes:
        return None
    return {
        "question_title": info.title,
        "question_content": info.statement,
        "platform": info.platform,
        "question_id": info.id,
        "contest_id": info.contest,
        "contest_date": info.contest_date,
        "starter_code": info.starter_code,
        "difficulty": info.difficulty,
        "output_list": outputs,
        "code_list": codes,
        "graded_list": grades,
        "pass@1": pass_at_k(len(grades), sum(grades), 1),
        "metadata": metadata,
    }
