"""`proctor image`: its options."""

from typing import Annotated

import typer

image_app = typer.Typer(help="The image that level container runs in.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Engine = Annotated[
    str | None,
    typer.Option("--engine", help="docker or podman; else the first to answer.", metavar="NAME"),
]
Tag = Annotated[str | None, typer.Option("--tag", help="The image's name.", metavar="IMAGE")]


@image_app.command("build")
def image_build_command(
    engine: Engine = None,
    base: Annotated[
        str | None,
        typer.Option(help="Image with CPython 3.11+ to build upon.", metavar="IMAGE"),
    ] = None,
    tag: Tag = None,
    install: Annotated[
        list[str] | None,
        typer.Option(
            help="Package that programs are to find, such as ortools; or a wheel.", metavar="NAME"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Build the image from the Dockerfile that comes with proctor."""
    from proctor.cli import image

    raise typer.Exit(image.build(engine, base, tag, tuple(install or ()), as_json=json))


@image_app.command("show")
def image_show_command(engine: Engine = None, tag: Tag = None, json: Json = False) -> None:
    """Say whether the image is there and holds this proctor; exit code 1 if not."""
    from proctor.cli import image

    raise typer.Exit(image.show(engine, tag, as_json=json))
