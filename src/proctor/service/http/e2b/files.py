"""Files of a sandbox: contents by HTTP, and the procedures of E2B's daemon for the rest.

The procedures run inside the sandbox, with no more rights than the sandbox's own programs.
"""

import asyncio
import io
from typing import Any

import msgspec
import multipart
from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from proctor.errors import InputError, NotFound
from proctor.execution import Execution
from proctor.service.admission import RequestContext
from proctor.service.http.e2b.errors import of_procedure, of_sandbox
from proctor.service.http.e2b.paths import absolute, relative
from proctor.service.http.e2b.requests import SandboxRequests, decoded
from proctor.service.http.e2b.sandboxes import Sandbox
from proctor.service.http.request import context_of, header_of
from proctor.service.http.responses import JsonReply, PendingResponse

_BYTES = "application/octet-stream"
_PRINTED = r"%y\t%s\t%m\t%M\t%u\t%g\t%TY-%Tm-%TdT%TH:%TM:%.9TSZ\t%P\0"
"""Format in which `find` prints each file; %P is its path below the place that was asked for."""
_KINDS = {"f": "FILE_TYPE_FILE", "d": "FILE_TYPE_DIRECTORY", "l": "FILE_TYPE_SYMLINK"}
_DEEPEST = 32
_Request = Request[Any, Any, Any]


class PathRequest(msgspec.Struct, frozen=True):
    """Body of a procedure about one path, or of a move."""

    path: str = ""
    depth: int = 1
    source: str = ""
    destination: str = ""


def file_routes(requests: SandboxRequests) -> list[HTTPRouteHandler]:
    """Return the routes."""
    return [*_contents(requests), _procedures(requests)]


def _contents(requests: SandboxRequests) -> list[HTTPRouteHandler]:
    @get("/files")
    async def read(request: _Request, path: str) -> ASGIApp:
        """Return the content of a file."""

        async def content() -> JsonReply:
            session = requests.sandbox(request).session
            data = await session.read(relative(path), context_of(request))
            return JsonReply(msgspec.Raw(data), media_type=_BYTES)  # sent as it is

        return PendingResponse(content(), failed=of_sandbox)

    @post("/files", status_code=200)
    async def write(request: _Request, path: str | None = None) -> ASGIApp:
        """Write files: the body is one, or a form with several."""
        kind, body = header_of(request, b"content-type"), await request.body()

        async def written() -> list[dict[str, str]]:
            session, context = requests.sandbox(request).session, context_of(request)
            given = await asyncio.to_thread(_sent, kind, body, path)
            for name, content in given:
                await session.write(relative(name), content, context)
            return [
                {"name": name.rpartition("/")[2], "type": "file", "path": absolute(name)}
                for name, _ in given
            ]

        return PendingResponse(written(), failed=of_sandbox)

    return [read, write]


def _sent(content_type: str, body: bytes, path: str | None) -> list[tuple[str, bytes]]:
    """Return the names and contents of files: `path` is the name of a single one.

    Raises InputError.
    """
    kind, options = multipart.parse_options_header(content_type)
    if kind != "multipart/form-data":
        return [(path or "", body)]
    try:
        parser = multipart.MultipartParser(
            io.BytesIO(body), options.get("boundary", ""), content_length=len(body),
            memory_limit=len(body) + 1, spool_limit=len(body) + 1,
        )  # fmt: skip
        parts = [each for each in parser.parts() if each.name == "file"]
    except multipart.MultipartError as error:
        raise InputError(f"the form cannot be read: {error}") from error
    if path and len(parts) == 1:
        return [(path, parts[0].raw)]
    return [(each.filename or "", each.raw) for each in parts]


def _procedures(requests: SandboxRequests) -> HTTPRouteHandler:
    @post("/filesystem.Filesystem/{name:str}", status_code=200)
    async def procedure(name: str, request: _Request) -> ASGIApp:
        """Stat, ListDir, MakeDir, Move or Remove."""
        body = await request.body()

        async def done() -> Any:
            asked = decoded(body, PathRequest)
            return await _done(requests.sandbox(request), name, asked, context_of(request))

        return PendingResponse(done(), failed=of_procedure)

    return procedure


async def _done(
    sandbox: Sandbox, name: str, asked: PathRequest, context: RequestContext
) -> JsonReply | dict[str, Any]:
    path = relative(asked.path)
    if name == "ListDir":
        deepest = min(max(asked.depth, 1), _DEEPEST)
        return {"entries": await _found(sandbox, path, context, least=1, most=deepest)}
    if name == "MakeDir":
        made = await _run(sandbox, context, "mkdir", "-p", "-v", "--", path)
        if not made.stdout:  # mkdir has made nothing
            told = {"code": "already_exists", "message": f"{asked.path!r} is there already"}
            return JsonReply(told, 409)
    elif name == "Move":
        source, path = relative(asked.source), relative(asked.destination)
        await _found(sandbox, source, context)
        await _run(sandbox, context, "mv", "-T", "--", source, path)
    elif name == "Remove":
        await _found(sandbox, path, context)
        await _run(sandbox, context, "rm", "-rf", "--", path)
        return {}
    elif name != "Stat":
        return JsonReply({"code": "unimplemented", "message": f"{name} is not served here"}, 501)
    return {"entry": (await _found(sandbox, path, context))[0]}


async def _found(
    sandbox: Sandbox, path: str, context: RequestContext, *, least: int = 0, most: int = 0
) -> list[dict[str, Any]]:
    """Return the entries from `least` to `most` levels below a path. Raises NotFound."""
    words = ("find", f"./{path}", "-mindepth", str(least), "-maxdepth", str(most), "-printf")
    made = (await sandbox.session.command((*words, _PRINTED), b"", context)).made
    if made.exit_code and not made.stdout:
        raise NotFound(f"there is no {absolute(path)!r}")
    if made.limit is not None:
        raise InputError(f"{absolute(path)!r} holds more than can be listed: list what is in it")
    lines = made.stdout.decode("utf-8", "replace").split("\0")
    return sorted(
        (_entry(path, *line.split("\t", 7)) for line in lines if line),
        key=lambda entry: str(entry["path"]),
    )


def _entry(
    place: str, kind: str, size: str, mode: str, permissions: str, user: str, group: str,
    changed: str, below: str,
) -> dict[str, Any]:  # fmt: skip
    path = absolute(f"{place}/{below}")
    return {
        "name": path.rpartition("/")[2], "type": _KINDS.get(kind, "FILE_TYPE_UNSPECIFIED"),
        "path": path, "size": size, "mode": int(mode, 8), "permissions": permissions,
        "owner": user, "group": group, "modifiedTime": changed,
    }  # fmt: skip


async def _run(sandbox: Sandbox, context: RequestContext, *words: str) -> Execution:
    made = (await sandbox.session.command(words, b"", context)).made
    if not made.ok:
        text = made.stderr.decode(errors="replace").strip()
        raise InputError(text or f"{words[0]} failed")
    return made
