"""The sidecar of a results file: the settings that all rows share, and where the rows are from.

Settings must be the same whenever a results file is resumed. Origins need not: input files may have
moved, and the machine may differ. They are kept so that a row can be judged again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.errors import InputError, SettingsError
from proctor.sandbox.machine import plain_file
from proctor.signatures import is_signed, signature

SETTINGS_SUFFIX = ".settings.json"
_ORIGINS = "origins"
_SIGNATURES = "signatures"
"""Keys of origins and signatures, among the settings; no setting has these names."""
_EFFECTS = frozenset({"packages", "preload"})
_BEGUN = "begun"
"""Key of the signature of all settings; no setting has this name."""
_WIDEST = 80
"""Characters of a setting that are shown."""
_LONGEST = 32 << 20
"""Bytes of a sidecar that is read."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class InputFile(msgspec.Struct, frozen=True):
    """A file that was read, as it was then."""

    path: str
    size: int
    """Bytes."""
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Describe a file. Raises InputError if it cannot be read."""
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                return cls(str(path.resolve()), os.fstat(file.fileno()).st_size, digest)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


class Origin(msgspec.Struct, frozen=True):
    """Input files and machine behind some rows of a results file."""

    rows: int = 0
    """Number of rows in the file before these."""
    files: dict[str, tuple[InputFile, ...]] = {}
    """Files by what they hold: `problems`, `programs`, `tasks`, `tests`, `submissions`."""
    host: dict[str, Any] = {}
    """Machine of the command: system, cpu, cpus, python."""
    tools: dict[str, str] = {}
    """Versions of compilers and such, by language."""
    options: dict[str, Any] = {}
    """Options that were given and are no settings: isolation, min_isolation, python."""
    signature: str = ""
    """Signature of `files` by the user who read them."""

    @classmethod
    def of(
        cls,
        files: Mapping[str, Iterable[Path]],
        host: Mapping[str, Any],
        tools: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> Self:
        """Describe where rows will be from. Of pipes, which can be read once, nothing is known."""
        described = {
            what: tuple(InputFile.of(path) for path in paths if path.is_file())
            for what, paths in files.items()
        }
        given = {name: value for name, value in options.items() if value is not None}
        signed = signature("origin", msgspec.to_builtins(described))
        return cls(0, described, dict(host), dict(tools), given, signed)

    @property
    def is_own(self) -> bool:
        """True if this user read these files, on this machine."""
        return is_signed(self.signature, "origin", msgspec.to_builtins(self.files))


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Content of the file beside a results file."""

    settings: dict[str, Any]
    """Plain JSON values."""
    origins: tuple[Origin, ...] = ()
    signatures: dict[str, str] = field(default_factory=dict)
    """Signatures of the settings that have effects when a row is judged again, by name; `begun` is
    that of all settings."""

    @classmethod
    def begun(cls, settings: dict[str, Any]) -> Self:
        """Return the sidecar of results that this user begins."""
        made = {
            name: signature("results", name, settings[name])
            for name in sorted(_EFFECTS) if settings.get(name)
        }  # fmt: skip
        return cls(settings, (), made | {_BEGUN: signature("results", settings)})

    @property
    def is_begun_here(self) -> bool:
        """True if this user began the results file, on this machine."""
        if _BEGUN in self.signatures:
            return is_signed(self.signatures[_BEGUN], "results", self.settings)
        # Earlier versions signed only the origins.
        known = self.origins and self.origins[0].rows == 0
        return bool(known) and all(each.is_own for each in self.origins)

    def is_own(self, name: str) -> bool:
        """Return True if a setting has no effect, or is as this user wrote it on this machine."""
        value = self.settings.get(name)
        return not value or is_signed(self.signatures.get(name), "results", name, value)

    @classmethod
    def of(cls, results: Path) -> Self:
        """Read the sidecar of a results file. Raises SettingsError if it is missing, InputError."""
        place = sidecar_of(results)
        try:
            text = plain_file.read(str(place), _LONGEST)
            content = msgspec.json.decode(text, type=dict[str, Any])
            origins = msgspec.convert(content.pop(_ORIGINS, ()), tuple[Origin, ...])
            signatures = msgspec.convert(content.pop(_SIGNATURES, {}), dict[str, str])
        except FileNotFoundError as error:
            raise SettingsError(
                f"{results} has content but no {place.name} beside it, so the settings behind it "
                "are not known; put that file back, or give another output file"
            ) from error
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"cannot be read as settings: {error}", file=str(place)) from error
        return cls(content, origins, signatures)

    def origin(self, position: int) -> Origin:
        """Return the origin of the row at a position, from 0; an empty one if it is not known."""
        known = [each for each in self.origins if each.rows <= position]
        return known[-1] if known else Origin()

    def with_origin(self, origin: Origin | None, rows: int) -> "Sidecar":
        """Return the sidecar with the origin of the rows that follow the first `rows`."""
        if origin is None:
            return self
        known = [each for each in self.origins if each.rows < rows]
        if known and msgspec.structs.replace(known[-1], rows=0) == origin:
            return replace(self, origins=tuple(known))
        return replace(self, origins=(*known, msgspec.structs.replace(origin, rows=rows)))

    def write(self, results: Path) -> None:
        """Write it beside a results file, whole or not at all. Raises InputError."""
        place = sidecar_of(results)
        # The name need not be unique: the lock on the results file covers it.
        draft = place.with_name(place.name + ".tmp")
        origins = {_ORIGINS: msgspec.to_builtins(self.origins)} if self.origins else {}
        signed = {_SIGNATURES: self.signatures} if self.signatures else {}
        text = json.dumps({**self.settings, **origins, **signed}, indent=2, sort_keys=True)
        try:
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, _NEW, 0o600), "w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            draft.replace(place)
            directory = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                # Makes both names durable: this file's and that of the results beside it.
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(place)) from error


def sidecar_of(results: Path) -> Path:
    """Return the place of a results file's sidecar."""
    return results.with_name(results.name + SETTINGS_SUFFIX)


def require_same_settings(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise SettingsError if a results file was begun with settings other than those given now."""
    differing = [
        f"{name[:_WIDEST]}: was {_shown(old, name)}, is now {_shown(new, name)}"
        for name in sorted(old.keys() | new.keys())
        if _text(old, name) != _text(new, name)
    ]
    if differing:
        raise SettingsError(
            f"{path} was begun with other settings ({'; '.join(differing)}); use the same "
            f"settings, give another output file, or delete it and its {SETTINGS_SUFFIX[1:]}"
        )


def _shown(settings: dict[str, Any], name: str) -> str:
    text = _text(settings, name)
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}..."


def _text(settings: dict[str, Any], name: str) -> str:
    return json.dumps(settings[name], sort_keys=True) if name in settings else "not set"
