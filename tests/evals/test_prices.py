"""What a run costs: tables of prices, and what becomes of them."""

import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from answers import right_reply
from proctor_command import Proctor
from stub import Call, completion, serving

from proctor.errors import InputError
from proctor.evals.prices import price_of, read_prices
from proctor.evals.settings import Settings
from proctor.evals.stored import Generation

OWN = """
[[price]]
model = "stub*"
prompt = 2.0
cached_prompt = 0.5
completion = 10.0
date = 2026-01-02
source = "our contract"
"""
EVAL = ("eval", "livecodebench", "--mode", "standard")


def own(place: Path, text: str = OWN) -> Path:
    path = place / "prices.toml"
    path.write_text(text)
    return path


def test_every_price_of_ours_has_day_page_and_server() -> None:
    from proctor.evals.prices import _BUNDLED

    prices = read_prices(_BUNDLED)
    assert prices
    for price in prices:
        assert price.source.startswith("https://"), price
        assert date(2023, 1, 1) < price.date, price
        assert price.server, "a local server of the same name costs something else"
        assert price.cached_prompt is None or price.cached_prompt <= price.prompt, price
        assert price.prompt < price.completion, price


def test_the_first_line_that_fits_counts() -> None:
    def prompt(model: str) -> float | None:
        found = price_of(Settings(model=model))
        return None if found is None else found.prompt

    assert prompt("gpt-4o-2024-05-13") == 5.0
    assert prompt("gpt-4o-2024-08-06") == prompt("gpt-4o") == 2.5
    assert prompt("gpt-4o-mini") == 0.15
    assert prompt("gpt-4o-audio-preview") is None


def test_another_server_has_other_prices(tmp_path: Path) -> None:
    assert price_of(Settings(model="gpt-4o", base_url="https://api.openai.com/v1")) is not None
    assert price_of(Settings(model="gpt-4o", base_url="http://localhost:8000/v1")) is None
    table = own(tmp_path, OWN.replace("stub*", "gpt-4o"))
    mine = price_of(Settings(model="gpt-4o", prices=str(table)))
    assert mine is not None
    assert mine.source == "our contract"
    other = price_of(Settings(model="gpt-4.1", prices=str(table)))
    assert other is not None, "what one's own table lacks is looked up in ours"


@pytest.mark.parametrize(
    ("tokens", "dollars"),
    [
        ({"prompt_tokens": 1_000_000, "completion_tokens": 0}, 2.0),
        ({"prompt_tokens": 1_000_000, "completion_tokens": 0, "cached_tokens": 400_000}, 1.4),
        ({"prompt_tokens": 0, "completion_tokens": 1_000_000, "reasoning_tokens": 900_000}, 10.0),
        ({"prompt_tokens": 10, "completion_tokens": 0, "cached_tokens": 99}, 5e-6),
        ({"prompt_tokens": 10}, None),
        ({}, None),
    ],
)
def test_what_a_reply_costs(tokens: dict[str, int], dollars: float | None, tmp_path: Path) -> None:
    """Tokens of the reasoning are among those of the completion; what is not known is not 0."""
    (price,) = read_prices(own(tmp_path))
    found = price.cost(Generation("p", 0, **tokens))  # type: ignore[arg-type]
    assert found == (None if dollars is None else pytest.approx(dollars))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[[price]]\nmodel = 3\n", "model"),
        (OWN.replace("10.0", "-1.0"), "completion must be 0 or more"),
        (OWN.replace("prompt = 2.0", "promt = 2.0"), "promt|prompt"),
        ("[[price", "table of prices"),
    ],
)
def test_a_table_that_is_wrong(text: str, word: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=word) as raised:
        read_prices(own(tmp_path, text))
    assert raised.value.file == str(tmp_path / "prices.toml")
    with pytest.raises(InputError, match="cannot be read"):
        price_of(Settings(model="m", prices=str(tmp_path / "none.toml")))


def counted(call: Call) -> None:
    """Answer rightly; 100 tokens read, 40 of them from the cache, 20 written."""
    body = completion(right_reply(call.body["messages"][-1]["content"]))
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": 40}
    call.send(json.dumps(body).encode())


def test_cost_of_a_run(proctor: Proctor, tmp_path: Path) -> None:
    table = own(tmp_path)
    with serving(counted) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--prices", table, "--json")  # fmt: skip
    each = (60 * 2.0 + 40 * 0.5 + 20 * 10.0) / 1e6
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["cost"] == pytest.approx(4 * each)
    assert (found["priced"], found["price"]["date"]) == (4, "2026-01-02")
    table.unlink()  # the run keeps its price
    said = proctor("resume", tmp_path / "run").stdout
    assert f"cost: ${4 * each:.4f} for 4 of 4 samples, by a price of 2026-01-02" in said
    line = proctor("export", tmp_path / "run", "--format", "csv").stdout.splitlines()[1]
    assert str(each) in line.split(",")
    proctor("report", tmp_path / "run", "--out", tmp_path / "page.html")
    assert f"${4 * each:.4f}" in (tmp_path / "page.html").read_text()


def test_an_agent_s_turns_are_all_paid(proctor: Proctor, tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        turns = sum(message["role"] == "assistant" for message in call.body["messages"])
        body = completion("```python\nx = 1\n```\n" + ("SUBMIT" if turns else "RUN_TESTS"))
        body["usage"]["prompt_tokens_details"] = {"cached_tokens": 40}
        call.send(json.dumps(body).encode())

    with serving(answer) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--agentic-mode", "--agentic-protocol", "text", "--limit", "1",
                       "--prices", own(tmp_path), "--json")  # fmt: skip
    found = json.loads(done.stdout)
    assert found["cost"] == pytest.approx(2 * (60 * 2.0 + 40 * 0.5 + 20 * 10.0) / 1e6)


@pytest.mark.parametrize("usage", [True, False])
def test_no_price_or_no_count_is_no_cost(proctor: Proctor, tmp_path: Path, usage: bool) -> None:
    def answer(call: Call) -> None:
        body = completion(right_reply(call.body["messages"][-1]["content"]))
        if not usage:
            del body["usage"]
        call.send(json.dumps(body).encode())

    priced = ["--prices", own(tmp_path)] if not usage else []
    with serving(answer) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--limit", "1", *priced, "--json")  # fmt: skip
    found = json.loads(done.stdout)
    assert (found["cost"], found["priced"]) == (None, 0)


def test_the_table_may_stand_in_the_configuration(proctor: Proctor, tmp_path: Path) -> None:
    config = tmp_path / "eval.toml"
    config.write_text(f'prices = "{own(tmp_path)}"\nlimit = "1"\n')
    assert tomllib.loads(config.read_text())["prices"]
    with serving(counted) as stub:
        done = proctor(*EVAL, "--model", "stub", "--base-url", stub.url, "--out", tmp_path / "run",
                       "--config", config, "--json")  # fmt: skip
    assert json.loads(done.stdout)["priced"] == 1
