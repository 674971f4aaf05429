"""Handing in, finding again and waiting, with limits and waits of our own, against a real server."""

import asyncio
import contextlib
import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import openai
import pytest
from batch_runs import APIS, CREATE, STATE
from batch_stub import KEY, BatchStub, Body

from proctor.errors import ModelAbsent, ModelFault, ModelRefused, SettingsError
from proctor.evals.batches.anthropic import AnthropicBatches
from proctor.evals.batches.anthropic import reply_of as anthropic_reply
from proctor.evals.batches.asking import BatchProgress
from proctor.evals.batches.ledger import BatchLedger
from proctor.evals.batches.model import BatchedModel
from proctor.evals.batches.openai import OpenAIBatches
from proctor.evals.batches.openai import reply_of as openai_reply
from proctor.evals.batches.service import BatchService, RequestBatch
from proctor.evals.models.connections import Retry
from proctor.evals.models.model import Message, ModelReply, ModelRequest, Sampling
from proctor.evals.models.openai import Endpoint
from proctor.evals.store import RunStore

with contextlib.suppress(ModuleNotFoundError):  # tests that take it are marked
    import anthropic

SAMPLING = Sampling(max_tokens=100)


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stub() -> Iterator[BatchStub]:
    with BatchStub(lambda prompt: f"to {prompt}") as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run", {}) as made:
        yield made


def requests(count: int, text: str = "question") -> list[ModelRequest]:
    return [
        ModelRequest((Message("user", f"{text} {number}"),), f"p{number}", 0, SAMPLING)
        for number in range(count)
    ]


def opener(api: str, stub: BatchStub, **limits: int) -> Callable[[], BatchService]:
    def opened() -> BatchService:
        if api == "anthropic":
            at_anthropic = AnthropicBatches(Endpoint("stub", stub.url, KEY, timeout=30.0))
            at_anthropic.form = replace(at_anthropic.form, **limits)
            return at_anthropic
        at_openai = OpenAIBatches(Endpoint("stub", f"{stub.url}/v1", KEY, timeout=30.0))
        at_openai.form = replace(at_openai.form, **limits)
        return at_openai

    return opened


def model(
    api: str, stub: BatchStub, waits: list[float] | None = None, **limits: int
) -> BatchedModel:
    """A model whose waits are written down and not waited."""

    async def sleep(seconds: float) -> None:
        (waits if waits is not None else []).append(seconds)

    reply_of = anthropic_reply if api == "anthropic" else openai_reply
    read = partial(reply_of, secrets=(KEY,))
    return BatchedModel("stub", opener(api, stub, **limits), read, Retry(sleep, attempts=3))


def replies(asked: BatchedModel, of: list[ModelRequest]) -> list[str]:
    async def all_of_them() -> list[ModelReply]:
        return [await asked.generate(each) for each in of]

    return [each.text for each in asyncio.run(all_of_them())]


def intended(store: RunStore, of: list[ModelRequest], token: str = "0123456789abcdef") -> None:
    """Leave what a kill leaves while a batch is handed in."""
    batch = RequestBatch(1, token, "/v1/chat/completions", len(of), time.time())
    BatchLedger(store).intend(batch, [each.key for each in of])


def test_splitting_by_number(store: RunStore, stub: BatchStub, api: str) -> None:
    wanted = requests(10)
    asked = model(api, stub, requests=4)
    asyncio.run(asked.ask(store, wanted))
    assert [len(each["requests"]) for each in stub.batches.values()] == [4, 4, 2]
    assert set(stub.paid.values()) == {1}
    assert replies(asked, wanted) == [f"to question {number}" for number in range(10)]
    asyncio.run(asked.ask(store, wanted))
    assert len(stub.batches) == 3, "nothing is asked for again"


