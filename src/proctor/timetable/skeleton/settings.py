"""Settings of the search, from environment variables that the host sets."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

MOST_WORKERS = 8
DETERMINISTIC = ("SOLVER_DETERMINISTIC", "TT_DETERMINISTIC")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of the search."""

    workers: int = 1
    seconds: float = 60.0
    """Time for everything, from the reading of the input on."""
    seed: int = 42
    deterministic: bool = False
    memory_mb: int | None = None
    progress_fd: int | None = None

    @classmethod
    def of_environment(cls, environ: Mapping[str, str] = os.environ) -> "SearchSettings":
        """Read the settings; a variable that is absent or not a number has its default."""
        deterministic = "1" in {environ.get(name) for name in DETERMINISTIC}
        workers = int(_number(environ, "SOLVER_WORKERS", 1))
        memory = int(_number(environ, "SOLVER_MAX_MEMORY_MB", 0))
        progress = int(_number(environ, "SOLVER_PROGRESS_FD", -1))
        return cls(
            workers=1 if deterministic else min(max(1, workers), MOST_WORKERS),
            seconds=max(0.1, _number(environ, "SOLVER_MAX_SECONDS", 60.0)),
            seed=int(_number(environ, "SOLVER_RANDOM_SEED", 42)) % 2**31,
            deterministic=deterministic,
            memory_mb=memory if memory > 0 else None,
            progress_fd=progress if progress >= 0 else None,
        )


def _number(environ: Mapping[str, str], name: str, default: float) -> float:
    try:
        return float(environ.get(name, ""))
    except ValueError:
        return default
