"""The routes of `proctor view`: the page, and the data that it requests."""

from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from proctor.errors import InputError
from proctor.json_values import convert_json
from proctor.reports.records import SampleRecord
from proctor.view.difference import DiffQuery, RunDifference, difference
from proctor.view.judged_tests import (
    JudgedTests,
    RecordedJudgements,
    judged_tests,
    test_content,
)
from proctor.view.library import LoadedRun, RunLibrary
from proctor.view.overview import RunOverview, overview, overviews
from proctor.view.replays import ReplayDesk, ReplayState, ReplayTarget
from proctor.view.sample import SampleView, sample_view, whole_text
from proctor.view.table import SamplePage, SampleQuery, chosen, page_of
from proctor.view.text_search import TextSearch

_Request = Request[Any, Any, Any]
_Query = TypeVar("_Query", bound=msgspec.Struct)


class TextQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request for the whole of one text of a sample."""

    run: str
    problem: str
    sample: int
    part: str
    mode: str = ""
    test: str | None = None
    """Test that the text belongs to; None for a text of the sample itself."""


class TestsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request for tests of a judged sample."""

    run: str
    problem: str
    sample: int
    mode: str
    begin: int = 0


def page_files() -> list[HTTPRouteHandler]:
    """Return the routes of the page's files; colours and figures are those of the report."""
    own, report = files("proctor.view") / "page", files("proctor.reports.html")
    return [
        _file("/", own / "view.html", "text/html"),
        _file("/base.css", report / "page.css", "text/css"),
        _file("/view.css", own / "view.css", "text/css"),
        *(
            _file(f"/{name}", own / name, "text/javascript")
            for name in ("dom.js", "runs.js", "samples.js", "sample.js", "compare.js", "view.js")
        ),
    ]


def runs_routes(library: RunLibrary) -> list[HTTPRouteHandler]:
    """Return the routes of runs and their samples."""
    search = TextSearch()

    @get("/api/runs", sync_to_thread=True)
    def all_runs() -> list[RunOverview]:
        return overviews(library)

    @get("/api/run", sync_to_thread=True)
    def one_run(run: str) -> RunOverview:
        return overview(library.find(run))

    def found(query: SampleQuery) -> tuple[LoadedRun, Sequence[SampleRecord]]:
        loaded, watched = library.load(query.run), library.find(query.run)
        with_text = search.find(watched.directory, query.text) if query.text else None
        return loaded, chosen(loaded, query, with_text)

    @get("/api/samples", sync_to_thread=True)
    def samples(request: _Request) -> SamplePage:
        query = _query(request, SampleQuery)
        loaded, rows = found(query)
        return page_of(loaded, rows, query.page)

    @get("/api/sample", sync_to_thread=True)
    def sample(request: _Request) -> SampleView:
        query = _query(request, SampleQuery)
        with library.find(query.run).open() as store:
            view = sample_view(store, query.run, query.problem, query.sample)
        keys = [(each.problem_id, each.sample) for each in found(query)[1]]
        key = (query.problem, query.sample)
        if key not in keys:
            return msgspec.structs.replace(view, found=len(keys))
        at = keys.index(key)
        return msgspec.structs.replace(
            view, position=at + 1, found=len(keys),
            previous=keys[at - 1] if at else None,
            next=keys[at + 1] if at + 1 < len(keys) else None,
        )  # fmt: skip

    @get("/api/difference", sync_to_thread=True)
    def compared(request: _Request) -> RunDifference:
        return difference(library, _query(request, DiffQuery))

    return [all_runs, one_run, samples, sample, compared]


def tests_routes(library: RunLibrary, desk: ReplayDesk) -> list[HTTPRouteHandler]:
    """Return the routes of tests, replays and whole texts."""
    judgements = RecordedJudgements()

    @get("/api/tests", sync_to_thread=True)
    def tests(request: _Request) -> JudgedTests:
        query = _query(request, TestsQuery)
        directory = library.find(query.run).directory
        recorded = judgements.find(directory, query.problem, query.sample, query.mode)
        return judged_tests(recorded, max(0, query.begin))

    @get("/api/text", sync_to_thread=True)
    def text(request: _Request) -> Response[bytes]:
        query = _query(request, TextQuery)
        run = library.find(query.run)
        if query.test is None:
            with run.open() as store:
                whole = whole_text(store, query.problem, query.sample, query.part)
            content = whole.encode("utf-8", "backslashreplace")
        elif query.part == "output":
            content = desk.output(
                ReplayTarget(query.run, query.problem, query.sample, query.mode), query.test
            )
        else:
            recorded = judgements.find(run.directory, query.problem, query.sample, query.mode)
            content = test_content(recorded, query.test, query.part)
        name = quote(f"{query.problem}-{query.sample}-{query.part}.txt", safe="")
        return Response(
            content, media_type="text/plain",
            headers={"Content-Disposition": f"inline; filename*=UTF-8''{name}"},
        )  # fmt: skip

    @get("/api/replay", sync_to_thread=True)
    def replay_state() -> ReplayState:
        return desk.state()

    @post("/api/replay", sync_to_thread=True)
    def replay(data: ReplayTarget) -> ReplayState:
        directory = library.find(data.run).directory
        return desk.start(
            data, lambda: judgements.find(directory, data.problem, data.sample, data.mode)
        )

    return [tests, text, replay_state, replay]


def _query(request: _Request, kind: type[_Query]) -> _Query:
    """Return the parameters of an address. Raises InputError for unknown or missing ones."""
    given = dict(request.query_params.items())
    try:
        return convert_json(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"the address is not one of this page: {error}") from error


def _file(path: str, file: Traversable, kind: str) -> HTTPRouteHandler:
    content = file.read_bytes()

    @get(path, sync_to_thread=False)
    def served() -> Response[bytes]:
        return Response(content, media_type=kind)

    return served