def test_splitting_by_size(store: RunStore, stub: BatchStub, api: str) -> None:
    sizes: list[int] = []
    wanted = requests(6, "x" * 1000)
    limits = {"size": 3000}
    asked = model(api, stub, **limits)
    asyncio.run(asked.ask(store, wanted))
    assert [len(each["requests"]) for each in stub.batches.values()] == [2, 2, 2]
    sizes = [len(content) for content in stub.files.values()]
    assert all(size <= limits["size"] for size in sizes)
    # One that is too long by itself is the provider's to refuse.
    asyncio.run(asked.ask(store, requests(1, "y" * 5000)))
    assert len(stub.batches) == 4


def test_texts_to_be_completed(store: RunStore, stub: BatchStub) -> None:
    """They are of another path than messages, and so of another batch; Anthropic has none."""
    texts = [ModelRequest((Message("text", "def f("),), "t", 0, SAMPLING)]
    asked = model("openai", stub)
    asyncio.run(asked.ask(store, [*requests(2), *texts]))
    paths = [each["endpoint"] for each in stub.batches.values()]
    assert paths == ["/v1/chat/completions", "/v1/completions"]
    assert stub.bodies[-1] == {"model": "stub", "prompt": "def f(", "max_tokens": 100}
    assert replies(asked, texts) == ["to def f("]
    more = replace(texts[0], sample=1)
    with pytest.raises(SettingsError, match="Anthropic"):
        asyncio.run(model("anthropic", stub).ask(store, [more]))
    assert len(stub.batches) == 2


def test_waiting_longer_and_longer(store: RunStore, stub: BatchStub, api: str) -> None:
    waits: list[float] = []
    told: list[BatchProgress] = []
    stub.polls = 12
    asyncio.run(model(api, stub, waits).ask(store, requests(3), told.append))
    assert len(waits) == 11
    assert waits[:3] == [5.0, 7.5, 11.25]
    assert waits[-1] == 60.0
    assert [each.done for each in told] == [0] * 11 + [3]
    assert {each.total for each in told} == {3}
    assert told[0].ids == ("batch_1",)
    assert told[-1].ids == ()


@pytest.mark.parametrize("failures", [20, 30])
def test_an_outage_while_waiting(store: RunStore, stub: BatchStub, api: str, failures: int) -> None:
    """One of minutes is waited for; one that does not end ends the wait, and costs nothing."""
    left = [failures]

    def down(call: str) -> int | None:
        if call != STATE[api]:
            return None
        left[0] -= 1
        return 500 if left[0] >= 0 else None

    stub.before = down
    asked = model(api, stub)
    if failures == 30:
        with pytest.raises(ModelRefused, match="batch_1: the server answers 500"):
            asyncio.run(asked.ask(store, requests(3)))
    asyncio.run(asked.ask(store, requests(3)))
    assert len(stub.batches) == 1
    assert len(replies(asked, requests(3))) == 3


def test_a_batch_that_is_not_there(store: RunStore, stub: BatchStub, api: str) -> None:
    """A batch that is not found, as with another project's key, is not asked for again."""
    stub.polls = 2
    stub.before = lambda call: 403 if call == STATE[api] else None
    with pytest.raises(ModelRefused):
        asyncio.run(model(api, stub).ask(store, requests(3)))
    gone, stub.batches = stub.batches, {}
    stub.before = lambda _call: None
    with pytest.raises(ModelRefused, match="batch batch_1: the server answers 404"):
        asyncio.run(model(api, stub).ask(store, requests(3)))
    assert not stub.batches
    stub.batches = gone
    asked = model(api, stub)
    asyncio.run(asked.ask(store, requests(3)))
    assert len(replies(asked, requests(3))) == 3


def test_never_handed_in(store: RunStore, stub: BatchStub, api: str) -> None:
    intended(store, requests(3))
    asked = model(api, stub)
    asyncio.run(asked.ask(store, requests(3)))
    assert len(stub.batches) == 1
    assert len(replies(asked, requests(3))) == 3


