"""A page as Chromium shows it: its DOM after the scripts have run, what the console says, a picture."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from waiting import PATIENCE

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--enable-logging=stderr", "--v=0",
    # Whatever the page asks the network for would be an error in the console.
    "--proxy-server=127.0.0.1:9",
)  # fmt: skip


def open_page(address: str, *flags: str) -> tuple[str, list[str]]:
    """Return stdout and the console's lines."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program is not None, "a test that opens pages is marked `browser`"
    with TemporaryDirectory() as profile:
        done = subprocess.run(
            [program, *_FLAGS, f"--user-data-dir={profile}", *flags, address],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def dom(address: str) -> tuple[str, list[str]]:
    """The DOM as HTML, and the console's lines."""
    return open_page(address, "--dump-dom")


DARK = "--blink-settings=preferredColorScheme=0"


def measured(address: str, width: int, script: str, *flags: str) -> tuple[Any, list[str]]:
    """Return a function body's value for a page's window `view` of a width, and console lines.

    The page is in a frame: windows of Chromium are at least 500 pixels wide.
    """
    with TemporaryDirectory() as directory:
        outer = Path(directory, "outer.html")
        outer.write_text(
            f'<iframe id=f src="{html.escape(address)}" style="width:{width}px;height:900px;'
            'border:0"></iframe><output id=found></output><script>'
            "document.getElementById('f').onload = (event) => {"
            f"const find = (view) => {{ {script} }};"
            "document.getElementById('found').textContent ="
            " JSON.stringify(find(event.target.contentWindow)); };</script>"
        )
        allowed = ("--allow-file-access-from-files", "--window-size=1600,1000")
        shown, console = open_page(outer.as_uri(), "--dump-dom", *allowed, *flags)
    found = re.search(r'<output id="found">(.*?)</output>', shown, re.DOTALL)
    assert found is not None
    return json.loads(html.unescape(found[1])), console


def picture(address: str, path: Path, width: int, height: int, *flags: str) -> list[str]:
    """Write a PNG; returns the console's lines."""
    _, console = open_page(
        address, f"--screenshot={path}", f"--window-size={width},{height}", *flags
    )
    return console
