"""Batches from the command line: handing in and waiting."""

import asyncio
import time

from proctor.cli import terminal
from proctor.cli.stopping import cancelled_by_signals
from proctor.evals import evaluation
from proctor.evals.batches.asking import BatchProgress
from proctor.evals.batches.ledger import BatchLedger
from proctor.evals.batches.model import BatchedModel
from proctor.evals.own_runs import Named
from proctor.evals.records import settings_of
from proctor.evals.store import RunStore


def ask(store: RunStore, model: BatchedModel, named: Named) -> None:
    """Hand in the missing requests of a run and wait for the replies; report the progress.

    Raises CancelledError or KeyboardInterrupt when stopped, and what `BatchedModel.ask` raises.
    """
    try:
        asyncio.run(_stoppable(store, model, named))
    except (KeyboardInterrupt, asyncio.CancelledError):
        batches = BatchLedger(store).batches()
        if left := [each.id for each in batches if each.id and not each.downloaded]:
            terminal.note(f"{settings_of(store).batch} goes on with {', '.join(left)}")
        raise


async def _stoppable(store: RunStore, model: BatchedModel, named: Named) -> None:
    with cancelled_by_signals():
        await model.ask(store, evaluation.missing_requests(store, named), _Teller().tell)


class _Teller:
    """Reports the progress of batches, with a line whenever it has changed."""

    def __init__(self) -> None:
        self._said = ""

    def tell(self, progress: BatchProgress) -> None:
        """Write a line about the progress if it differs from the last one."""
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(progress.since))
        waiting = f", waiting for {', '.join(progress.ids)}" if progress.ids else ""
        said = f"{progress.done} of {progress.total} requests done, since {since}{waiting}"
        if said != self._said:
            terminal.note(said)
            self._said = said
