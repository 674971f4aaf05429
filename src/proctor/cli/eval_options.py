"""Options of `proctor eval`: each described once, for all benchmarks."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from proctor.cli.judges import Cache, NormaliseCpu, On, Ray, VerifyCache
from proctor.cli.options import (
    Isolation,
    Jobs,
    Json,
    MinIsolation,
    Packages,
    Preload,
    Python,
)
from proctor.cli.panels import JUDGING, OUTPUT
from proctor.evals.bundled import DATED, Family

PROBLEMS, MODEL, REPLIES, AGENT = "Problems", "Model", "Replies", "Agent"

StartServer = Annotated[
    str | None,
    typer.Option(
        "--start-server",
        help="Command that serves the model while the run lasts, such as 'vllm serve {model}"
        " --port {port}'.",
        metavar="COMMAND",
        rich_help_panel=MODEL,
    ),
]
ReplyCache = Annotated[
    str | None,
    typer.Option(
        "--reply-cache",
        help="Directory of replies that runs share, so that none is paid for twice.",
        metavar="DIR",
        rich_help_panel=MODEL,
    ),
]
KList = Annotated[
    str,
    typer.Option(
        "--k",
        help="Values of k for pass@k, shown where every problem has k samples.",
        metavar="LIST",
        rich_help_panel=OUTPUT,
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        help="Exit with 1 if pass@1 is below this, from 0 to 1; of both modes standard counts.",
        metavar="RATE",
        rich_help_panel=OUTPUT,
    ),
]


def _option(
    kind: Any, panel: str, metavar: str | None, text: str, default: str = "", *, flag: str = ""
) -> Any:
    """Return an annotation of a parameter; `default` is what holds where it is not given."""
    shown = typer.Option(
        *([flag] if flag else []),
        help=text, metavar=metavar, show_default=default or True, rich_help_panel=panel,
    )  # fmt: skip
    return Annotated[kind, shown]


TEXT, WHOLE, NUMBER, LIST = str | None, int | None, float | None, list[str] | None
OPTIONS: dict[str, Any] = {
    "source": _option(
        TEXT,
        PROBLEMS,
        "SOURCE",
        "Where the problems are from: fixture (a few that come with proctor), "
        "huggingface[:RELEASE], a file, or but for livecodebench hf:OWNER/NAME.",
        "fixture",
    ),
    "scenario": _option(
        str,
        PROBLEMS,
        "NAME",
        "Kind of task: codegeneration, selfrepair, testoutputprediction or codeexecution.",
    ),
    "earlier": _option(
        TEXT,
        PROBLEMS,
        "RUN",
        "For selfrepair: directory of the finished run whose programs are repaired.",
        flag="--from",
    ),
    "task": _option(
        TEXT,
        PROBLEMS,
        "NAME",
        "Task or set of the benchmark: of cruxeval output or input; of evoeval difficult, "
        "creative, subtle, combine, tool_use, verbose or concise.",
        "the first",
    ),
    "language": _option(
        TEXT,
        PROBLEMS,
        "NAME",
        "Language that programs are asked for in, such as cpp.",
        "the benchmark's usual one",
    ),
    "years": _option(
        TEXT, PROBLEMS, "LIST", "Take tasks of these years only, such as 2023,2024.", "all"
    ),
    "platforms": _option(
        TEXT,
        PROBLEMS,
        "LIST",
        "Take problems of these platforms only, such as leetcode,atcoder; of ds1000, of these "
        "libraries.",
        "all",
    ),
    "difficulties": _option(
        TEXT,
        PROBLEMS,
        "LIST",
        "Take problems of these difficulties only, such as easy,medium.",
        "all",
    ),
    "min_release_date": _option(
        TEXT, PROBLEMS, "DATE", "Take problems published on this day or later, such as 2024-08-01."
    ),
    "max_release_date": _option(
        TEXT,
        PROBLEMS,
        "DATE",
        "Take problems published on this day or earlier, such as 2025-01-31.",
    ),
    "limit": _option(
        TEXT,
        PROBLEMS,
        "N|A-B",
        "Of what is left take the first N problems, or those from A to B, such as 11-20.",
        "all",
    ),
    "sample_id": _option(LIST, PROBLEMS, "ID", "Take the problem of this id only. Repeatable."),
    "model": _option(
        LIST,
        MODEL,
        "NAME",
        "Model's name at the server; litellm:PROVIDER/NAME; or replay:FILE for recorded "
        "replies. Repeatable: a run for each.",
        "MODEL_ID",
    ),
    "base_url": _option(
        TEXT,
        MODEL,
        "URL",
        "URL of an OpenAI-compatible server, such as http://localhost:8000/v1. OPENAI_API_KEY "
        "is its key.",
        "OPENAI_BASE_URL, else OpenAI's",
    ),
    "start_server": StartServer,
    "reply_cache": ReplyCache,
    "header": _option(
        LIST,
        MODEL,
        "'NAME: VALUE'",
        "Header of each request; $VAR stands for a variable of the environment. Repeatable.",
    ),
    "batch": _option(
        TEXT,
        MODEL,
        "PROVIDER",
        "Ask by the batches of this provider, openai or anthropic: half the price, within a day.",
        "replies are asked for one by one",
    ),
    "max_connections": _option(WHOLE, MODEL, "N", "Requests to the server at once, at most.", "8"),
    "concurrency": _option(
        WHOLE,
        MODEL,
        "N",
        "Samples under way at once, at the model or at the judge.",
        "what keeps both busy",
    ),
    "timeout": _option(TEXT, MODEL, "TIME", "Time for one whole reply.", "10m"),
    "max_retries": _option(
        WHOLE, MODEL, "N", "Times that one reply is asked for again if the server fails.", "4"
    ),
    "prices": _option(TEXT, MODEL, "FILE", "TOML file of prices, which go above the bundled ones."),
    "n": _option(
        WHOLE, REPLIES, "N", "Samples for each problem.", "1, or all of a recording", flag="--n"
    ),
    "request_n": _option(
        WHOLE, REPLIES, "K", "Samples that one request asks for, at most.", "1", flag="--request-n"
    ),
    "temperature": _option(
        NUMBER, REPLIES, "T", "Sampling temperature, such as 0.2.", "the server's"
    ),
    "top_p": _option(
        NUMBER,
        REPLIES,
        "P",
        "Nucleus sampling: share of probability to sample from, such as 0.95.",
        "the server's",
    ),
    "top_k": _option(
        WHOLE,
        REPLIES,
        "N",
        "Number of likeliest tokens to sample from; servers of open models know it.",
        "the server's",
    ),
    "min_p": _option(
        NUMBER,
        REPLIES,
        "P",
        "Least probability of a token, relative to the likeliest; servers of open models know it.",
        "the server's",
    ),
    "max_tokens": _option(
        WHOLE, REPLIES, "N", "Tokens of a reply, reasoning included, at most.", "the server's"
    ),
    "seed": _option(
        WHOLE,
        REPLIES,
        "N",
        "Seed of the first sample; sample i is asked for with seed + i.",
        "none is sent",
    ),
    "stop": _option(LIST, REPLIES, "TEXT", "Text that ends a reply. Repeatable."),
    "reasoning_effort": _option(
        TEXT,
        REPLIES,
        "LEVEL",
        "How much to reason: low, medium, high, or what the server knows.",
        "the server's",
    ),
    "chat_template": _option(
        LIST,
        REPLIES,
        "NAME=VALUE",
        "Switch of the chat template, such as enable_thinking=false. Repeatable.",
    ),
    "extra_body": _option(
        TEXT, REPLIES, "JSON", "Further fields of each request, such as '{\"top_a\": 0.1}'."
    ),
    "prompt": _option(
        TEXT,
        REPLIES,
        "NAME",
        "Prompt: plain, user-only (no system message), another of the benchmark, or for "
        "livecodebench upstream[:STYLE], lcb_runner's own.",
        "plain",
    ),
    "few_shot": _option(
        WHOLE, REPLIES, "N", "Solved examples in the prompt.", "as many as the benchmark has"
    ),
    "upstream": _option(
        TEXT, REPLIES, "DIR", "Checkout of LiveCodeBench, whose prompts --prompt upstream takes."
    ),
    "preset": _option(
        TEXT,
        REPLIES,
        "NAME",
        "leaderboard: lcb_runner's prompt, extraction, mode, source, 10 samples, temperature "
        "0.2, top-p 0.95 and 2000 tokens, where nothing else is said.",
    ),
    "extraction": _option(
        TEXT,
        REPLIES,
        "NAME",
        "How the program is found in a reply: auto, last-block, first-block, upstream (as "
        "lcb_runner) or whole.",
        "auto",
    ),
    "agentic_mode": _option(
        bool,
        AGENT,
        None,
        "Let the model write and try its program with tools, over several replies.",
        flag="--agentic-mode",
    ),
    "agent": _option(
        TEXT,
        AGENT,
        "MODULE:CALLABLE",
        "Agent of your own, run on this machine as you, instead of proctor's.",
    ),
    "agentic_turn_budget": _option(
        WHOLE, AGENT, "N", "Replies that an agent may give for one sample.", "10"
    ),
    "agentic_token_budget": _option(
        WHOLE, AGENT, "N", "Tokens that an agent may write for one sample.", "no limit"
    ),
    "agentic_time_budget": _option(
        TEXT, AGENT, "TIME", "Time that an agent may take for one sample, such as 15m.", "no limit"
    ),
    "agentic_protocol": _option(
        TEXT,
        AGENT,
        "NAME",
        "How an agent calls tools: tools, or text for models without tool calls.",
        "tools",
    ),
    "mode": _option(
        TEXT,
        JUDGING,
        "MODE",
        "Rules to judge by: official (the published evaluator's), standard (a contest judge's) "
        "or both.",
        "both",
    ),
    "no_run_tests": _option(
        bool, JUDGING, None, "Ask for replies only; judge nothing.", flag="--no-run-tests"
    ),
    "all_subtasks": _option(
        bool,
        JUDGING,
        None,
        "Judge each program on all subtasks of its task, not only on the one it was asked for.",
        flag="--all-subtasks",
    ),
    "medals": _option(TEXT, JUDGING, "FILE", "Medal thresholds of each year, TOML or JSON."),
    "test_timeout": _option(
        TEXT, JUDGING, "TIME", "Time for one test.", "6s, or what the benchmark says"
    ),
    "memory": _option(
        TEXT, JUDGING, "SIZE", "Memory for one test, such as 512M.", "1G; 4G in official mode"
    ),
    "isolation": Isolation,
    "min_isolation": MinIsolation,
    "python": Python,
    "packages": Packages,
    "preload": Preload,
    "jobs": Jobs,
    "ray": Ray,
    "on": On,
    "cache": Cache,
    "verify_cache": VerifyCache,
    "normalise_cpu": NormaliseCpu,
    "out": _option(
        TEXT,
        OUTPUT,
        "DIR",
        "Directory of the run, new or empty; of several models, one above their runs.",
        "a new one below runs",
    ),
    "config": _option(
        TEXT,
        OUTPUT,
        "FILE",
        "TOML file of these options, such as n = 10; options that are typed go first.",
    ),
    "dry_run": _option(
        bool,
        OUTPUT,
        None,
        "Show what would be asked and the first prompt; ask no model.",
        flag="--dry-run",
    ),
    "k": KList,
    "fail_under": FailUnder,
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
