"""Options that say where programs are judged, if not in cells of this machine."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from proctor.judging.judges import Judges

RAY_HERE = "auto"
"""Address for `--ray` alone: RAY_ADDRESS, or the cluster that runs on this machine."""

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Judge on all nodes of a Ray cluster; --jobs is then for each node.",
        metavar="[ADDRESS]",
    ),
]
Opener = Callable[[], "AbstractContextManager[Judges]"]


def opener(ray: str | None, pool: Mapping[str, Any]) -> Opener | None:
    """Return what opens the judges that were asked for; None for cells of this machine.

    `pool` are arguments of `open_pool`. Raises UsageError for options that contradict each other.
    """
    if ray is None:
        return None
    return lambda: _on_ray(None if ray == RAY_HERE else ray, pool)


@contextmanager
def contest_judges(ray: str | None, pool: Mapping[str, Any]) -> Iterator["Judges"]:
    """Open judges of contest problems, in cells of this machine if no others are asked for.

    `pool` are arguments of `open_environment`.
    """
    if (elsewhere := opener(ray, pool)) is not None:
        with elsewhere() as judges:
            yield judges
        return
    from proctor.judging.environment import open_environment
    from proctor.judging.judge import PoolJudges

    with open_environment(**pool) as opened:
        yield PoolJudges(opened)


def with_ray_here(arguments: list[str]) -> list[str]:
    """Return a command line in which a `--ray` without an address has one."""
    following = [*arguments[1:], "-"]
    return [
        f"--ray={RAY_HERE}" if each == "--ray" and after.startswith("-") else each
        for each, after in zip(arguments, following, strict=True)
    ]


@contextmanager
def _on_ray(address: str | None, pool: Mapping[str, Any]) -> Iterator["Judges"]:
    from proctor.integrations.ray import RayCluster

    options = dict(pool)
    with RayCluster(address, cpus=options.pop("cells", None), **options) as cluster:
        refused = [each for each in cluster.nodes() if each.refused]
        for node in refused:
            from proctor.cli import terminal

            terminal.note(f"node {node.id[:12]} ({node.address}) is left out: {node.refused}")
        yield cluster
