"""A connection of the HTTP server, in this process."""

import asyncio
import socket
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from proctor.service.http import connection
from waiting import PATIENCE

ANSWER = 20_000_000


async def answered(_scope: Any, _receive: Any, send: Any) -> None:
    """Give a large answer, in one piece."""
    length = (b"content-length", str(ANSWER).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": bytes(ANSWER), "more_body": False})


@pytest.mark.parametrize("kept", [b"keep-alive", b"close"])
def test_who_reads_nothing_is_broken_off(monkeypatch: pytest.MonkeyPatch, kept: bytes) -> None:
    """Closing waited until all was read: what had been written stayed, as long as clients liked."""
    monkeypatch.setattr(connection, "UNREAD", 0.01)

    async def served() -> None:
        loop, state = asyncio.get_running_loop(), ServerState()
        config = uvicorn.Config(answered, lifespan="off", log_config=None)
        config.load()
        made = connection.bounded(10)
        gone = asyncio.Event()

        class Watched(made):  # type: ignore[misc, valid-type]
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                gone.set()

        server = await loop.create_server(
            lambda: Watched(config=config, server_state=state, app_state={}), "127.0.0.1", 0
        )
        with socket.create_connection(server.sockets[0].getsockname()) as client:
            client.sendall(
                b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: " + kept + b"\r\n\r\n"
            )
            async with asyncio.timeout(PATIENCE):
                await gone.wait()
        server.close()
        assert not state.connections

    asyncio.run(served())
