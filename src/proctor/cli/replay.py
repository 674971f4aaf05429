"""`proctor replay`: a judgement of the past beside the one that is made now."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli import render, replay_screen, terminal
from proctor.cli.judges import HERE, Where
from proctor.errors import UsageError
from proctor.evals.replaying.bundles import bundle, is_bundle
from proctor.evals.replaying.finding import find
from proctor.evals.replaying.recorded import InputFiles, RecordedJudgement
from proctor.evals.replaying.replay import OutputOn, replay
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.one_test import output_on
from proctor.languages.pools import open_pool
from proctor.limits import check_limits
from proctor.verdict import Verdict

if TYPE_CHECKING:
    from proctor.clients.server_job import ServerJob


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """A judgement to be made again, and where. Raises UsageError."""

    record: str
    files: InputFiles
    where: Where
    pool: dict[str, Any]
    """Options of a pool, with empty values for those not given."""
    times: int = 1
    there: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """Options of a pool that were given."""
        return {name: value for name, value in self.pool.items() if value}


def run(wanted: ReplayRun, *, as_json: bool) -> int:
    """Replay, and print what is the same and what differs; returns the exit code."""
    recorded, job = _found(wanted)
    made = 0

    def count(verdict: Verdict) -> None:
        nonlocal made
        made += 1
        progress.show([verdict])

    progress = render.Progress(wanted.times, wanted.times > 1 and not as_json)
    try:
        with _judges(wanted, recorded, job) as (judges, look), progress:
            replayed = replay(
                recorded, judges, wanted.times, output_on=look, progress=count,
                there=recorded.then if wanted.there else None,
            )  # fmt: skip
    except KeyboardInterrupt:
        terminal.note(f"interrupted: {made} of {wanted.times} judged")
        return 130
    if as_json:
        terminal.write_json(replay_screen.to_json(replayed))
    else:
        replay_screen.show(replayed)
    return replayed.exit_code


def write(wanted: ReplayRun, place: str, *, as_json: bool) -> int:
    """Write a bundle; nothing is judged."""
    if wanted.times > 1 or wanted.there or wanted.where != HERE or wanted.given:
        raise UsageError("--bundle judges nothing: give no options of judging with it")
    recorded, job = _found(wanted)
    if job is not None and job.run is not None:
        raise UsageError("a run is not a judgement that could be put into a bundle")
    bundle(recorded, Path(place))
    if as_json:
        terminal.write_json({"bundle": place, "verdict": recorded.outcome.verdict})
    else:
        terminal.write(
            f"{place}: {recorded.outcome.verdict}; `proctor replay {place}` judges it again\n"
        )
    return 0


def _found(wanted: ReplayRun) -> "tuple[RecordedJudgement, ServerJob | None]":
    if wanted.record.startswith(("http://", "https://")):
        from proctor.clients.server_job import fetch

        job = fetch(wanted.record, wanted.files)
        return job.recorded, job
    if wanted.there:
        raise UsageError("--there is for jobs of servers: URL#JOB")
    recorded = find(wanted.record, wanted.files)
    if is_bundle(Path(wanted.record)):
        check_limits(recorded.limits)  # a stranger may have set them
    return recorded, None


@contextmanager
def _judges(
    wanted: ReplayRun, recorded: RecordedJudgement, job: "ServerJob | None"
) -> Iterator[tuple[Judges, OutputOn]]:
    """Open the judges, with a function that returns the program's output on one test."""
    nothing: OutputOn = lambda _test: None  # noqa: E731
    if job is not None and (wanted.there or job.run is not None):
        if wanted.where != HERE or (wanted.there and wanted.given):
            raise UsageError("a server's job is judged by itself, or a run here: no such options")
        with closing(job.there() if wanted.there else job.here(wanted.given)) as client:
            yield client, lambda _test: client.output
        return
    # Servers have their own settings: for them, those recorded are left out.
    pool = wanted.given if wanted.where.on is not None else {**recorded.pool, **wanted.given}
    if (elsewhere := wanted.where.opener(pool)) is not None:
        with elsewhere() as judges:
            yield judges, nothing
        return
    with open_pool(**pool) as opened:
        yield PoolJudges(opened), partial(
            output_on, problem=recorded.problem, program=recorded.program,
            settings=recorded.settings, pool=opened,
        )  # fmt: skip
