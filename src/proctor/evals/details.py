"""A run's directory as reports read it: its records, how it was made, its samples' texts."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.evals.provenance import provenance
from proctor.evals.records import StoredRecords, current_judges, settings_of
from proctor.evals.store import RunStore
from proctor.evals.stored import Sample, SampleJudgement
from proctor.reports.records import RunRecords, SampleDetail

_MOST = 100_000
"""Characters of a text that are kept."""


class StoredDetails(Mapping[tuple[str, int], SampleDetail]):
    """Details by problem and sample, each read when it is asked for."""

    def __init__(self, store: RunStore) -> None:
        """Read from an open run."""
        self._store = store
        self._judges = current_judges(store, settings_of(store))

    def __getitem__(self, key: tuple[str, int]) -> SampleDetail:
        sample = self._store.sample(*key)
        if sample is None:
            raise KeyError(key)
        return detail_of(sample, self._judges)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for sample in self._store.samples(texts=False):
            if sample.generation is not None:
                yield sample.problem_id, sample.number

    def __len__(self) -> int:
        return self._store.count() - self._store.unasked()


def detail_of(sample: Sample, judges: Mapping[str, str]) -> SampleDetail:
    """Return the texts of a sample that was made; `judges` are those whose verdicts count.

    Input, expected and actual output of the first failing test are what official mode recorded of
    it, as lcb_runner would, shortened. Standard mode records none.
    """
    assert sample.generation is not None
    made = {each.mode: each for each in sample.judgements if judges.get(each.mode) == each.judge}
    code = sample.generation.code
    metadata = _metadata(made.get("official"))
    return SampleDetail(
        code=code[:_MOST],
        reply="" if code else sample.generation.text[:_MOST],
        message=_said(made, _text(metadata.get("error"))),
        input=_text(metadata.get("inputs")),
        expected=_text(metadata.get("expected")),
        actual=_text(metadata.get("output")),
    )


def _said(made: Mapping[str, SampleJudgement], error: str) -> str:
    """Messages of the judges, one if they agree; `error` is what official mode recorded."""
    said = {mode: f"{_failing(each)}{each.message}" for mode, each in made.items() if each.message}
    if error and "official" in said:
        said["official"] += f" ({error})"
    if len(set(said.values())) == 1 and len(said) == len(made):
        return next(iter(said.values()))
    return "; ".join(f"{mode}: {text}" for mode, text in sorted(said.items()))


def _failing(judged: SampleJudgement) -> str:
    tests = msgspec.json.decode(judged.tests, type=list[dict[str, Any]])
    failed = (i for i, test in enumerate(tests, 1) if test.get("verdict") != "AC")
    number = next(failed, None)
    return "" if number is None else f"test {number}: "


def _metadata(judged: SampleJudgement | None) -> dict[str, Any]:
    if judged is None or not judged.upstream:
        return {}
    found = msgspec.json.decode(judged.upstream).get("metadata")
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:_MOST]


def read_store(directory: Path, opened: ExitStack, name: str | None = None) -> RunRecords:
    """Open a run, until `opened` closes it; by default it has the name of its directory.

    Samples are not kept in memory, but read on each iteration. Raises InputError if there are none.
    """
    store = opened.enter_context(RunStore.open(directory))
    found = StoredRecords(store)
    if not found:
        raise InputError("no samples in it yet", file=str(directory))
    return RunRecords(
        name or directory.resolve().name, found, provenance(store), StoredDetails(store)
    )
