"""The README's bar chart and figures say what was measured last."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools" / "pictures"))

import bars  # noqa: E402


def test_bars_agree_with_the_newest_results() -> None:
    drawn = (ROOT / "docs" / "images" / "bars.svg").read_text("utf-8")
    assert drawn == bars.chart(bars.newest()), "run: python tools/pictures bars"


def test_every_bar_has_its_label_and_the_readme_its_figures() -> None:
    results = bars.newest()
    cost = {each["name"]: each["cpu_ms"] for each in results["run_latency"]["contestants"]}
    drawn = bars.chart(results)
    for shown in bars.CONTESTANTS:
        row = next(line for line in drawn.splitlines() if f">{shown.label}<" in line)
        assert f">{cost[shown.name]:.1f}<" in row
    assert results["date"][:10] in drawn
    ours, fork = (f"{cost[name]:.1f}" for name in ("proctor.run", "bare os.fork"))
    said = f"costs {ours} ms of CPU time; a bare `os.fork` of the same Python costs {fork}."
    assert said in (ROOT / "README.md").read_text("utf-8")
