"""Settings of a stored run that have effects: obeyed if this user wrote them, or says them again.

A run's directory may come from anybody. What it only describes can be read, shown and exported.
What would be executed, imported, contacted or opened is signed when the run is begun, setting by
setting; one whose signature is missing or wrong counts only if its option is given by name.
"""

import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import SettingsError
from proctor.evals.benchmark import Benchmark
from proctor.evals.bundled import MODULES, is_benchmark_file
from proctor.evals.models import litellm
from proctor.evals.models.replay import PREFIX
from proctor.evals.records import benchmark_of, settings_of
from proctor.evals.redaction import names_variable, redacted_settings
from proctor.evals.registry import benchmark_named, other_named
from proctor.evals.settings import Settings
from proctor.evals.store import SIGNATURES, RunStore
from proctor.limits import check_limits
from proctor.signatures import is_signed, signature

BENCHMARK = "benchmark"
"""Name for the benchmark among settings: what it is called, or its file."""

Named = Mapping[str, Any]
"""Settings that the user gave by name, by field; `benchmark` is the name or file of one."""
NOTHING: Named = {}


@dataclass(frozen=True, slots=True)
class _Effect:
    """A setting that has effects."""

    option: str
    harmless: Callable[[Settings], bool]
    """Tells for which settings it has none."""


def _unset(name: str) -> Callable[[Settings], bool]:
    return lambda settings: not getattr(settings, name)


_JUDGING = {
    "source": _Effect("--source", lambda settings: settings.source == "fixture"),
    "earlier": _Effect("--from", _unset("earlier")),
    "upstream": _Effect("--upstream", _unset("upstream")),
    "medals": _Effect("--medals", _unset("medals")),
    "isolation": _Effect("--isolation", _unset("isolation")),
    "min_isolation": _Effect("--min-isolation", _unset("min_isolation")),
    "python": _Effect("--python", _unset("python")),
    "packages": _Effect("--packages", _unset("packages")),
    "preload": _Effect("--preload", _unset("preload")),
    "jobs": _Effect("--jobs", _unset("jobs")),
}
_ASKING = {
    "model": _Effect(
        "--model", lambda settings: not settings.model.startswith((PREFIX, litellm.PREFIX))
    ),
    # An empty address is the provider's own, and gets the key as any other.
    "base_url": _Effect("--base-url", lambda settings: settings.model.startswith(PREFIX)),
    "batch": _Effect("--batch", _unset("batch")),
    "headers": _Effect(
        "--header", lambda settings: not any(map(names_variable, settings.headers.values()))
    ),
    "extra_body": _Effect("--extra-body", _unset("extra_body")),
    "agent": _Effect("--agent", _unset("agent")),
}
_EFFECTS = _JUDGING | _ASKING
_AMOUNTS = ("test_timeout", "memory")
"""Settings that have effects only beyond what a stranger may request."""
OPTIONS = (BENCHMARK, *("header" if name == "headers" else name for name in _EFFECTS), *_AMOUNTS)
"""Options by which settings are given by name, as parameters of a command."""


@dataclass(frozen=True, slots=True)
class ObeyedRun:
    """The settings of a run that may have their effects, and its benchmark."""

    settings: Settings
    benchmark: Benchmark[Any]


def sign(store: RunStore) -> None:
    """Sign the settings of a run that was begun by this user, here and now."""
    number = secrets.token_hex(16)
    made = {name: signature("run", number, name, value) for name, value in _recorded(store).items()}
    begun = signature("run", number)
    store.remember({SIGNATURES: {"run": number, "begun": begun, **made}})


def is_own(store: RunStore) -> bool:
    """Return True if all settings that have effects are as this user wrote them."""
    return store.is_new or not _unsigned(store)


