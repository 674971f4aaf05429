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
        help="Values of k for pass@k, where every problem has k samples.",
        metavar="LIST",
        rich_help_panel=OUTPUT,
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        help="Exit with 1 if pass@1 (standard, if judged so) is below this, 0 to 1.",
        metavar="RATE",
        rich_help_panel=OUTPUT,
    ),
]


def option(
    kind: Any, panel: str, metavar: str | None, text: str, default: str = "", *, flag: str = ""
) -> Any:
    """Return an annotation of a parameter; `default` describes, for help, what holds without it."""
    shown = typer.Option(
        *([flag] if flag else []),
        help=text, metavar=metavar, show_default=default or True, rich_help_panel=panel,
    )  # fmt: skip
    return Annotated[kind, shown]


TEXT, WHOLE, NUMBER, LIST = str | None, int | None, float | None, list[str] | None
OPTIONS: dict[str, Any] = {
    "source": option(
        TEXT,
        PROBLEMS,
        "SOURCE",
        "Source of the problems: fixture (a few of proctor's own), huggingface[:RELEASE], a file, "
        "or hf:OWNER/NAME (not for livecodebench).",
        "fixture",
    ),
    "scenario": option(
        str,
        PROBLEMS,
        "NAME",
        "Kind of task: codegeneration, selfrepair, testoutputprediction or codeexecution.",
    ),
    "earlier": option(
        TEXT,
        PROBLEMS,
        "RUN",
        "For selfrepair: finished run whose programs are repaired.",
        flag="--from",
    ),
    "task": option(
        TEXT,
        PROBLEMS,
        "NAME",
        "Task or set of the benchmark: of cruxeval output or input; of evoeval difficult, "
        "creative, subtle, combine, tool_use, verbose or concise.",
        "the first",
    ),
    "language": option(
        TEXT,
        PROBLEMS,
        "NAME",
        "Language of programs, such as cpp.",
        "the benchmark's usual one",
    ),
    "years": option(TEXT, PROBLEMS, "LIST", "Years to choose, such as 2023,2024.", "all"),
    "platforms": option(
        TEXT,
        PROBLEMS,
        "LIST",
        "Platforms to choose, such as leetcode,atcoder; of ds1000, libraries.",
        "all",
    ),
    "difficulties": option(
        TEXT,
        PROBLEMS,
        "LIST",
        "Difficulties to choose, such as easy,medium.",
        "all",
    ),
    "min_release_date": option(
        TEXT, PROBLEMS, "DATE", "First day of publication, such as 2024-08-01."
    ),
    "max_release_date": option(
        TEXT,
        PROBLEMS,
        "DATE",
        "Last day of publication, such as 2025-01-31.",
    ),
    "limit": option(
        TEXT,
        PROBLEMS,
        "N|A-B",
        "First N of the chosen problems, or those from A to B, such as 11-20.",
        "all",
    ),
    "sample_id": option(LIST, PROBLEMS, "ID", "Problem to choose, by its id. Repeatable."),
    "model": option(
        LIST,
        MODEL,
        "NAME",
        "Model's name at the server; litellm:PROVIDER/NAME; or replay:FILE for recorded "
        "replies. Repeatable: a run for each.",
        "MODEL_ID",
    ),
    "base_url": option(
        TEXT,
        MODEL,
        "URL",
        "URL of an OpenAI-compatible server, such as http://localhost:8000/v1. OPENAI_API_KEY "
        "is its key.",
        "OPENAI_BASE_URL, else OpenAI's",
    ),
    "start_server": StartServer,
    "reply_cache": ReplyCache,
    "header": option(
        LIST,
        MODEL,
        "'NAME: VALUE'",
        "Header of each request; $VAR stands for a variable of the environment. Repeatable.",
    ),
    "batch": option(
        TEXT,
        MODEL,
        "PROVIDER",
        "Ask by batches of openai or anthropic: half the price, within a day.",
        "none",
    ),
    "max_connections": option(WHOLE, MODEL, "N", "Requests to the server at once, at most.", "8"),
    "concurrency": option(
        WHOLE,
        MODEL,
        "N",
        "Samples under way at once, asked for or judged.",
        "what keeps both busy",
    ),
    "timeout": option(TEXT, MODEL, "TIME", "Time for one whole reply.", "10m"),
    "max_retries": option(
        WHOLE, MODEL, "N", "Further requests for a reply if the server fails.", "4"
    ),
    "prices": option(TEXT, MODEL, "FILE", "TOML file of prices, preferred to the bundled."),
    "n": option(
        WHOLE, REPLIES, "N", "Samples for each problem.", "1, or all of a recording", flag="--n"
    ),
    "request_n": option(
        WHOLE, REPLIES, "K", "Samples in one request, at most.", "1", flag="--request-n"
    ),
    "temperature": option(
        NUMBER, REPLIES, "T", "Sampling temperature, such as 0.2.", "the server's"
    ),
    "top_p": option(
        NUMBER,
        REPLIES,
        "P",
        "Share of probability to sample from, such as 0.95.",
        "the server's",
    ),
    "top_k": option(
        WHOLE,
        REPLIES,
        "N",
        "Likeliest tokens to sample from.",
        "the server's",
    ),
    "min_p": option(
        NUMBER,
        REPLIES,
        "P",
        "Least probability of a token, relative to the likeliest.",
        "the server's",
    ),
    "max_tokens": option(
        WHOLE, REPLIES, "N", "Tokens of a reply, reasoning included, at most.", "the server's"
    ),
    "seed": option(
        WHOLE,
        REPLIES,
        "N",
        "Seed of sample 0; sample i has seed + i.",
        "none is sent",
    ),
    "stop": option(LIST, REPLIES, "TEXT", "Text that ends a reply. Repeatable."),
    "reasoning_effort": option(
        TEXT,
        REPLIES,
        "LEVEL",
        "Effort: low, medium, high, or another of the server's.",
        "the server's",
    ),
    "chat_template": option(
        LIST,
        REPLIES,
        "NAME=VALUE",
        "Switch of the chat template, such as enable_thinking=false. Repeatable.",
    ),
    "extra_body": option(
        TEXT, REPLIES, "JSON", "Further fields of each request, such as '{\"top_a\": 0.1}'."
    ),
    "prompt": option(
        TEXT,
        REPLIES,
        "NAME",
        "Prompt: plain, user-only (no system message), another of the benchmark, or for "
        "livecodebench upstream[:STYLE], lcb_runner's own.",
        "plain",
    ),
    "few_shot": option(
        WHOLE, REPLIES, "N", "Solved examples in the prompt.", "as many as the benchmark has"
    ),
    "upstream": option(
        TEXT, REPLIES, "DIR", "Checkout of LiveCodeBench, whose prompts --prompt upstream takes."
    ),
    "preset": option(
        TEXT,
        REPLIES,
        "NAME",
        "leaderboard: lcb_runner's prompt, extraction, mode, source, 10 samples, temperature "
        "0.2, top-p 0.95 and 2000 tokens, where nothing else is said.",
    ),
    "extraction": option(
        TEXT,
        REPLIES,
        "NAME",
        "How the program is found in a reply: auto, last-block, first-block, upstream (as "
        "lcb_runner) or whole.",
        "auto",
    ),
    "agentic_mode": option(
        bool,
        AGENT,
        None,
        "Let the model work with tools, over several replies.",
        flag="--agentic-mode",
    ),
    "agent": option(
        TEXT,
        AGENT,
        "MODULE:CALLABLE",
        "Agent of your own, run as you, instead of proctor's.",
    ),
    "agentic_turn_budget": option(
        WHOLE, AGENT, "N", "Replies of an agent for one sample, at most.", "10"
    ),
    "agentic_token_budget": option(
        WHOLE, AGENT, "N", "Tokens of an agent for one sample, at most.", "no limit"
    ),
    "agentic_time_budget": option(
        TEXT, AGENT, "TIME", "Time of an agent for one sample, such as 15m.", "no limit"
    ),
    "agentic_protocol": option(
        TEXT,
        AGENT,
        "NAME",
        "Protocol: tools, or text for models without tool calls.",
        "tools",
    ),
    "mode": option(
        TEXT,
        JUDGING,
        "MODE",
        "Rules to judge by: official (the published evaluator's), standard (a contest judge's) "
        "or both.",
        "both",
    ),
    "no_run_tests": option(
        bool, JUDGING, None, "Ask for replies only; judge nothing.", flag="--no-run-tests"
    ),
    "all_subtasks": option(
        bool,
        JUDGING,
        None,
        "Judge programs on all subtasks, not only on the one asked for.",
        flag="--all-subtasks",
    ),
    "medals": option(TEXT, JUDGING, "FILE", "Medal thresholds of each year, TOML or JSON."),
    "test_timeout": option(
        TEXT, JUDGING, "TIME", "CPU time for one test.", "6s, or what the benchmark says"
    ),
    "memory": option(
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
    "out": option(
        TEXT,
        OUTPUT,
        "DIR",
        "Directory of the run, or above the runs of several models.",
        "a new one below runs",
    ),
    "config": option(
        TEXT,
        OUTPUT,
        "FILE",
        "TOML file of these options, such as n = 10; typed ones go first.",
    ),
    "dry_run": option(
        bool,
        OUTPUT,
        None,
        "Show the plan and the first prompt; ask no model.",
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
    """Give a function of any arguments the signature from which typer makes its options."""
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
