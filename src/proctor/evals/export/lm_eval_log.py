"""A run as lm-eval leaves one: `MODEL/results_TIME.json` and `MODEL/samples_TASK_TIME.jsonl`.

The shapes are those of `loggers/evaluation_tracker.py` and `result_schema.py` of lm-eval 0.4.13,
and what the tasks of `proctor.integrations.lm_eval` make there: a problem is a document, its
samples are repeats, a mode of judging is a filter.
"""

import hashlib
import json
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.evals.provenance import provenance
from proctor.evals.records import current_judges, settings_of
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import ProblemInfo, Sample, SampleJudgement
from proctor.reports.pass_at_k import pass_at_k
from proctor.verdict import Verdict
from proctor.whole_file import whole_file

FAULTS = "faults"
"""Metric that counts replies without a verdict, which are in no other metric."""
_KS = (1, 5, 10, 100)


def task_name(benchmark: str) -> str:
    """Name a benchmark's task."""
    return "proctor_" + re.sub(r"\W", "_", benchmark)


def document(info: ProblemInfo, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a problem and its prompt as a task's document, which holds no test."""
    return {
        "id": info.id,
        "title": info.title,
        "platform": info.platform,
        "difficulty": info.difficulty,
        "published": info.published.isoformat() if info.published else None,
        "messages": [{"role": each["role"], "content": each["content"]} for each in messages],
    }


def filtered(verdict: str, message: str, code: str) -> str:
    """Return the output of a mode's filter for a reply, JSON: verdict, message and program."""
    return json.dumps({"verdict": verdict, "message": message, "code": code}, ensure_ascii=False)


def metric_names(repeats: int) -> dict[str, bool]:
    """Return the metrics for `repeats` replies to a problem, each with whether higher is better."""
    ks = (k for k in sorted({*_KS, repeats}) if k <= repeats)
    return {**{f"pass@{k}": True for k in ks}, FAULTS: False}


def metrics(verdicts: Sequence[Verdict | None], repeats: int) -> dict[str, float]:
    """Return the metrics of one problem; without pass@k where there are fewer than k replies.

    None among the verdicts stands for a missing reply. What has no verdict counts as not passed.
    """
    judged = [each for each in verdicts if each is not None and not each.is_fault]
    passed = sum(each.passed for each in judged)
    rates = {
        name: pass_at_k(len(verdicts), passed, int(name.removeprefix("pass@")))
        for name in metric_names(repeats)
        if name != FAULTS
    }
    found = {name: rate for name, rate in rates.items() if rate is not None}
    return {**found, FAULTS: len(verdicts) - len(judged)}


def write_lm_eval(store: RunStore, directory: Path) -> None:
    """Write both files below a directory. Raises InputError for a run that judges nothing."""
    settings, task = settings_of(store), task_name(str(store.recall("benchmark")))
    if not settings.modes:
        raise InputError("lm-eval has scores, and this run was made with --no-run-tests")
    model = re.sub(r"[\"<>:/|\\?*\[\]]+", "__", settings.model)
    if model.strip(".") == "":  # whoever wrote the run might name another directory
        model = f"__{model}"
    time = re.sub(r"[^0-9T+-]", "-", store.begun[:19])
    place = directory / model
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(place)) from error
    tally = _MetricTally()
    with ExitStack() as stack:
        out = stack.enter_context(whole_file(place / f"samples_{task}_{time}.jsonl"))
        for row in _rows(store, settings, tally):
            out.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        results = _results(store, settings, task, tally) | {"model_name_sanitized": model}
        results_file = stack.enter_context(whole_file(place / f"results_{time}.json"))
        results_file.write(json.dumps(results, indent=2, ensure_ascii=False).encode() + b"\n")


