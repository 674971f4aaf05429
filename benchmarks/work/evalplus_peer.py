"""evalplus's untrusted_check on the sum as a function."""

import loop
import task
from evalplus.eval import PASS, untrusted_check


def job():
    status, details = untrusted_check(
        "humaneval", task.FUNCTION, [[3, [1, 2, 3]]], "total", [9], 0, [0.1], fast_check=True
    )
    assert status == PASS, (status, details)


loop.serve(job)
