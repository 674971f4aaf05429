"""Piston's packages: languages as directories of scripts, installed by the operator.

They have Piston's own layout: DIRECTORY/LANGUAGE/VERSION with `pkg-info.json`, `run`,
`compile` if there is something to compile, and `environment`, a script whose variables both see.
Cells read the directory under its own path. Clients cannot install any.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.errors import SettingsError
from proctor.languages.scripts import BASH, COMPILE, RUN, Scripts
from proctor.service.http.piston.runtimes import Runtime, RuntimeKind
from proctor.service.http.piston.semver import version_in
from proctor.service.http.piston.settings import known_limits

_INFO, _ENVIRONMENT = "pkg-info.json", "environment"
_OTHERS = 0o005
_CALL = """
work=$PWD
cd "$1" && . ./environment
cd "$work" && unset OLDPWD
package=$1 script=$2
shift 2
exec /bin/bash "$package/$script" "$@"
"""
"""Calls one of a package's scripts in the working directory, with its `environment`."""


class _ProvidedLanguage(msgspec.Struct, frozen=True):
    language: str
    aliases: tuple[str, ...] = ()
    limit_overrides: Mapping[str, int] | None = None


class _PackageInfo(msgspec.Struct, frozen=True):
    language: str
    version: str
    aliases: tuple[str, ...] = ()
    limit_overrides: Mapping[str, int] | None = None
    provides: tuple[_ProvidedLanguage, ...] | None = None
    """Languages with separate names; `PISTON_LANGUAGE` tells the scripts which one to run."""


def runtimes(directory: str, readable: Sequence[str]) -> list[Runtime]:
    """Return the runtimes of a directory's packages; `readable` are directories that cells see.

    Raises SettingsError.
    """
    place = Path(directory)
    if not place.is_dir():
        raise SettingsError(f"PISTON_PACKAGES: {directory!r} is not a directory")
    # Programs may run as another user than the server.
    if directory not in readable or place.stat().st_mode & _OTHERS != _OTHERS:
        raise SettingsError(f"PISTON_PACKAGES: cells may not read {directory!r}: chmod o+rx")
    found = []
    for info in sorted(place.glob(f"*/*/{_INFO}")):
        found += _package_runtimes(info)
    return found


def _package_runtimes(file: Path) -> list[Runtime]:
    place = file.parent
    try:
        info = msgspec.json.decode(file.read_bytes(), type=_PackageInfo)
    except (OSError, msgspec.MsgspecError) as error:
        raise SettingsError(f"PISTON_PACKAGES: {file}: {error}") from error
    if not (place / RUN).is_file():
        raise SettingsError(f"PISTON_PACKAGES: {place} has no script `{RUN}`")
    provided = info.provides or (
        _ProvidedLanguage(info.language, info.aliases, info.limit_overrides),
    )
    version = version_in(info.version)
    return [
        Runtime(each.language, version, each.aliases, "bash", RuntimeKind.PACKAGE,
                _scripts(place, each.language),
                known_limits(each.limit_overrides or {}, f"PISTON_PACKAGES: {file}"), info.language)
        for each in provided
    ]  # fmt: skip


def _scripts(place: Path, language: str) -> Scripts:
    if (place / _ENVIRONMENT).is_file():
        call: tuple[str, ...] = (BASH, "-c", _CALL, BASH, str(place))
        names = [RUN, COMPILE]
    else:
        call = (BASH,)
        names = [str(place / RUN), str(place / COMPILE)]
    return Scripts(
        run=(*call, names[0]),
        compile=(*call, names[1]) if (place / COMPILE).is_file() else (),
        environment={"PISTON_LANGUAGE": language},
    )
