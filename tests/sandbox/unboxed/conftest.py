"""Cells whose jobs have no PID namespace each: what is left of one is found and ended otherwise.

Level `landlock`, each way it comes (with users of its own, with scopes alone, counted or not), and
bubblewrap without capabilities, as a distribution's may be all there is. The cells are as they would
be elsewhere (see driver.py). What only root can arrange takes root, which CI has; an ordinary user
tries the way that is his.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cells import Driver
from ways import USERS, WAYS, driver

from dying import dead
from waiting import until_none


@pytest.fixture(
    scope="module",
    params=[pytest.param(way, marks=() if way in USERS else pytest.mark.root) for way in WAYS],
)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cell(way: str, library: Path) -> Iterator[Driver]:
    with driver(way, library) as opened:
        yield opened


@pytest.fixture
def fresh(way: str, library: Path) -> Iterator[Driver]:
    """A cell to be broken."""
    with driver(way, library) as opened:
        yield opened


@pytest.fixture
def unharmed(cell: Driver) -> Iterator[None]:
    """Whatever a test did, the same cell runs an honest program after it, alone."""
    said = cell.run("")
    assert said.get("exit_code") == 0, said
    before = cell.ask("pids")["own"]
    yield
    done = cell.run("print(input())", "fine", processes=4)
    assert (done["stdout"], done["exit_code"]) == ("fine\n", 0), done
    after = cell.ask("pids")
    assert (after["job"], after["seen"]) == ([], [])
    # On a busy machine a job may have been tried again, in another cell.
    gone = [pid for pid in before if pid not in after["own"]]
    assert gone in ([], before)
    until_none(lambda: [pid for pid in gone if not dead(pid)])
