"""Any text at all is either understood or refused by an error of proctor's own, in bounded work.

`PROCTOR_TEST_FUZZ=100` tries so many times as many; see CONTRIBUTING.md.
"""

import contextlib
import os
import sys

import pytest
from fuzzed_answers import ANSWERED
from fuzzed_parsers import PARSERS as OF_TEXT
from fuzzed_parsers import Parser
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from proctor.errors import ProctorError

TIMES = int(os.environ.get("PROCTOR_TEST_FUZZ", "1"))
EXAMPLES = 100
COMMON = (
    b"",
    b" ",
    b"\n",
    b"\x00",
    b"\xff",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"0",
    b"a",
)
REPEATED = (1, 1, 1, 2, 3, 20, 300, 5000)
LONGEST = 200_000
PARSERS = OF_TEXT | ANSWERED

pytestmark = pytest.mark.usefixtures("ends") if TIMES == 1 else pytest.mark.timeout(0)


def inputs(parser: Parser) -> st.SearchStrategy[bytes]:
    """Documents that are right but for some edits, and pieces in any order."""
    piece = st.sampled_from((*parser.pieces, *parser.documents, *COMMON)) | st.binary(max_size=8)
    run = st.builds(lambda one, times: one * min(times, LONGEST // (len(one) or 1)),
                    piece, st.sampled_from(REPEATED))  # fmt: skip
    edit = st.tuples(st.floats(0, 1), st.sampled_from((0, 0, 1, 5, 100)), run)
    edited = st.builds(_edited, st.sampled_from(parser.documents), st.lists(edit, max_size=4))
    return edited | st.lists(run, max_size=12).map(b"".join)


def _edited(data: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    for where, length, run in edits:
        at = int(where * len(data))
        data = data[:at] + run + data[at + length :]
    return data


FOUND = {
    "lines": (b'{"\\ud800": 1}', b'{"id": "a", "time_limit": "\\ud800", "memory_limit": 1}'),
    "row": (b'{"\\ud800": 1}', b'{"test_cases": [{"\\ud800": 1}]}'),
    "yaml": (b"!!timestamp x", b"!!int", b"!!float ''", b"!!bool x", b"a: !!binary \xc3\xa9"),
    "bundle": tuple(
        PARSERS["bundle"].documents[0].replace(b'"%s"' % name, b'"\\ud800%s"' % name)
        for name in (b"proctor_bundle", b"size", b"codes")
    ),
    "redis answer": (b"+" + b"$" * 5000 + b"\r\n:1\r\n",),
    "version": (b"9" * 5000,),
    "native": (PARSERS["native"].documents[0].replace(b"submissions/down.py", b"s" * 300),),
}
"""What was found at some time."""


@pytest.mark.parametrize(("name", "data"), [(name, each) for name in FOUND for each in FOUND[name]])
def test_what_was_found_is_understood_or_refused(name: str, data: bytes) -> None:
    with contextlib.suppress(ProctorError):
        PARSERS[name].call(data)


@pytest.mark.sampled(3)
@pytest.mark.slow("init.yml", "problem.yaml")
@pytest.mark.parametrize("name", PARSERS)
def test_any_text_is_understood_or_refused(name: str) -> None:
    parser = PARSERS[name]

    @settings(
        max_examples=EXAMPLES * TIMES, suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )  # fmt: skip
    @given(inputs(parser))
    def tried(data: bytes) -> None:
        try:
            parser.call(data[:LONGEST])
        except ProctorError as error:
            str(error).encode("utf-8", "surrogatepass")

    tried()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PARSERS)
def test_calls_grow_with_the_length_alone(name: str) -> None:
    """Four times as much of anything takes four times as many calls, not sixteen."""
    parser = PARSERS[name]
    for piece in (*parser.pieces, *parser.documents):
        short, long = (_calls(parser, piece * (size // len(piece) + 1)) for size in (500, 2000))
        assert long <= 5 * short + 2000, piece


def _calls(parser: Parser, data: bytes) -> int:
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        with contextlib.suppress(ProctorError):
            parser.call(data)
    finally:
        sys.setprofile(before)
    return count
