"""`proctor image build` and `proctor image show`."""

import msgspec

from proctor.cli import terminal
from proctor.sandbox.container import engine, images
from proctor.sandbox.container.engine import ContainerEngine
from proctor.sandbox.container.images import Image


def build(
    name: str | None, base: str | None, tag: str | None, install: tuple[str, ...], *, as_json: bool
) -> int:
    """Build the image that containers start from; the engine's own words go to stderr."""
    found = engine.find(name)
    built = images.build(found, base=base, tag=tag or images.configured(), install=install)
    _say(found, built, as_json=as_json)
    return 0


def show(name: str | None, tag: str | None, *, as_json: bool) -> int:
    """Say what is there under the image's name; returns 1 if it does not serve."""
    found = engine.find(name)
    found.check()
    wanted = tag or images.configured()
    image = images.find(found, wanted)
    if image is not None:
        _say(found, image, as_json=as_json)
        return 0 if image.current else 1
    if as_json:
        terminal.write("null\n")
    else:
        terminal.write(f"{found.kind} has no image {wanted}: proctor image build\n")
    return 1


def _say(found: ContainerEngine, image: Image, *, as_json: bool) -> None:
    if as_json:
        row = {"engine": found.kind, **msgspec.to_builtins(image)}
        terminal.write_json(row)
        return
    what = f"proctor {image.version}" if image.version else "no proctor that it names"
    state = "this one" if image.current else "another than this: proctor image build"
    terminal.write(f"{found.kind} {image.tag} ({image.identity[:19]}): {what}, {state}\n")
