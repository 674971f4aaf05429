"""Level `container`: docker or podman around a cell that proctor itself drives in there.

Descriptors cannot cross into a container, least of all into one in a virtual machine, so the host's
side of a cell runs inside it (inner.py) and only work and facts cross.
"""

import itertools
import os
import secrets
import threading

from proctor import config
from proctor.limits import Limits
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.container import engine as engines
from proctor.sandbox.container import images, owners
from proctor.sandbox.container.box import Box
from proctor.sandbox.container.cell import ContainerCell
from proctor.sandbox.container.engine import ContainerEngine
from proctor.sandbox.container.guarantees import LEVEL
from proctor.sandbox.container.size import WORK, Size, size_for

_FIRST_USER, _USERS = 10_000, 50_000
_MOST_PROCESSES = 4096  # of the cell's user in all containers; --pids-limit is what counts
_serial = itertools.count()


class Container:
    """Cells in containers, one warm container each."""

    level = LEVEL
    private_files = True

    def __init__(
        self,
        engine: ContainerEngine | None = None,
        image: str | None = None,
        runtime: str | None = None,
    ) -> None:
        """Use what is given, else what PROCTOR_CONTAINER_ENGINE, _IMAGE and _RUNTIME name.

        After these comes the configuration file, then what is found and the default image.
        """
        self._engine = engine
        self._swept = False
        self.image = image or images.configured()
        named = runtime or os.environ.get("PROCTOR_CONTAINER_RUNTIME")
        self.runtime = named or config.load().container.runtime or None
        self._size = size_for(Limits())
        self._lock = threading.Lock()

    @property
    def engine(self) -> ContainerEngine:
        """The engine, looked for when it is first needed: that can take a second.

        Raises NoIsolation if none answers, and SettingsError for one that proctor does not know.
        """
        with self._lock:
            if self._engine is None:
                self._engine = engines.find()
            return self._engine

    def start(self, setup: CellSetup, size: Size, slot: int) -> Box:
        """Start a container. Raises NoIsolation or CellStartFailed."""
        name = f"proctor-{os.getpid()}-{slot}-{next(_serial)}-{secrets.token_hex(4)}"
        command = self.command(name, setup, size)
        return Box(self.engine, self.image, name, command, setup)

    def open_cell(self, setup: CellSetup, slot: int) -> ContainerCell:
        engine = self.engine
        with self._lock:
            if not self._swept:
                owners.sweep(engine)
                self._swept = True
        return ContainerCell(self, setup, slot)

    def size(self, needed: Size | None = None) -> Size:
        """Return the size of containers to come: it grows to what was needed, and never shrinks."""
        with self._lock:
            if needed is not None:
                self._size = self._size.joined(needed)
            return self._size

    def command(self, name: str, setup: CellSetup, size: Size) -> list[str]:
        """Return the command line that starts a container with a cell in it."""
        engine = self.engine
        user = _FIRST_USER + secrets.randbelow(_USERS)
        most = max(size.processes, _MOST_PROCESSES)
        options = [
            "run", "--rm", "--interactive", "--pull", "never", "--name", name,
            *owners.labels(),
            "--sig-proxy=false",  # Ctrl-C is for us
            "--log-driver", "none",  # inputs and outputs pass here, and must not be logged
            "--network", "none", "--hostname", "cell", "--workdir", "/",
            "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            # Private, and without /dev/shm: the next job would find what one job leaves there.
            "--ipc", "none",
            # Hardly another cell's user: the kernel counts a user's processes over all containers.
            "--user", f"{user}:{user}",
            "--memory", str(size.memory), "--memory-swap", str(size.memory),
            "--pids-limit", str(size.processes), "--cpus", "1",
            # All the limits that an engine would set by itself, perhaps to more than it may.
            "--ulimit", "core=0:0", "--ulimit", "nofile=1024:1024",
            "--ulimit", f"nproc={most}:{most}",
        ]  # fmt: skip
        if engine.kind == "podman":
            # Else the host's proxy settings would get in, and /tmp and others would be writable.
            options += ["--http-proxy=false", "--read-only-tmpfs=false"]
        if self.runtime is not None:
            # podman takes the option before the command, docker behind it.
            at = options.index("run") if engine.kind == "podman" else options.index("run") + 1
            options[at:at] = ["--runtime", self.runtime]
        if size.disk:
            # No program needs to execute what it has written there: Python reads its files.
            scratch = f"{WORK}:rw,nosuid,nodev,noexec,size={size.disk},mode=1777"
            if engine.kind == "docker":  # podman knows no such option
                scratch += f",nr_inodes={size.disk // 4096 + 64}"
            options += ["--tmpfs", scratch]
        for number, path in enumerate(setup.packages):
            mount = ["type=bind", f"source={path}", f"target=/packages/{number}", "readonly"]
            options += ["--mount", ",".join(map(_csv, mount))]
        # No --init: proctor's process is process 1 itself, which nothing in there can kill, and
        # docker-init is not installed everywhere. It collects orphans itself.
        options += ["--entrypoint", "python3", self.image]
        return engine.command(*options, "-P", "-m", "proctor.sandbox.container.inner")

    @property
    def arrangement(self) -> str:
        """Everything that may decide whether this level works here; asks no engine."""
        named = [
            *([self._engine.path] if self._engine is not None else engines.installed()),
            self.image,
            self.runtime or "",
            os.environ.get("DOCKER_HOST", ""),
        ]
        return ", ".join(each for each in named if each)


def _csv(field: str) -> str:
    """Return a field as the engines read it: quoted if it has a comma or a quote in it."""
    return '"' + field.replace('"', '""') + '"' if set(field) & set(',"') else field
