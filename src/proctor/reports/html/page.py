"""The report: one HTML file, rendered from figures, that needs no other file and no network."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup

from proctor.plain_text import plain
from proctor.reports.errata import Erratum
from proctor.reports.figures import ALL, RunFigures, difficulties, platforms
from proctor.reports.html import charts, samples, texts
from proctor.reports.published import PublishedScore
from proctor.reports.ranking import Ranking
from proctor.reports.run_comparison import RunComparison, compare, differences
from proctor.reports.tallies import Mode
from proctor.version import __version__

MOST_FLAKY = 20
"""How many problems with flaky verdicts are listed."""


def render(
    runs: Sequence[RunFigures],
    published: Sequence[PublishedScore] = (),
    title: str = "Evaluation report",
    ranking: Ranking | None = None,
    *,
    pages: Mapping[str, str] | None = None,
    back: str = "",
) -> Iterator[str]:
    """Yield the page in pieces. The same figures give the same page, byte for byte.

    With a ranking its runs are shown, in its order. `pages` maps names of runs to the addresses of
    their separate pages, which then hold the samples instead of this page. `back` is the address of
    the page that links to this one.
    """
    if ranking is not None:
        runs = [each.figures for each in ranking.runs]
    style, script = _asset("page.css"), _asset("page.js")
    return (
        _environment()
        .get_template("page.html.j2")
        .generate(
            title=title,
            # Allow only this very style and this very script, and nothing from other addresses.
            policy=(
                f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
                " base-uri 'none'; form-action 'none'"
            ),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            version=__version__,
            runs=runs,
            ranking=ranking,
            pages=pages,
            back=back,
            published=published,
            ALL=ALL,
            MOST_FLAKY=MOST_FLAKY,
            platforms=[*platforms(runs), ALL],
            difficulties=[*difficulties(runs), ALL],
            # HumanEval and the like have no platforms or difficulties.
            grouped={*platforms(runs), *difficulties(runs)} != {"unknown"},
            months=sorted({month for each in runs for month in each.months}),
            modes=[mode for mode in Mode if any(h.mode is mode for r in runs for h in r.headlines)],
            comparisons=_comparisons(runs),
            most_months=samples.MOST_MONTHS,
            ks=sorted({k for each in runs for k in each.pass_at_k}),
            provenance=_provenance(runs),
            charts=charts,
            texts=texts,
            data=samples.payload(runs, rows=pages is None),
            details=samples.details(runs if pages is None else ()),
            detailed=samples.detailed(runs),
            with_details=any(each.run.details for each in runs),
            errata=_errata(runs),
            sampled=sum(len(each.run.records) for each in runs),
        )
    )


def _environment() -> jinja2.Environment:
    """Return the template environment: strict, with markup and control characters made harmless."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: plain(value) if type(value) is str else value,
    )
    environment.filters.update(
        percent=texts.percent, number=texts.number, dollars=texts.dollars, p=texts.p_value,
        points=texts.points, value=_value,
    )  # fmt: skip
    return environment


def _asset(name: str) -> str:
    return (files("proctor.reports.html") / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    """Return the name of an inline style or script in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _provenance(runs: Sequence[RunFigures]) -> Mapping[str, list[Any]]:
    """Return key -> its value in each run, None where a run does not record it."""
    keys = dict.fromkeys(key for each in runs for key in each.run.provenance)
    return {key: [each.run.provenance.get(key) for each in runs] for key in keys}


def _comparisons(
    runs: Sequence[RunFigures],
) -> list[tuple[RunFigures, RunComparison | None, list[str]]]:
    """Compare each further run with the first; the list says how they were made differently."""
    return [
        (each, compare(runs[0].tallies, each.tallies), _unlike(runs[0], each)) for each in runs[1:]
    ]


def _errata(runs: Sequence[RunFigures]) -> list[tuple[Erratum, list[bool]]]:
    """Return the problems that errata name, each with a flag per run that has it."""
    found = {e: None for each in runs for h in each.headlines for e in h.left_out}
    has = [{e for h in each.headlines for e in h.left_out} for each in runs]
    return [(erratum, [erratum in there for there in has]) for erratum in found]


def _unlike(a: RunFigures, b: RunFigures) -> list[str]:
    """Say in words how two runs were made differently, and what is not known of both."""
    found = differences(a.run.provenance, b.run.provenance)
    unlike = [f"{key.replace('_', ' ')} differs" for key in found.unlike]
    return unlike + [f"{key.replace('_', ' ')} not known of both" for key in found.unknown]


def _value(value: object) -> str:
    """Return a provenance value as text."""
    if value is None or value in ((), [], {}):
        return "–"
    if isinstance(value, Mapping):
        known = {key: each for key, each in value.items() if each is not None}
        return "; ".join(
            f"{str(key).replace('_', ' ')} {_value(each)}" for key, each in known.items()
        )
    if isinstance(value, list | tuple):
        return ", ".join(f"({_value(each)})" if isinstance(each, Mapping) else _value(each)
                         for each in value)  # fmt: skip
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
