"""The loop over many judgements."""

from concurrent.futures import Future

from proctor.evals.durable import BURST, DurableRun, FinishedEntry
from proctor.verdict import Verdict


def test_what_is_finished_is_looked_at_before_all_is_started() -> None:
    started: list[int] = []
    seen: list[int] = []

    def start(entry: int) -> Future[int]:
        started.append(entry)
        future: Future[int] = Future()
        future.set_result(entry)
        return future

    def finish(entry: int, future: Future[int]) -> FinishedEntry[int]:
        assert future.result() == entry
        seen.append(len(started))
        return FinishedEntry(entry, Verdict.AC)

    run = DurableRun(start, finish, lambda: 100 * BURST)
    batches = list(run.run(range(3 * BURST + 1)))
    assert seen[0] == BURST
    assert sorted(each.entry for batch in batches for each in batch) == started
    assert started == list(range(3 * BURST + 1))
