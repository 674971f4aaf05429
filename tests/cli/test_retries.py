"""Retries of requests are told once for each cause."""

import logging
import subprocess
import sys

import pytest

from waiting import PATIENCE

PROGRAM = """
import stamina
from proctor.cli.retries import tell_once

tell_once()
tell_once()
for cause in ("hub: 503", "hub: 503", "other: refused"):
    tries = 0
    for trial in stamina.retry_context(on=OSError, attempts=6, wait_initial=0.0, wait_max=0.0):
        with trial:
            tries += 1
            if tries < 6:
                raise OSError(cause)
"""


def test_one_line_for_each_cause() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr.splitlines() == [
        "proctor: trying again: OSError('hub: 503')",
        "proctor: trying again: OSError('other: refused')",
    ]


def test_other_records_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    from proctor.cli.retries import tell_once

    tell_once()
    logging.getLogger("stamina").warning("something else")
    assert [record.getMessage() for record in caplog.records] == ["something else"]
