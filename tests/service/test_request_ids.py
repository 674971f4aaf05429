"""Ids of requests that are broken, cut off, odd or many."""

import pytest

from proctor.service.request_ids import id_in, ids_in


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"id": 7, "method": "run", "params": {"x": }', b"7"),
        (b'{"params": {bad ] , "id": 7}', b"7"),
        (b'{"params": {bad: [NaN, x}}, "id": 7}', b"7"),
        (b'{"params": {"x": NaN, bad}, "id": 7}', b"7"),
        (b'{"params": "\xff\\ud800", "id": "a b"}', b'"a b"'),
        (b'{"id": 12', b"null"),  # perhaps 123 was meant
        (b'{"id": 12 ', b"12"),
        (b'{"id": "a"', b'"a"'),
        (b'{"id": "a', None),
        (b'{"id": 1.5}', b"1.5"),
        (b'{"id": -3e2,', b"-3e2"),
        (b'{"id": 10000000000000000000000000}', b"10000000000000000000000000"),
        (b'{"id": ' + b"9" * 5000 + b"}", b"null"),
        (b'{"id": "' + b"x" * 5000 + b'"}', b"null"),
        (b'{"id": null}', b"null"), (b'{"id": true}', b"null"), (b'{"id": NaN}', b"null"),
        (b'{"id": [1]}', b"null"), (b'{"id": {"id": 1}}', b"null"), (b'{"id": 01}', b"null"),
        (b'{"id": "\xff"}', b"null"), (b'{"id": "\x01"}', b"null"), (b'{"id": "\\x"}', b"null"),
        (b'{"id": "\\ud800"}', b'"\\ud800"'),
        (b'{"\\u0069d": 3}', b"3"), (b'{"\\u0069\\u0064": 3}', b"3"), (b'{"Id": 3}', None), (b'{"id ": 3}', None),
        (b'{"id": 1, "id": 2}', b"2"), (b'{"a": {"id": 1}}', None), (b'{"a": "{\\"id\\": 3}"}', None),
        (b'{"a": "\\"id\\": 3', None), (b'{"a": "x"y", "id": 3}', None), (b'{"a" "id": 3}', None),
        (b'{"a": "id": 3}', None), (b'{,"id": 3}', None), (b'{"id"', None), (b'"id": 3', None),
        (b'[{"id": 3}]', None), (b"", None), (b"{" * 100_000, None), (b'{"a":' * 100_000, None),
        (b' \t{ "id" : 3 } ', b"3"), (b'{"id": 3} {"id": 4}', b"3"), (b'{"a": [[[{"id": 1}]]], "id": 4,', b"4"),
    ],
)  # fmt: skip
def test_an_id_is_read_where_that_is_safe(line: bytes, found: bytes | None) -> None:
    known = id_in(line)
    assert (None if known is None else bytes(known)) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'[{"id": 1}, 2, {"id": "b"}, {}]', [b"1", b'"b"']), (b"[]", [b"null"]), (b"[1", [b"null"]),
        (b'[{"id": 1}', [b"null"]), (b" [[[", [b"null"]), (b"x", [b"null"]), (b'{"a": 1}', [b"null"]),
        (b"[" + b'{"id": 1},' * 5000 + b"{}]", [b"1"] * 1000),
    ],
)  # fmt: skip
def test_a_list_has_an_id_for_each(line: bytes, found: list[bytes]) -> None:
    assert list(map(bytes, ids_in(line))) == found
