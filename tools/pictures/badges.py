"""The README's badges, from what pyproject.toml says: no other host is asked for them."""

import tomllib
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LETTER, MARGIN, HEIGHT = 6.6, 12, 20
"""Width of a letter, around a text, and height, in SVG's units."""
COLOUR = "#0969da"


def write(images: Path) -> list[Path]:
    """Write the badges and return their paths."""
    written = []
    for name, text in badges().items():
        written.append(images / f"badge-{name}.svg")
        written[-1].write_text(badge(name, text), "utf-8")
    return written


def badges() -> dict[str, str]:
    """Return what the badges say, by the name of each."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    return {"licence": project["license"], "python": f"{oldest} and newer", "typed": "mypy strict"}


def badge(name: str, text: str) -> str:
    """Draw a badge: its name on grey, its text on blue."""
    left, right = (round(len(each) * LETTER + MARGIN) for each in (name, text))
    label = (
        '<text x="{}" y="14" text-anchor="middle" fill="#fff" font-size="11"'
        ' font-family="system-ui, sans-serif" textLength="{}">{}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}"'
        f' role="img" aria-label="{escape(f"{name}: {text}")}">'
        f'<clipPath id="r"><rect width="{left + right}" height="{HEIGHT}" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left}" height="{HEIGHT}" fill="#57606a"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{COLOUR}"/></g>'
        + label.format(left / 2, left - MARGIN, escape(name))
        + label.format(left + right / 2, right - MARGIN, escape(text))
        + "</svg>\n"
    )
