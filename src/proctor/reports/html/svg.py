"""Charts as inline SVG, for which a page needs no library, no eval and no network.

Everything is styled by class in the page's CSS, so that charts follow light and dark; a strict
content security policy allows no style attributes.
"""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from markupsafe import Markup

from proctor.plain_text import plain

WIDTH = 720.0
Points = Sequence[tuple[float, float]]


class Svg:
    """A drawing of fixed width, scaled by the page; lengths are in its own units."""

    def __init__(self, height: float, label: str) -> None:
        """Begin an empty drawing; `label` describes it to those who cannot see it."""
        box = f"0 0 {WIDTH:g} {height:g}"
        self._root = ET.Element("svg", {"viewBox": box, "role": "img", "aria-label": plain(label)})

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line."""
        self._draw("line", css, x1=x1, y1=y1, x2=x2, y2=y2)

    def rect(
        self, x: float, y: float, width: float, height: float, css: str, tip: str = ""
    ) -> None:
        """Draw a bar; `tip` is shown when it is pointed at."""
        self._draw("rect", css, tip, x=x, y=y, width=max(0.0, width), height=max(0.0, height))

    def dot(self, x: float, y: float, css: str, tip: str = "", radius: float = 4.5) -> None:
        """Draw a dot."""
        self._draw("circle", css, tip, cx=x, cy=y, r=radius)

    def diamond(self, x: float, y: float, css: str, tip: str = "", radius: float = 6) -> None:
        """Draw a diamond."""
        corners = ((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))
        self._draw("path", css, tip, d=_path(corners) + "Z")

    def path(self, points: Points, css: str) -> None:
        """Draw a line through points."""
        self._draw("path", css, d=_path(points))

    def area(self, upper: Points, lower: Points, css: str) -> None:
        """Fill the area between two lines."""
        self._draw("path", css, d=_path([*upper, *reversed(lower)]) + "Z")

    def text(self, x: float, y: float, text: str, css: str) -> None:
        """Write a text; its class says where it is anchored."""
        self._draw("text", css, x=x, y=y).text = plain(text)

    def markup(self) -> Markup:
        """Return the drawing, escaped, for a template."""
        return Markup(ET.tostring(self._root, encoding="unicode"))  # noqa: S704 - is escaped

    def _draw(self, tag: str, css: str, tip: str = "", **shape: float | str) -> ET.Element:
        attributes = {
            name: value if isinstance(value, str) else _number(value)
            for name, value in shape.items()
        }
        element = ET.SubElement(self._root, tag, {**attributes, "class": css})
        if tip:
            ET.SubElement(element, "title").text = plain(tip)
        return element


def _path(points: Points) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
