"""Costs of replayed samples, as counts: a sample costs no more than the one before it."""

import asyncio
import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import problem, write_rows

from proctor import config
from proctor.evals import evaluation
from proctor.evals.commits import MOST_WAITING, Commits
from proctor.evals.livecodebench.generation import BENCHMARK
from proctor.evals.models import replay
from proctor.evals.models.model import Message, ModelReply, ModelRequest
from proctor.evals.models.replay import ReplayModel
from proctor.evals.models.scripted import ScriptedModel
from proctor.evals.rounds import begin_round
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.store_file import FILE
from proctor.evals.stored import Change, Prompt
from proctor.verdict import Verdict

PROBLEMS = 4


class Statements(Counter[str]):
    """Counts the statements of a store by their first word and table."""

    def watch(self, store: RunStore) -> None:
        for connection in (store._connection, store._writer):
            connection.set_trace_callback(self.note)

    def note(self, text: str) -> None:
        words = text.replace("INSERT OR REPLACE", "INSERT").split()
        self[" ".join(words[:3]) if words[0] == "INSERT" else words[0]] += 1


def recorded(home: Path, samples: int) -> Settings:
    """So many right replies to each of four problems of one test."""
    problems = [problem(f"p{n}", [(f"{n}\n", f"{n}\n")]) for n in range(PROBLEMS)]
    source = write_rows(home / "problems.jsonl", problems)
    rows = [
        {"question_id": row["question_id"], "generation": f"```python\nprint(input())  # {n}\n```"}
        for row in problems
        for n in range(samples)
    ]
    model = write_rows(home / f"replies-{samples}.jsonl", rows)
    return Settings(f"replay:{model}", source=str(source), mode="standard")


def costs(settings: Settings, directory: Path) -> tuple[Statements, Statements, int, int]:
    """Replay, and judge again: statements of both, samples, bytes of the store after the first."""
    model = ReplayModel(Path(settings.model.removeprefix("replay:")))
    first, second = Statements(), Statements()
    with (
        evaluation.begin(directory, evaluation.plan(BENCHMARK, settings, model)) as store,
        BENCHMARK.open_grader(settings) as grader,
    ):
        verdicts: Counter[Verdict] = Counter()

        def judge(statements: Statements) -> None:
            statements.watch(store)
            asyncio.run(
                evaluation.go_on(
                    store, model, grader, lambda done: verdicts.update(done.verdicts.values())
                )
            )

        judge(first)
        store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = (directory / FILE).stat().st_size
        begin_round(store, settings)
        judge(second)
        assert verdicts == {Verdict.AC: 2 * store.count()}
        return first, second, store.count(), size


def test_a_sample_costs_the_same_among_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    load = config.load

    def counted() -> config.Config:
        nonlocal looked
        looked += 1
        return load()

    monkeypatch.setattr(config, "load", counted)
    few, many = 25, 100
    made = []
    for samples in (few, many):
        before = looked
        found = costs(recorded(tmp_path, samples), tmp_path / f"run-{samples}")
        made.append((*found, looked - before))
    (*_, less, looks), (replayed, again, count, more, looks_of_many) = made
    assert count == PROBLEMS * many
    assert (replayed["INSERT INTO generation"], replayed["INSERT INTO judged"]) == (count, count)
    assert again["INSERT INTO judged"] == count
    assert again["INSERT INTO generation"] == 0
    assert replayed["INSERT OR IGNORE"] == PROBLEMS, "a prompt is written once"
    # Reads are by the page, so that four times as many samples take no more of them.
    assert [each["SELECT"] for each in made[0][:2]] == [replayed["SELECT"], again["SELECT"]]
    # Each batch is one commit; there are fewer than samples even if the disk is never waited for.
    assert replayed["COMMIT"] < count
    assert looks_of_many <= looks, "the configuration is not read for each sample"
    page = 4096
    assert more - less <= (PROBLEMS * (many - few)) * (less / (PROBLEMS * few)) + page


def test_replies_of_a_large_recording_are_not_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "IN_MEMORY", 1 << 16)
    rows: list[Any] = [
        {"question_id": "a", "code": f"{n}" + "x" * 10_000, "generation": f"{n}: \ud83d"}
        for n in range(500)
    ]
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    tracemalloc.start()
    try:
        model = ReplayModel(path)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < path.stat().st_size / 10
    for number in (499, 0, 250):
        reply = asyncio.run(model.generate(ModelRequest((Message("user", ""),), "a", number)))
        assert (reply.text, reply.code) == (rows[number]["generation"], rows[number]["code"])


class Disk:
    """Counts what is written together."""

    def __init__(self) -> None:
        self.writes: list[int] = []

    def write(self, changes: list[Change]) -> None:
        self.writes.append(len(changes))


def prompts(number: int) -> list[Change]:
    return [Prompt(str(n), "[]") for n in range(number)]


def test_what_is_put_together_is_committed_in_one() -> None:
    disk = Disk()
    told: list[int] = []

    async def work() -> None:
        made = Commits(disk.write)
        running = asyncio.create_task(made.run())
        for n in range(MOST_WAITING):
            made.put(prompts(1), lambda n=n: told.append(n))  # type: ignore[misc]
        waiting = asyncio.create_task(made.room())
        await asyncio.sleep(0)
        assert not waiting.done(), "whoever makes more has to wait"
        assert not told, "nothing is shown before it is on the disk"
        await waiting
        assert told == list(range(MOST_WAITING))
        await made.kept(prompts(1))
        made.put(prompts(3))
        made.finish()
        await running

    asyncio.run(work())
    assert disk.writes == [MOST_WAITING, 1, 3]


def test_a_disk_that_fails_ends_the_run(tmp_path: Path) -> None:
    """Also if it fails with the last of the changes, when nothing else is left to do."""
    settings = recorded(tmp_path, 1)
    model = ReplayModel(Path(settings.model.removeprefix("replay:")))
    planned = evaluation.plan(BENCHMARK, settings, model)
    with (
        evaluation.begin(tmp_path / "run", planned) as store,
        BENCHMARK.open_grader(settings) as grader,
    ):
        store._writer.execute("PRAGMA query_only = 1")
        with pytest.raises(Exception, match="cannot be written"):
            asyncio.run(evaluation.go_on(store, model, grader, lambda _done: None))


@pytest.mark.parametrize("paid", [True, False])
def test_a_reply_that_was_paid_for_does_not_wait_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paid: bool
) -> None:
    hurried: list[bool] = []
    put: Callable[..., None] = Commits.put

    def noted(self: Commits, *given: Any, urgent: bool = False) -> None:
        hurried.append(urgent)
        put(self, *given, urgent=urgent)

    monkeypatch.setattr(Commits, "put", noted)
    settings = recorded(tmp_path, 1)
    recording = ReplayModel(Path(settings.model.removeprefix("replay:")))
    model = ScriptedModel(lambda _request: ModelReply("no program")) if paid else recording
    planned = evaluation.plan(BENCHMARK, settings, recording)
    with (
        evaluation.begin(tmp_path / "run", planned) as store,
        BENCHMARK.open_grader(settings) as grader,
    ):
        asyncio.run(evaluation.go_on(store, model, grader, lambda _done: None))
    assert hurried.count(True) == (PROBLEMS if paid else 0)
