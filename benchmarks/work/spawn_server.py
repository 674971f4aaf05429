"""The least that a server does which starts an interpreter for every request, without isolation."""

import asyncio
import sys
import tempfile
from pathlib import Path

import msgspec
import uvicorn


class Asked(msgspec.Struct):
    code: str
    stdin: str | None = None


async def app(scope, receive, send):  # type: ignore[no-untyped-def]
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    asked = msgspec.json.decode(body, type=Asked)
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "main.py").write_text(asked.code)
        process = await asyncio.create_subprocess_exec(
            "/usr/bin/python3", f"{place}/main.py", cwd=place,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate(asked.stdin.encode() if asked.stdin else None)
    answer = msgspec.json.encode({"stdout": out.decode(), "return_code": process.returncode})
    headers = [(b"content-type", b"application/json"),
               (b"content-length", str(len(answer)).encode())]  # fmt: skip
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