def test_listed_late(store: RunStore, stub: BatchStub, api: str) -> None:
    """A provider may be at work on what was handed in, and list it a moment later."""
    wanted, waits, hidden = requests(3), list[float](), list[dict[str, Body]]()
    stub.polls = 0
    of = [(f"{each.key}-0123456789abcdef", {"model": "stub", "messages": [{"content": "ours"}]})
          for each in wanted]  # fmt: skip
    stub.made(of, made=stub.clock, metadata={"proctor": "0123456789abcdef"}, count=3,
              endpoint="/v1/chat/completions", file="")  # fmt: skip

    def hide(call: str) -> None:
        if call == CREATE[api].replace("POST", "GET") and not hidden:
            hidden.append(stub.batches)
            stub.batches = {}

    def show(_call: str) -> None:
        if not stub.batches:
            stub.batches = hidden[0]

    stub.before, stub.after = hide, show  # type: ignore[assignment]
    intended(store, wanted)
    asked = model(api, stub, waits)
    asyncio.run(asked.ask(store, wanted))
    assert waits == [15.0]
    assert len(stub.batches) == 1
    assert replies(asked, wanted) == ["to ours"] * 3


def test_handed_in_among_many_others(store: RunStore, stub: BatchStub, api: str) -> None:
    """It is on the third page; other runs of the same prompts are around it."""
    wanted = requests(3)
    stub.polls = 0
    for number in range(230):
        token = "0123456789abcdef" if number == 20 else f"{number:016}"
        of = [(f"{each.key}-{token}", {"model": "stub", "messages": [{"content": "ours"}]})
              for each in wanted]  # fmt: skip
        stub.made(of, made=stub.clock, metadata={"proctor": token}, count=3,
                  endpoint="/v1/chat/completions", file="")  # fmt: skip
    intended(store, wanted)
    asked = model(api, stub)
    asyncio.run(asked.ask(store, wanted))
    assert len(stub.batches) == 230
    assert [each.id for each in BatchLedger(store).batches()] == ["batch_21"]
    assert replies(asked, wanted) == ["to ours"] * 3


def test_what_cannot_be_told_is_not_paid_for(store: RunStore, stub: BatchStub) -> None:
    """Anthropic's batches have no name of ours until they have ended."""
    wanted = requests(3)
    of = [(f"{each.key}-ffff", {"model": "stub", "messages": [{"content": "other"}]})
          for each in wanted]  # fmt: skip
    stub.made(of, made=stub.clock)
    stub.made(of[:2], made=stub.clock)  # of another size
    stub.made(of, made=stub.clock - 7200)  # of before
    intended(store, wanted)
    asked = model("anthropic", stub)
    for _ in range(2):
        with pytest.raises(ModelRefused, match="3 requests was handed in: batch_1 may be it"):
            asyncio.run(asked.ask(store, wanted))
    assert len(stub.batches) == 3
    stub.batches["batch_1"]["polls"] = 1
    asyncio.run(asked.ask(store, wanted))
    assert len(stub.batches) == 4, "the other was another's"
    assert replies(asked, wanted)[0] == "to question 0"


def test_refused_for_good(store: RunStore, stub: BatchStub, api: str) -> None:
    """Nothing is recorded as asked; what is mended is asked for."""
    stub.before = lambda call: 400 if call == CREATE[api] else None
    asked = model(api, stub)
    with pytest.raises(ModelRefused, match="400"):
        asyncio.run(asked.ask(store, requests(3)))
    stub.before = lambda _call: None
    asyncio.run(asked.ask(store, requests(3)))
    assert len(stub.batches) == 1
    assert len(list((store.directory / "batches").iterdir())) == 1, "files handed in are removed"


def test_results_that_are_gone(store: RunStore, stub: BatchStub, api: str) -> None:
    asked = model(api, stub)
    asyncio.run(asked.ask(store, requests(1)))
    (store.directory / "batches" / "1.jsonl").unlink()
    with pytest.raises(ModelAbsent, match="1.jsonl cannot be read"):
        replies(asked, requests(1))


