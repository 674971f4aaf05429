"""An SVG of the ratios of stored results over time: a panel for each, smaller is better."""

from collections.abc import Sequence
from html import escape

import history

WIDTH, HEIGHT = 720, 150
"""Of a panel, in SVG's units."""
LEFT, RIGHT, TOP, BOTTOM = 30, 90, 44, 30
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #57606a }
.name { font-weight: 600; fill: #24292f }
.axis { stroke: #8c959f; stroke-width: 1 }
.line { stroke: #0969da; stroke-width: 2; fill: none }
circle { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 } .name { fill: #e6edf3 } .line { stroke: #58a6ff } circle { fill: #58a6ff }
}
"""


def chart(documents: Sequence[history.Document]) -> str:
    """Draw the ratios of whole results, oldest first."""
    panels = [
        _panel(number * HEIGHT, name, documents) for number, name in enumerate(history.RATIOS)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {len(panels) * HEIGHT}"'
        ' role="img" aria-label="CPU of proctor in CPU of others, over time">'
        f"<style>{STYLE}</style>{''.join(panels)}</svg>\n"
    )


def _panel(top: int, name: str, documents: Sequence[history.Document]) -> str:
    """Draw one ratio, from zero up to a round number above its largest."""
    step = (WIDTH - LEFT - RIGHT) / max(len(documents) - 1, 1)
    floor = top + HEIGHT - BOTTOM
    values = [document["ratios"].get(name) for document in documents]
    largest = max((value for value in values if value is not None), default=1.0)
    height = HEIGHT - TOP - BOTTOM
    points, marks = [], []
    for number, (document, value) in enumerate(zip(documents, values, strict=True)):
        x = LEFT + number * step
        marks.append(_text(x, floor + 18, document["date"][:10]))
        if value is not None:
            y = floor - height * value / largest
            points.append(f"{x:.1f},{y:.1f}")
            told = f"{document['commit']}, {history.machine(document)}"
            marks.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(told)}</title></circle>'
            )
            marks.append(_text(x + 8, y - 6, f"{value:.2f} ×"))
    axis = f'<line class="axis" x1="{LEFT}" y1="{floor}" x2="{WIDTH - RIGHT}" y2="{floor}"/>'
    line = f'<polyline class="line" points="{" ".join(points)}"/>'
    return _text(0, top + 18, name, "name") + axis + line + "".join(marks)


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    kind = kind and f' class="{kind}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{kind}>{escape(text)}</text>'
