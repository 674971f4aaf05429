"""Pictures of pages: the report and the view of real programs, by Chromium."""

import base64
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # for `chromium` and `served`

from chromium import Tab, chromium  # noqa: E402
from served import started  # noqa: E402

PROCTOR = str(Path(sysconfig.get_path("scripts"), "proctor"))
PLACE = ROOT / "build" / "pictures"
SINCE = "2024-08-01"
WIDTH, SCALE, QUALITY = 960, 1.5, 80


def report(images: Path) -> Path:
    """Show the top of the report of both runs."""
    call("report", *runs(), "-o", "report.html")
    with chromium() as tab:
        tab.size(WIDTH)
        tab.open((PLACE / "report.html").as_uri(), "document.querySelector('svg')")
        return picture(tab, images / "report.webp", 940)


def view(images: Path) -> Path:
    """Show the samples of a run."""
    run, _ = runs()
    command = (PROCTOR, "view", str(PLACE / "runs"), "--port", "0", "--json")
    with started(*command) as served, chromium() as tab:
        tab.size(WIDTH)
        tab.open(f"{served.url}#run={Path(run).name}", "document.querySelector('a.row')")
        return picture(tab, images / "view.webp", 620)


def picture(tab: Tab, path: Path, height: int) -> Path:
    """Write what is seen, down to `height` pixels."""
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": SCALE}
    found = tab.call(
        "Page.captureScreenshot", format="webp", quality=QUALITY, clip=clip,
        captureBeyondViewport=True,
    )  # fmt: skip
    path.write_bytes(base64.b64decode(found["data"]))
    return path


def runs() -> list[str]:
    """Return a run of each model whose programs were recorded; judge what is not judged yet."""
    data = Path(os.environ.get("PROCTOR_TEST_DATA", "")) / "livecodebench"
    if not data.is_dir():
        sys.exit("set PROCTOR_TEST_DATA to a folder with livecodebench (see CONTRIBUTING.md)")
    PLACE.mkdir(parents=True, exist_ok=True)
    shutil.copy(data / "problems.jsonl", PLACE)
    recorded: dict[str, list[str]] = {}
    with (data / "programs.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            kept = json.dumps({"question_id": row["question_id"], "code": row["code"]})
            recorded.setdefault(row["model"].lower(), []).append(kept)
    return [_run(name, rows) for name, rows in sorted(recorded.items())]


def _run(name: str, rows: list[str]) -> str:
    run, replies = f"runs/{name}", f"{name}.jsonl"
    if (PLACE / run).exists():
        call("resume", run)
        return run
    (PLACE / replies).write_text("\n".join(rows) + "\n", encoding="utf-8")
    call(
        "eval", "livecodebench", "--source", "problems.jsonl", "--model", f"replay:{replies}",
        "--min-release-date", SINCE, "--packages", sysconfig.get_path("platlib"), "--out", run,
    )  # fmt: skip
    return run


def call(*arguments: str) -> None:
    """Run the command where runs are kept, so that pictures show no path of this machine."""
    subprocess.run([PROCTOR, *arguments], cwd=PLACE, check=True)
