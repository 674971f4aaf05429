"""Text of others: well-formed, whatever it was, and nothing else about it changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.text import all_well_formed, as_bytes, well_formed, well_formed_json

TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=()), st.sampled_from('\ud800\udbff\udc00\udfff\\"u8d😀')
    )
)


@given(TEXTS)
def test_well_formed_text_can_be_encoded(text: str) -> None:
    found = well_formed(text)
    assert found.encode().decode() == found
    assert well_formed(found) == found
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert found == text


def test_half_a_pair_is_an_escape() -> None:
    assert well_formed("a\ud800é😀") == r"a\ud800é😀"
    found = all_well_formed({"\udfff": ["\ud800", {"x": "y\ud800"}, 1, None, 1.5]})
    assert found == {r"\udfff": [r"\ud800", {"x": r"y\ud800"}, 1, None, 1.5]}


@given(TEXTS, st.booleans())
def test_json_before_it_is_decoded(text: str, ascii_only: bool) -> None:
    """What escapes half of a pair is U+FFFD; all else is as it was."""
    written = json.dumps({text: [text]}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if not ascii_only and well_formed(text) != text:
        assert well_formed_json(written) == written  # no escapes: left as it was
        return
    mended = well_formed_json(written)
    assert len(mended) == len(written)
    whole = json.loads(json.dumps(text))  # a high and a low half in a row are read as a pair
    right = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in whole)
    assert json.loads(mended) == {right: [right]}


def test_what_a_program_reads() -> None:
    assert as_bytes("é\ud800", "stdin") == b"\xc3\xa9\xed\xa0\x80"
    assert as_bytes(bytearray(b"\xff"), "stdin") == b"\xff"
    for wrong in (5, None, ["a"]):
        with pytest.raises(InputError, match="field `stdin`: must be bytes"):
            as_bytes(wrong, "stdin")  # type: ignore[arg-type]
