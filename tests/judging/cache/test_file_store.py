"""A directory of verdicts survives whatever befalls it, or says that it did not."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cache_parts import CountedJudges, made

from proctor import JudgeSettings, Problem, Test
from proctor.errors import InfraFault, InputError
from proctor.judging.cache import open_cached
from proctor.judging.cache.file_store import FILE, SECRET, FileStore
from proctor.judging.cache.sealing import VerdictSeal

PROBLEM = Problem("double", (Test("2\n", "4\n"),))
PROGRAM = "print(int(input()) * 2)"
WRITER = """
import hashlib, sys
from pathlib import Path
from proctor.judging.cache.file_store import FileStore

store = FileStore(Path(sys.argv[1]), most=int(sys.argv[3]))
for number in range(10**9):
    name = f"{sys.argv[2]} {number}"
    key = hashlib.sha256(name.encode()).digest()
    store.put(key, name.encode() * 40)
    print(number, flush=True)
    for other in (name, f"{sys.argv[2]} {number // 2}"):
        found = store.get(hashlib.sha256(other.encode()).digest())
        assert found in (None, other.encode() * 40), found
"""


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def store(place: Path) -> Iterator[FileStore]:
    opened = FileStore(place)
    yield opened
    opened.close()


def test_entries_are_kept_replaced_and_dropped(store: FileStore, place: Path) -> None:
    assert store.get(key(1)) is None
    store.put(key(1), b"one")
    store.put(key(2), b"\0" * 100_000)
    store.put(key(1), b"another")
    other = FileStore(place)
    assert (other.get(key(1)), other.get(key(2))) == (b"another", b"\0" * 100_000)
    assert other.secret == store.secret
    other.drop(key(1))
    other.drop(key(3))
    other.close()
    assert store.get(key(1)) is None


def test_nobody_else_may_look(store: FileStore, place: Path) -> None:
    store.put(key(1), b"one")
    assert place.stat().st_mode & 0o777 == 0o700
    files = {path.name: path.stat().st_mode & 0o777 for path in place.iterdir()}
    assert files == dict.fromkeys((FILE, f"{FILE}-wal", f"{FILE}-shm", SECRET), 0o600)


def test_the_least_recently_used_go_first(place: Path) -> None:
    most = 400_000
    store = FileStore(place, most)
    for number in range(400):
        store.put(key(number), bytes(4000))
        assert store.get(key(7)) is None or number >= 7
    store.close()
    store = FileStore(place, most)
    there = [number for number in range(400) if store.get(key(number)) is not None]
    store.close()
    assert 7 in there  # used all the time
    assert 399 in there
    assert there[1:] == list(range(400 - len(there) + 1, 400))
    assert (place / FILE).stat().st_size < 2 * most


@pytest.mark.parametrize("most", [1 << 30, 1 << 18], ids=["all kept", "some evicted"])
def test_writers_that_are_killed_lose_nothing(most: int, place: Path, tmp_path: Path) -> None:
    """Two write; one after the other is killed in the middle, and others take over."""
    chance = random.Random(most)
    written: dict[str, list[int]] = {}

    def begin(name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WRITER, str(place), name, str(most)]
        written[name] = []
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def read(name: str, writer: subprocess.Popen[str], lines: int) -> None:
        assert writer.stdout is not None
        for _ in range(lines):
            line = writer.stdout.readline()
            assert line.endswith("\n"), writer.wait()
            written[name].append(int(line))

    def end(name: str, writer: subprocess.Popen[str]) -> None:
        writer.send_signal(signal.SIGKILL)
        assert writer.stdout is not None
        written[name] += [
            int(each) for each in writer.stdout.read().splitlines(True) if each[-1] == "\n"
        ]
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL

    running = {name: begin(name) for name in ("a 0", "b 0")}
    for turn in range(1, 6):
        for name, writer in running.items():
            read(name, writer, chance.randrange(50, 300))
        name = chance.choice(sorted(running))
        end(name, running.pop(name))
        fresh = f"{name[0]} {turn}"
        running[fresh] = begin(fresh)
        # The other one goes on, and so does the one that took over.
        for name, writer in running.items():
            read(name, writer, 20)
    for name, writer in running.items():
        end(name, writer)
    store = FileStore(place, most)
    check = store._connection.execute("PRAGMA integrity_check").fetchone()
    assert check == ("ok",)
    import hashlib

    names = [f"{name} {number}" for name, numbers in written.items() for number in numbers]
    assert len(names) > 500
    found = {name: store.get(hashlib.sha256(name.encode()).digest()) for name in names}
    store.close()
    assert all(entry in (None, name.encode() * 40) for name, entry in found.items())
    if most == 1 << 30:
        assert None not in found.values()
    else:
        assert None in found.values()


def no_database(place: Path) -> None:
    (place / FILE).write_bytes(b"this is no database " * 1000)


def half_a_database(place: Path) -> None:
    with open(place / FILE, "r+b") as file:
        file.truncate(os.path.getsize(place / FILE) // 3)


def another_database(place: Path) -> None:
    (place / FILE).unlink()
    connection = sqlite3.connect(place / FILE)
    connection.execute("CREATE TABLE verdict (a, b)")
    connection.close()


def a_later_version(place: Path) -> None:
    connection = sqlite3.connect(place / FILE)
    connection.execute("PRAGMA user_version = 2")
    connection.close()


def a_directory(place: Path) -> None:
    (place / FILE).unlink()
    (place / FILE).mkdir()


def half_a_secret(place: Path) -> None:
    (place / SECRET).write_bytes(b"x" * 16)


def a_secret_for_all(place: Path) -> None:
    (place / SECRET).chmod(0o644)


def writable_by_others(place: Path) -> None:
    place.chmod(0o777)


def a_database_writable_by_others(place: Path) -> None:
    (place / FILE).chmod(0o666)


HARMS: list[tuple[Callable[[Path], None], str]] = [
    (no_database, "remove this file"),
    (half_a_database, "remove this file"),
    (another_database, "remove this file"),
    (a_later_version, "its version is 2, not 1"),
    (a_directory, "cannot be used as a cache"),
    (half_a_secret, "is not a secret"),
    (a_secret_for_all, "others may read it"),
    (writable_by_others, "others may write to it"),
    (a_database_writable_by_others, "others may write to it"),
]


@pytest.mark.parametrize(("harm", "told"), HARMS, ids=[each.__name__ for each, _ in HARMS])
def test_what_cannot_be_used_is_refused(
    harm: Callable[[Path], None], told: str, place: Path
) -> None:
    store = FileStore(place)
    for number in range(100):
        store.put(key(number), bytes(1000))
    store.close()
    harm(place)
    with pytest.raises(InputError, match=told) as raised:
        FileStore(place)
    assert str(place) in str(raised.value)


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="cannot be used as a cache"):
            FileStore(place)


@pytest.mark.root
def test_somebody_elses_directory_is_refused(place: Path) -> None:
    place.mkdir()
    os.chown(place, 12345, 12345)
    with pytest.raises(InputError, match="others may write to it"):
        FileStore(place)


def test_entries_of_other_kinds_are_no_entries(store: FileStore, place: Path) -> None:
    """As somebody would leave them who writes to the file with SQLite's own tools."""
    seal = VerdictSeal(store.secret)
    with sqlite3.connect(place / FILE) as connection:
        values = [(key(1), "text", 0.0), (key(2), 17, 0.0), (key(3), 1.5, "never")]
        connection.executemany("INSERT INTO verdict VALUES (?, ?, ?)", values)
    connection.close()
    for number in (1, 2, 3):
        assert seal.opened(key(number), store.get(key(number)) or b"") is None


