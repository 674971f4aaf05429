"""Talking to the Hugging Face hub. Needs httpx and stamina (`pip install 'proctor[eval]'`)."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, BinaryIO, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec
import stamina

from proctor.bounded_http import (
    BOUNDS,
    WHOLE,
    AnswerBounds,
    bounded,
    decoded,
    innermost,
    wait_of,
    within,
)
from proctor.errors import InfraFault, InputError
from proctor.formats.hub_files import HubAway, HubFile, hash_of
from proctor.loop_thread import LoopThread
from proctor.version import __version__

_T = TypeVar("_T")
ATTEMPTS = 6
ROWS_PAGE = 100
"""Rows that the viewer gives at most."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CHUNK = 1 << 20
_LONGEST_WAIT = 300.0
"""Seconds; a hub that asks for a longer wait counts as out of reach."""
_PATIENCE = 300.0
"""Seconds for an answer that is not a file."""
_MOST_PAGES, _MOST_ENTRIES = 10_000, 1_000_000
"""Pages and entries of a list at most."""
_MOST_ROWS = 10_000_000
_SLOWEST = 10_000
"""Bytes of a file that must come in a second, on the whole."""
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


_Size = Annotated[int, msgspec.Meta(ge=0, le=1 << 60)]
"""Bytes of a file."""


class _Lfs(msgspec.Struct):
    oid: str
    size: _Size


class _TreeEntry(msgspec.Struct):
    type: str
    path: str
    oid: str = ""
    size: _Size = 0
    lfs: _Lfs | None = None


class _Revision(msgspec.Struct):
    sha: str


class _DataSet(msgspec.Struct):
    id: str


class _RowItem(msgspec.Struct):
    row_idx: int
    row: dict[str, Any]
    truncated_cells: list[str] = []


class _RowsPage(msgspec.Struct):
    rows: list[_RowItem]
    num_rows_total: int
    partial: bool = False


@dataclass(frozen=True, slots=True)
class RowsPage:
    """Rows as the data set's viewer serves them."""

    revision: str
    """Commit that the rows are from."""
    total: int
    """Rows of all pages."""
    rows: tuple[dict[str, Any], ...]


class _Wrong(Exception):
    """The hub sent something other than it had promised."""


