"""Lines of any length, of which only a bounded part is ever held."""

import os
import threading

import pytest

from proctor.service.daemon.stdio import CutLine, lines

START = b'{"id": 7, "a": "'


@pytest.mark.parametrize("last", [b"\n", b""])
def test_of_a_line_that_is_too_long_the_beginning_is_kept(last: bytes) -> None:
    reads, writes = os.pipe()
    long = START + b"x" * 3_000_000
    sent = b"a\n\n" + long + b"\n" + b"b" * 100 + b"\n" + b"c" * 101 + b"\nd\n" + long + last

    def send() -> None:
        with os.fdopen(writes, "wb") as out:
            out.write(sent)

    sender = threading.Thread(target=send)
    sender.start()
    found = list(lines(reads, 100))
    sender.join()
    os.close(reads)
    assert [isinstance(each, CutLine) for each in found] == [
        False, False, True, False, True, False, True
    ]  # fmt: skip
    assert (found[0], found[1], found[3], found[5]) == (b"a", b"", b"b" * 100, b"d")
    for each in (found[2], found[6]):
        assert each.startswith(START)
        assert len(each) <= 4096
    assert found[4] == b"c" * 101
