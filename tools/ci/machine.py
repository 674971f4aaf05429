"""Provide what a landing needs: Debian's packages, environments, an ordinary user."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ci.changes import ROOT

NETWORK = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "PIP_",
    "SSL_CERT_",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
)
"""Beginnings of variables that say how a network is reached: an ordinary user needs them too."""
CERTIFICATES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/cert.pem")
UV = {
    "UV_PYTHON_DOWNLOADS": "never",
    "UV_COMPILE_BYTECODE": "1",
    "UV_SYSTEM_CERTS": str(any(map(os.path.exists, CERTIFICATES))).lower(),
}
"""Settings of uv, as in Makefile."""
USER_PYTHON = "/usr/bin/python3"
"""Python of the ordinary user, who cannot reach one in root's home."""


def run(*command: str, **environment: str) -> None:
    """Run a command of the preparation. Raises SystemExit if it fails."""
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with exit code {done.returncode}")


def uv() -> str:
    """Return uv, which `make` takes from PATH or installs."""
    own = ROOT / ".venv/bin/uv"
    return str(own) if own.exists() else shutil.which("uv") or str(own)


def install(needs: Mapping[str, str]) -> None:
    """Install Debian's packages, given by the commands and files for which they are needed."""
    missing = [
        name for what, packages in needs.items() if not _is_here(what) for name in packages.split()
    ]
    if not missing:
        return
    if os.geteuid() != 0:
        print(f"not installed, and only root can install: {' '.join(missing)}", flush=True)
        return
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get", "update", "-qq", **environment)
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, **environment)


def _is_here(what: str) -> bool:
    if what.startswith("/"):
        return bool(list(Path("/").glob(what[1:])))
    if what.startswith("import "):
        return (
            subprocess.run([USER_PYTHON, "-c", what], capture_output=True, check=False).returncode
            == 0
        )
    return shutil.which(what) is not None


def environment(place: Path, group: str) -> tuple[str, ...]:
    """Return a command that makes an environment with proctor and a group of dependencies."""
    return (
        "env", f"UV_PROJECT_ENVIRONMENT={place}", uv(), "sync", "--quiet", "--frozen",
        "--no-default-groups", "--group", group, "--python", sys.executable,
    )  # fmt: skip


@contextmanager
def ordinary_user(scratch: Path) -> Iterator[tuple[str, ...]]:
    """Yield what starts a command as a new user with a home, in a copy of the repository there."""
    # A name of this run's own: a run that was killed leaves its user behind.
    name = f"proctor-ci-{os.getpid()}"
    home = Path("/home") / name
    run("useradd", "--create-home", name)
    try:
        copy = home / "proctor"
        left_out = (
            ".git",
            ".venv",
            "build",
            "node_modules",
            "__pycache__",
            "*.so",
            ".*_cache",
            ".hypothesis",
        )
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*left_out), symlinks=True)
        cache = scratch / "cache" / "user"
        cache.mkdir(parents=True)
        run("chown", "-R", f"{name}:", str(copy), str(cache))
        kept = {
            variable: value for variable, value in os.environ.items()
            if variable.upper().startswith(NETWORK) or variable == "PROCTOR_TEST_SEED"
        }  # fmt: skip
        kept |= {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        yield (
            "env", "-i", *(f"{variable}={value}" for variable, value in kept.items()),
            "setpriv", f"--reuid={name}", f"--regid={name}", "--init-groups",
            "env", "-C", str(copy),
        )  # fmt: skip
    finally:
        subprocess.run(["pkill", "-KILL", "-u", name], check=False)
        subprocess.run(["userdel", "--force", "--remove", name], capture_output=True, check=False)