def test_changed_entries_are_judged_again(counted: CountedJudges, place: Path) -> None:
    """Bits that flip, entries that change places, verdicts that somebody wrote."""
    settings = JudgeSettings()
    programs = [PROGRAM, "print(1)"]
    with open_cached(counted, place) as judges:
        first = [judges.start(PROBLEM, each, settings).result() for each in programs]
    with sqlite3.connect(place / FILE) as connection:
        (one, its), (other, others) = connection.execute("SELECT key, entry FROM verdict")
        swapped = [(others, one), (its, other)]
        connection.executemany("UPDATE verdict SET entry = ? WHERE key = ?", swapped)
    connection.close()
    with open_cached(counted, place) as judges:
        again = [judges.start(PROBLEM, each, settings).result() for each in programs]
        assert (judges.tally.hits, judges.tally.rejected, judges.tally.kept) == (0, 2, 2)
    assert [each.verdict for each in again] == [each.verdict for each in first]
    forged = VerdictSeal(None).closed(key(1), made())
    with sqlite3.connect(place / FILE) as connection:
        connection.execute("UPDATE verdict SET entry = ?", (forged,))
    connection.close()
    with open_cached(counted, place) as judges:
        assert judges.start(PROBLEM, "print(1)", settings).result().verdict == again[1].verdict
        assert judges.tally.rejected == 1


