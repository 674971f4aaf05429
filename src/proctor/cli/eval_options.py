"""Options of `proctor eval`: each described once, for all benchmarks."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from proctor.cli.judges import Cache, NormaliseCpu, On, Ray, VerifyCache
from proctor.cli.options import Json, ReplyCache, StartServer
from proctor.evals.bundled import DATED, Family

KList = Annotated[
    str,
    typer.Option("--k", help="Which pass@k to show, if there are k samples.", metavar="LIST"),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under", help="Exit with 1 if pass@1 is below this, 0 to 1.", metavar="RATE"
    ),
]

OPTIONS: dict[str, Any] = {
    "source": Annotated[
        str | None,
        typer.Option(help="fixture, huggingface[:RELEASE], or a file.", metavar="SOURCE"),
    ],
    "model": Annotated[
        list[str] | None,
        typer.Option(
            help="Name at the server, litellm:PROVIDER/NAME, or replay:FILE; repeatable.",
            metavar="NAME",
        ),
    ],
    "start_server": StartServer,
    "reply_cache": ReplyCache,
    "base_url": Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server.", metavar="URL")
    ],
    "out": Annotated[str | None, typer.Option(help="Directory of the run.", metavar="DIR")],
    "config": Annotated[
        str | None, typer.Option(help="TOML file with these options.", metavar="FILE")
    ],
    "scenario": Annotated[
        str,
        typer.Option(
            help="codegeneration, selfrepair, testoutputprediction or codeexecution.",
            metavar="NAME",
        ),
    ],
    "earlier": Annotated[
        str | None,
        typer.Option(
            "--from", help="selfrepair: the run whose programs are repaired.", metavar="RUN"
        ),
    ],
    "task": Annotated[
        str | None, typer.Option(help="Which of its tasks, or of its sets of rows.", metavar="NAME")
    ],
    "years": Annotated[
        str | None, typer.Option(help="Only these years, such as 2023,2024.", metavar="LIST")
    ],
    "all_subtasks": Annotated[
        bool,
        typer.Option("--all-subtasks", help="Judge all subtasks, not only the one asked for."),
    ],
    "medals": Annotated[
        str | None, typer.Option(help="Medal thresholds, TOML or JSON.", metavar="FILE")
    ],
    "platforms": Annotated[
        str | None, typer.Option(help="Only of these, such as leetcode,atcoder.", metavar="LIST")
    ],
    "difficulties": Annotated[
        str | None, typer.Option(help="Only these, such as easy,medium.", metavar="LIST")
    ],
    "min_release_date": Annotated[
        str | None, typer.Option(help="First day of release, YYYY-MM-DD.", metavar="DATE")
    ],
    "max_release_date": Annotated[
        str | None, typer.Option(help="Last day of release, YYYY-MM-DD.", metavar="DATE")
    ],
    "limit": Annotated[
        str | None,
        typer.Option(help="The first N problems, or those from A to B.", metavar="N|A-B"),
    ],
    "sample_id": Annotated[
        list[str] | None, typer.Option(help="Only this problem; repeatable.", metavar="ID")
    ],
    "n": Annotated[int | None, typer.Option("--n", help="Samples for each problem.", metavar="N")],
    "request_n": Annotated[
        int | None,
        typer.Option("--request-n", help="Samples in one request; default 1.", metavar="K"),
    ],
    "batch": Annotated[
        str | None,
        typer.Option(
            help="Ask by this provider's batches: half the price, within a day.",
            metavar="openai|anthropic",
        ),
    ],
    "temperature": Annotated[
        float | None, typer.Option(help="Temperature; default the server's.", metavar="T")
    ],
    "top_p": Annotated[float | None, typer.Option(help="Top-p; default server's.", metavar="P")],
    "max_tokens": Annotated[
        int | None, typer.Option(help="Token limit of a reply, with reasoning.", metavar="N")
    ],
    "seed": Annotated[
        int | None, typer.Option(help="Seed of sample 0; sample i gets seed + i.", metavar="N")
    ],
    "stop": Annotated[
        list[str] | None, typer.Option(help="Text that ends a reply; repeatable.", metavar="TEXT")
    ],
    "top_k": Annotated[int | None, typer.Option(help="Top-k; default server's.", metavar="N")],
    "min_p": Annotated[float | None, typer.Option(help="Min-p; default server's.", metavar="P")],
    "reasoning_effort": Annotated[
        str | None, typer.Option(help="low, medium, high, or the server's.", metavar="LEVEL")
    ],
    "chat_template": Annotated[
        list[str] | None,
        typer.Option(
            help="Switch of the chat template, such as enable_thinking=false; repeatable.",
            metavar="NAME=VALUE",
        ),
    ],
    "extra_body": Annotated[
        str | None, typer.Option(help="Further fields of each request.", metavar="JSON")
    ],
    "header": Annotated[
        list[str] | None,
        typer.Option(
            help="Header of each request; $VAR is put in; repeatable.", metavar="'NAME: VALUE'"
        ),
    ],
    "language": Annotated[
        str | None,
        typer.Option(help="Language of programs, of those of the benchmark.", metavar="NAME"),
    ],
    "prompt": Annotated[
        str | None,
        typer.Option(help="Template of the prompt, or upstream[:STYLE].", metavar="NAME"),
    ],
    "few_shot": Annotated[
        int | None, typer.Option(help="Solved examples in the prompt.", metavar="N")
    ],
    "upstream": Annotated[
        str | None,
        typer.Option(help="Checkout of LiveCodeBench, for its own prompts.", metavar="DIR"),
    ],
    "preset": Annotated[
        str | None,
        typer.Option(
            help="lcb_runner's own settings, where no other is given.", metavar="leaderboard"
        ),
    ],
    "extraction": Annotated[
        str | None, typer.Option(help="How the program is found in a reply.", metavar="NAME")
    ],
    "mode": Annotated[
        str | None,
        typer.Option(help="Rules to judge by; default both.", metavar="official|standard|both"),
    ],
    "no_run_tests": Annotated[bool, typer.Option("--no-run-tests", help="Generate only.")],
    "timeout": Annotated[
        str | None, typer.Option(help="Time limit for one reply; default 10m.", metavar="TIME")
    ],
    "test_timeout": Annotated[
        str | None, typer.Option(help="Time limit for one test; default 6s.", metavar="TIME")
    ],
    "memory": Annotated[
        str | None, typer.Option(help="Memory limit, such as 512M.", metavar="SIZE")
    ],
    "max_connections": Annotated[
        int | None, typer.Option(help="Requests under way at once; default 8.", metavar="N")
    ],
    "concurrency": Annotated[
        int | None, typer.Option(help="Samples under way at once.", metavar="N")
    ],
    "max_retries": Annotated[
        int | None, typer.Option(help="Retries of one reply; default 4.", metavar="N")
    ],
    "agentic_mode": Annotated[bool, typer.Option("--agentic-mode", help="Work as an agent.")],
    "agent": Annotated[
        str | None,
        typer.Option(
            help="An agent of your own instead of the built-in one.", metavar="MODULE:CALLABLE"
        ),
    ],
    "agentic_turn_budget": Annotated[
        int | None, typer.Option(help="Replies for one sample; default 10.", metavar="N")
    ],
    "agentic_token_budget": Annotated[
        int | None, typer.Option(help="Tokens of the model for one sample.", metavar="N")
    ],
    "agentic_time_budget": Annotated[
        str | None, typer.Option(help="Time of the agent for one sample.", metavar="TIME")
    ],
    "agentic_protocol": Annotated[
        str | None, typer.Option(help="text for models without tool calls.", metavar="tools|text")
    ],
    "ray": Ray,
    "on": On,
    "cache": Cache,
    "verify_cache": VerifyCache,
    "normalise_cpu": NormaliseCpu,
    "jobs": Annotated[
        int | None, typer.Option(help="Tests at once; default one per CPU.", metavar="N")
    ],
    "isolation": Annotated[
        str | None, typer.Option(help="Use this isolation level.", metavar="LEVEL")
    ],
    "min_isolation": Annotated[
        str | None, typer.Option(help="Accept no weaker level than this.", metavar="LEVEL")
    ],
    "python": Annotated[
        str | None, typer.Option(help="CPython (3.11+) to run programs under.", metavar="PATH")
    ],
    "packages": Annotated[
        list[str] | None, typer.Option(help="Directory of packages; repeatable.", metavar="DIR")
    ],
    "preload": Annotated[
        list[str] | None, typer.Option(help="Module to import once; repeatable.", metavar="MODULE")
    ],
    "prices": Annotated[
        str | None, typer.Option(help="Prices (TOML), preferred to the bundled.", metavar="FILE")
    ],
    "k": KList,
    "fail_under": FailUnder,
    "dry_run": Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done; ask no model.")
    ],
    "json": Json,
}
"""Type and help text of each option, by the name of its parameter."""
_DEFAULTS: dict[str, Any] = {
    "no_run_tests": False, "agentic_mode": False, "dry_run": False, "json": False, "k": "1,5,10",
    "scenario": "codegeneration", "all_subtasks": False,
}  # fmt: skip
"""Defaults of options for which None does not stand for "not given"."""

_OWN = ("scenario", "earlier", "upstream", "preset", "task", "years", "all_subtasks", "medals",
        "language", "few_shot")  # fmt: skip
_AGENTIC = tuple(name for name in OPTIONS if name.startswith("agent"))
_COMMON = tuple(name for name in OPTIONS if name not in (*_OWN, *DATED, *_AGENTIC))
"""Options of all benchmarks."""


def taking(command: Callable[..., None], family: Family) -> Callable[..., None]:
    """Give a function that takes anything the signature that typer makes options of."""
    taken = {*_COMMON, *family.more, *(_AGENTIC if family.agentic else ())} - {*family.without}
    names = [name for name in OPTIONS if name in taken]
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_DEFAULTS.get(name),
            annotation=OPTIONS[name],
        )
        for name in names
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {name: OPTIONS[name] for name in names}
    return command
