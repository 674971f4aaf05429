"""Options with which a local engine or a daemon is started."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """Options as in open_pool; None and empty values mean the default."""

    cells: int | None = None
    sessions: int | None = None
    """Most sessions at once, which have cells besides `cells`."""
    isolation: str | None = None
    min_isolation: str | None = None
    python: str | None = None
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    package_sets: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """Directories by the names that requests use for them."""

    def given(self) -> dict[str, Any]:
        """Return the options that were set, by name."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value not in (None, (), {})}

    def sets(self) -> dict[str, tuple[str, ...]]:
        """Return the package sets, each as a tuple of its directories."""
        return {
            name: (directories,) if isinstance(directories, str) else tuple(directories)
            for name, directories in self.package_sets.items()
        }

    def words(self) -> list[str]:
        """Return the options as arguments of the command line."""
        found = []
        given = self.given()
        for name, directories in self.sets().items():
            found += [word for each in directories for word in ("--package-set", f"{name}={each}")]
        given.pop("package_sets", None)
        for name, value in given.items():
            for each in value if isinstance(value, tuple) else (value,):
                found += [f"--{name.replace('_', '-')}", str(each)]
        return found
