"""A checkout of LiveCodeBench: the files of it that write prompts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from proctor.errors import InputError, SettingsError

URL = "https://github.com/LiveCodeBench/LiveCodeBench"
PACKAGES = ("lcb_runner", "livecodebench")
"""Names that the package has: upstream's, and that of nvidia-livecodebench on PyPI."""
FILES = (
    "lm_styles.py",
    "prompts/code_generation.py",
    "prompts/self_repair.py",
    "prompts/test_output_prediction.py",
    "prompts/code_execution.py",
    "prompts/few_shot_examples/generation/func.json",
    "prompts/few_shot_examples/generation/stdin.json",
)
VERSIONS = MappingProxyType(
    {
        "af7b992f0afc": "LiveCodeBench at 28fef95, July 2025",
        "699d54a4cb1f": "nvidia-livecodebench 26.3",
    }
)
"""Known versions by the digest of their files."""
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Checkout:
    """Files that write prompts, by path relative to the working directory of their builders."""

    package: str
    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """12 hex digits of the SHA-256 over names and contents."""
        found = hashlib.sha256()
        for name in FILES:
            content = self.files[f"{self.package}/{name}"]
            found.update(f"{name} {len(content)}\n".encode() + content)
        return found.hexdigest()[:12]


def read(directory: str) -> Checkout:
    """Read a checkout, or the package in one. Raises InputError, SettingsError if none is named."""
    if not directory:
        raise SettingsError(
            f"--prompt upstream needs --upstream DIR, a checkout of LiveCodeBench: git clone {URL}"
        )
    place = Path(directory)
    for package in PACKAGES:
        for root in (place / package, place):
            if root.name == package and (root / FILES[0]).is_file():
                return Checkout(
                    package, {f"{package}/{name}": _content(root / name) for name in FILES}
                )
    raise InputError(
        f"is not a checkout of LiveCodeBench: it has no lcb_runner/{FILES[0]}; git clone {URL}",
        file=directory,
    )


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    if len(content) > _LARGEST:
        raise InputError(f"is longer than {_LARGEST} bytes, which no file of it is", file=str(path))
    return content
