"""A Chromium that is driven: pages opened at a size and in light or dark, waited for, clicked."""

import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from waiting import PATIENCE

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=127.0.0.1", "--remote-debugging-port=0",
)  # fmt: skip
_WAIT = """new Promise((done, fail) => {
  const end = performance.now() + %d;
  const look = () => {
    let found;
    try { found = %s; } catch (error) { found = null; }
    if (found) done(true);
    else if (performance.now() > end) fail(new Error(document.body.innerText.slice(0, 2000)));
    else setTimeout(look, 20);
  };
  look();
})"""


@dataclass
class Tab:
    """A page; `said` is all that its console, its errors and its dialogs say."""

    connection: ClientConnection
    said: list[str] = field(default_factory=list)
    _number: int = 0

    def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        self.connection.send(
            json.dumps({"id": self._number, "method": method, "params": parameters})
        )
        while True:
            message = json.loads(self.connection.recv(timeout=2 * PATIENCE))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            if message.get("method") in {
                "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                "Page.javascriptDialogOpening",
            }:  # fmt: skip
                said = json.dumps(message["params"])[:500]
                if "/api/" not in said or '"source": "network"' not in said:  # refused, and shown
                    self.said.append(said)

    def run(self, script: str) -> Any:
        """Value of an expression, or of its promise."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        self.run(_WAIT % (int(1000 * PATIENCE), condition))

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str, condition: str) -> None:
        """Go to an address, and wait until the page is as it should be."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.call("Page.navigate", url=address)
        self.wait(f"location.href !== 'about:blank' && {condition}")

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def chromium() -> Iterator[Tab]:
    """Start one, with a single page."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program is not None, "a test that opens pages is marked `browser`"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stderr is not None
            line = next(each for each in process.stderr if each.startswith("DevTools listening"))
            port = line.split("127.0.0.1:")[1].partition("/")[0]
            pages = httpx.get(
                f"http://127.0.0.1:{port}/json", trust_env=False, timeout=PATIENCE
            ).json()
            socket = next(each for each in pages if each["type"] == "page")["webSocketDebuggerUrl"]
            with connect(socket, max_size=None, proxy=None, open_timeout=PATIENCE) as connection:
                tab = Tab(connection)
                for domain in ("Runtime", "Log", "Page"):
                    tab.call(f"{domain}.enable")
                yield tab
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
