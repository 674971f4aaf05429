"""Options that say where programs are judged, and in which cache verdicts are remembered."""

import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proctor.cli.panels import PLACE
from proctor.errors import InputError, UsageError

if TYPE_CHECKING:
    from proctor.judging.cache import CacheTally
    from proctor.judging.judge import PoolJudges
    from proctor.judging.judges import Judges
    from proctor.judging.speed import Speed

_HERE = "here"
RAY_HERE = "auto"
"""Address for `--ray` alone: RAY_ADDRESS, or the cluster that runs on this machine."""

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Judge on all nodes of a Ray cluster, --jobs on each. Without ADDRESS: RAY_ADDRESS,"
        " else the cluster of this machine.",
        metavar="[ADDRESS]",
        rich_help_panel=PLACE,
    ),
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Judge on these servers (proctor serve), such as http://10.0.0.5:8377, or those in"
        " @FILE. PROCTOR_TOKEN is their token.",
        metavar="URL,URL...",
        rich_help_panel=PLACE,
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache",
        help="Remember verdicts here, such as redis://HOST:6379/0; judge nothing twice.",
        metavar="DIR|URL",
        rich_help_panel=PLACE,
    ),
]
VerifyCache = Annotated[
    str | None,
    typer.Option(
        "--verify-cache",
        help="Share of remembered verdicts to check, such as 1%.",
        metavar="PERCENT",
        rich_help_panel=PLACE,
    ),
]
NormaliseCpu = Annotated[
    str | None,
    typer.Option(
        "--normalise-cpu",
        help="Machine whose CPU limits hold: here, reference, or a speed as proctor doctor --speed"
        " prints it. On slower and quicker machines limits are adapted, at most twofold.",
        metavar="MACHINE",
        rich_help_panel=PLACE,
    ),
]
Opener = Callable[[], "AbstractContextManager[Judges]"]