class _MetricTally:
    """Values by metric and filter, in order, and the hash of all documents."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.hash = hashlib.sha256()
        self.documents: set[int] = set()
        self.repeats = 1

    def add(self, row: Mapping[str, Any]) -> None:
        for name in row["metrics"]:
            self.values[name, row["filter"]].append(row[name])
        self.documents.add(row["doc_id"])
        self.hash.update(f"{row['doc_hash']}{row['prompt_hash']}{row['target_hash']}".encode())


def _rows(store: RunStore, settings: Settings, tally: _MetricTally) -> Iterator[dict[str, Any]]:
    """Yield a row for each mode and problem that has a sample, by mode, as lm-eval orders them."""
    judges = current_judges(store, settings)
    tally.repeats = -(-store.count() // max(1, sum(1 for _ in store.problems())))
    for mode in settings.modes:
        for number, info in enumerate(store.problems()):
            samples = [each for each in store.samples(info.id) if each.generation is not None]
            row = _row(store, settings, info, samples, (mode, judges.get(mode, "")), tally.repeats)
            if row is not None:
                row = {"doc_id": number, **row}
                tally.add(row)
                yield row


def _row(
    store: RunStore,
    settings: Settings,
    info: ProblemInfo,
    samples: Sequence[Sample],
    judge: tuple[str, str],
    repeats: int,
) -> dict[str, Any] | None:
    judged = [(each, _judgement(each, judge)) for each in samples]
    judged = [(each, made) for each, made in judged if made or _generation(each).fault]
    if not judged:
        return None
    messages = store.prompt(_generation(judged[0][0]).prompt_hash) or []
    doc = document(info, messages)
    found = metrics([Verdict(made.verdict) if made else None for _, made in judged], repeats)
    chat = not any(each["role"] == "text" for each in messages)
    prompt = (
        json.dumps(doc["messages"], ensure_ascii=False)
        if chat
        else "".join(each["content"] for each in doc["messages"])
    )
    return {
        "doc": doc,
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": [prompt] if chat else prompt,
                                     "arg_1": _sampling(settings)}},
        "resps": [[_generation(each).text or _generation(each).code for each, _ in judged]],
        "filtered_resps": [[_filtered(each, made) for each, made in judged]],
        "filter": judge[0],
        "metrics": list(found),
        "doc_hash": _sha(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _sha(prompt),
        "target_hash": _sha(""),
        **found,
    }  # fmt: skip


def _generation(sample: Sample) -> Any:
    assert sample.generation is not None
    return sample.generation


def _judgement(sample: Sample, judge: tuple[str, str]) -> SampleJudgement | None:
    return next((each for each in sample.judgements if (each.mode, each.judge) == judge), None)


def _filtered(sample: Sample, made: SampleJudgement | None) -> str:
    generation = _generation(sample)
    if made is None:
        return filtered(generation.fault, generation.fault_message, "")
    return filtered(made.verdict, made.message, generation.code)


def _sampling(settings: Settings) -> dict[str, Any]:
    given = msgspec.to_builtins(settings.sampling)
    found = {name: value for name, value in given.items() if value}
    return {"until": found.pop("stop", []), **found}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _results(store: RunStore, settings: Settings, task: str, tally: _MetricTally) -> dict[str, Any]:
    higher = metric_names(tally.repeats)
    found: dict[str, Any] = {"name": task, "alias": task, "sample_len": len(tally.documents)}
    for (name, mode), values in tally.values.items():
        counts = name == FAULTS
        found[f"{name},{mode}"] = sum(values) if counts else math.fsum(values) / len(values)
        several = len(values) > 1 and not counts
        found[f"{name}_stderr,{mode}"] = (
            statistics.stdev(values) / math.sqrt(len(values)) if several else "N/A"
        )
    config = {
        "task": task,
        "num_fewshot": 0,
        "output_type": "generate_until",
        "generation_kwargs": _sampling(settings),
        "repeats": tally.repeats,
        "metadata": provenance(store),
    }
    return {
        "results": {task: found},
        "group_subtasks": {},
        "configs": {task: config},
        "versions": {task: store.recall("prompt_version")},
        "n-shot": {task: 0},
        "higher_is_better": {task: higher},
        "n-samples": {
            task: {
                "original": sum(1 for _ in store.problems()),
                "effective": len(tally.documents),
            }
        },
        "config": {"model": "proctor", "model_args": {"model": settings.model}},
        "git_hash": None,
        "date": datetime.fromisoformat(store.begun).timestamp(),
        "task_hashes": {task: tally.hash.hexdigest()},
        "model_source": "proctor",
        "model_name": settings.model,
    }
