"""A file of programs judged against a file of problems, where others judge."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

import proctor
from proctor import open_pool
from proctor.evals.programs import ProgramsRun, judge_programs
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits

BUNDLED = Path(proctor.__file__).parent / "bundled"


@pytest.mark.slow
def test_judgements_of_a_problem_follow_each_other(tmp_path: Path) -> None:
    lines = (BUNDLED / "programs.jsonl").read_text().splitlines()
    programs = tmp_path / "programs.jsonl"
    programs.write_text("\n".join(lines[::2] + lines[1::2]) + "\n")
    asked: list[str] = []

    class Recorder(PoolJudges):
        def start(self, problem, *given, **more):  # type: ignore[no-untyped-def]
            asked.append(problem.id)
            return super().start(problem, *given, **more)

    @contextmanager
    def on() -> Iterator[Judges]:
        with open_pool() as pool:
            yield Recorder(pool)

    opened: AbstractContextManager[Judges] = on()
    wanted = ProgramsRun(
        BUNDLED / "problems.jsonl",
        programs,
        JudgeSettings(limits=Limits(cpu=0.5)),
        on=lambda: opened,
    )
    with ExitStack() as stack:
        judged = judge_programs(wanted, lambda _all, _done: lambda _verdicts: None, stack)
    written = [json.loads(line)["question_id"] for line in programs.read_text().splitlines()]
    assert written != sorted(written)
    assert asked == sorted(written)
    assert sorted(row["question_id"] for row in judged.rows) == sorted(written)
