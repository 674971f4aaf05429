"""Judges that are counted or held back, and servers of these tests' own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cache_parts import CountedJudges, HeldJudges, Server

from proctor.judging.judge import PoolJudges
from proctor.sandbox.pool import Pool


@pytest.fixture
def counted(pool: Pool) -> CountedJudges:
    return CountedJudges(PoolJudges(pool))


@pytest.fixture
def held() -> HeldJudges:
    return HeldJudges()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    opened = Server(tmp_path)
    yield opened
    opened.kill()


@pytest.fixture
def server_with_password(tmp_path: Path) -> Iterator[Callable[[str], Server]]:
    opened = []

    def start(password: str) -> Server:
        opened.append(Server(tmp_path, password))
        return opened[-1]

    yield start
    for each in opened:
        each.kill()
