"""The choice of submissions to hand in, under the names of huggingface/ioi's simulator.

Its functions take result rows, as `proctor ioi score` or the published runner writes them, of one
model and one task. Where the choice differs from the published one: proctor.evals.ioi.strategies.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.evals.ioi.strategies import attempt_of_row, round_robin, union


def get_problem_scores(selected_dataset_samples: Sequence[Mapping[str, Any]]) -> float:
    """Return the task's points: for each subtask the best of all submissions, added up."""
    return union(attempt_of_row(row) for row in selected_dataset_samples)


def get_submission_cot_length(submission: Mapping[str, Any]) -> int:
    """Return the length of the reasoning: tokens if the row tells them, else characters."""
    return attempt_of_row(submission).length


def simulate_round_robin(
    all_submissions: Sequence[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """Return the 50 rows that would be handed in, or fewer, in the order of handing in."""
    chosen = round_robin([attempt_of_row(row) for row in all_submissions])
    return [attempt.extra for attempt in chosen]
