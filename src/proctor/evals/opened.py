"""A stored run, opened by Python or a notebook: its samples, its figures, how it was made."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from proctor.evals.details import read_store
from proctor.reports.records import Key, RunRecords, SampleDetail, SampleRecord, read_run
from proctor.reports.summary import Summary, summary_of
from proctor.reports.tallies import Mode, SampleCounter, modes_of
from proctor.shown import counted, quoted, shown

_KS = (1, 5, 10)


class EvalRun:
    """An evaluation that is on the disk. Close it, or use it in a `with`.

    Samples are read again on each iteration, so that a large run takes little memory, and one that
    is still going on shows its latest figures.
    """

    def __init__(self, records: RunRecords, opened: ExitStack) -> None:
        """Take over records, and the files they come from. Use open_run instead."""
        self._run, self._opened = records, opened

    @property
    def name(self) -> str:
        """Name of the directory or file."""
        return self._run.name

    @property
    def records(self) -> Collection[SampleRecord]:
        """One record for each sample that was made."""
        return self._run.records

    @property
    def details(self) -> Mapping[Key, SampleDetail]:
        """Program, message and such of samples that have any, by problem and sample."""
        return self._run.details

    @property
    def provenance(self) -> Mapping[str, Any]:
        """How it was made: benchmark, model, prompts, limits, judge; empty if it is not known."""
        return self._run.provenance

    @property
    def modes(self) -> tuple[str, ...]:
        """Rules by which samples were judged: official, standard, or both."""
        return tuple(sorted(each.value for each in modes_of(self.records)))

    def summary(self, mode: str | None = None, k: Sequence[int] = _KS) -> Summary:
        """Count verdicts and calculate pass@k, by default by official rules if the run has them.

        Raises InputError for k < 1, ValueError for an unknown mode.
        """
        counter = SampleCounter(Mode(mode or next(iter(self.modes), "standard")))
        for record in self.records:
            counter.add(record)
        return summary_of(counter, k)

    def close(self) -> None:
        """Close the files."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        benchmark = self.provenance.get("benchmark")
        told = f"benchmark {quoted(str(benchmark), 30)}" if benchmark else ""
        return shown(self, quoted(self.name), told, counted(len(self.records), "sample"))

    def _repr_html_(self) -> str:
        from proctor import html_tables as html

        told = (self.provenance.get(key) for key in ("benchmark", "model"))
        title = html.paragraph(
            f"<b>{html.safe(self.name)}</b>",
            *(html.safe(each) for each in told if each),
            counted(len(self.records), "sample"),
        )
        found = {mode: self.summary(mode) for mode in self.modes}
        ks = [
            k for k in _KS if any(each.overall.pass_at_k[k] is not None for each in found.values())
        ]
        rows = [
            (
                mode,
                str(each.overall.problems),
                str(each.total),
                *(_rate(each.overall.pass_at_k[k]) for k in ks),
                html.safe(", ".join(f"{n} {verdict}" for verdict, n in each.verdicts.items())),
            )
            for mode, each in found.items()
        ]
        headings = ("rules", "problems", "samples", *(f"pass@{k}" for k in ks), "verdicts")
        return title + html.table(headings, rows, len(rows))


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def open_run(path: str | Path) -> EvalRun:
    """Open what `proctor eval` or `proctor resume` stores, or a file of records that was exported.

    Raises InputError for a path that holds neither, or no sample yet.
    """
    opened, place = ExitStack(), Path(path)
    try:
        found = read_store(place, opened) if place.is_dir() else read_run(place)
    except BaseException:
        opened.close()
        raise
    return EvalRun(found, opened)
