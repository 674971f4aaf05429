"""The store of a run."""

import sqlite3
from pathlib import Path

import pytest
from command import problem, write_rows
from proctor_command import Proctor

from proctor.errors import InputError, SettingsError
from proctor.evals.store import FILE, RunStore
from proctor.evals.store_file import is_locked, stamp
from proctor.evals.stored import Generation, ProblemInfo, Prompt, SampleJudgement, Turn

JUDGES = {"official": "k1", "standard": "k2"}


def begun(directory: Path, problems: int = 2, samples: int = 2) -> RunStore:
    store = RunStore.create(directory, {"model": "m"})
    store.plan((ProblemInfo(f"p{n}"), samples) for n in range(problems))
    return store


def generation(problem_id: str, sample: int, **more: str) -> Generation:
    return Generation(problem_id, sample, "hash", text="reply", code="x", **more)  # type: ignore[arg-type]


def judged(
    problem_id: str, sample: int, mode: str, key: str, verdict: str = "AC"
) -> SampleJudgement:
    return SampleJudgement(problem_id, sample, mode, key, verdict, tests="[]")


def test_what_is_missing(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.write([
            generation("p0", 0), judged("p0", 0, "official", "k1"),
            judged("p0", 0, "standard", "old"),
            generation("p0", 1, fault="model-stalled"),
        ])  # fmt: skip
        first = list(store.missing("p0", JUDGES))
        assert [(each.sample, each.modes) for each in first] == [(0, ("standard",))]
        assert first[0].generation is not None
        second = list(store.missing("p1", JUDGES))
        assert [(each.sample, each.generation) for each in second] == [(0, None), (1, None)]
        assert (store.count(), store.unasked(), store.unfinished(JUDGES)) == (4, 2, 3)
        store.write([judged("p0", 0, "standard", "k2")])
        assert store.unfinished(JUDGES) == 2
        assert store.forget_faults() == 1
        assert store.unfinished(JUDGES) == 3
        assert store.set_aside(["AC"], JUDGES.values()) == 2
        assert store.unfinished(JUDGES) == 4
        keys = sorted(each.judge for each in next(store.samples()).judgements)
        assert keys == ["k1~000001", "k2~000001", "old"]


def test_all_or_nothing(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        bad = generation("p0", 1)
        with pytest.raises(InputError, match="cannot be written"):
            store.write([generation("p0", 0), Generation("p0", [])])  # type: ignore[arg-type]
        assert store.unasked() == 4
        store.write([bad, Prompt("hash", "[]"), Prompt("hash", "[]"), Turn("p0", 1, 0, "model")])
        assert store.prompt("hash") == []
        assert [turn.kind for turn in store.turns("p0", 1)] == ["model"]


def test_pages_are_whole_and_in_order(tmp_path: Path) -> None:
    with begun(tmp_path, problems=3, samples=601) as store:
        store.write(
            change
            for n in range(3)
            for sample in range(0, 601, 2)
            for change in (
                generation(f"p{n}", sample),
                judged(f"p{n}", sample, "standard", "k2"),
            )
        )
        found = [(each.problem_id, each.number) for each in store.samples()]
        assert found == [(f"p{n}", sample) for n in range(3) for sample in range(601)]
        made = [each for each in store.samples() if each.generation is not None]
        assert len(made) == 3 * 301
        assert all(len(each.judgements) == 1 for each in made)


def test_reading_uses_the_indexes(tmp_path: Path) -> None:
    """Without types of columns SQLite compared every sample with every generation."""
    begun(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE)
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM sample s LEFT JOIN generation g "
        "ON g.problem_id = s.problem_id AND g.sample = s.sample WHERE (s.problem_id, s.sample) > "
        "('p', 0) ORDER BY s.problem_id, s.sample LIMIT 5"
    ).fetchall()
    connection.close()
    assert all("SEARCH" in step[-1] for step in plan), plan


def test_odd_text_is_kept(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.write([generation("p0", 0, reasoning="\ud800 \0 ü")])
        kept = next(store.samples()).generation
    assert kept is not None
    assert kept.reasoning == "\\ud800 \0 ü"


@pytest.mark.parametrize("info", [ProblemInfo("p\ud800"), ProblemInfo("p", statement="\ud800")])
def test_texts_of_problems_that_are_none_are_refused(tmp_path: Path, info: ProblemInfo) -> None:
    with (
        RunStore.create(tmp_path, {"model": "m"}) as store,
        pytest.raises(InputError, match="half a surrogate pair"),
    ):
        store.plan([(ProblemInfo("fine"), 1), (info, 1)])


def test_one_directory_one_run(tmp_path: Path) -> None:
    begun(tmp_path).close()
    with pytest.raises(SettingsError, match="proctor resume"):
        RunStore.create(tmp_path, {})
    with pytest.raises(InputError, match="holds no run"):
        RunStore.open(tmp_path / "other")


def test_tables_of_another_version_are_refused(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.remember({"schema": 1})
    with pytest.raises(InputError, match="another version"):
        RunStore.open(tmp_path)


def test_a_run_that_never_began_is_begun_anew(tmp_path: Path) -> None:
    RunStore.create(tmp_path, {"model": "a"}).close()
    with pytest.raises(InputError, match="holds no run"):
        RunStore.open(tmp_path)
    with begun(tmp_path) as store:
        assert store.settings == {"model": "m"}


def test_other_problems_are_refused(proctor: Proctor, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [problem("a", [("1\n", "1\n")])])
    replay = write_rows(tmp_path / "replay.jsonl", [{"question_id": "a", "code": "print(1)"}])
    done = proctor("eval", "livecodebench", "--source", rows, "--model", f"replay:{replay}",
                   "--out", tmp_path / "run", "--mode", "standard")  # fmt: skip
    assert done.returncode == 0
    write_rows(rows, [problem("a", [("1\n", "2\n")])])
    again = proctor("rejudge", tmp_path / "run")
    assert again.returncode == 2
    assert "is not what it was" in again.stderr


def test_a_reader_changes_nothing_and_waits_for_nobody(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.write([generation("p0", 0)])
        before = stamp(tmp_path)
        assert is_locked(tmp_path)
        with RunStore.open(tmp_path) as reader:
            assert reader.unasked() == 3
            store.write([generation("p0", 1)])
            assert reader.unasked() == 2
            with pytest.raises(InputError, match="readonly"):
                reader.remember({"schema": 1})
        assert stamp(tmp_path) != before
    changed = store.changed
    content = (tmp_path / FILE).read_bytes()
    with RunStore.open(tmp_path) as reader:
        assert reader.changed == changed
    assert (tmp_path / FILE).read_bytes() == content
    assert not is_locked(tmp_path)


def test_a_reader_finds_what_tables_of_before_lack(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.write([generation("p0", 0), judged("p0", 0, "standard", "k2")])
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("ALTER TABLE generation DROP COLUMN rule")
        connection.execute("ALTER TABLE judged DROP COLUMN machine")
    connection.close()
    with RunStore.open(tmp_path) as reader:
        found = reader.sample("p0", 0)
        assert found is not None
        assert found.generation is not None
        assert (found.generation.rule, found.judgements[0].machine) == ("", "")
        assert len(list(reader.samples())) == 4
    with RunStore.open(tmp_path, write=True) as store:
        store.write([generation("p0", 1, rule="last")])
