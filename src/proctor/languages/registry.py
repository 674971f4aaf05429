"""The languages that are defined, and those that this machine can run."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from proctor import config
from proctor.errors import InputError, NoLanguage
from proctor.languages.cache import Cache
from proctor.languages.language import InstalledLanguage, Language, read
from proctor.sandbox.machine import tools

_DEFINITIONS = Path(__file__).with_name("definitions")
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:\S*/)?(\S+)")
_VERSIONED = re.compile(r"[\d.]+$")


def languages() -> Mapping[str, Language]:
    """Return all definitions by id, the user's over proctor's own. Raises InputError."""
    return _definitions().languages


def family_names(name: str) -> frozenset[str]:
    """Return the names of all languages of the family of this one. Raises InputError."""
    family = get(name).family
    return _definitions().families[family]


def get(name: str) -> Language:
    """Return the language of this id or alias, in any case. Raises InputError."""
    known = _definitions().by_name
    wanted = name.lower()
    if wanted in known:
        return known[wanted]
    import difflib  # slow to import, and needed for mistakes only

    near = difflib.get_close_matches(wanted[:100], known, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(
        f"{name!r} is not a language{meant} (there are: {', '.join(sorted(languages()))})",
        field="language",
    )


def by_extension(filename: str, source: str | bytes = "") -> Language | None:
    """Return the language of a file by its ending, or None.

    If the source's first line names an interpreter (`#!`) of another language that also has this
    ending, return that language; if it names Python 2, which proctor does not have, None.
    """
    ending = PurePosixPath(filename).suffix
    having = [each for each in languages().values() if ending in each.extensions]
    named = _interpreter(source)
    if named == "python2" or named.startswith("python2."):
        return None
    for language in having:
        if named and (named in language.names or _VERSIONED.sub("", named) in language.names):
            return language
    return next((each for each in having if each.default), None)


def find(language: Language) -> InstalledLanguage:
    """Find the language's tools. Raises NoLanguage."""
    places, versions = {}, {}
    seen = reads([language])
    for role, tool in language.tools.items():
        path = tools.find(tool.names, seen)
        if path is None:
            raise NoLanguage(
                f"{language.name} cannot be used here: there is no {' or '.join(tool.names)} that"
                f" cells could execute; {language.install}"
            )
        places[role] = path
        versions[role] = _version(path, tool.version, tools.identity(path))
    missing = [path for path in language.needs if not Path(path).exists()]
    if missing:
        what = f"{language.name} cannot be used here: there is no {' and no '.join(missing)}"
        raise NoLanguage(f"{what}; {language.install}")
    return InstalledLanguage(language, MappingProxyType(places), MappingProxyType(versions))


@cache
def _version(path: str, arguments: tuple[str, ...], identity: tuple[str, int, int, int]) -> str:
    """Return the version that a tool states; it is asked only once: some take seconds to answer."""
    kept = Cache()
    key = hashlib.sha256(repr((path, arguments, identity)).encode()).hexdigest()
    if (found := kept.get(key)) is not None:
        return found["version"].decode()
    version = tools.ask_version(path, arguments)
    if version:
        kept.put(key, {"version": version.encode()})
    return version


def available() -> list[InstalledLanguage]:
    """Return the languages whose tools are here, by id. Asks one tool per CPU at a time."""
    wanted = [language for _, language in sorted(languages().items())]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return [each for each in threads.map(_find_or_none, wanted) if each is not None]


def _find_or_none(language: Language) -> InstalledLanguage | None:
    try:
        return find(language)
    except NoLanguage:
        return None


def reads(wanted: Iterable[Language] | None = None) -> tuple[str, ...]:
    """Return the directories outside /usr that these languages (default: all) read.

    Only those that exist and that this process may read.
    """
    patterns = [each for one in wanted or languages().values() for each in one.reads]
    found = {str(path) for each in patterns for path in Path("/").glob(each[1:])}
    return tuple(
        path for path in sorted(found) if os.access(path, os.R_OK | os.X_OK) and Path(path).is_dir()
    )


@dataclass(frozen=True, slots=True)
class _Definitions:
    """All definitions: by id, by id and alias, and the names of each family."""

    languages: Mapping[str, Language]
    by_name: Mapping[str, Language]
    families: Mapping[str, frozenset[str]]


def _definitions() -> _Definitions:
    places = (os.environ.get(each) for each in ("PROCTOR_CONFIG", "XDG_CONFIG_HOME", "HOME"))
    return _load(_directory(*places))


@cache
def _directory(*_places: str | None) -> str:
    """Return the user's directory of definitions; read once for each place of the configuration."""
    return config.load().languages.directory


@cache
def _load(directory: str) -> _Definitions:
    files = {
        place.name: (place.read_text("utf-8"), place.name) for place in _DEFINITIONS.glob("*.toml")
    }
    if directory:
        files |= _users(Path(directory).expanduser())
    loaded: dict[str, Language] = {}
    for name, (text, file) in sorted(files.items()):
        loaded[name.removesuffix(".toml")] = read(text, file)
    _check_apart(loaded, {name.removesuffix(".toml"): file for name, (_, file) in files.items()})
    families: dict[str, frozenset[str]] = {}
    for each in loaded.values():
        families[each.family] = families.get(each.family, frozenset()).union(each.names)
    by_name = {name: each for each in loaded.values() for name in each.names}
    return _Definitions(MappingProxyType(loaded), by_name, families)


def _users(place: Path) -> dict[str, tuple[str, str]]:
    if not place.is_dir():
        raise InputError(f"{str(place)!r} is not a directory", field="languages.directory")
    try:
        return {path.name: (path.read_text("utf-8"), str(path)) for path in place.glob("*.toml")}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(place)) from error


def _check_apart(loaded: Mapping[str, Language], files: Mapping[str, str]) -> None:
    """Raise InputError where two languages claim the same name or ending."""
    names: dict[str, str] = {}
    endings: dict[str, str] = {}
    for language in loaded.values():
        defaults = language.extensions if language.default else ()
        claims = [(names, each, "aliases") for each in language.names]
        claims += [(endings, each, "extensions") for each in defaults]
        for taken, each, field in claims:
            other = taken.setdefault(each, language.id)
            if other != language.id:
                hint = " (`default = false` leaves it to that one)" if field == "extensions" else ""
                raise InputError(
                    f"{each!r} is already {other}'s{hint}", file=files[language.id], field=field
                )


def _interpreter(source: str | bytes) -> str:
    """Return the name of the program that a `#!` line calls, without directory; or nothing."""
    text = source[:200].decode("latin-1") if isinstance(source, bytes) else source[:200]
    found = _SHEBANG.match(text)
    return found[1].lower() if found else ""
