"""Walking a directory with untrusted content: it may be deep or wide; links are not followed."""

import os
from collections.abc import Iterator

_DEEPEST = 8
_MOST = 10_000
"""Entries that are looked at."""


def files(directory: int) -> Iterator[tuple[str, str, int]]:
    """Yield path, name and a descriptor of its directory for each entry that is not a directory.

    Deeper entries come later. A descriptor stays open until the next entry is requested. Entries
    deeper than 8 directories, beyond the first 10 000, or with a name that is not UTF-8 are left
    out.
    """
    waiting: list[str] = ["."]
    left = _MOST
    while waiting:
        folder = waiting.pop(0)
        descriptor = _opened(folder, directory)
        if descriptor < 0:
            continue
        try:
            names, folders = _listed(descriptor, left)
            left -= len(names) + len(folders)
            if folder.count("/") < _DEEPEST:
                waiting += [f"{folder}/{each}" for each in folders]
            for name in names:
                yield f"{folder}/{name}".removeprefix("./"), name, descriptor
        finally:
            os.close(descriptor)


def _opened(folder: str, directory: int) -> int:
    """Open a directory below another, step by step; -1 if it cannot be, or a step is a link."""
    at = os.dup(directory)
    try:
        for step in folder.split("/"):
            below = os.open(
                step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at
            )
            os.close(at)
            at = below
    except OSError:
        os.close(at)
        return -1
    return at


def _listed(descriptor: int, most: int) -> tuple[list[str], list[str]]:
    """Return names of files and of directories, each in order."""
    names: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(descriptor) as entries:
            for number, each in enumerate(entries):
                if number >= most:
                    break
                if each.name.isprintable():  # surrogates, for undecodable bytes, are not
                    (folders if each.is_dir(follow_symlinks=False) else names).append(each.name)
    except OSError:
        pass
    return sorted(names), sorted(folders)
