"""Help pages: the order and panels of commands, the panel of `--help`, examples at the end."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

INPUT = "Input"
LIMITS = "Limits"
JUDGING = "Judging"
PLACE = "Place of judging"
ISOLATION = "Isolation"
OUTPUT = "Output"
COMMANDS = {
    "Run": ("run", "languages"),
    "Judge": ("judge", "replay", "verify", "lint", "stress", "convert"),
    "Evaluate": (
        "eval", "resume", "retry", "rejudge", "runs", "view", "report", "compare", "export",
        "ioi", "lm-eval",
    ),
    "Serve": ("serve", "daemon", "mcp"),
    "Solve": ("solve", "profiles", "timetable"),
    "Machine": ("doctor", "demo", "selftest", "image"),
}  # fmt: skip
"""Commands of each panel, in the order in which one meets them."""
_MANY = 10
"""Number of parameters from which on a command's options are shown in panels."""
_PANELS = {name: panel for panel, names in COMMANDS.items() for name in names}


class PanelGroup(TyperGroup):
    """Commands in the order of COMMANDS; others come last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names."""
        found = super().list_commands(ctx)
        known = [name for name in _PANELS if name in found]
        return [*known, *(name for name in found if name not in _PANELS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command with its panel set."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            command.rich_help_panel = _PANELS.get(cmd_name)
        return command


class PanelCommand(TyperCommand):
    """A command whose help is plain text, and whose options stand in panels if there are many.

    `--help` stands in the panel of the last option.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.params.sort(key=lambda each: getattr(each, "rich_help_panel", None) == OUTPUT)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page; text in square brackets is shown, not read as markup."""
        from rich.markup import escape

        few = len(self.params) < _MANY
        parameter: Any
        for parameter in self.params:
            parameter.help = escape(parameter.help or "")
            if isinstance(parameter.show_default, str):  # typer would put it in brackets twice
                told = escape(f"[default: {parameter.show_default}]")
                parameter.help += f" [dim]{told}[/dim]"
                parameter.show_default = False
            if few:
                parameter.rich_help_panel = None
            if parameter.param_type_name == "argument":
                parameter.name = None  # else the name of its type is shown instead of its metavar
        self.help = escape(unwrapped(self.help))
        self.epilog = escape(self.epilog or "")
        super().format_help(ctx, formatter)

    def get_help_option(self, ctx: Any) -> Any:
        """Return `--help`, in the panel of the last option."""
        option: Any = super().get_help_option(ctx)
        if option is not None and self.params:
            option.rich_help_panel = getattr(self.params[-1], "rich_help_panel", None)
        return option


def unwrapped(text: str | None) -> str:
    """Return a docstring with each paragraph on one line."""
    return "\n\n".join(" ".join(each.split()) for each in (text or "").split("\n\n"))


def examples(*commands: str) -> str:
    """Return the examples at the end of a help page, each command on a line."""
    return "\n\n".join(["Examples:", *commands]) if commands else ""