class HubClient:
    """A connection to the hub. Every request is tried several times.

    Methods raise InputError for what is not there or not open to you, InfraFault if the hub cannot
    be reached or keeps sending what does not fit.
    """

    def __init__(self) -> None:
        self._endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
        # The viewer's host, as the hub's own library has it.
        self._viewer = self._endpoint.replace("https://", "https://datasets-server.", 1)
        self._token = os.environ.get("HF_TOKEN")
        self._loop = LoopThread()
        self._http = httpx.AsyncClient(
            headers={"user-agent": f"proctor/{__version__}"}, follow_redirects=True,
            timeout=httpx.Timeout(30.0), auth=self._shows_token if self._token else None,
            **bounded(),
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.wait(self._http.aclose())
        self._loop.close()

    def _shows_token(self, request: httpx.Request) -> httpx.Request:
        """Add the token, for the hub alone: answers name the next page, which may be anywhere.

        httpx removes it when the request is redirected to another host.
        """
        own = {_origin(httpx.URL(each)) for each in (self._endpoint, self._viewer)}
        if _origin(request.url) in own:
            request.headers["authorization"] = f"Bearer {self._token}"
        return request

    def commit(self, repo: str, revision: str) -> str:
        """SHA of the commit that a branch or tag stands at."""
        url = f"{self._endpoint}/api/datasets/{repo}/revision/{quote(revision, safe='')}"
        commit = _retried(repo, lambda: self._get(url, _Revision)[0].sha)
        if not _COMMIT.fullmatch(commit):
            raise InfraFault(f"{repo}: the hub names no commit for {revision}")
        return commit

    def files(self, repo: str, commit: str) -> list[HubFile]:
        """All files of a commit."""
        url = f"{self._endpoint}/api/datasets/{repo}/tree/{commit}?recursive=true"
        entries = self._pages(repo, url, _TreeEntry)
        return [_file(entry) for entry in entries if entry.type == "file"]

    def data_sets(self, owner: str) -> list[str]:
        """All data sets of an owner, as OWNER/NAME."""
        url = f"{self._endpoint}/api/datasets?author={quote(owner)}"
        return [entry.id for entry in self._pages(owner, url, _DataSet)]

    def _pages(self, what: str, first: str, kind: type[_T]) -> list[_T]:
        """Return the entries of a list, page by page."""
        url = first
        found: list[_T] = []
        for _ in range(_MOST_PAGES):
            kinds = list[kind]  # type: ignore[valid-type]  # it is a type
            entries, following = _retried(what, partial(self._get, url, kinds))
            found += entries
            if following is None:
                return found
            if len(found) > _MOST_ENTRIES:
                break
            url = following
        raise InfraFault(f"{what}: the hub's list does not end")

    def download(
        self,
        repo: str,
        commit: str,
        file: HubFile,
        out: BinaryIO,
        progress: Callable[[int], None],
    ) -> None:
        """Fetch a file's content into `out`, after the beginning of it that `out` already holds."""
        path = quote(file.path)
        url = f"{self._endpoint}/datasets/{repo}/resolve/{commit}/{path}"
        _retried(f"{repo}/{file.path}", lambda: self._transfer(url, file, out, progress))

    def rows(self, repo: str, config: str, split: str, offset: int) -> RowsPage:
        """A page of rows from `offset` on, none of them cut. API: /rows of the data set viewer."""
        url = httpx.URL(
            f"{self._viewer}/rows",
            params={"dataset": repo, "config": config, "split": split, "offset": offset,
                    "length": ROWS_PAGE},
        )  # fmt: skip
        what = f"row {offset} and following of {repo}, {config}"
        return _retried(what, lambda: self._rows(url, what, offset))

    def _rows(self, url: httpx.URL, what: str, offset: int) -> RowsPage:
        answer = self._answer(url)
        try:
            page = decoded(answer.content, _RowsPage)
        except ValueError as error:
            raise _Wrong(f"{what}: {error}") from error
        if page.num_rows_total > _MOST_ROWS:
            raise _Wrong(f"{what}: the hub tells of {page.num_rows_total} rows")
        if page.partial:
            raise InputError(f"{what}: the hub's viewer has only the beginning of the rows")
        for item in page.rows:
            if item.truncated_cells:
                raise InputError(
                    f"{what}: the hub's viewer cuts {', '.join(item.truncated_cells)} of row "
                    f"{item.row_idx} ({item.row.get('question_id', 'no question_id')})"
                )
        expected = range(offset, min(offset + ROWS_PAGE, page.num_rows_total))
        if [item.row_idx for item in page.rows] != list(expected):
            raise _Wrong(f"{what}: {len(page.rows)} rows came instead of {len(expected)}")
        revision = answer.headers.get("x-revision", "")
        if not _COMMIT.fullmatch(revision):
            raise _Wrong(f"{what}: the hub does not say of which revision")
        return RowsPage(revision, page.num_rows_total, tuple(item.row for item in page.rows))

    def _get(self, url: str, kind: type[_T]) -> tuple[_T, str | None]:
        """A JSON answer and the address of the next page."""
        answer = self._answer(url)
        following = answer.links.get("next", {}).get("url")
        try:
            content = decoded(answer.content, kind)
        except ValueError as error:
            raise _Wrong(f"{url}: {error}") from error
        return content, str(answer.url.join(following)) if following else None

    def _answer(self, url: str | httpx.URL) -> httpx.Response:
        """Return a whole answer. Raises httpx.HTTPError, ReplyBroken."""
        answer = self._loop.wait(within(_PATIENCE, self._http.get(url), "the hub"))
        answer.raise_for_status()
        return answer

    def _transfer(
        self, url: str, file: HubFile, out: BinaryIO, progress: Callable[[int], None]
    ) -> None:
        there = out.seek(0, os.SEEK_END)
        if there > file.size:
            there = out.truncate(0)
        if there < file.size:
            headers = {"range": f"bytes={there}-"} if there else {}
            there = self._loop.wait(self._written(url, headers, file.size, there, out, progress))
        out.flush()
        if there < file.size:  # the next attempt goes on from here
            raise _Wrong(f"{file.path} ends after {there} of {file.size} bytes")
        out.seek(0)
        if hash_of(iter(lambda: out.read(_CHUNK), b""), file) != file.hash:
            out.truncate(0)
            raise _Wrong(f"{file.path} has not the content that the hub promised")

    async def _written(
        self,
        url: str,
        headers: dict[str, str],
        size: int,
        there: int,
        out: BinaryIO,
        progress: Callable[[int], None],
    ) -> int:
        """Append what is sent to `out`, which has `there` bytes; return how many it has then."""
        bounds = AnswerBounds(None, WHOLE + size / _SLOWEST)
        request = self._http.stream("GET", url, headers=headers, extensions={BOUNDS: bounds})
        async with request as answer:
            if answer.status_code == 416:
                out.truncate(0)
            answer.raise_for_status()
            if there and answer.status_code != 206:
                there = out.truncate(0)
            # Chunks as they come: collected to a size, those before a break would be lost.
            async for chunk in answer.aiter_raw():
                there += out.write(chunk)
                progress(there)
                if there > size:
                    break
        return there


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _file(entry: _TreeEntry) -> HubFile:
    if entry.lfs is not None:
        return HubFile(entry.path, entry.lfs.size, f"sha256-{entry.lfs.oid}")
    return HubFile(entry.path, entry.size, f"git-{entry.oid}")


def _retried(what: str, attempt: Callable[[], _T]) -> _T:
    try:
        for trial in stamina.retry_context(on=worth_another, attempts=ATTEMPTS, timeout=None):
            with trial:
                return attempt()
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        if status == 404:
            raise InputError(f"the hub has no {what}, or not at this revision") from error
        if status in {401, 403}:
            raise InputError(f"the hub does not let you see {what}; HF_TOKEN may help") from error
        raise InfraFault(f"{what}: the hub answers {status}") from error
    except (httpx.TransportError, httpx.InvalidURL, httpx.TooManyRedirects) as error:
        raise HubAway(f"{what}: the hub cannot be reached: {innermost(error)}") from error
    except _Wrong as error:
        raise InfraFault(str(error)) from error
    raise AssertionError("unreachable: the loop returns or raises")


def worth_another(error: Exception) -> bool | float:
    """Return True to try again, or the seconds to wait if the server states them, else False."""
    if isinstance(error, httpx.HTTPStatusError):
        if error.response.status_code == 416:  # what we had was not the file's beginning
            return True
        if error.response.status_code not in _TRANSIENT:
            return False
        asked = error.response.headers.get("retry-after", "")
        wait = wait_of(asked)
        return True if wait is None else wait <= _LONGEST_WAIT and wait
    return isinstance(error, httpx.TransportError | _Wrong)
