"""The pages of the server: what a browser shows, and what other clients are told."""

from collections.abc import Iterator

import httpx
import pytest

from chromium import chromium
from served import Served, serving
from waiting import PATIENCE

TOKEN = "0123456789abcdef-ann"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text(f"ann:{TOKEN}\n")
    tokens.chmod(0o600)
    with serving("--token-file", str(tokens), "--no-access-log") as served:
        yield served


def test_pages_need_no_token_and_load_nothing_from_elsewhere(server: Served) -> None:
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
        for path in ("/", "/docs"):
            page = http.get(path, headers={"accept": "text/html,*/*"})
            assert page.headers["content-type"].startswith("text/html")
            assert "default-src 'none'" in page.headers["content-security-policy"]
            assert "//" not in page.text.replace("<!--", "")
        assert http.get("/page/index.js").headers["content-type"].startswith("text/javascript")
        assert http.get("/page/index.html").status_code == 401
        assert http.post("/").status_code == 401
        assert http.get("/v1/languages").status_code == 401
        assert http.get("/").json()["message"].startswith("proctor ")
        assert http.get("/openapi.json").json()["paths"]["/v1/run"]["post"]["description"]


@pytest.mark.browser
def test_a_person_runs_a_program_and_reads_of_routes(server: Served) -> None:
    with chromium() as tab:
        tab.open(f"{server.url}/", "!document.getElementById('access').hidden")
        tab.run(f"token.value = '{TOKEN}'; access.requestSubmit()")
        tab.wait("about.textContent.includes('isolation') && access.hidden")
        tab.wait("language.options.length > 1 && language.value === 'python'")
        tab.run("document.getElementById('run').requestSubmit()")
        tab.wait("result.textContent.includes('285') && result.textContent.startsWith('OK')")
        tab.run(
            "source.value = 'print(\"<b>\" + input(' ; document.getElementById('run').requestSubmit()"
        )
        tab.wait(
            "result.textContent.startsWith('RE') && result.textContent.includes('SyntaxError')"
        )
        # Whatever a program prints is text.
        tab.run("source.value = 'print(\"<b>\")'; document.getElementById('run').requestSubmit()")
        tab.wait("result.textContent.includes('<b>') && !result.querySelector('b')")
        tab.open(f"{server.url}/docs", "document.querySelectorAll('details').length > 50")
        tab.run(
            "const field = document.getElementById('find'); field.value = '/v1/judge'; field.dispatchEvent(new Event('input'))"
        )
        shown = tab.run(
            "[...document.querySelectorAll('details:not([hidden]) code')].map(e => e.textContent)"
        )
        assert "POST /v1/judge" in shown
        assert "POST /v1/run" not in shown
        refused = [each for each in tab.said if "401" not in each]
        assert not refused
