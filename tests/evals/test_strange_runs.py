"""Directories of runs that somebody else made up: refused, and no file beside them is touched."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from proctor_command import Proctor

from proctor.errors import InputError
from proctor.evals.store import FILE, RunStore
from proctor.evals.stored import Generation, ProblemInfo


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with RunStore.create(tmp_path / "run", {"model": "m"}) as store:
        store.plan([(ProblemInfo("p"), 1)])
        store.write([Generation("p", 0, text="reply", code="x")])
    return tmp_path / "run"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file that is nobody's business."""
    place = tmp_path / "victim"
    place.write_bytes(b"precious" * 5000)
    return place


def altered(run: Path, *statements: str) -> None:
    with closing(sqlite3.connect(run / FILE)) as connection, connection:
        for each in statements:
            connection.execute(each)


def a_trigger(run: Path, _victim: Path) -> None:
    altered(run, "CREATE TRIGGER t AFTER INSERT ON generation BEGIN DELETE FROM sample; END")


def a_view(run: Path, _victim: Path) -> None:
    endless = "WITH RECURSIVE r(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"
    altered(run, "DROP TABLE turn", f"CREATE VIEW turn AS {endless}")


def an_extra_table(run: Path, _victim: Path) -> None:
    altered(run, "CREATE TABLE more (a)")


def a_virtual_table(run: Path, _victim: Path) -> None:
    altered(run, "DROP TABLE turn", "CREATE VIRTUAL TABLE turn USING fts5(content)")


def an_index(run: Path, _victim: Path) -> None:
    altered(run, "CREATE INDEX i ON generation (length(code))")


def a_computed_column(run: Path, _victim: Path) -> None:
    altered(run, "ALTER TABLE turn ADD COLUMN c AS (zeroblob(900000000))")


def link(name: str) -> Callable[[Path, Path], None]:
    def make(run: Path, victim: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(victim)

    make.__name__ = f"a_link_{name}"
    return make


def a_link_of_batches(run: Path, victim: Path) -> None:
    (run / "batches").symlink_to(victim.parent)


def a_link_in_batches(run: Path, victim: Path) -> None:
    (run / "batches").mkdir()
    (run / "batches" / "1.jsonl").symlink_to(victim)


def a_pipe(run: Path, _victim: Path) -> None:
    (run / "lock").unlink()
    os.mkfifo(run / "lock")


def a_journal(run: Path, victim: Path) -> None:
    """SQLite would roll it back, and then delete the file that its end names."""
    (run / f"{FILE}-journal").write_bytes(victim.read_bytes())


STRANGE = [
    a_trigger, a_view, an_extra_table, a_virtual_table, an_index, a_computed_column,
    *map(link, (FILE, f"{FILE}-wal", f"{FILE}-shm", "lock")), a_link_of_batches, a_link_in_batches,
    a_pipe, a_journal,
]  # fmt: skip


@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize("harm", STRANGE, ids=[each.__name__ for each in STRANGE])
def test_what_is_no_run_is_not_opened(
    run: Path, victim: Path, harm: Callable[[Path, Path], None], write: bool
) -> None:
    harm(run, victim)
    before = victim.read_bytes()
    with pytest.raises(InputError):
        RunStore.open(run, write=write)
    assert victim.read_bytes() == before


@pytest.mark.parametrize(
    "values", ["'p', 'one'", "'p', -1", "'p', 1.5", "x'ff', 0", "'p', 1 << 60"]
)
def test_a_sample_that_no_run_has(run: Path, values: str) -> None:
    altered(run, f"INSERT INTO sample VALUES ({values})")
    for write in (False, True):
        with pytest.raises(InputError, match="holds what no run does"):
            RunStore.open(run, write=write)


def test_commands_say_why(proctor: Proctor, run: Path, victim: Path) -> None:
    a_trigger(run, victim)
    for action in ("resume", "rejudge", "export", "compare"):
        done = proctor(action, run, *([run] if action == "compare" else []))
        assert done.returncode == 2, done.stderr
        assert "has a trigger 't', which no run has" in done.stderr
    assert proctor("runs", run.parent).returncode == 0


def test_a_link_to_a_missing_file_makes_none(run: Path, tmp_path: Path) -> None:
    (run / "lock").unlink()
    (run / "lock").symlink_to(tmp_path / "made")
    with pytest.raises(InputError):
        RunStore.open(run, write=True)
    assert not (tmp_path / "made").exists()


def test_a_value_that_is_too_long(run: Path) -> None:
    with RunStore.open(run) as store, pytest.raises(sqlite3.Error, match="too big"):
        store.rows("SELECT zeroblob(300000000)")


def modes(place: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in (place, *place.iterdir())}


def test_a_run_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with RunStore.create(tmp_path / "new" / "run", {}) as store:
            store.plan([(ProblemInfo("p"), 1)])
            found = modes(tmp_path / "new" / "run")
    finally:
        os.umask(before)
    assert found.pop("run") == 0o700
    assert {f"{FILE}-wal", f"{FILE}-shm", FILE, "lock"} == found.keys()
    assert set(found.values()) == {0o600}


def test_a_run_of_before_is_taken_from_others(run: Path) -> None:
    for each in run.iterdir():
        each.chmod(0o644)
    RunStore.open(run, write=True).close()
    found = modes(run)
    assert {mode for name, mode in found.items() if name != "run"} == {0o600}
