"""Whatever has an id is answered: over stdio nobody else would say that a request is lost."""

import json
import subprocess
from functools import partial
from typing import Any

import mcp_types
import pytest

from proctor.service.daemon.stdio import CutLine
from proctor.service.mcp.stdio import RefusedLine, vetted
from served import PROCTOR, serving

UNDERSTOOD = partial(mcp_types.jsonrpc_message_adapter.validate_json, by_name=False)
HEAD = b'{"jsonrpc": "2.0", '
FIRST = (
    HEAD + b'"id": "first", "method": "initialize", "params": {"protocolVersion": "2025-06-18",'
    b' "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}'
)


def call(identity: bytes, arguments: bytes, tool: bytes = b"run_code") -> bytes:
    params = b'{"name": "%b", "arguments": %b}' % (tool, arguments)
    return HEAD + b'"id": %b, "method": "tools/call", "params": %b}' % (identity, params)


LINES: list[tuple[bytes, Any]] = [
    (call(b"1", b'{"code": "print(1) # \\ud800"}'), 1),
    (call(b"2", b'{"code": "\\udfff\\ud83d"}'), 2),
    (call(b"3", b'{"\\ud800": 1}'), 3),
    (call(b"4", b'{"code": "print(1)", "timeout": NaN}'), 4),
    (call(b"5", b'{"code": "print(1)", "timeout": 1e400}'), 5),
    (call(b"6", b'{"code": "print(1)", "memory": 1' + b"0" * 5000 + b"}"), 6),
    (call(b"7", b'{"code": ' + b"[" * 5000 + b"]" * 5000 + b"}"), 7),
    (call(b"8", b'{"code": ' + b"[" * 100_000), 8),
    (call(b"9", b'{"code": "print(1) \xff"}'), 9),
    (call(b"10", b'{"code": "print(1)"'), 10),
    (call(b"11", b'{"code": 1}'), 11),
    (call(b"12", b"[]"), 12),
    (call(b"13", b'{"code": "print(1)", "timeout": -1}'), 13),
    (call(b"14", b"{}", b"nothing"), 14),
    (call(b"1.5", b"{}"), 1.5),
    (call(b"16", b"{}").replace(b'"2.0"', b"2.0"), 16),
    (HEAD + b'"id": 17, "method": "tools/call", "params": [1]}', 17),
    (HEAD + b'"id": 18, "method": "\\ud800"}', 18),
    (HEAD + b'"id": 19, "method": 5}', 19),
    (HEAD + b'"id": 20}', 20),
    (HEAD + b'"id": "\\ud800", "method": "ping"}', "\ud800"),
    (HEAD + b'"id": 99999999999999999999, "method": "ping"}', 99999999999999999999),
    (HEAD + b'"id": 1, "id": 23, "method": "ping", "params": NaN}', 23),
    (b'{"id": 24, "method": "ping"}', 24),
    (b"[" + call(b"25", b'{"code": "print(1)"}') + b"]", 25),
    (HEAD + b'"id": 26, "method": "no/such"}', 26),
    (HEAD + b'"method": "tools/call", "params": {"a": }, "id": 27}', 27),
    (HEAD + b'"id": 28, "method": "ping", "error": {"code": 1, "message": "x"}}', 28),
    (HEAD + b'"id": 29, "method": "ping", "result": {}}', 29),
    (FIRST.replace(b'"first"', b"30").replace(b'"x"', b'"%b"' % (b"x" * 70_000)), 30),
    (HEAD + b'"id": null, "method": "tools/call"}', None),
    (HEAD + b'"id": true, "method": "tools/call"}', None),
    (HEAD + b'"id": {}, "method": "tools/call"}', None),
    (b"hello", None),
    (b"[]", None),
    (b"null", None),
    (b'{"id": \xff', None),
    (CutLine(call(b"35", b'{"code": "' + b"x" * 100)), 35),
]


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    """All that a server says to all lines, which come one after the other."""
    lines = [FIRST, HEAD + b'"method": "notifications/initialized"}']
    lines += [line for line, _ in LINES if not isinstance(line, CutLine)]
    lines += [b"", b"  ", HEAD + b'"id": 40, "result": {}}', HEAD + b'"method": "notifications/x"}']
    lines += [call(b'"last"', b'{"code": "print(6 * 7)"}')]
    process = subprocess.Popen([PROCTOR, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n".join(lines) + b"\n")
    process.stdin.flush()
    found = []
    expected = len(LINES) - 1 + 2
    while len(found) < expected:
        found.append(json.loads(process.stdout.readline()))
    rest, _ = process.communicate()
    assert process.returncode == 0
    return [*found, *map(json.loads, rest.splitlines())]


def test_every_request_is_answered_once_and_the_server_goes_on(
    answers: list[dict[str, Any]],
) -> None:
    told = [each["id"] for each in answers]
    assert told.count("last") == 1
    (last,) = (each for each in answers if each["id"] == "last")
    assert last["result"]["structuredContent"]["stdout"] == "42\n"
    ids = [name for line, name in LINES if not isinstance(line, CutLine)]
    assert sorted(map(repr, told)) == sorted(map(repr, [*ids, "first", "last"]))
    for each in answers:
        if each["id"] not in {"first", "last"}:
            assert "error" in each or each["result"]["isError"]


@pytest.mark.parametrize(("line", "name"), LINES)
def test_a_line_is_passed_on_as_a_request_or_refused_under_its_id(line: bytes, name: Any) -> None:
    try:
        passed = vetted(line, UNDERSTOOD)
    except RefusedLine as refused:
        (answer,) = map(json.loads, refused.answers)
        assert answer["id"] == name
        assert answer["error"]["code"] in (-32700, -32600)
        assert answer["error"]["message"]
    else:
        assert UNDERSTOOD(passed).id == name


def test_each_of_a_list_is_refused() -> None:
    with pytest.raises(RefusedLine) as refused:
        vetted(b'[{"id": 1, "method": "ping"}, {"method": "x"}, {"id": "b"}]', UNDERSTOOD)
    assert [json.loads(each)["id"] for each in refused.value.answers] == [1, "b"]


@pytest.mark.parametrize(
    "line", [b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []}',
             HEAD + b'"id": 3, "result": {"a": 1}}', HEAD + b'"id": 1.5, "error": {}}']
)  # fmt: skip
def test_what_is_no_request_is_not_answered(line: bytes) -> None:
    assert vetted(line, UNDERSTOOD) == line.decode()


def test_what_is_posted_is_answered_under_its_id_too() -> None:
    headers = {
        "content-type": "application/json", "accept": "application/json, text/event-stream",
    }  # fmt: skip
    with serving("--cells", "1", "--no-access-log") as served, served.client() as client:
        opened = client.post("/mcp", content=FIRST, headers=headers)
        assert opened.status_code == 200
        headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        told = client.post(
            "/mcp", content=HEAD + b'"method": "notifications/initialized"}', headers=headers
        )
        assert told.status_code == 202
        for line, name in LINES:
            answer = client.post("/mcp", content=line, headers=headers)
            assert answer.status_code in (200, 400)
            if answer.headers["content-type"] == "application/json":
                assert answer.json()["id"] == name
            else:
                (data,) = (each for each in answer.text.splitlines() if each.startswith("data: {"))
                assert json.loads(data.removeprefix("data: "))["id"] == name
