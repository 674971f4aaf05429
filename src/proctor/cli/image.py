"""`proctor image build` and `proctor image show`."""

from typing import TYPE_CHECKING, Annotated

import typer

from proctor.cli import terminal
from proctor.cli.options import Json
from proctor.cli.panels import PanelCommand, examples

if TYPE_CHECKING:
    from proctor.sandbox.container.engine import ContainerEngine
    from proctor.sandbox.container.images import Image

image_app = typer.Typer(
    help="Build or show the image that programs run in at isolation level container.",
    no_args_is_help=True,
)

EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="docker or podman, or a path to either.",
        show_default="PROCTOR_CONTAINER_ENGINE, else the first to answer",
        metavar="NAME",
    ),
]
Tag = Annotated[
    str | None,
    typer.Option(
        "--tag",
        help="Name of the image.",
        show_default="PROCTOR_CONTAINER_IMAGE, else localhost/proctor:VERSION",
        metavar="IMAGE",
    ),
]


@image_app.command(
    "build", cls=PanelCommand, epilog=examples("proctor image build --install numpy")
)
def image_build_command(
    engine: EngineName = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="Image to build upon, with glibc and CPython 3.11 or newer.",
            show_default="docker.io/library/python:3.12-slim",
            metavar="IMAGE",
        ),
    ] = None,
    tag: Tag = None,
    install: Annotated[
        list[str] | None,
        typer.Option(
            help="Package that programs may import, such as ortools, or a wheel. Repeatable.",
            metavar="NAME",
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            help="Install what solvers of this profile import, for proctor solve. Repeatable.",
            metavar="NAME",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Build the image, from a Python image and this proctor; again after each update of proctor.

    Exit code: 0 if the image is there, 125 if there is no engine or it failed.
    """
    from proctor.sandbox.container import images
    from proctor.sandbox.container.engine import find
    from proctor.solver.profile import load
    from proctor.solver.requirements import requirements

    wanted = [each for named in profile or () for each in requirements(load(named))]
    found = find(engine)
    name = tag or images.configured()
    packages = tuple(dict.fromkeys([*(install or ()), *wanted]))
    built = images.build(found, base=base, tag=name, install=packages)
    _show(found, built, as_json=json)


@image_app.command("show", cls=PanelCommand)
def image_show_command(engine: EngineName = None, tag: Tag = None, json: Json = False) -> None:
    """Show whether the image is there and holds this version of proctor.

    Exit code: 0 if so, 1 if not, 125 if there is no engine.
    """
    from proctor.sandbox.container import images
    from proctor.sandbox.container.engine import find

    found = find(engine)
    found.check()
    name = tag or images.configured()
    image = images.find(found, name)
    if image is not None:
        _show(found, image, as_json=json)
    elif json:
        terminal.write("null\n")
    else:
        terminal.write(f"{found.kind} has no image {name}: proctor image build\n")
    raise typer.Exit(0 if image is not None and image.current else 1)


def _show(found: "ContainerEngine", image: "Image", *, as_json: bool) -> None:
    if as_json:
        import msgspec

        terminal.write_json({"engine": found.kind, **msgspec.to_builtins(image)})
        return
    what = f"proctor {image.version}" if image.version else "no proctor that it names"
    state = "this one" if image.current else "another than this: proctor image build"
    terminal.write(f"{found.kind} {image.tag} ({image.identity[:19]}): {what}, {state}\n")
