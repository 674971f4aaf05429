"""What programs of a profile find: modules beside them, packages, and what to tell their writer."""

import importlib.util
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from proctor.errors import InputError, NoLanguage
from proctor.solver.profile import Profile


def modules(profile: Profile) -> Mapping[str, bytes]:
    """Return the files that programs find beside them, by relative path."""
    return _files(profile.modules) if profile.modules else {}


@cache
def _files(name: str) -> Mapping[str, bytes]:
    home, _, function = name.partition(":")
    files: Callable[[], Mapping[str, bytes]] = getattr(import_module(home), function)
    return files()


def roundtrip(profile: Profile) -> str:
    """Return the program that has a claim proved. Raises InputError if the profile has none."""
    if not profile.roundtrip:
        raise InputError(f"profile {profile.id} has no model to prove claims by", field="roundtrip")
    home, _, function = profile.roundtrip.partition(":")
    program: Callable[[], str] = getattr(import_module(home), function)
    return program()


def packages(profile: Profile) -> tuple[str, ...]:
    """Return the directories that the profile's warm modules are installed in, for this Python.

    Raises NoLanguage, naming what to install.
    """
    found = []
    for name in profile.warm:
        top = name.split(".")[0]
        spec = importlib.util.find_spec(top)
        if spec is None or not spec.submodule_search_locations:
            how = f": pip install '{profile.install}'" if profile.install else ""
            raise NoLanguage(f"profile {profile.id} needs {top}, which is not installed{how}")
        found += [str(Path(each).parent) for each in spec.submodule_search_locations]
    return tuple(dict.fromkeys(found))


def prompt(profile: Profile) -> str:
    """Return what to tell a model that is to write such a program. Raises InputError."""
    if not profile.prompt:
        raise InputError(f"profile {profile.id} has no text for models", field="prompt")
    return profile.path(profile.prompt).read_text("utf-8")
