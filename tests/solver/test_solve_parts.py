"""The parts of a solve that need no cell: profiles, strict JSON, what is shown, the store."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as fuzzed
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.sandbox.directory_job import FoundFile
from proctor.solver import claim, strict_json
from proctor.solver import profile as profiles
from proctor.solver.store import ResultStore


def test_the_store_keeps_the_latest(tmp_path: Path) -> None:
    store = ResultStore(tmp_path, keep=3, keep_bytes=1000)
    paths = [store.save(store.new(f"job_{n}"), b"{}", ()) for n in range(5)]
    assert sorted(tmp_path.glob(".ai_results/*")) == sorted(paths[2:])
    assert stat.S_IMODE(paths[4].stat().st_mode) == 0o600
    left = (
        FoundFile("artifacts/../../x.txt", b"a" * 600, 0.0),
        FoundFile("artifacts/x.txt", b"b", 0.0),
    )
    large = store.save(store.new("job_5"), b"{}", left)
    assert sorted(path.name for path in large.with_suffix("").iterdir()) == [
        "000_x.txt",
        "001_x.txt",
    ]
    last = store.save(store.new("job_6"), b"[" + b" " * 800 + b"]", ())
    assert list(store.place.iterdir()) == [last]  # what is kept is bounded by size, too


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("id = 3", "id"), ('id = "x"\nwarmth = 1', "warmth"), ('id = "x"\n[limits]\nwall = "soon"', "limits.wall"),
        ('id = "x"\n[incumbents]\nfiles = "("', "incumbents.files"), ('id = "x"\ndirectory = "/"', "directory"),
        ('id = "x"\n[input]\nschema = "none.json"', "input.schema"), ('id = "x"\n[limits]\nworkers = [3, 1]', "limits.workers"),
        ("id = ", "cannot be read"),
    ],
)  # fmt: skip
def test_a_profile_that_is_none(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        profiles.load(str(path))
    assert where in str(caught.value)
    assert str(path) in str(caught.value)


@fuzzed(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    )
)  # fmt: skip
def test_what_is_strict_json_is_read_as_it_is(value: Any) -> None:
    assert strict_json.decode(json.dumps(value).encode(), 64) == value


@fuzzed(st.binary(max_size=200))
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    try:
        value = strict_json.decode(data, 8)
    except ValueError:
        return
    json.dumps(value, allow_nan=False).encode()


@fuzzed(
    st.binary(max_size=400_000)
    | st.text().map(lambda text: (text * 5000).encode("utf-8", "replace"))
)
def test_what_is_shown_is_bounded(stream: bytes) -> None:
    text, left_out = claim.shown(stream)
    assert len(text.splitlines()) <= 103
    assert len(text.encode()) <= 3 * 140_000
    assert (left_out > 0) == ("...[truncated" in text) or b"...[truncated" in stream
