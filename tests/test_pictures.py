"""The README's bar chart and figure say what was measured last."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools" / "pictures"))

import bars  # noqa: E402


def test_bars_agree_with_the_newest_results() -> None:
    drawn = (ROOT / "docs" / "images" / "bars.svg").read_text("utf-8")
    assert drawn == bars.chart(bars.newest()), "run: python tools/pictures bars"


def test_every_bar_has_its_label_and_the_readme_its_figure() -> None:
    results = bars.newest()
    cost = {each["name"]: each["cpu_ms"] for each in results["run_latency"]["contestants"]}
    drawn = bars.chart(results)
    for shown in bars.CONTESTANTS:
        row = next(line for line in drawn.splitlines() if f">{shown.label}<" in line)
        assert f">{cost[shown.name]:.1f}<" in row
    assert results["date"][:10] in drawn
    said = f"costs {cost['proctor.run']:.1f} ms of CPU time"
    assert said in (ROOT / "README.md").read_text("utf-8")
