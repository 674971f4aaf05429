"""`proctor-nexus`: the command line of nexus-eval-livecodebench 0.3, on proctor's machinery.

It has that program's flags, environment, exit codes and JSON keys, so that scripts run unchanged;
programs are judged by standard rules. Times are in milliseconds. It departs from that program only
to mend one of its faults: docs/reference/nexus.md says where.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from proctor import __version__
from proctor.cli import terminal
from proctor.cli.eval import stoppable
from proctor.cli.model_access import probe
from proctor.errors import InputError, ProctorError
from proctor.evals import evaluation
from proctor.evals.livecodebench.generation import BENCHMARK
from proctor.evals.livecodebench.nexus import summary
from proctor.evals.livecodebench.sources import open_source
from proctor.evals.models.opening import open_model
from proctor.evals.run import Done
from proctor.evals.selection import filters, select
from proctor.evals.settings import Settings
from proctor.formats.livecodebench import problem_of

DEFAULT_MODEL = "gpt-4o"


def main() -> NoReturn:
    """Entry point of the console script."""
    try:
        code = run(sys.argv[1:])
    except ProctorError as error:
        terminal.write(f"proctor-nexus: {error}\n", stderr=True)
        code = 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        terminal.write("proctor-nexus: interrupted\n", stderr=True)
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Evaluate; 0 if all passed, 1 if not. Raises ProctorError for what ends the whole run."""
    options = _parser().parse_args([*arguments[1:]] if arguments[:1] == ["run"] else [*arguments])
    settings = _settings(options)
    if options.list:
        _list(settings)
        return 0
    model = open_model(settings, os.environ)
    probe(model)
    planned = evaluation.plan(BENCHMARK, settings, model)
    began = time.monotonic()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-nexus-"))
        place = Path(options.out) if options.out is not None else Path(directory) / "run"
        store = stack.enter_context(evaluation.begin(place, planned))
        wanted = settings.modes or settings.agentic_mode
        grader = stack.enter_context(BENCHMARK.open_grader(settings)) if wanted else None
        show = _progress(store.count(), wanted=not options.json)
        asyncio.run(stoppable(store, open_model(settings, os.environ), grader, show))
        found = summary(store, settings, round((time.monotonic() - began) * 1000))
    if options.json:
        terminal.write_json(found)
    else:
        _show(found)
    return 0 if found["passed"] == found["total"] else 1


def _list(settings: Settings) -> None:
    """Write a line of JSON for each instance, with which an adapter elsewhere asks and judges.

    `row` is the problem as `judge` of the daemon takes it, in format `livecodebench`.
    """
    source = open_source(settings.source)
    chosen = {info.id: info for info in select(source.infos(), filters(settings)).problems}
    for row in source.rows():
        info = chosen.get(row.content["question_id"])
        if info is None:
            continue
        try:
            tests = problem_of(row.content).tests
        except InputError as error:
            raise row.error(error.message, error.field) from error
        terminal.write_json({
            "instanceId": info.id,
            "platform": info.platform,
            "difficulty": info.difficulty,
            "problemStatement": info.statement,
            "starterCode": info.starter_code,
            "releaseDate": info.published,
            "publicTests": [
                {"input": test.input_text(), "expectedOutput": test.output_text()}
                for test in tests if test.public
            ],
            "row": row.content,
        })  # fmt: skip


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        model=options.model_id or os.environ.get("MODEL_ID") or DEFAULT_MODEL,
        base_url=os.environ.get("OPENAI_BASE_URL") or "",
        source=options.source,
        platforms=options.platforms or "",
        difficulties=options.difficulties or "",
        min_release_date=options.min_release_date or "",
        limit=_whole(options.limit),
        n=1,
        mode="standard",
        run_tests=not options.no_run_tests,
        timeout=options.timeout / 1000,
        test_timeout=options.test_timeout / 1000,
        max_connections=options.concurrency,
        concurrency=options.concurrency,
        max_retries=2,  # as in the SDK that the original used
        agentic_mode=options.agentic_mode,
        agentic_turn_budget=options.agentic_turn_budget,
    )


def _whole(limit: str | None) -> str:
    if limit is not None and not (limit.isascii() and limit.isdigit()):
        raise InputError(f"{limit!r} is not a number", field="--limit")
    return limit or ""


_OPTIONS: tuple[tuple[str, str | None, str | int, str], ...] = (
    ("--model-id", "ID", f"$MODEL_ID, else {DEFAULT_MODEL}", "name of the model at the server"),
    (
        "--source",
        "SOURCE",
        "fixture",
        "fixture (problems of ours), huggingface[:CONFIG] (CONFIG: release_v3), or a JSONL file",
    ),
    ("--platforms", "LIST", "all", "of leetcode, atcoder, codeforces, with commas between"),
    ("--difficulties", "LIST", "all", "of easy, medium, hard, with commas between"),
    ("--min-release-date", "YYYY-MM-DD", "none", "only problems of this day and later"),
    ("--limit", "N", "all", "only the first N that the other options leave"),
    ("--concurrency", "N", 1, "instances at once"),
    ("--timeout", "MS", 300_000, "milliseconds for one whole reply"),
    ("--test-timeout", "MS", 15_000, "milliseconds of CPU time for one test"),
    ("--no-run-tests", None, "tests are run", "an instance passes if its reply has code"),
    ("--agentic-mode", None, "one reply", "give the model tools to write and try its program"),
    ("--agentic-turn-budget", "N", 10, "replies of an agent"),
    ("--json", None, "text", "print the summary as JSON, and no progress"),
    ("--list", None, "run", "print the problems as lines of JSON, and ask no model"),
    ("--out", "DIR", "not kept", "keep the run there, for `proctor report`, `export` and others"),
)
"""Flag, name of its value or None for a switch, default, meaning."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proctor-nexus", allow_abbrev=False,
        description="Evaluate a model on LiveCodeBench. Exit code 0 only if everything passed.",
        epilog="Problems from the hub are kept in $PROCTOR_CACHE_DIR, else ~/.cache/proctor. "
        "Environment: OPENAI_API_KEY, OPENAI_BASE_URL, MODEL_ID, HF_TOKEN.",
    )  # fmt: skip
    parser.add_argument("--version", "-v", action="version", version=__version__)
    for flag, metavar, default, meaning in _OPTIONS:
        told = f"{meaning} (default: {default})".replace("%", "%%")
        if metavar is None:
            parser.add_argument(flag, action="store_true", help=told)
        else:
            number = isinstance(default, int)
            kind = float if metavar == "MS" else int if number else str
            given = default if number or flag == "--source" else None
            parser.add_argument(flag, metavar=metavar, type=kind, default=given, help=told)
    return parser


def _progress(total: int, *, wanted: bool) -> Callable[[Done], None]:
    count = 0

    def show(_done: Done) -> None:
        nonlocal count
        count += 1
        if wanted:
            terminal.write(f"[{count}/{total}]", stderr=True, end="\r")

    return show


def _show(found: dict[str, Any]) -> None:
    terminal.write(
        f"{found['passed']} / {found['total']} passed ({found['passRate']:.1%}); "
        f"{found['metadata']['note']}\n"
    )
    for name in ("byPlatform", "byDifficulty"):
        for group, score in found["metadata"][name].items():
            terminal.write(f"  {group or 'unknown'}: {score['passed']} / {score['total']}\n")
    if "failureCount" in found["metadata"]:
        count, first = found["metadata"]["failureCount"], found["metadata"]["sampleFailure"]
        terminal.write(f"  {count} without a verdict: {first}\n")
