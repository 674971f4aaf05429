"""Templates made by lcb_runner's builders in a cell, and prompts made from them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec

from proctor.errors import SettingsError
from proctor.evals.livecodebench.upstream.checkout import Checkout, read
from proctor.evals.livecodebench.upstream.names import UpstreamPrompt, is_upstream, parse
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.languages.cache import Cache
from proctor.languages.pools import open_pool
from proctor.languages.run import Runner, RunRequest
from proctor.limits import MIB, Limits
from proctor.program import Program

Scenario = Literal["codegeneration", "selfrepair", "testoutputprediction", "codeexecution"]

SENT_AS_CHAT = frozenset({"Gemini", "GeminiThinking"})
"""Styles whose text upstream sends as a user's message; texts of other styles are completed."""
_WRITTEN = "templates.json"
_LIMITS = Limits(cpu=20.0, disk=16 * MIB)
_PLACE = re.compile("\ue000([a-z]+)\ue001|(def proctor_function\\(\\): pass)|proctor_function")
"""Placeholders, as in_cell/builders.py writes them."""


class _Written(msgspec.Struct):
    role: Literal["system", "user", "assistant"]
    content: str


class _Templates(msgspec.Struct):
    variants: dict[str, str | list[_Written]] = {}
    styles: list[str] = []
    error: str = ""


@dataclass(frozen=True, slots=True)
class Templates:
    """Prompts of one scenario and style, with placeholders."""

    variants: Mapping[str, tuple[Message, ...]]

    def fill(self, variant: str, **values: str) -> tuple[Message, ...]:
        """Replace placeholders by a problem's parts, which are not searched for further ones."""

        def value(found: re.Match[str]) -> str:
            return values[found[1] or ("starter" if found[2] else "function")]

        return tuple(
            Message(message.role, _PLACE.sub(value, message.content))
            for message in self.variants[variant]
        )


def pinned(settings: Settings, scenario: Scenario) -> Settings:
    """Return the settings with the checkout's digest in the prompt's name, if it is upstream's.

    Raises SettingsError if there is no such style, or if the name has another digest: prompts of a
    run must not change.
    """
    if not is_upstream(settings.prompt):
        return settings
    prompt = parse(settings.prompt)
    if prompt.cot and scenario != "codeexecution":
        raise SettingsError("--prompt upstream-cot is for --scenario codeexecution")
    if settings.agentic_mode:
        raise SettingsError("agents have prompts of their own: leave --prompt upstream out")
    found = msgspec.structs.replace(
        settings,
        prompt=str(replace(prompt, digest=prompt.digest or read(settings.upstream).digest)),
        upstream=str(Path(settings.upstream).resolve()),
    )
    templates(found, scenario)
    return found


def templates(settings: Settings, scenario: Scenario) -> Templates:
    """Return the templates of `settings.prompt`, from a cell the first time. Raises as `pinned`."""
    where = (settings.isolation, settings.min_isolation)
    return _made(settings.upstream, scenario, parse(settings.prompt), where)


@lru_cache(maxsize=32)
def _made(
    directory: str,
    scenario: Scenario,
    prompt: UpstreamPrompt,
    where: tuple[str | None, str | None],
) -> Templates:
    checkout, style = read(directory), prompt.style
    if checkout.digest != prompt.digest:
        raise SettingsError(
            f"the prompts in {directory} are not those of {prompt}: "
            f"their digest is {checkout.digest}"
        )
    found = _built(checkout, scenario, style, where)
    if found.error:
        raise SettingsError(f"the prompts in {directory} cannot be built: {found.error}")
    if not found.variants:
        raise SettingsError(
            f"lcb_runner has no prompt {style} for {scenario}; it has {', '.join(found.styles)}"
        )
    return Templates({name: _messages(each, style) for name, each in found.variants.items()})


def _messages(prompt: str | list[_Written], style: str) -> tuple[Message, ...]:
    if isinstance(prompt, str):
        return (Message("user" if style in SENT_AS_CHAT else "text", prompt),)
    return tuple(Message(each.role, each.content) for each in prompt)


def _built(
    checkout: Checkout, scenario: str, style: str, where: tuple[str | None, str | None]
) -> _Templates:
    source = files("proctor.evals.livecodebench.upstream.in_cell").joinpath("builders.py")
    wanted = {"package": checkout.package, "scenario": scenario, "style": style}
    request = RunRequest(
        Program(source.read_text("utf-8"), files=checkout.files),
        stdin=msgspec.json.encode(wanted),
        limits=_LIMITS,
        collect=(_WRITTEN,),
        most=_LIMITS.disk,
    )
    isolation, least = where
    with open_pool(isolation=isolation, min_isolation=least, cells=1) as pool:
        runner = Runner(pool.setup, Cache(), only_python=pool.only_python)
        ran = pool.do(lambda cell, _queued: runner.run(cell, request))
    written = ran.files.get(_WRITTEN)
    if written is None:
        said = ran.execution.stderr.decode("utf-8", "replace") if ran.execution else ""
        return _Templates(error=" ".join(said.split())[-300:] or "nothing was written")
    try:
        return msgspec.json.decode(written, type=_Templates)
    except (msgspec.DecodeError, RecursionError) as error:
        return _Templates(error=str(error))
