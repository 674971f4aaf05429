"""Settings of a stored run that are given by name: options of `resume`, `replay` and the like."""

import functools
import inspect
from collections.abc import Callable, Collection
from copy import copy
from typing import Annotated, Any, get_args

from proctor.cli.eval_options import OPTIONS, TEXT, option

BY_NAME = "Settings of the run given by name"
_BENCHMARK = option(TEXT, BY_NAME, "NAME", "Benchmark, such as apps, or benchmark file (.toml).")
NAMED = (
    "benchmark", "source", "earlier", "upstream", "medals", "isolation", "min_isolation", "python",
    "packages", "preload", "jobs", "model", "base_url", "batch", "header", "extra_body", "agent",
    "test_timeout", "memory",
)  # fmt: skip
"""Options that count instead of what a stored run says, and that a stranger's run needs."""


def naming(command: Callable[..., None], names: Collection[str] = NAMED) -> Callable[..., None]:
    """Give a function with `**given` options of these names; those not given are not passed."""
    own = inspect.signature(command).parameters
    fixed = [each for each in own.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_named(name)
        )
        for name in names
    ]

    @functools.wraps(command)
    def called(**options: Any) -> None:
        command(
            **{name: value for name, value in options.items() if name in own or value is not None}
        )

    made = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in fixed]
    called.__signature__ = inspect.Signature([*made, *added])  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in (*made, *added)}
    return called


def _named(name: str) -> Any:
    kind, option = get_args(_BENCHMARK if name == "benchmark" else OPTIONS[name])
    shown = copy(option)
    shown.rich_help_panel, shown.show_default = BY_NAME, "as recorded"
    if name == "model":
        kind = TEXT
    return Annotated[kind, shown]
