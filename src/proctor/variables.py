"""Environment variables that proctor reads. An empty one counts as not set."""

import os
from pathlib import Path
from typing import NamedTuple


class Variable(NamedTuple):
    """One variable, or several of one meaning."""

    names: str
    """Names, separated by commas."""
    meaning: str


VARIABLES = (
    Variable("PROCTOR_ISOLATION", "Isolation level to use, where no option or argument names one."),
    Variable("PROCTOR_MIN_ISOLATION", "Weakest isolation level to accept, likewise."),
    Variable("PROCTOR_ALLOW_UNSAFE", "1 permits level none; no other value does."),
    Variable("PROCTOR_PRODUCTION", "1 forbids level none, whatever else is set."),
    Variable("PROCTOR_CONFIG", "Configuration file, which must then exist."),
    Variable(
        "PROCTOR_CONTAINER_ENGINE, PROCTOR_CONTAINER_RUNTIME, PROCTOR_CONTAINER_IMAGE",
        "As engine, runtime and image of the file's table container, which they override.",
    ),
    Variable(
        "PROCTOR_SOLVER_ISOLATION",
        "Isolation level for generated solvers, where PROCTOR_ISOLATION names none.",
    ),
    Variable(
        "EXECUTOR_TIMEOUT_SECONDS, SOLVER_WORKERS",
        "Wall seconds and threads of a solver, where no option says otherwise.",
    ),
    Variable(
        "PROCTOR_CACHE_DIR",
        "Directory of compiled programs, precompiled headers and files of the Hugging Face hub;"
        " proctor below XDG_CACHE_HOME.",
    ),
    Variable(
        "PROCTOR_CACHE_KEY",
        "Secret, of 16 characters or more, that seals verdicts remembered on a server.",
    ),
    Variable(
        "PROCTOR_URLS, PROCTOR_URL, PROCTOR_TOKEN",
        "Servers that clients ask, and the token that they show there.",
    ),
    Variable(
        "OPENAI_BASE_URL, OPENAI_API_KEY, MODEL_ID",
        "Server of models, its key, and the model, where no option names them.",
    ),
    Variable("ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY", "The same for --batch anthropic."),
    Variable("HF_ENDPOINT", "Hub that hf: sources come from; https://huggingface.co."),
    Variable("HF_TOKEN", "Token for closed data sets of the hub."),
    Variable("HF_HUB_OFFLINE", "1: hf: sources come from the cache only."),
    Variable("RAY_ADDRESS", "Ray cluster of --ray without an address."),
    Variable(
        "PISTON_ENDPOINTS, PISTON_MAX_REQUESTS_PER_ENDPOINT, PISTON_KEY",
        "Servers of --runner piston:, requests to each at once (1), and their key.",
    ),
    Variable(
        "TT_SANDBOX_MODE, TT_SANDBOX_ALLOW_UNSAFE, TT_PRODUCTION",
        "Tack's names: docker, bwrap or none for PROCTOR_SOLVER_ISOLATION (auto names none), 1 for"
        " PROCTOR_ALLOW_UNSAFE and PROCTOR_PRODUCTION.",
    ),
    Variable("XDG_CONFIG_HOME", "Directory of proctor/config.toml; ~/.config."),
    Variable("XDG_CACHE_HOME", "Directory of caches; ~/.cache."),
    Variable(
        "XDG_STATE_HOME",
        "Directory of proctor/signing-key, by which your own runs are known; ~/.local/state.",
    ),
    Variable("TMPDIR", "Directory of scratch space at level landlock; /tmp."),
    Variable("NO_COLOR", "Anything: no colours."),
    Variable("PROCTOR_TEST_DATA", "Data sets for proctor's own tests."),
)


def base_directory(variable: str, usual: str) -> Path:
    """Return a base directory of the user's: a variable's, or the usual one below `~`.

    A path that is not absolute is not used: the working directory may be a stranger's. Raises
    RuntimeError for a user without a home.
    """
    named = Path(os.environ.get(variable) or "")
    return named if named.is_absolute() else Path(usual).expanduser()
