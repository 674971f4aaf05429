"""Output of an evaluation at a terminal: spending while it runs, one screen at its end."""

import os
import re
import subprocess
from datetime import date
from itertools import product
from pathlib import Path

import pytest
from answers import right_reply
from command import COMMAND, environment
from stub import Call, serving

from proctor.cli import eval_summary
from proctor.cli.eval_summary import SCREEN, show_figures, show_headline
from proctor.evals.figures import figures
from proctor.evals.records import records, settings_of
from proctor.evals.rounds import judges_to_use
from proctor.evals.store import RunStore
from proctor.evals.stored import Change, Generation, ProblemInfo, SampleJudgement
from waiting import PATIENCE

MONTHS = [date(2023 + n // 12, n % 12 + 1, 1) for n in range(26)]


def filled(home: Path, samples: int, *, platforms: int = 3, troubles: bool = False) -> RunStore:
    """A run of LiveCodeBench of 26 months, judged in both modes."""
    kinds = product([f"platform{n}" for n in range(platforms)], ("easy", "medium", "hard"))
    groups = list(kinds)
    infos = [
        ProblemInfo(f"p{n}", platform=groups[n % len(groups)][0],
                    difficulty=groups[n % len(groups)][1], published=month, contest=f"c{n // 2}")
        for n, month in enumerate(MONTHS * 4)
    ]  # fmt: skip
    store = RunStore.create(home / "run", {"model": "a-model", "source": "release_v5"})
    store.plan((info, samples) for info in infos)
    store.remember({"benchmark": "livecodebench", "source": "huggingface:release_v5",
                    "modes": {"official": "", "standard": ""}})  # fmt: skip
    judges = judges_to_use(store, settings_of(store))
    rows: list[Change] = []
    for n, info in enumerate(infos):
        for sample in range(samples):
            lost = troubles and n == 1
            rows.append(
                Generation(
                    info.id, sample, code="" if troubles and n % 9 == 0 else "pass",
                    prompt_tokens=10, completion_tokens=20, fault="model-stalled" if lost else "",
                )
            )  # fmt: skip
            for mode, key in judges.items() if not lost else ():
                verdict = ("AC", "WA", "TLE")[(n + sample + (mode == "official")) % 3]
                if troubles and n in (2, 3):
                    verdict = ("TASK_FAULT", "INFRA_FAULT")[n - 2]
                rows.append(SampleJudgement(info.id, sample, mode, key, verdict, message="why"))
    store.write(rows)
    return store


def shown(store: RunStore, capsys: pytest.CaptureFixture[str]) -> list[str]:
    found = figures(records(store), ("official", "standard"), (1, 5, 10))
    show_figures(store, settings_of(store), found)
    show_headline(found)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("troubles", [False, True])
@pytest.mark.parametrize("platforms", [3, 30])
def test_it_is_one_screen(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    troubles: bool,
    platforms: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    with filled(tmp_path, 10, platforms=platforms, troubles=troubles) as store:
        lines = shown(store, capsys)
    assert sum(-(-len(line) // columns) or 1 for line in lines) < SCREEN
    headings = [line.split() for line in lines if line.startswith("pass@1 ")]
    assert headings == [["pass@1", "problems", "programs", "official", "standard"]]
    for kind in ("platform", "difficulty", "month", "all, pass@10 "):
        assert any(line.startswith(kind) for line in lines), kind
    months = [line for line in lines if line.startswith("month 2")]
    assert f"month: {len(MONTHS) - len(months)} earlier" in map(str.strip, lines)
    assert "`proctor report` and --json have all rows" in lines
    assert months == sorted(months), "the latest"
    if platforms == 30:
        assert any(re.match(r"platform: \d+ more", each) for each in lines)
    assert re.fullmatch(
        r"standard pass@1: \d+\.\d% \(95% CI \d+\.\d% to \d+\.\d%; "
        r"\d+ problems, \d+ clusters\)", lines[-1]
    )  # fmt: skip


def test_each_group_has_the_score_of_both_modes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(eval_summary, "SCREEN", 100)
    with filled(tmp_path, 1, troubles=True) as store:
        found = figures(records(store), ("official", "standard"), (1,))
        lines = shown(store, capsys)
    for name, by in (("difficulty hard", "hard"), ("platform platform1", "platform1")):
        (cells,) = [line.removeprefix(name).split() for line in lines if line.startswith(name)]
        scores = [
            (found.modes[mode].by_difficulty | found.modes[mode].by_platform)[by]
            for mode in ("official", "standard")
        ]
        assert cells == [str(scores[0].problems), str(scores[0].scored + scores[0].faults),
                         *(f"{score.pass_at_k[1]:.1%}" for score in scores)]  # fmt: skip
    (without,) = [line for line in lines if line.startswith("without a verdict, counted as not")]
    lost = found.bounds["standard"]
    assert f"standard {lost.faults} ({lost.share:.1%}), pass@1 at most {lost.high:.1%}" in without


@pytest.mark.slow
def test_what_it_spends_is_shown_meanwhile(tmp_path: Path) -> None:
    """At a terminal: tokens, dollars, refusals, and how many requests are sent at once."""
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '[[price]]\nmodel = "stub"\nprompt = 1000\ncompletion = 5000\ndate = 2026-01-01\n'
        'source = "made up"\n'
    )

    def answer(call: Call) -> None:
        if sum(stub.calls.values()) == 2:  # of one connection: nobody else is asking
            call.send(b"{}", 429, retry_after="0")
        else:
            call.reply(right_reply(call.body["messages"][-1]["content"]))

    with serving(answer) as stub:
        said = at_terminal("eval", "livecodebench", "--model", "stub", "--base-url", stub.url,
                           "--max-connections", "1", "--limit", "3", "--mode", "standard",
                           "--prices", str(prices), "--out", str(tmp_path / "run"))  # fmt: skip
    # 100 tokens in and 20 out for each reply.
    assert (
        "300 tokens in, 60 out; $0.6000; too busy 1, retries 1; at most 1 requests at once" in said
    )
    assert said.rstrip().splitlines()[-1].startswith("standard pass@1: 100.0%")


def at_terminal(*arguments: str) -> str:
    """Return what the command writes to a terminal."""
    ours, its = os.openpty()
    process = subprocess.Popen(
        [COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=its, stderr=its,
        env=environment(TERM="xterm"),
    )  # fmt: skip
    os.close(its)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
        process.wait(PATIENCE)
    return said.decode()
