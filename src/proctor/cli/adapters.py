"""Running an installed package's BenchmarkAdapter: all at once, and nothing is kept."""

import asyncio
import logging
import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rich.text import Text

from proctor.cli import render, terminal
from proctor.errors import ProctorError
from proctor.evals.adapter import BenchmarkAdapter, InstanceOutcome, run_benchmark
from proctor.evals.registry import Installed
from proctor.shown import counted as many
from proctor.units import seconds

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AdapterOptions:
    """Options of `proctor eval` for an adapter."""

    limit: int | None
    concurrency: int
    instance_timeout: str
    as_json: bool


class _End(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    FAULT = "fault"


def run(
    entry: Installed, adapter: BenchmarkAdapter[Any, Any, Any, Any], wanted: AdapterOptions
) -> int:
    """Run an adapter, print its summary; returns the exit code. Raises InputError for its errors.

    0 if every instance has a result, 125 if one has a fault instead, 130 if stopped.
    """
    timeout = seconds(wanted.instance_timeout, "--instance-timeout")
    done: list[_End] = []
    faults: list[str] = []
    terminal.note(f"{entry.name} is an adapter: nothing is kept, a run that is stopped begins anew")
    with render.Progress(wanted.limit, not wanted.as_json, doing="running", shown=Text) as progress:

        def show(outcome: InstanceOutcome[Any, Any]) -> None:
            if outcome.fault:
                faults.append(outcome.fault)
            end = _End.PASSED if outcome.passed else _End.FAILED
            done.append(_End.FAULT if outcome.fault else end)
            progress.show(done[-1:])

        async def stoppable() -> Any:
            task = asyncio.current_task()
            assert task is not None
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, task.cancel)
            return await run_benchmark(
                adapter, concurrency=wanted.concurrency, instance_timeout=timeout,
                limit=wanted.limit, on_progress=show,
            )  # fmt: skip

        try:
            summary = asyncio.run(stoppable())
        except asyncio.CancelledError:
            terminal.note(f"interrupted: {many(len(done), 'instance')} done")
            return 130
        except ProctorError:
            raise
        except Exception as error:  # the package's own code: loading instances, adding up
            _logger.debug("%s failed", entry.name, exc_info=True)
            raise entry.error(f"{type(error).__name__}: {error}") from error
    if wanted.as_json:
        _print_json(entry, done, faults, summary)
    else:
        passed = done.count(_End.PASSED)
        terminal.write(f"{summary}\n\n{entry.name} of {entry.distribution}: ")
        terminal.write(f"{passed} of {len(done)} passed, {len(faults)} without a result\n")
        terminal.write("".join(f"  {fault}\n" for fault in faults))
    return 125 if faults else 0


def _print_json(entry: Installed, done: list[_End], faults: list[str], summary: Any) -> None:
    found = {
        "benchmark": entry.name,
        "distribution": entry.distribution,
        "instances": len(done),
        "passed": done.count(_End.PASSED),
        "faults": faults,
        "summary": summary,
    }
    # An adapter's summary may hold anything: what JSON has no form for is written as text.
    terminal.write_json(found, enc_hook=str)
