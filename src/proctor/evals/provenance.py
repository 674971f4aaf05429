"""How a run was made: the values that reports show, and that comparisons rest on."""

import hashlib
from typing import Any

import msgspec

from proctor.evals.livecodebench.upstream.leaderboard import comparison
from proctor.evals.records import current_judges, settings_of
from proctor.evals.rounds import rounds
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore


def provenance(store: RunStore) -> dict[str, Any]:
    """Return JSON values by name; two runs must agree on those in `reports.paired.DECISIVE`.

    `dataset` tells what the files hold, not where they lie; `judge` what judged, not how often.
    """
    settings, benchmark = settings_of(store), store.recall("benchmark")
    made = rounds(store)
    last = made[-1] if made else None
    files = store.recall("provenance")
    found: dict[str, Any] = {
        "benchmark": benchmark,
        "model": settings.model,
        "source": store.recall("source"),
        "dataset": _identity(files),
        "files": files,
        "left_out": store.recall("left_out"),
        "prompt": {"style": settings.prompt, "version": store.recall("prompt_version")},
        "prompt_agentic": settings.agent or settings.agentic_mode,
        "hash_of_prompts": store.hash_of_prompts(),
        "extraction": settings.extraction,
        "sampling": _sampling(settings),
        "limits": "of each task"
        if benchmark == "ioi"
        else {"cpu_seconds": settings.test_timeout, "memory_bytes": settings.memory},
        "price": store.recall("price"),
        "begun_by": store.recall("proctor"),
    }
    found |= comparison(str(benchmark), settings, str(store.recall("source")))
    if settings.language:
        found["language"] = settings.language
    modes = store.recall("modes") or {}
    if told := {mode: modes[mode] for mode in settings.modes if mode in modes}:
        found["modes"] = told
    if settings.batch:
        found["batch"] = settings.batch
    if settings.headers:
        found["headers"] = settings.headers
    if (distribution := store.recall("distribution")) is not None:
        found["distribution"] = distribution
    if settings.modes and last is not None:
        found["judge"] = {
            "proctor": last.proctor,
            "python": last.python,
            "packages": last.packages,
            "preload": last.preload,
        }
        found["rounds_of_judging"] = len(made)
        found["judged"] = last.begun
        found["isolation"] = store.levels(current_judges(store, settings).values())
        found["host"] = last.host
    # As it is read from a file: tuples become lists, and so compare equal.
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return plain


def _sampling(settings: Settings) -> dict[str, Any]:
    """Return the sampling parameters; those added since 0.1 only where they were given."""
    found: dict[str, Any] = msgspec.to_builtins(settings.sampling)
    later = ("top_k", "min_p", "reasoning_effort", "chat_template", "extra_body")
    return {name: value for name, value in found.items() if name not in later or value}


def _identity(files: Any) -> Any:
    """Return one digest of a benchmark's files; the files themselves if a digest is missing."""
    if not isinstance(files, list) or not files:
        return files
    digests = [each.get("sha256") if isinstance(each, dict) else None for each in files]
    if not all(isinstance(each, str) for each in digests):
        return files
    return "sha256:" + hashlib.sha256("\n".join(map(str, digests)).encode()).hexdigest()[:16]
