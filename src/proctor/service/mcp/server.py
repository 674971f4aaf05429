"""Model Context Protocol: the tools that language models call, over stdio and at /mcp.

The SDK (extra `mcp`) is imported when a server is made. The tools do what the native API does, with
results in words for a model.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from proctor.errors import InputError, ProctorError
from proctor.sandbox.session import DEFAULT_LIMITS
from proctor.service.admission import RequestContext
from proctor.service.daemon.stdio import LineWriter, take_stdio
from proctor.service.engine import Engine
from proctor.service.http.native import convert, schema
from proctor.service.http.native.session_schema import ExecuteRequestJson
from proctor.service.http.native.sessions import execute
from proctor.service.mcp.posted import refuse, vetted_request
from proctor.service.mcp.stdio import LineOutput, RefusedLine, VettedInput
from proctor.service.mcp.tools import (
    CloseSession,
    ExecuteCode,
    Executed,
    JudgeSolution,
    Languages,
    Listed,
    Opened,
    OpenSession,
    executed,
    in_words,
    judge_in_words,
    languages_in_words,
    opened_in_words,
    ran,
)
from proctor.version import __version__

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_INSTRUCTIONS = (
    "Runs and judges programs in isolation: no network, no files of the host, limits on CPU time"
    " and memory. For several steps that build upon one another open a session and pass its"
    " session_id: variables and files then last. Otherwise every call begins with nothing."
)
_RUN = (
    "Run a program and return what it prints, how it ended and what it used. With session_id: run"
    " Python code in that session, where variables and files of earlier calls are still there, and"
    " get the value of the last line too."
)
_JUDGE = "Judge a program by tests of input and expected output; say which of them pass."
_LIST = "List the languages that programs can be in."
_OPEN = "Open a session, whose variables and files last until it is closed."
_CLOSE = "End a session with all that is in it."

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool: its arguments, its result, and how the result reads as text."""

    name: str
    description: str
    takes: type[msgspec.Struct]
    answers: type[msgspec.Struct]
    work: Callable[[Any, RequestContext], Coroutine[Any, Any, Any]]
    words: Callable[[Any], str]


def tools(engine: Engine) -> dict[str, McpTool]:
    """Return the tools by name."""

    async def execute_code(asked: ExecuteCode, context: RequestContext) -> Executed:
        if asked.session_id:
            if asked.language != "python":
                raise InputError("sessions run Python only", field="language")
            session = engine.sessions.get(context.owner, asked.session_id)
            if asked.stdin:
                raise InputError("code in a session has no stdin", field="stdin")
            if asked.packages is not None:
                raise InputError("a session has its packages from the first", field="packages")
            cell = ExecuteRequestJson(code=asked.code, cpu=asked.timeout)
            return executed(await execute(session, cell, context))
        request = schema.RunRequestJson(
            schema.ProgramJson(asked.code, asked.language),
            asked.stdin,
            limits=schema.LimitsJson(cpu=asked.timeout, memory=asked.memory),
            packages=asked.packages,
        )
        return ran(convert.run_result(await engine.run(convert.run_request(request), context)))

    async def judge_solution(asked: JudgeSolution, context: RequestContext) -> schema.JudgeResult:
        request = schema.JudgeRequest(
            schema.ProgramJson(asked.code, asked.language),
            schema.ProblemJson(
                tests=asked.tests, function=asked.function, comparison=asked.comparison
            ),
            limits=schema.LimitsJson(cpu=asked.timeout, memory=asked.memory),
            stop=asked.stop,
            packages=asked.packages,
        )
        return await convert.judge(engine, request, context)

    async def list_languages(_asked: Languages, _context: RequestContext) -> Listed:
        found = await asyncio.to_thread(engine.languages)
        named = {each.language.id: f"{each.language.name} {each.version}".strip() for each in found}
        return Listed({"python": "Python, the cell's own interpreter", **named})

    async def open_session(asked: OpenSession, context: RequestContext) -> Opened:
        limits = convert.limits(schema.LimitsJson(memory=asked.memory), DEFAULT_LIMITS)
        session = await engine.sessions.open(context, limits, asked.idle, asked.packages)
        return Opened(session.id, engine.sessions.idle(session))

    async def close_session(asked: CloseSession, context: RequestContext) -> Opened:
        await engine.sessions.close(context.owner, asked.session_id)
        return Opened(asked.session_id, 0.0)

    runs = (ExecuteCode, Executed, execute_code, in_words)
    made = [
        McpTool("execute_code", _RUN, *runs),
        McpTool("run_code", f"Same as execute_code. {_RUN}", *runs),
        McpTool("judge_solution", _JUDGE, JudgeSolution, schema.JudgeResult, judge_solution,
             judge_in_words),
        McpTool("list_languages", _LIST, Languages, Listed, list_languages, languages_in_words),
        McpTool("open_session", _OPEN, OpenSession, Opened, open_session, opened_in_words),
        McpTool("close_session", _CLOSE, CloseSession, Opened, close_session,
             lambda found: f"session {found.session_id} is closed"),
    ]  # fmt: skip
    return {tool.name: tool for tool in made}