def test_what_was_not_asked(store: RunStore, stub: BatchStub) -> None:
    asked = model("openai", stub)
    with pytest.raises(ModelAbsent):
        replies(asked, requests(1))
    asyncio.run(asked.ask(store, requests(1)))
    with pytest.raises(ModelAbsent):
        replies(asked, requests(2)[1:])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{}", "no response"),
        (b'{"response":{"status_code":200,"body":{"choices":[]}}}', "no choices"),
        (b'{"response":{"status_code":200,"body":null}}', "not a completion"),
        (b'{"response":{"status_code":429,"body":{"error":"slow"}}}', "429"),
        (b'{"response":null,"error":{"code":"batch_expired","message":"late"}}', "batch_expired"),
        (b'{"result":{"type":"succeeded"}}', "succeeded"),
        (b'{"result":{"type":"expired"}}', "the request is expired"),
        (b'{"result":{"type":"errored","error":{"error":{"message":"bad"}}}}', "bad"),
        (b'{"result":[]}', "not what it should be"),
    ],
)
def test_lines_without_a_reply(line: bytes, said: str) -> None:
    read = anthropic_reply if b'"result"' in line else openai_reply
    with pytest.raises(ModelFault, match=said):
        read(line, ())


@pytest.mark.parametrize(
    ("reason", "finished"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("refusal", "content_filter"), ("new", "new")],
)
def test_finish_reasons(reason: str, finished: str) -> None:
    message = {
        "content": [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "a"},
                    {"type": "text", "text": "b"}],
        "stop_reason": reason, "usage": {"input_tokens": 3, "output_tokens": 4},
    }  # fmt: skip
    line = {"custom_id": "x", "result": {"type": "succeeded", "message": message}}
    reply = anthropic_reply(msgspec.json.encode(line), ())
    assert (reply.text, reply.finish_reason, reply.usage.prompt) == ("ab", finished, 3)


@pytest.mark.package("anthropic")
def test_the_stub_is_as_the_official_clients_expect(stub: BatchStub) -> None:
    """A second reading of both APIs: that of their providers' own clients."""
    outcomes = {"a": "succeeded", "b": "errored", "c": "expired", "d": "canceled"}
    stub.outcome = lambda body: outcomes[body["messages"][-1]["content"]]
    bodies = [
        {"model": "stub", "max_tokens": 5, "messages": [{"role": "user", "content": each}]}
        for each in outcomes
    ]
    client = anthropic.Anthropic(api_key=KEY, base_url=stub.url, max_retries=0)
    made = client.messages.batches.create(
        requests=[{"custom_id": each["messages"][0]["content"], "params": each} for each in bodies]  # type: ignore[typeddict-item, index]
    )
    assert made.processing_status == "in_progress"
    assert made.request_counts.processing == 4
    assert client.messages.batches.retrieve(made.id).processing_status == "ended"
    results = {each.custom_id: each.result for each in client.messages.batches.results(made.id)}
    assert {name: each.type for name, each in results.items()} == outcomes
    assert [each.id for each in client.messages.batches.list(limit=1)] == [made.id]

    lines = [
        {"custom_id": str(number), "method": "POST", "url": "/v1/chat/completions", "body": body}
        for number, body in enumerate(bodies)
    ]
    file = io.BytesIO("\n".join(map(json.dumps, lines)).encode())
    with openai.OpenAI(api_key=KEY, base_url=f"{stub.url}/v1", max_retries=0) as api:
        uploaded = api.files.create(file=("x.jsonl", file), purpose="batch")
        batch = api.batches.create(
            completion_window="24h", endpoint="/v1/chat/completions", input_file_id=uploaded.id
        )
        batch = api.batches.retrieve(batch.id)
        assert batch.status == "cancelled"
        assert batch.output_file_id is not None
        assert batch.error_file_id is not None
        assert len(api.files.content(batch.output_file_id).text.splitlines()) == 1
        assert len(api.files.content(batch.error_file_id).text.splitlines()) == 3
