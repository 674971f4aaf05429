"""Rows of a data set of the Hugging Face hub, as its viewer serves them, where files fail.

The viewer gives 100 rows at a time and cuts the cells of large ones: what was cut is not a row. All
rows of one revision are kept, or none: `rows/CONFIG-SPLIT-COMMIT.jsonl` in the data set's part of
the cache, and in `rows/CONFIG-SPLIT` which of them was seen last, with its SHA-256.

API: https://huggingface.co/docs/dataset-viewer/rows.
"""

import hashlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from proctor.errors import InfraFault, InputError
from proctor.formats.hub import HubSource, home_of, offline, replace, replacing
from proctor.formats.tables import without_extra

if TYPE_CHECKING:
    from proctor.formats.hub_client import HubClient, RowsPage

_logger = logging.getLogger(__name__)


def fetch_rows(source: HubSource, split: str, cache: Path | None = None) -> Path:
    """All rows of a configuration's split as JSONL, of the revision that the viewer has.

    Raises InputError if they are not there, not open to you, cut, or not in the cache and not to be
    fetched; InfraFault if the viewer cannot be reached or what it sends stays wrong;
    UnsupportedPlatform without httpx and stamina.
    """
    rows = _HubRows(source, split, home_of(source.repo, cache) / "rows")
    if offline():
        return rows.kept("HF_HUB_OFFLINE forbids to fetch it")
    try:
        from proctor.formats.hub_client import HubClient
    except ImportError as error:
        raise without_extra(f"fetching {source}", error) from error
    with HubClient() as client:
        try:
            return rows.fetched(client)
        except InfraFault as error:
            try:
                path = rows.kept(str(error))
            except InputError:
                raise error from None
            _logger.warning("%s; going on with the rows of %s from before", error, source)
            return path


class _HubRows:
    """Rows of one split in the cache."""

    def __init__(self, source: HubSource, split: str, home: Path) -> None:
        self._source = source
        self._split = split
        self._home = home
        self._config = source.config or "default"
        self._name = f"{quote(self._config, safe='')}-{split}"
        self._last = home / self._name

    def kept(self, why: str) -> Path:
        """File of the rows seen last. Raises InputError if there is none, or if it has changed."""
        revision, _, digest = self._seen().partition(" ")
        path = self._path(revision)
        if not revision or not path.exists() or _digest(path) != digest:
            raise InputError(f"rows of {self._source} are not in the cache ({self._home}): {why}")
        return path

    def fetched(self, client: "HubClient") -> Path:
        """Rows of the present revision, fetched unless they are there."""
        page = client.rows(self._source.repo, self._config, self._split, 0)
        path = self._path(page.revision)
        if path.exists() and self._seen() == f"{page.revision} {_digest(path)}":
            return path
        with replacing(path) as file:
            there = 0
            total, revision = page.total, page.revision
            while True:
                self._same(page, total, revision)
                for row in page.rows:
                    file.write(msgspec.json.encode(row) + b"\n")
                there += len(page.rows)
                if there >= total:
                    break
                page = client.rows(self._source.repo, self._config, self._split, there)
        replace(self._last, f"{revision} {_digest(path)}".encode())
        return path

    def _same(self, page: "RowsPage", total: int, revision: str) -> None:
        if (page.total, page.revision) != (total, revision):
            raise InfraFault(f"{self._source} has changed while its rows were fetched")

    def _seen(self) -> str:
        return self._last.read_text() if self._last.exists() else ""

    def _path(self, revision: str) -> Path:
        return self._home / f"{self._name}-{revision}.jsonl"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
