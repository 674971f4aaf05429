"""Data sets of the Hugging Face hub: `hf:OWNER/NAME[@REVISION][:CONFIG]`.

Files are fetched once, checked against the hash that the hub's file list gives (SHA-256 for large
files, git's blob hash for small ones) and kept under the user's cache directory, so that a data
set which was used before can be used without network.

    hub/OWNER--NAME/refs/REVISION     the commit that a branch or tag was last seen at
                    commits/SHA.json  a commit's files
                    blobs/HASH-NAME   their content; HASH.part while it is being fetched
                    rows/             what its viewer serves; see hub_rows.py

Environment: PROCTOR_CACHE_DIR, HF_ENDPOINT (default https://huggingface.co), HF_TOKEN for closed
data sets, and HF_HUB_OFFLINE=1 to work offline. The hub's HTTP API: https://huggingface.co/docs/hub/api.
"""

import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

import msgspec

from proctor.errors import InfraFault, InputError
from proctor.formats.hub_configs import choose_files
from proctor.formats.hub_files import HubFile, content_hash
from proctor.formats.tables import without_extra
from proctor.languages.cache import directory
from proctor.private_files import lock_in_turn

if TYPE_CHECKING:
    from proctor.formats.hub_client import HubClient

_logger = logging.getLogger(__name__)

_SOURCE = re.compile(
    r"hf:(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^:@]+))?(?::(?P<config>[^:]+))?"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HASH = re.compile(r"(?:sha256|git)-[0-9a-f]{40,64}")
_LONGEST_NAME = 200
"""Bytes of a file's name: the cache puts 41 before it, and file systems take 255."""
TOLD = 256 << 20
"""Bytes from which a warning says how much is going to be fetched."""

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes fetched so far, and the bytes in all."""


@dataclass(frozen=True, slots=True)
class HubSource:
    """A data set, or one configuration of it, at a branch, tag or commit."""

    repo: str
    revision: str = "main"
    config: str | None = None

    @classmethod
    def parse(cls, text: str) -> "HubSource":
        """Parse `hf:OWNER/NAME[@REVISION][:CONFIG]`. Raises InputError."""
        found = _SOURCE.fullmatch(text)
        if found is None:
            raise InputError(f"{text!r} is not of the form hf:OWNER/NAME[@REVISION][:CONFIG]")
        return cls(found["repo"], found["revision"] or "main", found["config"])

    def __str__(self) -> str:
        config = f":{self.config}" if self.config else ""
        return f"hf:{self.repo}@{self.revision}{config}"


def home_of(repo: str, cache: Path | None = None) -> Path:
    """Directory of a data set's part of the cache. Raises InputError if there can be none."""
    try:
        return (cache or directory()) / "hub" / repo.replace("/", "--")
    except RuntimeError as error:
        raise InputError("you have no home directory; set PROCTOR_CACHE_DIR") from error


def offline() -> bool:
    """True if the environment forbids asking the hub."""
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}


