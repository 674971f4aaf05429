"""`proctor languages`."""

import sys
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape

from proctor.errors import NoLanguage
from proctor.languages import registry
from proctor.languages.language import Language
from proctor.languages.selftest import Outcome, selftest


def show(names: Sequence[str], *, as_json: bool) -> int:
    """Print the languages and which of them are here."""
    rows = [_row(language) for language in _chosen(names)]
    if as_json:
        _write({"languages": rows})
        return 0
    console = Console(soft_wrap=True, highlight=False)
    wide = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        mark = "[green]found[/green]  " if row["found"] else "[yellow]missing[/yellow]"
        about = row["versions"] if row["found"] else {"": row["install"]}
        text = "; ".join(about.values()) or ", ".join(row["tools"].values())
        console.print(f"{mark} {row['id']:<11} {row['name']:<{wide}}  {escape(text)}")
    return 0


def test(names: Sequence[str], isolation: str | None, *, as_json: bool) -> int:
    """Run self-tests, print what came of them; returns 1 if any did not pass.

    Without names a language that is not installed is no failure.
    """
    outcomes = []
    console = Console(soft_wrap=True, highlight=False)
    for outcome in selftest(_chosen(names), isolation=isolation):
        outcomes.append(outcome)
        if not as_json:
            _show(console, outcome)
    if as_json:
        _write({"selftests": [_result(outcome) for outcome in outcomes]})
    failed = [each for each in outcomes if not each.passed and (names or not each.missing)]
    return 1 if failed else 0


def _chosen(names: Sequence[str]) -> list[Language]:
    if names:
        return [registry.get(name) for name in names]
    return [language for _, language in sorted(registry.languages().items())]


def _row(language: Language) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": language.id,
        "name": language.name,
        "family": language.family,
        "aliases": language.aliases,
        "extensions": language.extensions,
    }
    try:
        found = registry.find(language)
    except NoLanguage:
        return {**row, "found": False, "install": language.install}
    return {**row, "found": True, "tools": dict(found.tools), "versions": dict(found.versions)}


def _show(console: Console, outcome: Outcome) -> None:
    mark = "[green]passed[/green] " if outcome.passed else "[red]failed[/red] "
    mark = "[yellow]missing[/yellow]" if outcome.missing else mark
    text = f"{outcome.cpu:.3f} CPU seconds" if outcome.passed else outcome.complaint
    console.print(f"{mark} {outcome.language.id:<11} {escape(text)}")


def _result(outcome: Outcome) -> dict[str, Any]:
    status = "passed" if outcome.passed else "missing" if outcome.missing else "failed"
    return {
        "id": outcome.language.id,
        "status": status,
        "complaint": outcome.complaint,
        "cpu_seconds": outcome.cpu,
    }


def _write(value: dict[str, Any]) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
