"""The image that containers are started from: looking it up, checking it and building it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor import config
from proctor.errors import InputError, NoIsolation, PlatformError
from proctor.sandbox.container import crossing
from proctor.sandbox.container.engine import ContainerEngine, last_line, meaning
from proctor.version import __version__

RECIPE = Path(__file__).parent / "image"
"""Directory of the Dockerfile and what it runs."""
DEFAULT_TAG = f"localhost/proctor:{__version__}"
VERSION, DIGEST = "proctor.version", "proctor.digest"
_BUILD_TIMEOUT = 3600.0
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.\[\],-]*([=<>!~]=?[\w.*+!]+(,[=<>!~]=?[\w.*+!]+)*)?")


def configured() -> str:
    """Return the image that PROCTOR_CONTAINER_IMAGE or the configuration names, or the default."""
    named = os.environ.get("PROCTOR_CONTAINER_IMAGE")
    return named or config.load().container.image or DEFAULT_TAG


@dataclass(frozen=True, slots=True)
class Image:
    """An image as the engine describes it."""

    tag: str
    identity: str
    """The engine's id of it."""
    version: str
    """Version of the proctor in it; empty if it was not built by `proctor image build`."""
    current: bool
    """True if it holds exactly this proctor."""


def find(engine: ContainerEngine, tag: str) -> Image | None:
    """Return the image of this name, or None if there is none. Raises NoIsolation."""
    form = "{{.Id}}\t{{json .Config.Labels}}"
    done = engine.call("image", "inspect", "--format", form, tag)
    if done.returncode != 0:
        meant = meaning(done.stderr, tag)
        if "no such image" in done.stderr.lower() or "image not known" in done.stderr:
            return None
        raise NoIsolation(meant or f"{engine.kind} does not answer: {last_line(done.stderr)}")
    identity, _, labels = done.stdout.strip().partition("\t")
    known: dict[str, str] = json.loads(labels) or {}
    return Image(tag, identity, known.get(VERSION, ""), known.get(DIGEST) == crossing.digest())


def build(
    engine: ContainerEngine,
    *,
    base: str | None = None,
    tag: str = DEFAULT_TAG,
    install: tuple[str, ...] = (),
) -> Image:
    """Build the image; the engine's own words go to standard error as they come.

    `install` are requirements for pip, or paths of wheels here, that programs are to find. Raises
    InputError for names no image or package can have, and PlatformError if the engine fails.
    """
    for name, value in (("--base", base), ("--tag", tag)):
        if value is not None and (not value or value.startswith("-") or value.split() != [value]):
            raise InputError(f"{value!r} cannot be an image's name", field=name)
    engine.check()
    with tempfile.TemporaryDirectory(prefix="proctor-image-") as place:
        _lay_out(Path(place))
        wanted = [_wanted(each, Path(place, "wheels")) for each in install]
        command = build_command(engine, place, base, tag, wanted)
        try:
            status = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(),
                timeout=_BUILD_TIMEOUT, check=False,
            ).returncode  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PlatformError(f"{engine.kind} build could not be finished: {error}") from error
    if status != 0:
        raise PlatformError(
            f"{engine.kind} build failed (exit code {status}); its own words are above. Without a"
            " network, name a base image that is there already (--base IMAGE), and of packages"
            " wheels that are here (--install FILE.whl)"
        )
    built = find(engine, tag)
    if built is None or not built.current:
        raise PlatformError(f"{engine.kind} build ended well, but {tag} is not what it built")
    return built


def build_command(
    engine: ContainerEngine, context: str, base: str | None, tag: str, install: Sequence[str] = ()
) -> list[str]:
    """Return the command line that builds the image from a context laid out before."""
    options = ["build", "--tag", tag]
    options += ["--label", f"{VERSION}={__version__}"]
    options += ["--label", f"{DIGEST}={crossing.digest()}"]
    if base is not None:
        options += ["--build-arg", f"BASE={base}"]
    if install:
        options += ["--build-arg", f"INSTALL={' '.join(install)}"]
    return engine.command(*options, context)


def _wanted(requirement: str, wheels: Path) -> str:
    """Return pip's argument in the image; a local wheel is copied. Raises InputError."""
    path = Path(requirement)
    if requirement.endswith(".whl"):
        try:
            shutil.copyfile(path, wheels / path.name)
        except OSError as error:
            raise InputError(
                f"cannot be read: {error.strerror}", file=requirement, field="--install"
            ) from error
        return f"./{path.name}"
    if not _REQUIREMENT.fullmatch(requirement):
        raise InputError(
            f"{requirement!r} is neither a wheel (.whl) nor a package's name, such as ortools or"
            " ortools==9.15.6755",
            field="--install",
        )
    return requirement


def _lay_out(place: Path) -> None:
    """Copy what the image is made of: the recipe, the sources, and the C part if we have it."""
    for path in RECIPE.iterdir():
        shutil.copyfile(path, place / path.name)
    (place / "wheels").mkdir()
    built = sorted((crossing.PACKAGE / "cell").glob("_lockdown*.so"))
    for path in [*crossing.sources(), *built]:
        target = place / "proctor" / path.relative_to(crossing.PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
