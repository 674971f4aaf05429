"""A page as Chromium shows it: its DOM after the scripts have run, what the console says, a picture."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

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
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def dom(address: str) -> tuple[str, list[str]]:
    """The DOM as HTML, and the console's lines."""
    return open_page(address, "--dump-dom")


def picture(address: str, path: Path, width: int, height: int, *flags: str) -> list[str]:
    """Write a PNG; returns the console's lines."""
    _, console = open_page(
        address, f"--screenshot={path}", f"--window-size={width},{height}", *flags
    )
    return console