def fetch(
    source: HubSource,
    *,
    names: Sequence[str] = (),
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Tables of the source as local files, in the order of their names.

    `names` are the paths of the tables wanted, in that order, for a data set that does not say
    which of them belong to its configurations.

    Raises InputError if the data set, its revision or configuration is not there or not open to
    you, or if it is not in the cache and HF_HUB_OFFLINE is set; InfraFault if the hub cannot be
    reached or what it sends stays wrong, UnsupportedPlatform without httpx, stamina and PyYAML.
    """
    home = home_of(source.repo, cache)
    if offline():
        return _Repository(source, home, None, progress).tables(names)
    try:
        from proctor.formats.hub_client import HubClient
    except ImportError as error:
        raise without_extra(f"fetching {source}", error) from error
    with HubClient() as client:
        return _Repository(source, home, client, progress).tables(names)


class _Repository:
    """A data set's part of the cache, filled from the hub where there is a client."""

    def __init__(
        self,
        source: HubSource,
        home: Path,
        client: "HubClient | None",
        progress: Progress | None,
    ) -> None:
        self._source = source
        self._home = home
        self._client = client
        self._progress = progress or (lambda _name, _there, _size: None)

    def tables(self, names: Sequence[str]) -> list[Path]:
        """Fetch what is missing; return the tables' files."""
        commit = self._commit()
        files = {file.path: file for file in self._listing(commit)}
        if absent := [name for name in names if name not in files]:
            raise InputError(f"{self._source} has no file {', '.join(absent)}")
        if names:
            return self._contents(commit, [files[name] for name in names])
        card = files.get("README.md")
        text = self._content(commit, card).read_text("utf-8", "replace") if card else ""
        chosen = choose_files(text, files, self._source.config, str(self._source))
        return self._contents(commit, [files[path] for path in chosen])

    def _contents(self, commit: str, files: Sequence[HubFile]) -> list[Path]:
        """Fetch those files that are missing, after a warning of their size if it is large."""
        missing = [file for file in files if not self._blob(file).exists()]
        size = sum(file.size for file in missing)
        if size >= TOLD and self._client is not None:
            what = f"{len(missing)} files" if len(missing) > 1 else "a file"
            _logger.warning("fetching %s, %.1f GiB, of %s", what, size / (1 << 30), self._source)
        return [self._content(commit, file) for file in files]

    def _blob(self, file: HubFile) -> Path:
        if not _HASH.fullmatch(file.hash):
            raise InfraFault(f"{self._source}: the hub gives no usable hash of {file.path}")
        name = PurePosixPath(file.path).name
        if not name.isprintable() or len(name.encode()) > _LONGEST_NAME:
            raise InfraFault(f"{self._source}: the hub names a file {file.path[:100]!r}")
        return self._home / "blobs" / f"{file.hash[:40]}-{name}"

    def _commit(self) -> str:
        revision = self._source.revision
        if _COMMIT.fullmatch(revision):
            return revision
        kept = self._home / "refs" / quote(revision, safe="")
        if self._client is not None:
            try:
                commit = self._client.commit(self._source.repo, revision)
            except InfraFault as error:
                if not kept.exists():
                    raise
                _logger.warning("%s; going on with what %s was before", error, self._source)
            else:
                replace(kept, commit.encode())
                return commit
        if not kept.exists():
            raise self._absent()
        return kept.read_text().strip()

    def _listing(self, commit: str) -> list[HubFile]:
        kept = self._home / "commits" / f"{commit}.json"
        if kept.exists():
            return msgspec.json.decode(kept.read_bytes(), type=list[HubFile])
        if self._client is None:
            raise self._absent()
        files = self._client.files(self._source.repo, commit)
        replace(kept, msgspec.json.encode(files))
        return files

    def _content(self, commit: str, file: HubFile) -> Path:
        path = self._blob(file)
        if path.exists() and content_hash(path, file) == file.hash:
            return path
        if self._client is None:
            raise self._absent(PurePosixPath(file.path).name)
        self._download(self._client, commit, file, path)
        return path

    def _download(self, client: "HubClient", commit: str, file: HubFile, path: Path) -> None:
        """Fetch into HASH.part, from which the next process resumes if this one is killed."""
        part = path.parent / f"{file.hash}.part"
        try:
            part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(lock_in_turn(part, os.O_APPEND), "ab+") as out:
                if path.exists() and content_hash(path, file) == file.hash:
                    return  # another process was faster
                client.download(
                    self._source.repo, commit, file, out,
                    lambda there: self._progress(file.path, there, file.size),
                )  # fmt: skip
                out.flush()
                os.fsync(out.fileno())
                part.replace(path)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(part)) from error

    def _absent(self, name: str = "") -> InputError:
        what = f"{name} of {self._source}" if name else str(self._source)
        return InputError(
            f"{what} is not in the cache ({self._home}), and HF_HUB_OFFLINE forbids to fetch it"
        )


def replace(path: Path, content: bytes) -> None:
    """Replace a file at once: a reader sees all of the old or all of the new one."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that takes the place of `path` at the end, but not after an exception.

    Raises InputError if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            try:
                yield file.file
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
