"""Texts cut to be shown; a second request fetches the whole."""

from typing import Self

import msgspec

from proctor.text import well_formed


class CutText(msgspec.Struct, frozen=True):
    """The beginning of a text."""

    text: str
    size: int
    """Characters of the whole, or bytes where it was cut from bytes."""
    part: str = ""
    """Name by which the whole is requested."""
    is_cut: bool = False

    @classmethod
    def of(cls, whole: str, most: int, part: str = "") -> Self:
        """Cut after so many characters."""
        return cls(well_formed(whole[:most]), len(whole), part, len(whole) > most)

    @classmethod
    def of_bytes(cls, whole: bytes, most: int, part: str = "") -> Self:
        """Cut after so many bytes; what is not UTF-8 becomes replacement characters."""
        text = whole[:most].decode("utf-8", "replace")
        if len(whole) > most:  # the cut may fall within a character
            text = text.removesuffix("\N{REPLACEMENT CHARACTER}")
        return cls(text, len(whole), part, len(whole) > most)