def obeyed(store: RunStore, named: Named = NOTHING, *, asks: bool = False) -> ObeyedRun:
    """Return what a run may have done to it: its own settings, replaced by those given by name.

    `asks` says that its model is needed too. Raises SettingsError that lists the settings which are
    neither this user's nor given by name, InputError for a benchmark that is not there.
    """
    settings = settings_of(store)
    wanted = dict(_EFFECTS if asks else _JUDGING)
    unsigned = set() if store.is_new else _unsigned(store)
    refused = {
        effect.option: (name, store.settings.get(name))
        for name, effect in wanted.items()
        if name in unsigned - named.keys() and not effect.harmless(settings)
    }
    if BENCHMARK in unsigned - named.keys() and not _is_bundled(store):
        refused = {"--benchmark": (BENCHMARK, _benchmark(store)[-1])} | refused
    if refused:
        raise _refusal(store, refused)
    if asks and redacted_settings(store.recall("settings")) != store.recall("settings"):
        _check_complete(store, named)
    values = {name: value for name, value in named.items() if name != BENCHMARK}
    if values:
        settings = msgspec.convert(msgspec.to_builtins(settings) | values, Settings)
    if unsigned.intersection(_AMOUNTS) - named.keys():
        for mode in settings.modes:
            check_limits(settings.judge_settings(mode).limits)
    return ObeyedRun(settings, _opened(store, named.get(BENCHMARK)))


def _opened(store: RunStore, name: str | None) -> Benchmark[Any]:
    if name is None:
        return benchmark_of(store)
    if is_benchmark_file(name):
        from proctor.evals.benchmark_file.loading import load

        return load(Path(name))
    return benchmark_named(name)


def _refusal(store: RunStore, refused: Mapping[str, tuple[str, Any]]) -> SettingsError:
    shown = ", ".join(f"{name} = {_shown(value)}" for name, value in refused.values())
    options = " ".join(
        f"{option} {shlex.quote(_shown(value)) if value else 'VALUE'}"
        for option, (_, value) in refused.items()
    )
    return SettingsError(
        f"{store.directory} is not as you wrote it on this machine, so what it names is neither run"
        f" nor opened nor contacted: {shown}. What you want obeyed, give by name: {options}"
    )


def _check_complete(store: RunStore, named: Named) -> None:
    """Raise SettingsError if requests would need a secret that was recorded, and is hidden."""
    stored = store.recall("settings")
    for name in ("headers", "extra_body", "chat_template", "base_url"):
        if name not in named and redacted_settings({name: stored.get(name)})[name] != stored.get(
            name
        ):
            raise SettingsError(
                f"{store.directory}: its {name} holds a secret, which is not read from a record; "
                "give the setting by name, or begin another run"
            )


def _unsigned(store: RunStore) -> set[str]:
    given = store.recall(SIGNATURES)
    signed: dict[str, Any] = given if isinstance(given, dict) else {}
    return {
        name
        for name, value in _recorded(store).items()
        if not is_signed(signed.get(name), "run", signed.get("run"), name, value)
    }


def _recorded(store: RunStore) -> dict[str, Any]:
    """Return the settings that have effects as they are stored, and the benchmark."""
    found = store.recall("settings")
    settings: dict[str, Any] = found if isinstance(found, dict) else {}
    found = {name: settings.get(name) for name in (*_EFFECTS, *_AMOUNTS)}
    # No address is asked for the replies of a file: that it is one belongs to the address.
    found["base_url"] = [found["base_url"], str(found["model"]).startswith(PREFIX)]
    # A run of repairs opens the source by the name that it has in the record.
    return {BENCHMARK: _benchmark(store), "opened": store.recall("source"), **found}


def _benchmark(store: RunStore) -> list[Any]:
    """Return the benchmark's name, and its file if it has one."""
    file = store.recall("benchmark_file")
    return [store.recall("benchmark"), *([] if file is None else [file])]


def _is_bundled(store: RunStore) -> bool:
    name, *file = _benchmark(store)
    bundled = isinstance(name, str) and name in MODULES
    return bundled and not file and other_named(name) is None


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:200]
