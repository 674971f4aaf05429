"""`proctor report RUN... -o report.html`."""

import importlib.util
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from proctor.cli import terminal
from proctor.errors import InputError, MissingExtra
from proctor.reports.errata import ErrataList, bundled_errata, read_errata
from proctor.reports.published import read_published
from proctor.reports.records import RunRecords, read_run
from proctor.reports.tallies import Mode
from proctor.whole_file import whole_file


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """Settings of a page, as typed."""

    runs: tuple[str, ...]
    out: str
    title: str
    cutoffs: tuple[str, ...] = ()
    published: str | None = None
    errata: tuple[str, ...] = ()
    bundled: bool = True
    """True to use the errata that come with proctor."""
    mode: str | None = None
    code: bool = True
    """True to put programs and tests into the page."""
    rank: bool = False
    """True to order the runs by their score, and compare each with each."""


def write(settings: ReportSettings) -> int:
    """Write the page; return the exit code."""
    if settings.rank and len(settings.runs) < 2:
        raise InputError("--rank orders two runs or more", field="RUN")
    if _is_directory(settings.out) and not settings.rank:
        raise InputError("is a directory, which holds a ranking only: --rank", field="--out")
    with ExitStack() as opened:
        runs = [open_run(each, opened) for each in settings.runs]
        if not settings.code:
            runs = [replace(run, details={}) for run in runs]
        cutoffs = _cutoffs(settings.cutoffs, runs)
        errata = [*(bundled_errata() if settings.bundled else ()), *errata_named(settings.errata)]
        published = read_published(Path(settings.published)) if settings.published else ()
        need_extra()
        from proctor.reports.figures import figures_of_runs
        from proctor.reports.html.page import render
        from proctor.reports.html.site import site
        from proctor.reports.ranking import rank

        found = figures_of_runs(runs, mode_named(settings.mode), cutoffs, errata)
        ranking = rank(found) if settings.rank else None
        if ranking is not None and _is_directory(settings.out):
            _write_site(settings.out, site(ranking, published, settings.title))
        else:
            _write_page(Path(settings.out), render(found, published, settings.title, ranking))
    terminal.note(f"wrote {settings.out}")
    return 0


def _is_directory(out: str) -> bool:
    return out.endswith("/") or Path(out).is_dir()


def _write_site(out: str, pages: Iterable[tuple[str, Iterable[str]]]) -> None:
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=out, field="--out") from error
    for name, pieces in pages:
        _write_page(Path(out, name), pieces)


def _write_page(path: Path, pieces: Iterable[str]) -> None:
    with whole_file(path) as file:
        for piece in pieces:
            file.write(piece.encode())


def errata_named(names: Iterable[str]) -> tuple[ErrataList, ...]:
    """Read lists of errata from files. Raises InputError."""
    return tuple(read_errata(Path(name)) for name in names)


def open_run(text: str, opened: ExitStack) -> RunRecords:
    """Open a run's directory or a file of records, PATH or NAME=PATH, until `opened` closes it."""
    name, separator, rest = text.partition("=")
    named = bool(separator) and not Path(text).exists()
    path = Path(rest if named else text)
    if path.is_dir():
        from proctor.evals.details import read_store

        return read_store(path, opened, name if named else None)
    return read_run(path, name if named else None)


def mode_named(name: str | None) -> Mode | None:
    """Return the mode of a name; None for None. Raises InputError for other names."""
    try:
        return None if name is None else Mode(name)
    except ValueError:
        raise InputError(f"is standard or official, not {name!r}", field="--mode") from None


def need_extra() -> None:
    """Raise MissingExtra unless the packages for reports are installed."""
    if importlib.util.find_spec("numpy") is None:
        raise MissingExtra("reports need numpy: pip install 'proctor[eval]'")


def _cutoffs(texts: tuple[str, ...], runs: list[RunRecords]) -> dict[str, date]:
    names = {run.name for run in runs}
    found: dict[str, date] = {}
    for text in texts:
        name, separator, day = text.rpartition("=")
        if separator and name not in names:
            raise InputError(f"there is no run {name!r}", field="--cutoff")
        try:
            cutoff = date.fromisoformat(day)
        except ValueError:
            raise InputError(f"a date is YYYY-MM-DD, not {day!r}", field="--cutoff") from None
        found |= dict.fromkeys([name] if separator else names, cutoff)
    return found
