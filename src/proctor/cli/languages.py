"""`proctor languages`."""

from collections.abc import Sequence
from typing import Any

from proctor.cli import terminal
from proctor.cli.screen import Screen, coloured, line
from proctor.errors import NoLanguage
from proctor.languages import registry
from proctor.languages.language import Language
from proctor.languages.selftest import LanguageResult, selftest


def show(names: Sequence[str], *, as_json: bool) -> int:
    """Print the languages and which of them are here."""
    rows = [_row(language) for language in _chosen(names)]
    if as_json:
        _write({"languages": rows})
        return 0
    console = Screen(soft_wrap=True)
    wide = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        mark = coloured("found  ", "green") if row["found"] else coloured("missing", "yellow")
        about = row["versions"] if row["found"] else {"": row["install"]}
        text = "; ".join(about.values()) or ", ".join(row["tools"].values())
        console.print(line(mark, f" {row['id']:<11} {row['name']:<{wide}}  {text}"))
    return 0


def test(names: Sequence[str], isolation: str | None, *, as_json: bool) -> int:
    """Run self-tests, print what came of them; returns 1 if any did not pass.

    Without names a language that is not installed is no failure.
    """
    outcomes = []
    console = Screen(soft_wrap=True)
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


def _show(console: Screen, outcome: LanguageResult) -> None:
    mark = coloured("passed ", "green") if outcome.passed else coloured("failed ", "red")
    mark = coloured("missing", "yellow") if outcome.missing else mark
    text = f"{outcome.cpu:.3f} CPU seconds" if outcome.passed else outcome.complaint
    console.print(line(mark, f" {outcome.language.id:<11} {text}"))


def _result(outcome: LanguageResult) -> dict[str, Any]:
    status = "passed" if outcome.passed else "missing" if outcome.missing else "failed"
    return {
        "id": outcome.language.id,
        "status": status,
        "complaint": outcome.complaint,
        "cpu_seconds": outcome.cpu,
    }


def _write(value: dict[str, Any]) -> None:
    terminal.write_json(value)
