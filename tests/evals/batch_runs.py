"""Arguments and environment of a run, for the tests of batches."""

from pathlib import Path

from batch_stub import KEY, BatchStub

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


def once(stub: BatchStub, count: int) -> bool:
    """True if so many requests were paid for, each of them once."""
    paid = [number for number in stub.paid.values() if number]
    return paid == [1] * count
