"""`proctor image build` and `proctor image show`."""

from typing import TYPE_CHECKING, Annotated

import typer

from proctor.cli import terminal
from proctor.cli.options import Json

if TYPE_CHECKING:
    from proctor.sandbox.container.engine import ContainerEngine
    from proctor.sandbox.container.images import Image

image_app = typer.Typer(help="The image that isolation level container uses.", no_args_is_help=True)

EngineName = Annotated[
    str | None,
    typer.Option("--engine", help="docker or podman; default the first to answer.", metavar="NAME"),
]
Tag = Annotated[str | None, typer.Option("--tag", help="Name of the image.", metavar="IMAGE")]


@image_app.command("build")
def image_build_command(
    engine: EngineName = None,
    base: Annotated[
        str | None,
        typer.Option(help="Image with CPython 3.11+ to build upon.", metavar="IMAGE"),
    ] = None,
    tag: Tag = None,
    install: Annotated[
        list[str] | None,
        typer.Option(
            help="Package to install for programs, such as ortools, or a wheel.", metavar="NAME"
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            help="Install what solvers of this profile import, for `proctor solve`.",
            metavar="NAME",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Build the image from the Dockerfile that comes with proctor."""
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


@image_app.command("show")
def image_show_command(engine: EngineName = None, tag: Tag = None, json: Json = False) -> None:
    """Show the image, if it is there; exit code 1 if it is not or is of another proctor."""
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
