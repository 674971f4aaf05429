"""Idle programs in cells without namespaces (see conftest.py): their seconds pass together."""

from contextlib import ExitStack
from pathlib import Path

from hungry import SLEEP
from ways import USERS, WAYS, driver

import needs


def test_an_idle_program_is_ended_in_every_way(library: Path) -> None:
    ways = USERS if needs.root() else WAYS
    with ExitStack() as stack:
        cells = {way: stack.enter_context(driver(way, library)) for way in ways}
        for cell in cells.values():
            cell.tell("run", source="print(1, flush=True)\n" + SLEEP, stdin="", cpu=0.5)
        ended = {way: cell.answer() for way, cell in cells.items()}
    for way, done in ended.items():
        assert (done["limit"], done["stdout"]) == ("idle", "1\n"), way
