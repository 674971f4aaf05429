"""What is run."""

from dataclasses import dataclass

from proctor.errors import InputError


@dataclass(frozen=True, slots=True)
class Program:
    """A program's source text and the language it is in.

    Raises InputError when `source` is not a string or `language` is not known.
    """

    source: str
    language: str = "python"

    def __post_init__(self) -> None:
        if not isinstance(self.source, str):
            kind = type(self.source).__name__
            raise InputError(f"a program is a string of source text, not {kind}", field="code")
        if self.language != "python":
            raise InputError(
                f"language {self.language!r} is not known here; known: python", field="language"
            )

    def encoded(self) -> bytes:
        """Source as UTF-8. Lone surrogates, which JSON can carry, become what they encode to."""
        return self.source.encode("utf-8", "surrogatepass")
