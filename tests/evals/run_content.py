"""What a run has made, to compare with what another has."""

import json
from pathlib import Path
from typing import Any

from proctor.evals.store import RunStore


def content(directory: Path) -> list[Any]:
    """Return the contents of a run's store without times and thoughts, which differ."""
    found = []
    with RunStore.open(directory) as store:
        store.check()
        for sample in store.samples():
            made = sample.generation
            assert made is not None
            judged = [
                (each.mode, each.judge, each.verdict, each.score, each.message,
                 [test["verdict"] for test in json.loads(each.tests)])
                for each in sorted(sample.judgements, key=lambda each: each.mode)
            ]  # fmt: skip
            found.append((
                sample.problem_id, sample.number, made.prompt_hash, made.text, made.code,
                made.policy, made.finish_reason, made.prompt_tokens, made.completion_tokens,
                made.reasoning_tokens, made.fault, store.prompt(made.prompt_hash), judged,
            ))  # fmt: skip
    return found
