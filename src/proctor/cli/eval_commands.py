"""`proctor eval`, `runs`, `resume`, `retry`, `rejudge`, `export`, `lm-eval`: their options."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from proctor.cli.eval_options import (
    FailUnder,
    KList,
    ReplyCache,
    StartServer,
    taking,
)
from proctor.cli.judges import Cache, On, Ray, VerifyCache, Where
from proctor.cli.named_settings import naming
from proctor.cli.options import Json
from proctor.cli.panels import PanelCommand, examples
from proctor.errors import InputError
from proctor.evals.bundled import DATED, FAMILIES, Family, is_benchmark_file

if TYPE_CHECKING:
    from proctor.evals.adapter import BenchmarkAdapter
    from proctor.evals.benchmark_file.benchmark import FileBenchmark
    from proctor.evals.registry import Installed

Run = Annotated[
    str, typer.Argument(help="Directory of the run, such as runs/my-model.", metavar="RUN")
]


_ENDS = """

Exit code: 0 if every sample was judged, 1 if pass@1 is below --fail-under, 2 for wrong usage, 125
if the model or the machine failed, 130 if stopped; proctor resume goes on with what is missing.
"""
_EXAMPLES = examples(
    "proctor eval {name} --model my-model --base-url http://localhost:8000/v1",
    "proctor eval {name} --model my-model --n 10 --dry-run",
)


class _Evaluations(TyperGroup):
    """Benchmarks of proctor, and of installed packages, which are imported only to be run."""

    def list_commands(self, ctx: Any) -> list[str]:
        from proctor.evals.registry import installed

        bundled = super().list_commands(ctx)
        others = dict.fromkeys(each.name for each in installed() if each.name not in bundled)
        return [*bundled, *others]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from proctor.evals.registry import installed

        found = super().get_command(ctx, cmd_name)
        others = {each.name: each for each in installed()} if found is None else {}
        if cmd_name in others:  # for the list of commands only
            text = f"From the package {others[cmd_name].distribution}."
            return _click_command(cmd_name, text, lambda: None)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        from proctor.evals.registry import other_named

        other = other_named(args[0])
        if other is not None:
            return other.name, _installed_command(other), args[1:]
        if is_benchmark_file(args[0]):
            return args[0], _file_command(Path(args[0])), args[1:]
        if "/" in args[0]:
            what = "is neither a benchmark file (NAME.toml) nor a directory with a benchmark.toml"
            raise InputError(what, file=args[0])
        return super().resolve_command(ctx, args)


eval_app = typer.Typer(
    cls=_Evaluations,
    help="Ask a model for the programs of a benchmark, judge them, keep everything in a run.\n\n"
    "BENCHMARK is one of those below, those of installed packages included, or a benchmark file of"
    " your own, such as ./sums.toml. A run is a directory; if it is stopped, proctor resume goes on"
    " with it.",
    epilog=examples(
        "proctor eval humaneval --model my-model --base-url http://localhost:8000/v1",
        "proctor eval livecodebench --model my-model --n 10 --dry-run",
    ),
    subcommand_metavar="BENCHMARK [OPTIONS]",
    no_args_is_help=True,
)


def _file_command(place: Path) -> Any:
    """Load a benchmark file, and return the command that runs it. Raises InputError."""
    from proctor.evals.benchmark_file.loading import load

    benchmark = load(place)
    summary = benchmark.definition.summary or f"Evaluate a model on the benchmark of {place}."
    family = Family(
        summary,
        {benchmark.name: ""},
        agentic=benchmark.agentic,
        more=("language", "few_shot", *DATED),
    )
    return _click_command(str(place), summary + _ENDS, _command(family, benchmark))


def _installed_command(other: "Installed") -> Any:
    """Import a benchmark of a package, and return the command that runs it. Raises InputError."""
    from proctor.evals.registry import is_benchmark

    loaded, whose = other.load(), f"{other.name} of {other.distribution}"
    if is_benchmark(loaded):
        family = Family(
            f"Evaluate a model on {whose}.", {other.name: ""}, agentic=loaded.agentic, more=DATED
        )
        return _click_command(other.name, family.summary + _ENDS, _command(family))
    adapter = cast("BenchmarkAdapter[Any, Any, Any, Any]", loaded)

    def command(
        limit: Annotated[
            int | None,
            typer.Option(
                min=1, help="Take the first N instances only.", show_default="all", metavar="N"
            ),
        ] = None,
        concurrency: Annotated[
            int, typer.Option(min=1, help="Instances under way at once.", metavar="N")
        ] = 1,
        instance_timeout: Annotated[
            str, typer.Option(help="Time for one instance, such as 5m.", metavar="TIME")
        ] = "5m",
        json: Json = False,
    ) -> None:
        from proctor.cli import adapters

        wanted = adapters.AdapterOptions(limit, concurrency, instance_timeout, json)
        raise typer.Exit(adapters.run(other, adapter, wanted))

    return _click_command(other.name, f"Run {whose}. Nothing is kept: it is an adapter.", command)


def _click_command(name: str, text: str, function: Callable[..., None]) -> Any:
    app = typer.Typer(add_completion=False)
    app.command(name, help=text, cls=PanelCommand)(function)
    return typer.main.get_command(app)


def _command(family: Family, loaded: "FileBenchmark | None" = None) -> Callable[..., None]:
    """Return the command of a family, or of a benchmark file that is loaded."""

    def command(**given: Any) -> None:
        from proctor.cli import eval as evaluate
        from proctor.cli.eval_settings import merged
        from proctor.cli.model_access import ModelAccess
        from proctor.evals.benchmark_file.benchmark import FileBenchmark
        from proctor.evals.registry import benchmark_named

        choice = (given.pop(family.choice) if family.choice else None) or family.choices[0]
        name = family.benchmark(choice)
        if name is None:
            known = ", ".join(family.choices)
            raise InputError(f"{choice!r} is not one of {known}", field=f"--{family.choice}")
        benchmark = loaded or benchmark_named(name)
        own = benchmark.definition.settings if isinstance(benchmark, FileBenchmark) else {}
        out, config, json = given.pop("out"), given.pop("config"), given.pop("json")
        where = Where(*(given.pop(name) for name in ("ray", "on", "cache", "verify_cache")))
        ending = evaluate.ending(given.pop("k"), given.pop("fail_under"), json, where)
        dry_run = given.pop("dry_run")
        given["run_tests"] = False if given.pop("no_run_tests") else None
        for flag in ("agentic_mode", "all_subtasks"):
            given[flag] = given.get(flag) or None
        access = ModelAccess(given.pop("start_server"), given.pop("reply_cache"))
        models = given.pop("model") or [None]
        wanted = [merged({**given, "model": name}, config, own) for name in models]
        if dry_run:
            raise typer.Exit(evaluate.dry_run(benchmark, wanted[0], as_json=json))
        if len(wanted) == 1:
            raise typer.Exit(evaluate.evaluate(benchmark, wanted[0], out, ending, access))
        from proctor.cli.several_models import evaluate_each

        raise typer.Exit(evaluate_each(benchmark, wanted, out, ending, access))

    return taking(command, family)


def runs_command(
    directory: Annotated[
        str, typer.Argument(help="Directory that holds runs.", metavar="DIR")
    ] = "runs",
    json: Json = False,
) -> None:
    """List the runs below a directory: model, source, samples, and how many are not judged yet."""
    from proctor.cli import runs

    raise typer.Exit(runs.show(directory, as_json=json))


def resume_command(
    run: Run,
    k: KList = "1,5,10",
    fail_under: FailUnder = None,
    start_server: StartServer = None,
    reply_cache: ReplyCache = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    json: Json = False,
    **given: Any,
) -> None:
    """Go on with a run that was stopped: ask and judge only what is missing.

    If --start-server served its model, give it again.

    What a run names is run, opened or contacted only if you wrote it here; else give it by name.

    Exit code: as for proctor eval.
    """
    from proctor.cli import eval as evaluate
    from proctor.cli.model_access import ModelAccess

    ending = evaluate.ending(k, fail_under, json, Where(ray, on, cache, verify_cache), given)
    raise typer.Exit(evaluate.resume(run, ending, ModelAccess(start_server, reply_cache)))


def retry_command(
    run: Run,
    verdict: Annotated[
        list[str] | None,
        typer.Option(
            help="Do samples with this verdict again, such as TLE. Repeatable.",
            show_default="INFRA_FAULT, which failed replies have, too",
            metavar="VERDICT",
        ),
    ] = None,
    k: KList = "1,5,10",
    fail_under: FailUnder = None,
    start_server: StartServer = None,
    reply_cache: ReplyCache = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    json: Json = False,
    **given: Any,
) -> None:
    """Do again what failed in a run: replies that did not come, judgements that met a fault.

    What a run names is run, opened or contacted only if you wrote it here; else give it by name.

    Exit code: as for proctor eval.
    """
    from proctor.cli import eval as evaluate
    from proctor.cli.model_access import ModelAccess

    ending = evaluate.ending(k, fail_under, json, Where(ray, on, cache, verify_cache), given)
    access = ModelAccess(start_server, reply_cache)
    verdicts = tuple(verdict or ("INFRA_FAULT",))
    raise typer.Exit(evaluate.retry(run, verdicts, ending, access))


def rejudge_command(
    run: Run,
    k: KList = "1,5,10",
    fail_under: FailUnder = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    json: Json = False,
    **given: Any,
) -> None:
    """Judge all programs of a run again, by this version of proctor; the model is not asked.

    The old verdicts stay in the run, and count no more.

    What a run names is run, opened or contacted only if you wrote it here; else give it by name.

    Exit code: as for proctor eval.
    """
    from proctor.cli import eval as evaluate

    ending = evaluate.ending(k, fail_under, json, Where(ray, on, cache, verify_cache), given)
    raise typer.Exit(evaluate.rejudge(run, ending))


def export_command(
    run: Run,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="Format to write: jsonl (a line for each sample, with all there is), json"
            " (settings and figures), csv, parquet, lcb (lcb_runner's _eval_all.json), inspect"
            " (a log of inspect_ai), lm-eval (a directory), records (for proctor report), or ioi"
            " (for proctor ioi).",
            metavar="FORMAT",
        ),
    ] = "jsonl",
    out: Annotated[
        str, typer.Option(
            help="File to write, for lm-eval a directory; - for stdout.", metavar="FILE"
        ),
    ] = "-",
) -> None:  # fmt: skip
    """Write the samples of a run in a format that other programs read."""
    from proctor.cli import runs

    raise typer.Exit(runs.export(run, format_, out))


def lm_eval_command() -> None:
    """Print the directory of lm-eval tasks that are judged by proctor.

    Exit code: 125 if lm-eval is not installed beside proctor.
    """
    from proctor.cli import runs

    raise typer.Exit(runs.show_lm_eval_tasks())


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    for name, family in FAMILIES.items():
        eval_app.command(
            name, help=family.summary + _ENDS, cls=PanelCommand, epilog=_EXAMPLES.format(name=name)
        )(_command(family))
    app.add_typer(eval_app, name="eval")
    for name, command, *lines in (
        ("runs", runs_command), ("resume", naming(resume_command), "proctor resume runs/my-model"),
        ("retry", naming(retry_command), "proctor retry runs/my-model --verdict TLE"),
        ("rejudge", naming(rejudge_command)),
        ("export", export_command, "proctor export runs/my-model --format csv --out samples.csv"),
        ("lm-eval", lm_eval_command, 'lm_eval --include_path "$(proctor lm-eval)" ...'),
    ):  # fmt: skip
        app.command(name, cls=PanelCommand, epilog=examples(*lines))(command)
