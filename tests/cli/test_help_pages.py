"""Help pages: every command has its panel, options are told alike, examples can be typed."""

import shlex
from typing import Any

import pytest
from command import proctor
from typer.main import get_command

from proctor.cli.main import app
from proctor.cli.panels import COMMANDS, PanelCommand


def all_commands() -> dict[str, Any]:
    """Return each command by its name; the benchmarks of packages are left out."""
    found = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", {})
        found |= {f"{name} {each}": below[each] for each in below} or {name: command}
    return found


def test_every_command_has_a_panel() -> None:
    listed = [name for names in COMMANDS.values() for name in names]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]


def test_every_command_shows_square_brackets() -> None:
    other = [name for name, each in all_commands().items() if not isinstance(each, PanelCommand)]
    assert other == []


def test_options_are_described_alike() -> None:
    """An option of several commands has one description, but for those whose meaning differs."""
    told: dict[str, set[str]] = {}
    for command in all_commands().values():
        for each in command.params:
            if each.opts[0].startswith("-"):
                assert each.help, each.name
                told.setdefault(each.opts[0], set()).add(each.help)
    assert "--isolation" in told
    assert {name for name, texts in told.items() if len(texts) > 1} == UNLIKE


UNLIKE = {
    "--config", "--cpu", "--json", "--language", "--max-connections",
    "--max-waiting", "--memory", "--mode", "--out", "--problems", "--profile", "--programs",
    "--ray", "--results", "--seed", "--solutions", "--stop", "--tasks", "--tests", "--timeout",
}  # fmt: skip
"""Options that mean something else from command to command. The fewer the better."""


def test_examples_of_help_pages_can_be_parsed() -> None:
    """The documented ones are run by their pages; here a typing error is found."""
    listed = all_commands()
    seen = 0
    for command in listed.values():
        for line in (command.epilog or "").split("\n\n")[1:]:
            words = shlex.split(line.rpartition(" | ")[2].partition(" > ")[0])
            if words[0] != "proctor":
                continue
            at = 2 if words[1] in listed else 3
            found = listed[" ".join(words[1:at])]
            found.make_context("example", words[at:])
            seen += 1
    assert seen > 20


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("view", ("[RUNS_DIR]", "pip install 'proctor[serve]'")),
        ("judge", ("[SOLUTION]...", "[default: one per CPU]")),
        ("report", ("RUN...", "[NAME=]DATE")),
        ("eval livecodebench", ("upstream[:STYLE]", "[default: 8]")),
    ],
)
def test_square_brackets_are_shown(name: str, shown: tuple[str, ...]) -> None:
    """They are markup for the library that draws help pages."""
    page = proctor(*name.split(), "--help").stdout.decode()
    assert [each for each in shown if each not in page] == []