@dataclass(frozen=True, slots=True)
class Where:
    """Choice of the judges, and of the cache of verdicts. Raises UsageError."""

    ray: str | None = None
    on: str | None = None
    cache: str | None = field(default=None, repr=False)  # it may hold a password
    verify_cache: str | None = None
    normalise_cpu: str | None = None
    tally: "CacheTally | None" = field(default=None, init=False, compare=False)
    """Figures of the cache, if there is one."""

    def __post_init__(self) -> None:
        if self.ray is not None and self.on is not None:
            raise UsageError("give either --ray or --on")
        if self.verify_cache is not None and self.cache is None:
            raise UsageError("--verify-cache is for --cache")
        if self.normalise_cpu is not None and self.on is not None:
            raise UsageError("--on: servers have their own settings; not with --normalise-cpu")
        if self.cache is not None:
            from proctor.judging.cache import CacheTally

            object.__setattr__(self, "tally", CacheTally())

    def with_cpu(self, normalise_cpu: str | None) -> "Where":
        """Return the same choice with this `normalise_cpu`; both share the figures of the cache."""
        other = replace(self, normalise_cpu=normalise_cpu)
        object.__setattr__(other, "tally", self.tally)
        return other

    def opener(self, pool: Mapping[str, Any]) -> Opener | None:
        """Return a function that opens the chosen judges; None for cells of this machine.

        `pool` are arguments of `open_pool`; servers have settings of their own. Raises UsageError.
        """
        if self == HERE:
            return None
        if self.on is not None and (given := [name for name, each in pool.items() if each]):
            option = given[0].replace("cells", "jobs").replace("_", "-")
            raise UsageError(f"--on: servers have their own settings; not with --{option}")
        share = 0.0 if self.verify_cache is None else _share(self.verify_cache)
        return lambda: self._opened(pool, share)

    def figures(self) -> dict[str, Any]:
        """Return the figures of the cache as a part of --json; nothing without a cache."""
        return {} if self.tally is None else {"cache": self.tally.to_json()}

    def say_figures(self) -> None:
        """Write the figures of the cache to stderr, if there is one."""
        from proctor.cli import terminal

        if self.tally is not None and self.tally.store:  # the cache has been opened
            terminal.note(f"cache: {self.tally}")

    @contextmanager
    def _opened(self, pool: Mapping[str, Any], share: float) -> Iterator["Judges"]:
        with ExitStack() as stack:
            judges = stack.enter_context(self._uncached(pool))
            if self.cache is not None:
                from proctor.judging.cache import open_cached

                judges = stack.enter_context(open_cached(judges, self.cache, share, self.tally))
            yield judges

    @contextmanager
    def _uncached(self, pool: Mapping[str, Any]) -> Iterator["Judges"]:
        if self.on is not None:
            from proctor.cli.retries import tell_once
            from proctor.clients.fleet import Fleet

            tell_once()
            with Fleet(self.on) as fleet:
                yield fleet
        elif self.ray is not None:
            with self._cluster(self.ray, pool) as cluster:
                yield cluster
        else:
            from proctor.judging.judge import PoolJudges
            from proctor.languages.pools import open_pool

            with open_pool(**pool) as opened:
                judges = PoolJudges(opened)
                yield judges if self.normalise_cpu is None else self._normalised(judges)

    @contextmanager
    def _cluster(self, address: str, pool: Mapping[str, Any]) -> Iterator["Judges"]:
        from proctor.cli import terminal
        from proctor.integrations.ray import RayCluster

        options = dict(pool)
        with RayCluster(
            None if address == RAY_HERE else address,
            cpus=options.pop("cells", None),
            normalise_cpu=self._speed(pool),
            **options,
        ) as cluster:
            for node in cluster.nodes():
                if node.refused:
                    terminal.note(f"{node.name} is left out: {node.refused}")
            yield cluster

    def _normalised(self, judges: "PoolJudges") -> "Judges":
        from proctor.judgement import Machine
        from proctor.judging.speed import NormalisedJudges, Speed
        from proctor.sandbox.machine import cpus

        own = Speed.of(judges.pool)
        wanted = own if self.normalise_cpu == _HERE else self._speed({})
        machine = Machine(platform.node(), cpus.model())
        return NormalisedJudges(judges, own, wanted or own, machine)

    def _speed(self, pool: Mapping[str, Any]) -> "Speed | None":
        """Return the speed of the machine whose CPU limits are to hold, if one is named.

        This machine is measured in a pool of these options. Raises InputError, PlatformError.
        """
        if self.normalise_cpu is None:
            return None
        from proctor.judging.speed import REFERENCE, Speed

        if self.normalise_cpu == "reference":
            return REFERENCE
        if self.normalise_cpu != _HERE:
            return Speed.read(self.normalise_cpu)
        from proctor.languages.pools import open_pool

        with open_pool(**{**pool, "cells": 1}) as opened:
            return Speed.of(opened)


HERE = Where()
"""Cells of this machine, without a cache."""


@contextmanager
def contest_judges(where: Where, pool: Mapping[str, Any]) -> Iterator["Judges"]:
    """Open judges of contest problems, in cells of this machine unless others are chosen.

    `pool` are arguments of `open_environment`.
    """
    if (elsewhere := where.opener(pool)) is not None:
        with elsewhere() as judges:
            yield judges
        return
    from proctor.judging.environment import open_environment
    from proctor.judging.judge import PoolJudges

    with open_environment(**pool) as opened:
        yield PoolJudges(opened)


def with_ray_here(arguments: list[str]) -> list[str]:
    """Return a command line with RAY_HERE as the address of each `--ray` that has none."""
    following = [*arguments[1:], "-"]
    return [
        f"--ray={RAY_HERE}" if each == "--ray" and after.startswith("-") else each
        for each, after in zip(arguments, following, strict=False)
    ]


def _share(text: str) -> float:
    """Return 0.01 for `1%`. Raises InputError."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"{text!r} is not a share such as 1%", field="--verify-cache")
    return share
