"""Open-r1's scoring of Codeforces problems, on proctor instead of Piston.

`score_submission` has the arguments and results of the published one; import it from
proctor.integrations.open_r1. What is different, since it was wrong there: a fault of the machine or
of the task raises, and is never a failed test; CPU time decides, not the clock on the wall.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from proctor.errors import InfraFault, InputError
from proctor.formats.codeforces_rows import CodeforcesCase, load_generated, problem_of_row
from proctor.json_values import convert_json
from proctor.judgement import Judgement
from proctor.judging.judge import judge_async
from proctor.judging.settings import JudgeSettings
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

TESTS_FOLDER = "CF_TESTS_FOLDER"
"""Environment variable, as published: where the files of generated tests are."""
_LANGUAGES = {"cpp": "cpp17", "python": "python"}
_MODES = ("pass_fail", "partial", "weighted_sum")
Mode = Literal["pass_fail", "partial", "weighted_sum"]


class HasPool(Protocol):
    """An object with a pool to judge in: a client."""

    pool: Pool


async def score_submission(
    client: HasPool,
    problem_data: Mapping[str, Any],
    submission: str,
    test_batch_size: int = 1,  # noqa: ARG001 - as published; how many run at once is the pool's
    scoring_mode: Mode = "weighted_sum",
    no_compile_reward: float = -0.1,
    no_submission_reward: float = -1.0,
    submission_language: str = "cpp",
) -> float | None:
    """Score a submission to a row of the data set; None if the problem has no test.

    `pass_fail`: 1 if all tests are passed, else 0. `partial`: the share that is passed.
    `weighted_sum`: the first plus a tenth of the second, so at most 1.1. Whether
    a test is run tells a program nothing about its answers to those before.

    A row's `generated_tests` are a list of tests, or their number: then they are read from
    `test_cases_NNNN.parquet` of the contest in the directory $CF_TESTS_FOLDER. Raises InfraFault
    and InputError, never a score for a fault.
    """
    if scoring_mode not in _MODES:
        what = f"must be one of {', '.join(_MODES)}, not {scoring_mode!r}"
        raise InputError(what, field="scoring_mode")
    if submission_language not in _LANGUAGES:
        what = f"must be cpp or python, not {submission_language!r}"
        raise InputError(what, field="submission_language")
    if problem_data.get("interaction_format"):
        raise InputError("the row has no interactor to play with", field="interaction_format")
    row = {key: value for key, value in problem_data.items() if key != "generated_tests"}
    problem = problem_of_row(row, _generated(problem_data))
    if problem is None:
        return None
    if not submission:
        return no_submission_reward
    judgement = await judge_async(
        problem,
        Program(submission, _LANGUAGES[submission_language]),
        settings=JudgeSettings(stop="crash" if scoring_mode == "pass_fail" else "never"),
        pool=client.pool,
    )
    # One failed test is enough for pass_fail, whatever became of the others.
    if judgement.verdict.is_fault or (scoring_mode != "pass_fail" and not judgement.score_known):
        _refuse_faults(judgement)
    # The original does not compile Python: there a syntax error fails each test by itself.
    if judgement.verdict in {Verdict.CE, Verdict.NC} and submission_language != "python":
        return no_compile_reward
    passed = sum(test.verdict.passed for test in judgement.tests)
    every, share = float(passed == len(problem.tests)), passed / len(problem.tests)
    if scoring_mode == "weighted_sum":
        return every + 0.1 * share
    return every if scoring_mode == "pass_fail" else share


def _generated(row: Mapping[str, Any]) -> list[CodeforcesCase]:
    given = row.get("generated_tests") or 0
    if not isinstance(given, int):
        try:
            return convert_json(given, list[CodeforcesCase])
        except msgspec.ValidationError as error:
            raise InputError(str(error), field="generated_tests") from error
    folder = os.environ.get(TESTS_FOLDER)
    if not given:
        return []
    if not folder:
        what = f"{given} tests are in files of their own; set {TESTS_FOLDER} to their directory"
        raise InputError(what, field="generated_tests")
    contest = str(row.get("id")).partition("/")[0]
    if not (contest.isascii() and contest.isdecimal() and len(contest) < 10):
        raise InputError(f"{row.get('id')!r} does not begin with a contest's number", field="id")
    path = Path(folder) / f"test_cases_{int(contest):04d}.parquet"
    if not path.is_file():
        return []
    return load_generated([path], {row["id"]}).get(row["id"], [])


def _refuse_faults(judgement: Judgement) -> None:
    if judgement.verdict is Verdict.INFRA_FAULT:
        raise InfraFault(judgement.message)
    fault = next((test for test in judgement.tests if test.verdict.is_fault), None)
    if fault is not None and fault.verdict is Verdict.INFRA_FAULT:
        raise InfraFault(f"test {fault.name}: {fault.message}")
    if fault is not None:
        raise InputError(f"the task is broken: test {fault.name}: {fault.message} {fault.log}")
