"""Find what changed since the last landing, by git."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANDINGS = ROOT / ".ci" / "landings"
BASE = "PROCTOR_CI_BASE"
"""Environment variable with a commit to compare with instead, as of a pull request."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths below the repository that differ from a commit which passed."""

    since: str
    """That commit, or why there is none."""
    paths: frozenset[str] | None
    """None where nothing is known: then everything counts as changed."""

    def within(self, *places: str) -> bool:
        """Say whether one of these files changed, or a file below one of these folders."""
        if self.paths is None:
            return True
        return any(
            path == place or path.startswith(f"{place}/") for path in self.paths for place in places
        )


def landings() -> list[str]:
    """Return the commits that landed, oldest first."""
    lines = LANDINGS.read_text("utf-8").splitlines() if LANDINGS.exists() else []
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def turn() -> int:
    """Number this landing, from which follows whose turn it is among what is run in rotation."""
    return len(landings())


def changes() -> Changes:
    """Compare the work tree, with what is not committed, with the last landing."""
    base = os.environ.get(BASE) or next(reversed(landings()), "")
    if not base:
        return Changes("no landing is on record", None)
    # What is no ancestor says nothing of what this tree passed.
    if _git("merge-base", "--is-ancestor", base, "HEAD") is None:
        return Changes(f"{base} is not among this commit's ancestors here", None)
    changed = _git("diff", "--name-only", "--no-renames", base, "--")
    new = _git("ls-files", "--others", "--exclude-standard")
    if changed is None or new is None:
        return Changes("git could not tell what changed", None)
    return Changes(base, frozenset(changed.splitlines()) | frozenset(new.splitlines()))


def _git(*arguments: str) -> str | None:
    """Return what git prints, or None where it fails."""
    # Whoever runs this may not own the files: git then answers only if told that it is meant.
    safe = ["-c", f"safe.directory={ROOT}", "-c", "core.quotePath=off"]
    try:
        done = subprocess.run(
            ["git", *safe, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
