"""All data sets of an owner whose names match a pattern: `hf:OWNER/models-*-fix`."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

from proctor.errors import InputError
from proctor.formats.hub import HubSource, home_of, offline
from proctor.formats.tables import without_extra

_SOURCE = re.compile(r"hf:(?P<owner>[\w.-]+)/(?P<name>[^@:/]+)(?P<rest>.*)", re.DOTALL)
_WILD = re.compile(r"[*?\[]")


def sources(text: str, *, cache: Path | None = None) -> list[HubSource]:
    """Return the data sets that `hf:OWNER/NAME[@REVISION][:CONFIG]` names, in the order of names.

    NAME may have `*`, `?` and `[...]`, as a shell's names of files. With HF_HUB_OFFLINE=1 those in
    the cache are looked through. Raises InputError for another form and where none matches,
    InfraFault if the hub cannot be reached.
    """
    found = _SOURCE.fullmatch(text)
    if found is None or not _WILD.search(found["name"]):
        return [HubSource.parse(text)]
    owner, pattern, rest = found.groups()
    known = _kept(owner, cache) if offline() else _on_hub(owner, text)
    names = sorted(name for name in known if fnmatchcase(name, f"{owner}/{pattern}"))
    if not names:
        where = "in the cache, and HF_HUB_OFFLINE is set" if offline() else "on the hub"
        raise InputError(f"there is no data set {owner}/{pattern} {where}")
    return [HubSource.parse(f"hf:{name}{rest}") for name in names]


def _on_hub(owner: str, text: str) -> list[str]:
    try:
        from proctor.formats.hub_client import HubClient
    except ImportError as error:
        raise without_extra(f"fetching {text}", error) from error
    with HubClient() as client:
        return client.data_sets(owner)


def _kept(owner: str, cache: Path | None) -> list[str]:
    start = f"{owner}--"
    there = home_of(f"{owner}/*", cache).parent.glob(f"{start}*")
    return [f"{owner}/{each.name.removeprefix(start)}" for each in there]
