"""Runs by batches, against a real server with both APIs."""

import json
from pathlib import Path

import pytest
from answers import right_reply
from batch_runs import APIS, CREATE, KEYS, RESULTS, STATE, arguments, once
from batch_stub import BatchStub, Body
from proctor_command import Proctor, report
from run_content import content
from stub import Call, serving

from proctor.evals.store import RunStore


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def last(body: Body) -> str:
    """The prompt of a request."""
    return str(body["messages"][-1]["content"])


def test_a_run_is_as_one_by_one(proctor: Proctor, tmp_path: Path) -> None:
    def one_by_one(call: Call) -> None:
        call.reply(right_reply(last(call.body)))

    with serving(one_by_one) as ordinary:
        done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", ordinary.url,
                       "--n", "2", "--out", tmp_path / "calm", "--json")  # fmt: skip
        assert report(done)["samples"] == 8
        sent = ordinary.bodies[0]["messages"]
    for api in APIS:
        with BatchStub(right_reply) as stub:
            run = tmp_path / api
            done = proctor(*arguments(api, stub, run, "--n", "2"), env=KEYS)
            found = report(done)
            assert found["unfinished"] == 0
            assert "8 of 8 requests done" in done.stderr
            assert content(run) == content(tmp_path / "calm")
            assert once(stub, 8)
            assert stub.calls[CREATE[api]] == 1
            system = [stub.bodies[0]["system"]] if api == "anthropic" else []
            said = system + [each["content"] for each in stub.bodies[0]["messages"]]
            assert len(said) == len(sent)
        with RunStore.open(run) as store:
            assert store.settings["batch"] == api
            thoughts = {each.generation.reasoning for each in store.samples() if each.generation}
            assert thoughts == {"Let me see." if api == "anthropic" else ""}


@pytest.mark.slow
def test_what_is_asked(proctor: Proctor, tmp_path: Path) -> None:
    more = ["--n", "3", "--limit", "1", "--temperature", "0.5", "--stop", "END", "--top-p", "0.9",
            "--extra-body", '{"service_tier": "auto"}']  # fmt: skip
    with BatchStub(right_reply) as stub:
        report(proctor(*arguments("openai", stub, tmp_path / "a", *more, "--seed", "7"), env=KEYS))
        assert sorted(each.pop("seed") for each in stub.bodies) == [7, 8, 9]
        assert all(each == stub.bodies[0] for each in stub.bodies)
        del stub.bodies[0]["messages"]
        assert stub.bodies[0] == {
            "model": "stub", "max_completion_tokens": 1000, "temperature": 0.5, "stop": ["END"],
            "top_p": 0.9, "service_tier": "auto",
        }  # fmt: skip
        stub.bodies.clear()
        more += ["--top-k", "40", "--reasoning-effort", "low"]
        report(proctor(*arguments("anthropic", stub, tmp_path / "b", *more), env=KEYS))
        assert all(each == stub.bodies[0] for each in stub.bodies)
        assert [each["role"] for each in stub.bodies[0].pop("messages")] == ["user"]
        assert "programming contest" in stub.bodies[0].pop("system")
        assert stub.bodies[0] == {
            "model": "stub", "max_tokens": 1000, "temperature": 0.5, "stop_sequences": ["END"],
            "top_p": 0.9, "top_k": 40, "output_config": {"effort": "low"}, "service_tier": "auto",
        }  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("outcome", ["errored", "expired", "canceled", "lost"])
def test_a_request_that_fails_is_a_fault_of_its_sample(
    proctor: Proctor, tmp_path: Path, api: str, outcome: str
) -> None:
    first: list[str] = []

    def some(body: Body) -> str:
        first.extend([last(body)] * (not first))
        return outcome if last(body) == first[0] else "succeeded"

    with BatchStub(right_reply) as stub:
        stub.outcome = some
        run = tmp_path / "run"
        # More of them than refusals in a row that end a run which asks one by one.
        done = proctor(*arguments(api, stub, run, "--n", "12"), env=KEYS)
        assert done.returncode == 125
        found = json.loads(done.stdout)
        assert sum(found["model_faults"].values()) == 12
        assert found["standard"]["verdicts"] == {"AC": 36, "INFRA_FAULT": 12}
        assert found["unfinished"] == 0
        with RunStore.open(run) as store:
            said = {each.generation.fault_message for each in store.samples() if each.generation}
        wanted = {"errored": "bad request", "lost": "no whole reply"}.get(outcome, outcome)
        assert len(said) == 2
        assert any(wanted in each for each in said), said
        assert proctor("resume", run, "--json", env=KEYS).returncode == 125
        assert stub.calls[CREATE[api]] == 1, "only retry asks again"
        stub.outcome = lambda _body: "succeeded"
        again = proctor("retry", run, "--json", env=KEYS)
        assert report(again)["standard"]["verdicts"] == {"AC": 48}
        assert stub.calls[CREATE[api]] == 2
        assert once(stub, 48)