def test_a_new_secret_means_a_new_cache(counted: CountedJudges, place: Path) -> None:
    for _ in range(2):
        with open_cached(counted, place) as judges:
            judges.start(PROBLEM, PROGRAM, JudgeSettings()).result()
            assert judges.tally.hits == 0
        (place / SECRET).unlink()


def test_a_database_that_breaks_costs_no_judgement(
    counted: CountedJudges, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_cached(counted, place) as judges:
        judges.start(PROBLEM, PROGRAM, JudgeSettings()).result()
        with sqlite3.connect(place / FILE) as connection:
            connection.execute("DROP TABLE verdict")
        connection.close()
        for program in (PROGRAM, "print(1)"):
            assert judges.start(PROBLEM, program, JudgeSettings()).result().tests
        assert judges.tally.failures == 1
    assert len(caplog.records) == 1
    assert "judging goes on without the cache" in caplog.text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "none", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.root
def test_a_full_disk_costs_no_judgement(
    small_disk: Path, counted: CountedJudges, caplog: pytest.LogCaptureFixture
) -> None:
    with open_cached(counted, small_disk / "cache") as judges:
        judges.start(PROBLEM, PROGRAM, JudgeSettings()).result()
    about = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(about.f_bavail * about.f_frsize))
    assert os.statvfs(small_disk).f_bavail == 0
    with pytest.raises(InputError):
        FileStore(small_disk / "other")
    assert not (small_disk / "other" / SECRET).exists()
    store_fails = False
    try:
        with open_cached(counted, small_disk / "cache") as judges:
            for number in range(200):
                program = f"{PROGRAM}  # {number} {'x' * 4000}"
                assert judges.start(PROBLEM, program, JudgeSettings()).result().passed
            store_fails = judges.tally.failures == 1
    except InputError as error:  # not even its journal can be made
        store_fails = "cannot be used" in str(error) or "damaged" in str(error)
    assert store_fails
    (small_disk / "filler").unlink()
    with open_cached(counted, small_disk / "cache") as judges:
        assert judges.start(PROBLEM, PROGRAM, JudgeSettings()).result().remembered


@pytest.mark.root
def test_a_read_only_directory_is_refused(small_disk: Path) -> None:
    FileStore(small_disk / "cache").close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for place in ("cache", "new"):
        with pytest.raises(InputError, match="Read-only file system"):
            FileStore(small_disk / place)


def test_errors_name_the_file_and_the_remedy(store: FileStore, place: Path) -> None:
    store._connection.execute("DROP TABLE verdict")
    for ask in (store.get, store.drop, lambda each: store.put(each, b"")):
        with pytest.raises(InfraFault, match="remove it") as raised:
            ask(key(1))
        assert str(place / FILE) in str(raised.value)
