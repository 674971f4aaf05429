"""The cache of compiled programs: what is not whole is not believed, and no kill leaves harm."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.languages.cache import Cache, pack
from proctor.languages.headers import Headers
from proctor.sandbox.command import harvested

pytestmark = pytest.mark.user

KEY, OTHER = "ab" * 32, "cd" * 32
FILES = {"program": b"\x7fELF" + bytes(range(256)) * 20, "more/deep.class": b"", "x": b"y"}
WRITER = """
import sys
from pathlib import Path
from proctor.languages.headers import Headers
from proctor.languages.cache import Cache
cache = Cache(Path(sys.argv[1]))
content = {"program": bytes([int(sys.argv[2])]) * 3_000_000}
print("ready", flush=True)
while True:
    cache.put(sys.argv[3], content)
"""


def entry(place: Path, key: str = KEY) -> Path:
    return place / "compiled" / key[:2] / key[2:]


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.get(KEY) is None
    cache.put(KEY, FILES)
    assert cache.get(KEY) == FILES
    assert Cache(tmp_path).get(KEY) == FILES
    assert cache.get(OTHER) is None
    assert entry(tmp_path).stat().st_mode & 0o077 == 0 or tmp_path.stat().st_mode & 0o077 == 0 or (
        (tmp_path / "compiled").stat().st_mode & 0o077 == 0
    )  # fmt: skip


@given(st.dictionaries(st.from_regex(r"\A[a-z]{1,9}(/[a-z]{1,9})?\Z"), st.binary(max_size=50)))
def test_packing_is_undone_by_harvested(files: dict[str, bytes]) -> None:
    assert harvested(pack(files)) == files


@pytest.mark.parametrize("keep", [0, 5, 18, 19, 30, 50, 51, 52, 70, 1000, -1])
def test_a_truncated_entry_is_thrown_away(tmp_path: Path, keep: int) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, FILES)
    whole = entry(tmp_path).read_bytes()
    entry(tmp_path).write_bytes(whole[:keep])
    assert cache.get(KEY) is None
    assert not entry(tmp_path).exists()
    cache.put(KEY, FILES)
    assert cache.get(KEY) == FILES


def test_no_flipped_bit_goes_unseen(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, {"program": b"ABCDEFGH"})
    whole = entry(tmp_path).read_bytes()
    for at in range(len(whole)):
        for bit in (1, 128):
            flipped = bytearray(whole)
            flipped[at] ^= bit
            entry(tmp_path).write_bytes(flipped)
            assert cache.get(KEY) is None, at
    entry(tmp_path).write_bytes(whole + b"\0")
    assert cache.get(KEY) is None


def test_an_entry_is_for_its_key_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, FILES)
    entry(tmp_path, OTHER).parent.mkdir(exist_ok=True)
    entry(tmp_path).rename(entry(tmp_path, OTHER))
    assert cache.get(OTHER) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_no_entry(mode: int, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, FILES)
    entry(tmp_path).chmod(mode)
    assert cache.get(KEY) is None


@pytest.mark.root
def test_what_another_user_wrote_is_no_entry(tmp_path: Path) -> None:
    """A directory that PROCTOR_CACHE_DIR names may be one that everybody may write to."""
    cache = Cache(tmp_path)
    cache.put(KEY, FILES)
    os.chown(entry(tmp_path), 65534, 65534)
    assert cache.get(KEY) is None
    cache.put(KEY, FILES)
    assert cache.get(KEY) == FILES


def test_neither_a_link_nor_a_pipe_is_an_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, FILES)
    entry(tmp_path).rename(tmp_path / "elsewhere")
    entry(tmp_path).symlink_to(tmp_path / "elsewhere")
    assert cache.get(KEY) is None
    entry(tmp_path).unlink(missing_ok=True)
    os.mkfifo(entry(tmp_path))
    assert cache.get(KEY) is None


def test_headers_that_others_may_write_are_not_used(tmp_path: Path) -> None:
    Headers(tmp_path)
    for place in (tmp_path, tmp_path / "headers"):
        place.chmod(0o777)
        with pytest.raises(PermissionError, match="another user may write"):
            Headers(tmp_path)
        place.chmod(0o755)


@pytest.mark.parametrize(
    "key", ["", "../" * 20 + "abcd", "AB" * 32, "ab" * 31, "ab" * 33, "a/" * 32]
)
def test_only_digests_are_keys(tmp_path: Path, key: str) -> None:
    for use in (Cache(tmp_path).get, lambda key: Cache(tmp_path).put(key, FILES)):
        with pytest.raises(InputError):
            use(key)


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, most=25_000)
    keys = [f"{number:02x}" * 32 for number in range(4)]
    for number, key in enumerate(keys):
        cache.put(key, {"program": bytes(10_000)})
        os.utime(entry(tmp_path, key), (number, number)) if cache.get(key) else None
    assert cache.get(keys[3])
    held = list((tmp_path / "compiled").glob("??/*"))
    assert sum(path.stat().st_size for path in held) <= 25_000
    assert cache.get(keys[0]) is None


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "compiled").write_text("a file where the directory should be")
    cache = Cache(tmp_path)
    cache.put(KEY, FILES)
    assert cache.get(KEY) is None


def start(place: Path, byte: int, key: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(place), str(byte), key],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_killed_writers_leave_nothing_that_is_believed(tmp_path: Path) -> None:
    """Two processes write the same entry all the time, and are killed at whatever they are at."""
    cache = Cache(tmp_path, most=12_000_000)
    allowed = [{"program": bytes([byte]) * 3_000_000} for byte in (1, 2)]
    seen = 0
    for _ in range(4):
        writers = [start(tmp_path, byte, KEY) for byte in (1, 2)]
        for _ in range(15):
            found = cache.get(KEY)
            assert found is None or found in allowed
            seen += found is not None
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            assert writer.stdout is not None
            writer.stdout.close()
        found = cache.get(KEY)
        assert found is None or found in allowed
    assert seen
    cache.put(OTHER, FILES)  # which also finds room, whatever the killed have left behind
    assert cache.get(OTHER) == FILES
    held = [path.stat().st_size for path in (tmp_path / "compiled").glob("??/*")]
    assert sum(held) <= 12_000_000


def test_many_threads_at_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path, most=60_000)
    wrong: list[object] = []

    def use(number: int) -> None:
        for turn in range(40):
            key = f"{(number + turn) % 7:02x}" * 32
            cache.put(key, {"program": key.encode() * 150})
            found = cache.get(key)
            if found is not None and found != {"program": key.encode() * 150}:
                wrong.append(found)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