def test_a_batch_that_fails_as_a_whole(proctor: Proctor, tmp_path: Path) -> None:
    with BatchStub(right_reply) as stub:
        stub.fails_whole = True
        run = tmp_path / "run"
        done = proctor(*arguments("openai", stub, run), env=KEYS)
        assert done.returncode == 125
        assert json.loads(done.stdout)["model_faults"] == {"model-refused": 4}
        with RunStore.open(run) as store:
            said = {each.generation.fault_message for each in store.samples() if each.generation}
        assert said == {"token_limit_exceeded: Enqueued token limit"}
        stub.fails_whole = False
        assert report(proctor("retry", run, "--json", env=KEYS))["unfinished"] == 0
        assert once(stub, 4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("status", [429, 500])
@pytest.mark.parametrize("when", ["before", "after"])
def test_passing_faults_cost_nothing(
    proctor: Proctor, tmp_path: Path, api: str, when: str, status: int
) -> None:
    """Each endpoint fails once, before it had an effect or with its answer lost."""
    failed: set[str] = set()

    def once_each(call: str) -> int | None:
        if call in failed or call.startswith("GET /v1/models"):
            return None
        failed.add(call)
        return status

    with BatchStub(right_reply) as stub:
        setattr(stub, when, once_each)
        stub.polls = 0  # only of a batch that has ended can Anthropic's client tell whose it is
        report(proctor(*arguments(api, stub, tmp_path / "run"), env=KEYS))
        assert once(stub, 4)
        wanted = {CREATE[api], STATE[api], RESULTS[api], CREATE[api].replace("POST", "GET")}
        assert wanted <= failed


def test_broken_lines_are_downloaded_again(proctor: Proctor, tmp_path: Path, api: str) -> None:
    broken = [2]

    def mangle(lines: list[bytes]) -> list[bytes]:
        broken[0] -= 1
        return [lines[0][: len(lines[0]) // 2], *lines[1:]] if broken[0] >= 0 else lines

    with BatchStub(right_reply) as stub:
        stub.lines = mangle
        report(proctor(*arguments(api, stub, tmp_path / "run"), env=KEYS))
        assert stub.calls[RESULTS[api]] == 3
        assert once(stub, 4)


def test_lines_that_stay_broken(proctor: Proctor, tmp_path: Path, api: str) -> None:
    """Results that can be read are taken; a page of HTML is not taken for one."""
    with BatchStub(right_reply) as stub:
        run = tmp_path / "run"
        stub.lines = lambda _lines: [b"<html>", b"</html>"]
        begin = arguments(api, stub, run, "--max-retries", "1")
        done = proctor(*begin, env=KEYS)
        assert done.returncode == 125
        assert "lines of results are broken" in done.stderr
        assert json.loads(done.stdout)["unfinished"] == 4
        stub.lines = lambda lines: [b"\xff{}", b"", lines[0][:-5], *lines[1:], b'{"custom_id":"?"}']
        done = proctor("resume", run, "--json", env=KEYS)
        assert done.returncode == 125
        assert json.loads(done.stdout)["model_faults"] == {"model-reply-broken": 1}
        assert json.loads(done.stdout)["standard"]["verdicts"] == {"AC": 3, "INFRA_FAULT": 1}
        assert once(stub, 4)


@pytest.mark.slow
def test_self_repair(proctor: Proctor, tmp_path: Path, api: str) -> None:
    """Self-repair: passed programs are carried over; the request has the failed one's feedback."""
    wrong = "```python\nprint('no')\n```"

    def answer(prompt: str) -> str:
        return wrong if "# Lantern Rows\n" in prompt else right_reply(prompt)

    with BatchStub(answer) as stub:
        first = report(proctor(*arguments(api, stub, tmp_path / "first"), env=KEYS))
        assert first["standard"]["verdicts"]["AC"] == 3
        stub.bodies.clear()
        stub.answer = lambda _prompt: right_reply("# Lantern Rows\n")
        more = ("--scenario", "selfrepair", "--from", str(tmp_path / "first"))
        second = report(proctor(*arguments(api, stub, tmp_path / "second", *more), env=KEYS))
        assert second["standard"]["verdicts"] == {"AC": 4}
        assert len(stub.bodies) == 1
        roles = [each["role"] for each in stub.bodies[0]["messages"] if each["role"] != "system"]
        assert roles == ["user", "assistant", "user"]


def test_half_a_character_in_a_reply(proctor: Proctor, tmp_path: Path, api: str) -> None:
    with BatchStub(lambda prompt: f"\ud83d {right_reply(prompt)}") as stub:
        found = report(proctor(*arguments(api, stub, tmp_path / "run"), env=KEYS))
        assert found["standard"]["verdicts"] == {"AC": 4}


def test_what_cannot_be_asked_by_batches(proctor: Proctor, tmp_path: Path) -> None:
    def refused(*options: str, env: dict[str, str] = KEYS) -> str:
        done = proctor("eval", "livecodebench", *options, "--out", tmp_path / "none", env=env)
        assert done.returncode == 2, done.stderr
        assert not (tmp_path / "none").exists()
        return done.stderr

    asked = ("--model", "m", "--batch", "anthropic", "--max-tokens", "9")
    assert "ANTHROPIC_API_KEY is not set" in refused(*asked, env={})
    assert "OPENAI_API_KEY is not set" in refused("--model", "m", "--batch", "openai", env={})
    assert "--max-tokens" in refused("--model", "m", "--batch", "anthropic")
    assert "--seed" in refused(*asked, "--seed", "1")
    assert "--min-p" in refused(*asked, "--min-p", "0.1")
    assert "--chat-template" in refused(*asked, "--chat-template", "thinking=1")
    assert "an agent waits" in refused(*asked, "--agentic-mode")
    assert "--request-n" in refused(*asked, "--request-n", "2")
    assert "a recording" in refused("--batch", "openai", "--model", "replay:x.jsonl")
    assert "batch" in refused("--batch", "acme", "--model", "m")


def test_a_wrong_key_ends_the_command_at_once(proctor: Proctor, tmp_path: Path, api: str) -> None:
    secret = "sk-of-another-project"
    with BatchStub(right_reply) as stub:
        done = proctor(
            *arguments(api, stub, tmp_path / "run"),
            env={"OPENAI_API_KEY": secret, "ANTHROPIC_API_KEY": secret},
        )
        assert done.returncode == 125
        assert f"check {api.upper()}_API_KEY" in done.stderr
        assert secret not in done.stderr + done.stdout
        assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_half_the_price(proctor: Proctor, tmp_path: Path, api: str) -> None:
    price = (
        '[[price]]\nmodel = "stub"\nprompt = 1000.0\ncached_prompt = 500.0\ncompletion = 2000.0\n'
        'date = 2026-01-15\nsource = "here"\n'
    )
    table = tmp_path / "prices.toml"
    with BatchStub(right_reply) as stub:
        table.write_text(price)
        first = arguments(api, stub, tmp_path / "a", "--limit", "1", "--prices", str(table))
        assert report(proctor(*first, env=KEYS))["cost"] is None, "not known of batches"
        table.write_text(price + "batch = 0.5\n")
        second = arguments(api, stub, tmp_path / "b", "--limit", "1", "--prices", str(table))
        found = report(proctor(*second, env=KEYS))
        # 100 tokens in, of which 10 from the cache with Anthropic, and 20 out.
        full = {"openai": 0.1 + 0.04, "anthropic": 0.09 + 0.005 + 0.04}[api]
        assert found["cost"] == pytest.approx(full / 2)
        assert found["price"]["batch"] == 0.5


def test_a_run_of_before_has_no_batches(proctor: Proctor, tmp_path: Path) -> None:
    """Tables of batches are added to a run that an earlier version began."""
    row = {"question_id": "proctor-01-lantern-rows", "code": "print(1)"}
    (tmp_path / "replies.jsonl").write_text(json.dumps(row))
    run = tmp_path / "run"
    report(proctor("eval", "livecodebench", "--model", f"replay:{tmp_path}/replies.jsonl", "--out",
                   run, "--json"))  # fmt: skip
    with RunStore.open(run, write=True) as store, store.transaction() as connection:
        connection.execute("DROP TABLE asked")
        connection.execute("DROP TABLE batch")
    report(proctor("retry", run, "--json"))
