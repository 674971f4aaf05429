"""A server with Judge0's door, and two who ask it."""

import threading
from collections.abc import Iterator

import httpx
import pytest
from judge0_client import ANN, BOB, Called

from served import Served, serving
from waiting import PATIENCE


@pytest.fixture(scope="module")
def called() -> Iterator[Called]:
    made = Called()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, called: Called) -> Iterator[Served]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text(f"ann:{ANN}\nbob:{BOB}\n")
    tokens.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE0_MAX_CPU_TIME_LIMIT", "3600")
        patch.setenv("JUDGE0_CALLBACK_HOSTS", f"{called.host}, example.org")
        with serving("--token-file", str(tokens), "--cells", "2") as served:
            yield served


@pytest.fixture(scope="module")
def ann(server: Served) -> Iterator[httpx.Client]:
    # Judge0's own way to show a token.
    with httpx.Client(
        base_url=server.url, headers={"X-Auth-Token": ANN}, timeout=PATIENCE
    ) as client:
        yield client