def make_server(engine: Engine) -> "Server[Any]":
    """Return the SDK's server with these tools."""
    import mcp_types as types
    from mcp.server.lowlevel.server import Server

    known = tools(engine)
    listed = [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=_schema(tool.takes),
            output_schema=_schema(tool.answers),
        )
        for tool in known.values()
    ]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = known.get(params.name)
        if tool is None:
            return _told(f"there is no tool {params.name!r}", {"code": "not-found"})
        try:
            asked = _arguments(params.arguments or {}, tool.takes)
            found = await _apart(tool.work(asked, RequestContext(_owner(context.request))))
        except _BadArguments as error:
            return _told(f"these arguments will not do: {error}", {"code": "bad-input"})
        except ProctorError as error:
            fault = {"code": error.code, "message": str(error)}
            return _told(f"{error.code}: {error}", fault)
        except Exception as error:
            _logger.exception("please report this")  # a fault of the server
            what = f"internal error: {type(error).__name__}"
            return _told(f"infra-fault: {what}", {"code": "infra-fault", "message": what})
        told = msgspec.to_builtins(found)
        fault_of_ours = told.get("outcome") in {"infra_fault", "task_fault"}
        return _told(tool.words(found), told, is_error=fault_of_ours)

    return Server(
        "proctor",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: _schema(known[name].takes) if name in known else None,
    )


class _BadArguments(Exception):
    """Arguments of a tool that are not what it takes."""


def _arguments(given: dict[str, Any], kind: type[msgspec.Struct]) -> Any:
    """Return a tool's arguments. Raises _BadArguments."""
    try:
        return msgspec.convert(given, kind)
    except (ValueError, OverflowError, RecursionError) as error:
        raise _BadArguments(str(error)) from error


def _told(
    text: str, structured: dict[str, Any], *, is_error: bool = True
) -> "types.CallToolResult":
    import mcp_types as types

    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=structured, is_error=is_error)


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return a JSON schema that is an object, not a reference, as the protocol demands."""
    # As in the OpenAPI document, structs are named without the ending Json.
    plain = re.sub(rb'Json"', b'"', msgspec.json.encode(msgspec.json.schema(kind)))
    found: dict[str, Any] = msgspec.json.decode(plain)
    name = found.pop("$ref").rpartition("/")[2]
    own = found["$defs"].pop(name)
    return {**own, **({"$defs": found["$defs"]} if found["$defs"] else {})}


async def _apart(work: Awaitable[Any]) -> Any:
    """Await work in a task that is cancelled once: the SDK cancels repeatedly until all ended."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        raise


def _owner(request: Any) -> str:
    """Return the owner of a request; by stdio there is no request and one owner."""
    return "" if request is None else str(request.scope["state"]["owner"])


def understood() -> Callable[[bytes], object]:
    """Return the function by which the SDK decodes messages."""
    import mcp_types as types

    return partial(types.jsonrpc_message_adapter.validate_json, by_name=False)


async def over_stdio(engine: Engine, most: int) -> None:
    """Serve one client until stdin ends, or nobody reads the answers; lines have `most` bytes."""
    from mcp.server.stdio import stdio_server

    source, target = take_stdio()
    loop, serving = asyncio.get_running_loop(), asyncio.current_task()
    assert serving is not None
    stop, gone = serving.cancel, False

    def hung_up() -> None:
        nonlocal gone
        gone = True
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(stop)

    writer = LineWriter(target, hung_up)
    given, taken = VettedInput(source, most, writer, understood()), LineOutput(writer)
    server = make_server(engine)
    try:
        async with stdio_server(given, taken) as (reading, writing):  # type: ignore[arg-type]
            await server.run(reading, writing, server.create_initialization_options())
    except asyncio.CancelledError:
        if not gone:
            raise
    await asyncio.to_thread(writer.close, None)


_MOST_SESSIONS = 1000
"""Sessions over HTTP at once, of all owners together."""
_IDLE = 600.0
"""Seconds without a request after which a session over HTTP is closed."""


class McpOverHttp:
    """The streamable HTTP transport, as an ASGI application that lives in `running()`.

    The SDK is imported with the first request: it takes as long as all the rest of the server.
    """

    def __init__(self, engine: Engine, *, most_body: int) -> None:
        self._engine, self._most_body = engine, most_body
        self._starting = asyncio.Lock()
        self._over = asyncio.Event()
        self._manager: StreamableHTTPSessionManager | None = None
        self._life: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests while this context is entered, which is possible only once."""
        try:
            yield
        finally:
            self._over.set()
            if self._life is not None:
                await self._life

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        async with self._starting:
            if self._manager is None:
                self._manager = await self._started()
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken

        # The SDK keeps the sessions of owners apart by this user.
        owner = str(scope["state"]["owner"])
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        try:
            checked = await vetted_request(scope, receive, self._most_body, understood())
        except RefusedLine as refused:
            await refuse(refused, send)
        else:
            await self._manager.handle_request(scope, checked, send)

    async def _started(self) -> "StreamableHTTPSessionManager":
        manager = await asyncio.to_thread(self._made)
        ready = asyncio.Event()

        async def live() -> None:
            # In one task, since the manager must be entered and left in the same one.
            async with manager.run():
                ready.set()
                await self._over.wait()

        self._life = asyncio.create_task(live())
        await ready.wait()
        return manager

    def _made(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        # Hosts and origins are checked in middleware.py, for all routes.
        guard = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        return StreamableHTTPSessionManager(
            make_server(self._engine),
            security_settings=guard,
            max_request_body_size=self._most_body,
            max_sessions=_MOST_SESSIONS,
            session_idle_timeout=_IDLE,
        )
