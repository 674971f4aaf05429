"""Names of sources that all benchmarks share, and the description of files in a run's record."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FIXTURE = "fixture"
HUB = "huggingface"


def described(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Describe files for a run's record: name, bytes and SHA-256 of each."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append({"file": path.name, "size": path.stat().st_size, "sha256": digest})
    return found
