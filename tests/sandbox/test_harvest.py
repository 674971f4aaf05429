"""What comes out of a cell as files: bytes of whoever was in it, to be taken apart with care."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cell.native_job import ENTRY
from proctor.errors import InputError
from proctor.limits import Limits
from proctor.program import check_relative
from proctor.sandbox.command import Command, harvested

pytestmark = pytest.mark.user


def entry(name: bytes, data: bytes, size: int | None = None) -> bytes:
    return ENTRY.pack(len(name), len(data) if size is None else size) + name + data


@pytest.mark.parametrize("name", ["", "/a", "../a", "a//b", "a\\b", "a\0", "a\ud800", "ü" * 501])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(InputError):
        check_relative(name)


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    for name, content in harvested(data).items():
        assert check_relative(name) == name
        assert content in data


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"a", b"a/b", b"../a", b"/a", b"a/../b", b"a//b", b".", b"", b"a\0b",
                             b"\xff", b"a\\b", b"x" * 2000, b"./a"]),
            st.binary(max_size=9),
        ),
        max_size=6,
    ),
    st.binary(max_size=20),
)  # fmt: skip
def test_names_that_lead_elsewhere_are_left_out(
    entries: list[tuple[bytes, bytes]], rest: bytes
) -> None:
    plain = {b"a": "a", b"a/b": "a/b"}
    expected = {plain[name]: data for name, data in entries if name in plain}
    whole = b"".join(entry(name, data) for name, data in entries)
    assert harvested(whole) == expected
    found = harvested(whole + rest)
    assert {name: found[name] for name in expected if name in found} == {
        name: found[name] for name in expected
    }


@pytest.mark.parametrize("size", [4, 1 << 20, 1 << 40, (1 << 64) - 1])
def test_sizes_beyond_the_end(size: int) -> None:
    assert harvested(entry(b"ok", b"1") + entry(b"a", b"abc", size)) == {"ok": b"1"}


@given(st.integers(0, 60))
def test_cut_anywhere(end: int) -> None:
    whole = entry(b"first", b"1234567890") + entry(b"second", b"abcdefghij")
    found = harvested(whole[:end])
    assert found in ({}, {"first": b"1234567890"}) or end >= len(whole)


@pytest.mark.parametrize("name", ["../x", "/x", "a/./b", "", "a//b", "a\0", "x" * 1001])
def test_no_command_places_a_file_elsewhere(name: str) -> None:
    for command in (Command(("p",), files={name: b""}), Command(("p",), directories=(name,))):
        with pytest.raises(InputError):
            command.bundle()
        with pytest.raises(InputError):
            command.words(Limits(disk=1))


@given(st.dictionaries(st.from_regex(r"\A[a-z]{1,5}\Z"), st.binary(max_size=30), max_size=4))
def test_a_bundle_holds_its_files_in_order(files: dict[str, bytes]) -> None:
    bundle = Command(("p", "ä\n"), files=files).bundle()
    (length,) = struct.unpack_from(">I", bundle)
    assert bundle[4 + length :] == b"".join(files.values())
