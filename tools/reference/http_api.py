"""The native HTTP API: its routes, and the fields of requests and answers."""

from typing import Any, cast

from litestar import Litestar
from litestar.routes import HTTPRoute
from markdown import code, prose, table
from structs import fields, title

from proctor.service.engine import Engine
from proctor.service.http import monitoring
from proctor.service.http.index import routes as index
from proctor.service.http.native import packed_schema, schema, session_schema
from proctor.service.http.native import routes as native
from proctor.service.http.problem_details import ProblemDetails
from proctor.solver.envelope import Envelope

REQUESTS = (
    schema.RunRequestJson, schema.ProgramJson, schema.LimitsJson, schema.JudgeRequest,
    schema.ProblemJson, schema.TestJson, schema.ComparisonJson, schema.CheckerJson,
    schema.SubtaskJson, native.BatchJson, schema.SolveRequestJson, schema.CheckRequest,
)  # fmt: skip
ANSWERS = (
    schema.RunResult, schema.ExecutionJson, schema.Output, schema.CompilationJson,
    schema.JudgeResult, schema.TestResultJson, schema.SubtaskResultJson, native.BatchResult,
    schema.CheckJson, schema.Skeleton, schema.JobState, schema.JobRequest, schema.LanguageJson,
    packed_schema.LanguageVersion, schema.Capabilities, schema.GuaranteeJson,
    packed_schema.ServerLoad, ProblemDetails,
)  # fmt: skip
SESSIONS = (
    session_schema.SessionRequest, session_schema.SessionState, session_schema.ExecuteRequestJson,
    session_schema.ExecuteResult, session_schema.Raised, session_schema.FileState,
)  # fmt: skip


def routes() -> str:
    """Return a table of all routes but those of other projects' APIs."""
    engine = cast("Engine", None)  # no route is called: only what it says of itself is read
    app = Litestar([native.door(engine), *monitoring.routes(monitoring.Metrics()), *index.routes()])
    rows: list[tuple[str, str]] = []
    for route in sorted(app.routes, key=lambda each: each.path):
        if isinstance(route, HTTPRoute) and not route.path.startswith(("/schema", "/page")):
            for handler in sorted(route.route_handlers, key=_methods):
                rows += _rows(route, handler)
    return table(("route", "what it does"), rows)


def _rows(route: HTTPRoute, handler: Any) -> list[tuple[str, str]]:
    path = route.path_format.replace("{identity}", "{id}")
    said = " ".join((handler.fn.__doc__ or "").partition("\n\n")[0].split())
    return [(code(f"{method} {path}"), prose(said)) for method in _methods(handler)]


def _methods(handler: Any) -> list[str]:
    return sorted(handler.http_methods - {"OPTIONS", "HEAD"})


def requests() -> str:
    """Return the fields of requests."""
    return _tables(REQUESTS)


def answers() -> str:
    """Return the fields of answers."""
    return _tables(ANSWERS)


def sessions() -> str:
    """Return the fields of requests and answers about sessions."""
    return _tables(SESSIONS)


def all_structs() -> set[str]:
    """Return the names of the structs that the page describes, or another does."""
    return {each.__name__ for each in (*REQUESTS, *ANSWERS, *SESSIONS, Envelope)}


def _tables(structs: tuple[Any, ...]) -> str:
    parts = []
    for struct in structs:
        rows = [
            (code(each.name), each.type, prose(each.meaning))
            for each in fields(struct)
        ]  # fmt: skip
        parts += [f"### {title(struct)}", prose(struct.__doc__ or ""),
                  table(("field", "type", "meaning"), rows)]  # fmt: skip
    return "\n\n".join(parts) + "\n"
