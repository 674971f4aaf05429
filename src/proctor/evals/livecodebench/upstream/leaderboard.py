"""Settings of LiveCodeBench's leaderboard, and how a run's differ from them.

Source: the defaults of lcb_runner/runner/parser.py, and what each of its runners sends.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from proctor.errors import SettingsError
from proctor.evals.livecodebench.upstream.checkout import VERSIONS
from proctor.evals.livecodebench.upstream.names import is_upstream, parse
from proctor.evals.settings import Settings

PRESET = "leaderboard"
_USUAL: Mapping[str, Any] = MappingProxyType({
    "temperature": 0.2, "top_p": 0.95, "max_tokens": 2000,
})  # fmt: skip
_OWN: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "OpenAIReasonPreview": {"max_tokens": 25000},
        "OpenAIReason": {},
        "GeminiThinking": {},
        "Claude3Thinking": {
            "max_tokens": 32000,
            "extra_body": {"thinking": {"type": "enabled", "budget_tokens": 24000}},
        },
    }
)
"""Sampling settings of styles whose runner does not use the usual ones."""
_BY_SERVERS = frozenset({
    "OpenAIChat", "DeepSeekAPI", "TogetherAI", "CohereCommand", "MistralWeb", "Claude", "Claude3",
    "Gemini", "Grok",
})  # fmt: skip
"""Styles whose models are behind a server; for all others upstream has vLLM, with a stop string."""
_EQUAL = ("temperature", "top_p", "max_tokens", "stop", "top_k", "min_p", "chat_template",
          "extra_body", "test_timeout", "memory", "extraction")  # fmt: skip
_PART = ("platforms", "difficulties", "limit", "sample_id")


def preset(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a preset stands for. Raises SettingsError for an unknown one.

    The style of the prompt in `given` decides the sampling settings.
    """
    if name != PRESET:
        raise SettingsError(f"--preset is {PRESET}, not {name!r}")
    prompt = given.get("prompt") or "upstream"
    found = {
        "prompt": prompt,
        "extraction": "upstream",
        "mode": "official",
        "source": "huggingface",
        **_sampling(parse(prompt).style if is_upstream(prompt) else ""),
    }
    # Self-repair asks once for each program of the earlier run.
    return found if given.get("earlier") else {"n": 10, **found}


def differences(settings: Settings, source: str) -> list[str]:
    """Say what keeps a run's scores from being comparable with the leaderboard's; [] if nothing.

    Dates of problems are the leaderboard's own choice, and make no difference.
    """
    found = []
    style = ""
    if settings.model.startswith("replay:"):
        found.append("replies of a recording, whose prompts are not known")
    elif not is_upstream(settings.prompt):
        found.append(f"prompt {settings.prompt}")
    else:
        prompt = parse(settings.prompt)
        style = prompt.style
        if prompt.digest not in VERSIONS:
            found.append(f"prompts of an unknown version of lcb_runner, {prompt.digest or 'none'}")
    if settings.agentic_mode:
        found.append("an agent")
    if settings.language:
        found.append(f"programs in {settings.language}")
    if "official" not in settings.modes:
        found.append("not judged in mode official")
    wanted = msgspec.convert(
        {"extraction": "upstream", **({} if settings.earlier else {"n": 10}), **_sampling(style)},
        Settings,
    )
    for name in ("n", *_EQUAL):
        has, has_there = getattr(settings, name), getattr(wanted, name)
        if has != has_there:
            found.append(f"{name} {_shown(has)} instead of {_shown(has_there)}")
    if source.partition(":")[0] != "huggingface":
        found.append(f"problems from {source}")
    if any(getattr(settings, name) for name in _PART):
        found.append("not all problems")
    return found


def _sampling(style: str) -> dict[str, Any]:
    if style in _OWN:
        return dict(_OWN[style])
    stop = {} if style in _BY_SERVERS or not style else {"stop": ["###"]}
    return {**_USUAL, **stop}


def _shown(value: Any) -> str:
    if value is None or value in ((), {}):
        return "not set"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def comparison(benchmark: str, settings: Settings, source: str) -> dict[str, Any]:
    """Return `leaderboard`: `comparable`, and what `differs`; {} for other benchmarks."""
    if benchmark.partition("/")[0] != "livecodebench":
        return {}
    found = differences(settings, source)
    return {"leaderboard": {"comparable": not found, "differs": found}}


def meant_for_it(settings: Settings) -> bool:
    """True if a run was meant for comparison with the leaderboard, judging by its settings."""
    return bool(settings.preset) or is_upstream(settings.prompt) or settings.source != "fixture"
