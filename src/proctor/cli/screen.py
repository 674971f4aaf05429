"""Coloured text and tables for people to read on stdout and stderr, even if it is untrusted.

Separate from `terminal`, because importing rich takes a fifth of the time of a short command.
"""

from typing import Any

from rich.console import Console
from rich.text import Text

from proctor.plain_text import plain

_WIDE = 1000


class Screen(Console):
    """Console for people. Strings are never read as markup, even in tables; colours are Text."""

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, wide: bool = False
    ) -> None:
        """`wide`: lines are not wrapped when output is piped, in tables either."""
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, markup=False, highlight=False, emoji=False
        )
        if wide and not self.is_terminal:
            self.width = _WIDE

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError as other writing does; rich would exit with another code."""
        raise BrokenPipeError

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a string as it is shown; rich calls this for every string."""
        return super().render_str(plain(text), **options)


def line(*parts: str | Text) -> Text:
    """Return one text made of strings, which may be untrusted, and coloured parts."""
    return Text.assemble(*(plain(part) if isinstance(part, str) else part for part in parts))


def coloured(text: str, colour: str) -> Text:
    """Return a text in a colour."""
    return Text(plain(text), colour)
