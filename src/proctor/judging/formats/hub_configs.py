"""Which files of a hub data set belong to which of its configurations.

The list stands in the YAML head of the data set's README (`configs`, each with `config_name` and
`data_files`); see https://huggingface.co/docs/hub/datasets-manual-configuration.
"""

import re
from collections.abc import Collection
from typing import Any

from proctor.errors import InputError
from proctor.judging.formats.tables import SUFFIXES, without_extra

_PARTIAL = re.compile(r"(?:^|/)partial-[^/]*/")
"""Directory of a split that the hub converted only the first gigabytes of."""
_HEAD = re.compile(r"\A---\s*\n(.*?)^---\s*$", re.DOTALL | re.MULTILINE)


def choose_files(card: str, paths: Collection[str], config: str | None, what: str) -> list[str]:
    """Paths of the tables of one configuration, of all its splits, sorted.

    `config` None means the default one: the one marked so or called so, or the only one. Without
    a list of configurations, each directory with tables is one, and all together the default.
    Raises InputError if there is none such, naming those there are.
    """
    tables = sorted(path for path in paths if path.endswith(SUFFIXES))
    listed = _listed(card, what)
    if listed:
        name = config or _default(listed, what)
        if name not in listed:
            raise InputError(f"{what} has no configuration {name!r}; it has {_names(listed)}")
        patterns = [re.compile(_pattern(glob)) for glob in listed[name]]
        found = [path for path in tables if any(each.match(path) for each in patterns)]
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
    """Globs by configuration; that which is the default comes under its name and under ''."""
    try:
        import yaml
    except ImportError as error:
        raise without_extra(f"reading {what}", error) from error
    head = _HEAD.match(card)
    if head is None:
        return {}
    try:
        values = yaml.safe_load(head[1])
    except yaml.YAMLError as error:
        raise InputError(f"{what}: the head of its README is broken YAML: {error}") from error
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


def _pattern(glob: str) -> str:
    """Regular expression of a glob; `**` crosses directories, `*` and `?` do not."""
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return "".join(meaning.get(part) or re.escape(part) for part in parts) + r"\Z"
