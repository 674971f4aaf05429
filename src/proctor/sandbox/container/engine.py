"""Docker or podman, by its command line: finding one, and explaining its errors."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from proctor import config
from proctor.errors import CellStartFailed, NoIsolation, ProctorError, SettingsError

KNOWN = ("docker", "podman")
ENGINE_FAILED = 125
"""Exit code of an engine that did not get as far as starting the container."""
PATIENCE = 60.0
"""Time that an engine may take for a request that is little work, in seconds."""


@dataclass(frozen=True, slots=True)
class ContainerEngine:
    """A container engine."""

    kind: str
    """`docker` or `podman`: they differ in a few options."""
    path: str

    def command(self, *arguments: str) -> list[str]:
        """Return the command line that runs the engine with these arguments."""
        return [self.path, *arguments]

    def call(self, *arguments: str, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Run the engine with these arguments; the caller checks the outcome.

        Raises NoIsolation if the engine cannot be started or does not end within `timeout` seconds.
        """
        try:
            return subprocess.run(
                self.command(*arguments), capture_output=True, text=True, errors="replace",
                stdin=subprocess.DEVNULL, timeout=timeout, check=False,
            )  # fmt: skip
        except OSError as error:
            raise NoIsolation(f"{self.path} cannot be started: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise NoIsolation(
                f"{self.kind} has not answered for {timeout:.0f} s: is its daemon stuck?"
            ) from error

    def check(self) -> str:
        """Return the engine's version. Raises NoIsolation, with a remedy, if it does not work."""
        done = self.call("version", "--format", "{{.Server.Version}}")
        if done.returncode != 0 and self.kind == "podman":  # older versions know no server
            done = self.call("version", "--format", "{{.Client.Version}}")
        if done.returncode != 0:
            raise NoIsolation(
                meaning(done.stderr, "") or f"{self.kind} does not work: {last_line(done.stderr)}"
            )
        return done.stdout.strip()


def installed() -> list[str]:
    """Return the engine that is named, or the paths of those that are installed."""
    named = os.environ.get("PROCTOR_CONTAINER_ENGINE") or config.load().container.engine
    return [named] if named else [path for kind in KNOWN if (path := shutil.which(kind))]


def find(name: str | None = None) -> ContainerEngine:
    """Return the engine that is named, or the first that answers.

    It may be named here, in PROCTOR_CONTAINER_ENGINE or in the configuration. Raises NoIsolation if
    there is none, and SettingsError for a name that is not an engine's.
    """
    named = name or os.environ.get("PROCTOR_CONTAINER_ENGINE") or config.load().container.engine
    if named:
        return _named(named)
    found = [ContainerEngine(kind, path) for kind in KNOWN if (path := shutil.which(kind))]
    if not found:
        raise NoIsolation(
            "level container needs docker or podman, and neither is on PATH: install one of them,"
            " or name its command in PROCTOR_CONTAINER_ENGINE"
        )
    complaints = []
    for engine in found:
        try:
            engine.check()
        except NoIsolation as error:
            complaints.append(str(error))
        else:
            return engine
    raise NoIsolation("; ".join(complaints))


def _named(name: str) -> ContainerEngine:
    kind = next((kind for kind in KNOWN if kind in Path(name).name), None)
    if kind is None:
        raise SettingsError(
            f"container engine {name!r} is not known: name docker or podman, or a path to either"
        )
    path = shutil.which(name)
    if path is None:
        raise NoIsolation(f"container engine {name!r}: there is no such command")
    return ContainerEngine(kind, path)


_MEANINGS = {
    r"permission denied while trying|dial unix .*permission denied": (
        "permission denied on the docker daemon's socket: add yourself to the group docker"
        " (usermod -aG docker USER, then log in again), or use podman"
        " (PROCTOR_CONTAINER_ENGINE=podman)"
    ),
    r"Cannot connect to the Docker daemon|error during connect": (
        "the docker daemon does not answer: start it (systemctl start docker, or Docker Desktop),"
        " or name another with DOCKER_HOST"
    ),
    r"[Cc]annot connect to Podman|unable to connect to Podman": (
        "podman's virtual machine does not answer: start it (podman machine start)"
    ),
    r"[Nn]o such image|image not known|Unable to find image": (
        "image {image} is missing: build it with `proctor image build`"
    ),
    r"unknown or invalid runtime|invalid runtime name|runtime.*not found": (
        "the engine does not know the runtime that PROCTOR_CONTAINER_RUNTIME names: register it"
        " (docker: `runtimes` in daemon.json; podman: `runtimes` in containers.conf)"
    ),
    r"newuidmap|no subuid ranges|cannot set up namespace": (
        "rootless podman has no user ids to give: add a range for you to /etc/subuid and"
        " /etc/subgid, then run podman system migrate"
    ),
}
"""Patterns of an engine's complaints, with their meanings and remedies."""


def meaning(stderr: str, image: str) -> str | None:
    """Return the meaning of an engine's complaint and its remedy; None for an unknown one."""
    for sign, text in _MEANINGS.items():
        if re.search(sign, stderr):
            return f"{text.format(image=image)} ({last_line(stderr)})"
    return None


def last_line(text: str) -> str:
    """Return the essence of a complaint: its last line that does not just point to help."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("See 'docker", "Run 'docker"))]
    return lines[-1][:500] if lines else ""


def failure(engine: ContainerEngine, image: str, stderr: str, status: int | None) -> ProctorError:
    """Return the error for a container that did not come up.

    NoIsolation if the engine or the image is at fault; CellStartFailed if the engine got as far as
    starting the container.
    """
    meant = meaning(stderr, image)
    if meant is not None:
        return NoIsolation(meant)
    if status in {126, 127} and "python3" in last_line(stderr):
        return NoIsolation(f"image {image} has no python3 to start ({last_line(stderr)})")
    if "No module named" in stderr:
        return NoIsolation(
            f"image {image} holds no proctor: build one with `proctor image build`"
            f" ({last_line(stderr)})"
        )
    said = stderr.strip()[-2000:] or "it said nothing"
    if status in {ENGINE_FAILED, 126, 127}:
        return NoIsolation(f"{engine.kind} did not start a container: {said}")
    return CellStartFailed(f"the container ended while starting: {said}")
