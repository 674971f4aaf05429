"""The tools for language models, by the SDK's own client: over stdio and over HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from served import PROCTOR, Served, serving
from waiting import PATIENCE

TOOLS = {
    "execute_code",
    "run_code",
    "judge_solution",
    "list_languages",
    "open_session",
    "close_session",
}
TESTS = [{"input": "1 2\n", "output": "3\n"}, {"input": "20 22\n", "output": "42\n"}]
SUM = "print(sum(map(int, input().split())))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("ann:0123456789abcdef-ann\nbob:0123456789abcdef-bob\n")
    tokens.chmod(0o600)
    with serving("--token-file", str(tokens), "--cells", "2", "--sessions", "2") as served:
        yield served


@contextlib.asynccontextmanager
async def over_http(server: Served, name: str, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer 0123456789abcdef-{name}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        way = streamable_http_client(f"{server.url}/mcp", http_client=http)
        async with Client(way, mode=mode) as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    assert answer.content[0].type == "text"
    return answer.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer
    assert answer.content[0].text
    return answer.structured_content


async def every_tool(client: Client) -> None:
    """What must hold by whatever transport."""
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    for name in ("execute_code", "run_code"):
        found = await call(client, name, code="print(input() + 'é')", stdin="hi")
        assert (found["verdict"], found["stdout"], found["exit_code"]) == ("OK", "hié\n", 0)
    failed = await client.call_tool("execute_code", {"code": "1 / 0"})
    assert not failed.is_error  # the program's fault is a result
    assert failed.structured_content["verdict"] == "RE"
    assert "ZeroDivisionError" in failed.content[0].text
    late = await call(client, "execute_code", code="while True: pass", timeout=0.3)
    assert (late["verdict"], late["limit"]) == ("TLE", "cpu")
    broken = await call(client, "execute_code", code="int main({", language="cpp")
    assert broken["verdict"] == "CE"
    assert "error" in broken["error"]
    right = await call(client, "judge_solution", code=SUM, tests=TESTS)
    assert (right["verdict"], right["passed"], right["score"]) == ("AC", True, 1.0)
    wrong = await client.call_tool(
        "judge_solution", {"code": "print(3)", "tests": TESTS, "stop": "never"}
    )
    assert not wrong.is_error
    assert [test["verdict"] for test in wrong.structured_content["tests"]] == ["AC", "WA"]
    assert "WA" in wrong.content[0].text
    assert "python" in (await call(client, "list_languages"))["languages"]
    await in_a_session(client)


async def in_a_session(client: Client) -> None:
    session = (await call(client, "open_session", idle=60))["session_id"]
    first = await call(
        client, "execute_code", code="x = 41\nopen('f', 'w').close()", session_id=session
    )
    assert (first["fresh"], first["result"]) == (True, None)
    second = await call(
        client, "run_code", code="import os\n[x + 1, os.listdir()]", session_id=session
    )
    assert (second["fresh"], second["result"]) == (False, "[42, ['f']]")
    raised = await call(client, "execute_code", code="y", session_id=session)
    assert raised["verdict"] == "RE"
    assert "NameError" in raised["error"]
    await call(client, "close_session", session_id=session)
    ended = await refused(client, "execute_code", code="x", session_id=session)
    assert ended["code"] == "session-ended"


async def what_cannot_be_done(client: Client) -> None:
    for arguments, code in (
        ({}, "bad-input"), ({"code": "1", "colour": "red"}, "bad-input"), ({"code": 1}, "bad-input"),
        ({"code": "1", "timeout": -1}, "bad-input"), ({"code": "1", "language": "klingon"}, "bad-input"),
        ({"code": "1", "session_id": "made-up"}, "not-found"),
    ):  # fmt: skip
        assert (await refused(client, "execute_code", **arguments))["code"] == code, arguments
    assert (await refused(client, "judge_solution", code="1", tests=[]))["code"] == "bad-input"
    assert (await refused(client, "no_such_tool"))["code"] == "not-found"


@pytest.mark.slow("auto")
@pytest.mark.compiler
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http(server: Served, mode: str) -> None:
    async def go() -> None:
        async with over_http(server, "ann", mode) as client:
            await every_tool(client)
            await what_cannot_be_done(client)

    asyncio.run(go())


@pytest.mark.slow
def test_over_stdio() -> None:
    async def go() -> None:
        started = StdioServerParameters(
            command=PROCTOR, args=["mcp", "--cells", "1", "--sessions", "1"]
        )
        async with Client(started) as client:
            await every_tool(client)
            await what_cannot_be_done(client)

    asyncio.run(go())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_another_owner_has_no_part_in_a_session(server: Served, mode: str) -> None:
    async def go() -> None:
        async with over_http(server, "ann", mode) as ann, over_http(server, "bob", mode) as bob:
            session = (await call(ann, "open_session"))["session_id"]
            for tool in ("execute_code", "close_session"):
                more = {"code": "1"} if tool == "execute_code" else {}
                found = await refused(bob, tool, session_id=session, **more)
                assert found["code"] == "not-found"
            await call(ann, "close_session", session_id=session)

    asyncio.run(go())


def test_the_sdks_own_sessions_are_their_owners_too(server: Served) -> None:
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
    }  # fmt: skip
    headers = {"Accept": "application/json, text/event-stream"}
    with server.client("0123456789abcdef-ann") as ann, server.client("0123456789abcdef-bob") as bob:
        own = ann.post("/mcp", json=hello, headers=headers).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        asked = {**headers, "mcp-session-id": own, "mcp-protocol-version": "2025-06-18"}
        assert bob.post("/mcp", json=ping, headers=asked).status_code == 404
        assert bob.delete("/mcp", headers=asked).status_code == 404
        assert ann.post("/mcp", json=ping, headers=asked).status_code == 200
        assert ann.delete("/mcp", headers=asked).status_code == 200


def test_without_a_token_there_are_no_tools(server: Served) -> None:
    assert httpx.post(f"{server.url}/mcp", json={}, timeout=PATIENCE).status_code == 401


@pytest.mark.slow
def test_pages_from_elsewhere_cannot_ask_an_open_server() -> None:
    with serving("--cells", "1") as served:
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        plain = {
            "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": "2025-06-18",
        }
        for more in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            assert httpx.post(
                f"{served.url}/mcp",
                json=body,
                headers={**plain, **more},
                timeout=PATIENCE,
            ).status_code in {403, 421}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_cancels_ends_what_runs(server: Served, mode: str) -> None:
    async def go() -> None:
        async with over_http(server, "ann", mode) as client:
            session = (await call(client, "open_session"))["session_id"]
            asked = {"code": "while True: pass", "timeout": 600, "session_id": session}
            running = asyncio.ensure_future(client.call_tool("execute_code", asked))
            headers = {"Authorization": "Bearer 0123456789abcdef-ann"}
            async with httpx.AsyncClient(
                base_url=server.url, headers=headers, timeout=PATIENCE
            ) as http:
                while not (await http.get(f"/v1/sessions/{session}")).json()["busy"]:
                    pass
            running.cancel()
            await asyncio.wait({running})
            # Waits for the one before: had that not been ended, this would not end.
            assert (await call(client, "execute_code", code="1 + 1", session_id=session))[
                "result"
            ] == "2"
            await call(client, "close_session", session_id=session)

    asyncio.run(go())
