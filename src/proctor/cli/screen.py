"""Text with colours and tables for people to read on stdout and stderr, foreign as it may be.

Apart from `terminal`, because rich takes a fifth of the time of a short command to import.
"""

from typing import Any

from rich.console import Console
from rich.text import Text

from proctor.plain_text import plain

_WIDE = 1000


class Screen(Console):
    """Where people read. Strings are shown as they are, in tables too; colours come as Text."""

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, wide: bool = False
    ) -> None:
        """`wide`: piped, lines are as long as they are, in tables too."""
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, markup=False, highlight=False, emoji=False
        )
        if wide and not self.is_terminal:
            self.width = _WIDE

    def on_broken_pipe(self) -> None:
        """Raise as other writing does; rich would end with an exit code of its own."""
        raise BrokenPipeError

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a string as it is shown; rich asks for all of them here."""
        return super().render_str(plain(text), **options)


def line(*parts: str | Text) -> Text:
    """Return one text of strings, which are foreign, and coloured parts."""
    return Text.assemble(*(plain(part) if isinstance(part, str) else part for part in parts))


def coloured(text: str, colour: str) -> Text:
    """Return a text in a colour."""
    return Text(plain(text), colour)
