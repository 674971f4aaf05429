"""Messages of a client that POSTs them, looked at before the SDK sees them, as over stdio."""

from collections.abc import Awaitable, Callable
from typing import Any

from proctor.service.mcp.stdio import RefusedLine, vetted

Receive = Callable[[], Awaitable[Any]]


async def vetted_request(
    scope: Any, receive: Receive, most: int, understood: Callable[[bytes], object]
) -> Receive:
    """Return a function that gives a request again which the SDK will answer.

    One of more than `most` bytes, which the SDK refuses, is not looked at. Raises RefusedLine.
    """
    if scope["method"] != "POST":
        return receive
    messages, size = [await receive()], 0
    while True:
        size += len(messages[-1].get("body", b""))
        if messages[-1]["type"] != "http.request" or size > most:
            break
        if not messages[-1].get("more_body"):
            vetted(b"".join(each.get("body", b"") for each in messages), understood)
            break
        messages.append(await receive())
    messages.reverse()

    async def again() -> Any:
        return messages.pop() if messages else await receive()

    return again


async def refuse(why: RefusedLine, send: Callable[[Any], Awaitable[None]]) -> None:
    """Answer with status 400: with an error, or a list of them where a list was sent."""
    body = why.answers[0] if len(why.answers) == 1 else b"[" + b",".join(why.answers) + b"]"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
