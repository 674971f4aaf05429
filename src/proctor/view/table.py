"""The table of a run's samples: chosen, sorted and cut into pages here, not in the browser."""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.reports.records import Key, SampleRecord
from proctor.reports.tallies import Mode, judged_by, verdict_of
from proctor.view.library import FACETS, LoadedRun

PAGE = 50
"""Samples of a page."""
_MOST = 200
"""Characters of a fault or a title in the table."""
COLUMNS = (
    "problem_id", "sample", "title", "platform", "difficulty", "published", "official", "standard",
    "no_program", "prompt_tokens", "completion_tokens", "model_seconds", "judge_cpu",
    "slowest_share", "cost", "turns",
)  # fmt: skip
"""Fields of a record by which samples can be sorted."""


class SampleQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A choice of samples, as in the address of the page."""

    run: str
    q: str = ""
    """Words, each in the problem's id, title or contest."""
    text: str = ""
    """Text in the reply, the reasoning or the program."""
    mode: str = ""
    """Rules that `verdict` is by; empty for either."""
    verdict: str = ""
    """A verdict; or `passed`, `failed`, or `differs` where modes disagree."""
    platform: str = ""
    difficulty: str = ""
    no_program: str = ""
    finish_reason: str = ""
    stop_reason: str = ""
    sort: str = ""
    """Column, with a minus in front for the largest first; empty for the order of the run."""
    page: int = 1
    problem: str = ""
    sample: int = 0
    """Sample to find the neighbours of."""


class SampleRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sample in the table."""

    problem_id: str
    sample: int
    title: str = ""
    platform: str = ""
    difficulty: str = ""
    published: date | None = None
    official: str | None = None
    standard: str | None = None
    fault: str = ""
    no_program: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_seconds: float = 0.0
    judge_cpu: float = 0.0
    slowest_share: float | None = None
    cost: float | None = None
    turns: int | None = None


class SamplePage(msgspec.Struct, frozen=True):
    """A page of the table."""

    rows: list[SampleRow]
    page: int
    pages: int
    found: int
    """Samples that are chosen."""
    total: int
    """Samples that are made."""
    modes: tuple[str, ...]
    verdicts: tuple[str, ...]
    """Verdicts that occur."""
    facets: dict[str, tuple[str, ...]]
    version: str


def chosen(
    loaded: LoadedRun, query: SampleQuery, with_text: Collection[Key] | None
) -> Sequence[SampleRecord]:
    """Return the samples that a query chooses, sorted. Raises InputError.

    `with_text` are the samples that hold the query's text; None if it has no text.
    """
    words = query.q.lower().split()
    wanted = [(name, getattr(query, name)) for name in FACETS if getattr(query, name)]
    modes = (_mode(query.mode),) if query.mode else tuple(Mode)
    found = [
        each
        for each in loaded.records
        if all(getattr(each, name) == value for name, value in wanted)
        and (not query.verdict or _is(each, query.verdict, modes))
        and (with_text is None or (each.problem_id, each.sample) in with_text)
        and (not words or _has(each, words))
    ]
    return _sorted(found, query.sort) if query.sort else found


def page_of(loaded: LoadedRun, found: Sequence[SampleRecord], number: int) -> SamplePage:
    """Return one page of chosen samples; the last one if `number` is larger."""
    pages = max(1, -(-len(found) // PAGE))
    number = min(max(1, number), pages)
    verdicts = dict.fromkeys(
        verdict.value for each in loaded.figures.modes.values() for verdict in each.verdicts
    )
    return SamplePage(
        [row_of(each) for each in found[(number - 1) * PAGE : number * PAGE]],
        number, pages, len(found), len(loaded.records), loaded.modes, tuple(verdicts),
        dict(loaded.facets), "-".join(map(str, loaded.stamp)),
    )  # fmt: skip


def row_of(record: SampleRecord) -> SampleRow:
    """Return a record as it is shown in the table."""
    return SampleRow(
        record.problem_id, record.sample, record.title[:_MOST], record.platform, record.difficulty,
        record.published, record.official, record.standard, record.fault[:_MOST],
        record.no_program, record.prompt_tokens, record.completion_tokens, record.model_seconds,
        record.judge_cpu, record.slowest_share, record.cost, record.turns,
    )  # fmt: skip


def _mode(name: str) -> Mode:
    try:
        return Mode(name)
    except ValueError:
        raise InputError(f"is {' or '.join(Mode)}, not {name!r}", field="mode") from None


def _is(record: SampleRecord, verdict: str, modes: tuple[Mode, ...]) -> bool:
    if verdict == "differs":
        return None not in {record.official, record.standard} and record.official != record.standard
    found = [each for mode in modes if (each := verdict_of(record, mode)) is not None]
    if verdict == "passed":
        return any(each.passed for each in found)
    if verdict == "failed":
        judged = [judged_by(record, mode) for mode in modes]
        return any(each is not None and not each.passed and not each.is_fault for each in judged)
    return any(each.value == verdict for each in found)


def _has(record: SampleRecord, words: Sequence[str]) -> bool:
    text = f"{record.problem_id} {record.title} {record.cluster}".lower()
    return all(word in text for word in words)


def _sorted(found: Sequence[SampleRecord], sort: str) -> Sequence[SampleRecord]:
    """Sort by a column; those without a value come last."""
    column = sort.removeprefix("-")
    if column not in COLUMNS:
        raise InputError(f"is not one of {', '.join(COLUMNS)}", field="sort")
    with_value: list[tuple[Any, SampleRecord]] = []
    without = []
    for each in found:
        value = getattr(each, column)
        if value is None or value == "":
            without.append(each)
        else:
            with_value.append((value, each))
    with_value.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [each for _, each in with_value] + without
