"""All benchmarks by name: those that come with proctor, and those of installed packages.

A package names its benchmarks in the entry point group `proctor.benchmarks`: the name that
`proctor eval` knows them by, and the object, or a class that is called without arguments. It is the
user's own trusted code, imported only when its name is asked for.
"""

import logging
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from proctor.errors import InputError
from proctor.evals.bundled import FAMILIES, MODULES

if TYPE_CHECKING:  # so that the command line lists benchmarks without importing these
    from proctor.evals.adapter import BenchmarkAdapter
    from proctor.evals.benchmark import Benchmark

GROUP = "proctor.benchmarks"
_BENCHMARK = (
    "name", "version", "modes", "agentic", "check", "open_source", "messages", "extract",
    "open_grader",
)  # fmt: skip
_ADAPTER = ("name", "load_instances", "run_instance", "evaluate", "is_pass", "summarize")
_logger = logging.getLogger(__name__)

Loaded: TypeAlias = "Benchmark[Any] | BenchmarkAdapter[Any, Any, Any, Any]"


@dataclass(frozen=True, slots=True)
class Installed:
    """A benchmark of a package that is installed; nothing of it is imported yet."""

    entry: EntryPoint

    @property
    def name(self) -> str:
        """Name that `proctor eval` knows it by."""
        return self.entry.name

    @property
    def distribution(self) -> str:
        """Name and version of the distribution that it is from."""
        found = self.entry.dist
        return f"{found.name} {found.version}" if found is not None else "an unknown distribution"

    def load(self) -> Loaded:
        """Import it. Raises InputError if that fails, or it is neither Benchmark nor adapter."""
        try:
            found: Any = self.entry.load()
            if isinstance(found, type):
                found = found()
        except Exception as error:  # a package's code may raise anything when it is imported
            _logger.debug("cannot load %s", self.entry, exc_info=True)
            raise self.error(f"{type(error).__name__}: {error}") from error
        lacking = [
            [name for name in names if not hasattr(found, name)] for names in (_BENCHMARK, _ADAPTER)
        ]
        if all(lacking):
            fewest = min(lacking, key=len)
            raise self.error(
                "is neither a Benchmark nor a BenchmarkAdapter: it has no "
                + ", ".join(f"`{name}`" for name in fewest)
            )
        if found.name != self.name:  # a run is continued by its benchmark's own name
            raise self.error(f"its benchmark calls itself {found.name!r}: make both names equal")
        loaded: Loaded = found
        return loaded

    def error(self, message: str) -> InputError:
        """Return an error that names this entry point as its cause."""
        return InputError(
            f"entry point `{self.name} = {self.entry.value}` of {self.distribution}: {message}",
            field=GROUP,
        )


def is_benchmark(loaded: Loaded) -> TypeGuard["Benchmark[Any]"]:
    """Return True if it is a Benchmark, which has a store, and no adapter."""
    return all(hasattr(loaded, name) for name in _BENCHMARK)


def installed() -> list[Installed]:
    """Benchmarks of installed packages, by name, whether or not proctor has one of that name."""
    return sorted(map(Installed, entry_points(group=GROUP)), key=lambda each: each.name)


def other_named(name: str) -> Installed | None:
    """Find the benchmark of this name in an installed package; None if there is none.

    Raises InputError if two packages have the name, or if one takes a name of proctor's: which of
    them was meant cannot be known.
    """
    family = name.partition("/")[0]
    bundled = family in FAMILIES
    found = [
        each
        for each in installed()
        if each.name == name or (bundled and each.name.partition("/")[0] == family)
    ]
    if bundled and found:
        raise found[0].error(
            f"{family!r} is the name of a benchmark that comes with proctor; "
            f"rename the entry point, or uninstall {found[0].distribution}"
        )
    if len(found) > 1:
        others = ", ".join(each.distribution for each in found[1:])
        raise found[0].error(f"{others} has a benchmark of that name, too; uninstall one")
    return found[0] if found else None


def benchmark_named(name: str) -> "Benchmark[Any]":
    """Return a benchmark. Raises InputError for an unknown name, and for a broken package."""
    other = other_named(name)
    if other is not None:
        loaded = other.load()
        if not is_benchmark(loaded):
            raise other.error("is an adapter, not a Benchmark: it is run by `run_benchmark`")
        return loaded
    where = MODULES.get(name)
    if where is None:
        names = [*MODULES, *(each.name for each in installed())]
        raise InputError(f"{name!r} is not one of {', '.join(names)}", field="benchmark")
    file, _, part = where.partition("#")
    if file.endswith(".toml"):
        from proctor.evals.benchmark_file.loading import bundled

        return bundled(file, part)
    module, _, attribute = where.partition(":")
    found: Benchmark[Any] = getattr(import_module(module), attribute)
    return found
