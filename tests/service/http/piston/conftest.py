"""One server for the tests of Piston's door."""

from collections.abc import Iterator

import httpx
import pytest

from served import serving
from waiting import PATIENCE

SETTINGS = {"PISTON_OUTPUT_MAX_SIZE": "100000", "PISTON_RUN_TIMEOUT": "20000"}


@pytest.fixture(scope="package")
def url() -> Iterator[str]:
    """Up to and including the version."""
    with serving("--no-access-log", **SETTINGS) as server:
        yield server.url + "/api/v2"


@pytest.fixture(scope="package")
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=PATIENCE) as client:
        yield client
