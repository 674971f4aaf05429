"""The files of a hub data set by configuration.

The list stands in the YAML head of the data set's README (`configs`, each with `config_name` and
`data_files`); see https://huggingface.co/docs/hub/datasets-manual-configuration.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

from proctor.errors import InputError
from proctor.formats.tables import SUFFIXES

_PARTIAL = re.compile(r"(?:^|/)partial-[^/]*/")
"""Directory of a split that the hub converted only the first gigabytes of."""
_WILD = re.compile(r"(\*\*/|\*\*|\*|\?)")
_HEAD = re.compile(r"\A---[^\S\n]*+\n(.*?)^---[^\S\n]*+$", re.DOTALL | re.MULTILINE)


def choose_files(card: str, paths: Collection[str], config: str | None, what: str) -> list[str]:
    """Paths of the tables of one configuration, of all its splits, sorted.

    `config` None means the default one: the one marked or named default, or the only one.
    Without a list of configurations, each directory with tables is one, and all together the
    default. Raises InputError if there is no such configuration, naming those that exist.
    """
    tables = sorted(path for path in paths if path.endswith(SUFFIXES))
    listed = _listed(card, what)
    if listed:
        name = config or _default(listed, what)
        if name not in listed:
            raise InputError(f"{what} has no configuration {name!r}; it has {_names(listed)}")
        globs = [_WILD.split(glob) for glob in listed[name]]
        found = [path for path in tables if any(_fits(each, path) for each in globs)]
    elif config is None:
        found = tables
    else:
        places = (f"{config}/", f"data/{config}/")
        found = [path for path in tables if path.startswith(places)]
    if not found:
        raise InputError(f"{what} holds no table ({', '.join(SUFFIXES)})")
    if cut := [path for path in found if _PARTIAL.search(path)]:
        raise InputError(f"{what} has only the beginning of its rows ({cut[0]})")
    return found


def _listed(card: str, what: str) -> dict[str, list[str]]:
    """Globs by configuration; the one marked as default is under its name and under ''."""
    head = _HEAD.match(card)
    if head is None:
        return {}
    from proctor.formats.packages.yaml_text import parse_yaml

    try:
        values = parse_yaml(head[1])
    except InputError as error:
        raise InputError(f"{what}: the head of its README: {error.message}") from error
    found: dict[str, list[str]] = {}
    configs = values.get("configs") if isinstance(values, dict) else None
    for entry in configs if isinstance(configs, list) else ():
        if isinstance(entry, dict) and "config_name" in entry:
            globs = _globs(entry.get("data_files"))
            directory = entry.get("data_dir")
            found[str(entry["config_name"])] = (
                [f"{directory}/{glob}" for glob in globs or ["**"]] if directory else globs
            )
            if entry.get("default") is True:
                found[""] = found[str(entry["config_name"])]
    return found


def _globs(value: Any) -> list[str]:
    """Flatten `data_files`: a glob, a list of them, or a list of splits with either."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return _globs(value["path"]) if "path" in value else _globs(list(value.values()))
    return [glob for item in value for glob in _globs(item)] if isinstance(value, list) else []


def _default(listed: dict[str, list[str]], what: str) -> str:
    for name in ("", "default"):
        if name in listed:
            return name
    if len(listed) > 1:
        raise InputError(f"{what} has several configurations; add one of :{_names(listed)}")
    return next(iter(listed))


def _names(listed: dict[str, list[str]]) -> str:
    return ", ".join(name for name in listed if name)


def _fits(parts: Sequence[str], path: str) -> bool:
    """Tell whether a glob, split at its wildcards, matches: `**` crosses directories, others not.

    All places that a match may have reached are followed at once: one by one, a pattern with many
    wildcards would take for ever to refuse.
    """
    at = {0}
    for part in parts:
        if not at:
            return False
        first = min(at)
        match part:
            case "**/":
                at |= {place + 1 for place in range(first, len(path)) if path[place] == "/"}
            case "**":
                at = set(range(first, len(path) + 1))
            case "*":
                at = _within_directories(at, path)
            case "?":
                at = {place + 1 for place in at if path[place : place + 1] not in {"", "/"}}
            case _:
                at = {place + len(part) for place in at if path.startswith(part, place)}
    return len(path) in at


def _within_directories(at: set[int], path: str) -> set[int]:
    """Return the places that are reached from those in `at` without crossing a slash."""
    found, reached = set(), False
    for place in range(len(path) + 1):
        reached = place in at or (reached and path[place - 1] != "/")
        if reached:
            found.add(place)
    return found
