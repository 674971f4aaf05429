"""Arguments, environment and contents of a run, for the tests of batches."""

import json
from pathlib import Path
from typing import Any

from batch_stub import KEY, BatchStub

from proctor.evals.store import RunStore

APIS = ("openai", "anthropic")
KEYS = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
CREATE = {"openai": "POST /v1/batches", "anthropic": "POST /v1/messages/batches"}
STATE = {"openai": "GET /v1/batches/ID", "anthropic": "GET /v1/messages/batches/ID"}
RESULTS = {
    "openai": "GET /v1/files/ID/content", "anthropic": "GET /v1/messages/batches/ID/results",
}  # fmt: skip


def arguments(api: str, stub: BatchStub, run: Path, *more: str) -> list[str]:
    """A run of the fixture by batches."""
    url = stub.url if api == "anthropic" else f"{stub.url}/v1"
    return ["eval", "livecodebench", "--model", "stub", "--base-url", url, "--batch", api,
            "--max-tokens", "1000", "--json", "--out", str(run), *more]  # fmt: skip


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
                made.reasoning_tokens, made.fault, judged,
            ))  # fmt: skip
    return found


def once(stub: BatchStub, count: int) -> bool:
    """True if so many requests were paid for, each of them once."""
    paid = [number for number in stub.paid.values() if number]
    return paid == [1] * count
