"""Circumstances of a pool that verdicts depend on, besides the tools of a program's language."""

import hashlib
import platform
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from proctor import config
from proctor.errors import NoLanguage
from proctor.languages import registry
from proctor.sandbox.pool import Pool


def digest_of(pool: Pool) -> str | None:
    """Return a digest of what programs find in a pool's cells; None if it is not known.

    The level is part of it: a call that one level refuses works at another. At level `container`
    it is not known, since the interpreter is that of an image, whose name may later stand for
    another image.
    """
    if pool.only_python:
        return None
    setup, python = pool.setup, ""
    with suppress(NoLanguage):
        # Contest problems use this interpreter for Python programs, others the pool's own.
        python = registry.find(registry.get("python")).version
    facts = [
        platform.machine(), pool.level, pool.backend.arrangement, setup.interpreter.version, python,
        list(setup.preload), [list(_contents(Path(each))) for each in setup.packages],
        list(registry.languages().values()) if config.load().languages.directory else [],
    ]  # fmt: skip
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def _contents(directory: Path) -> Iterator[str]:
    """Yield a line for each distribution, and for each file that belongs to none.

    A distribution is known by its RECORD, which holds digests of its files: they are assumed to be
    as pip has installed them.
    """
    recorded = {"__pycache__"}
    for record in sorted(directory.glob("*.dist-info/RECORD")):
        with suppress(OSError, UnicodeDecodeError):
            text = record.read_text("utf-8")
            recorded |= {line.partition(",")[0].partition("/")[0] for line in text.splitlines()}
            yield f"{record.parent.name} {hashlib.sha256(text.encode()).hexdigest()}"
    for path in sorted(directory.rglob("*")):
        parts = path.relative_to(directory).parts
        if parts[0] in recorded or "__pycache__" in parts:
            continue
        with suppress(OSError):
            about = path.stat()
            if path.is_file():
                yield f"{'/'.join(parts)} {about.st_size} {about.st_mtime_ns}"
