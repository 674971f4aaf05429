"""Packages of tests/packages, copied and broken."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.formats.packages.package import load

PACKAGES = Path(__file__).parent / "packages"


def copied(tmp_path: Path, name: str) -> Path:
    return Path(shutil.copytree(PACKAGES / name, tmp_path / name))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def refused(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load(path)
    assert caught.value.file is not None
    return caught.value


def remove(name: str) -> Callable[[Path], None]:
    return lambda package: (package / name).unlink()


def write(name: str, text: str) -> Callable[[Path], None]:
    def change(package: Path) -> None:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)

    return change


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda package: edit(package / name, old, new)


def appended(name: str, text: str) -> Callable[[Path], None]:
    def change(package: Path) -> None:
        path = package / name
        path.write_text(path.read_text() + text)

    return change


def linked(name: str, target: str) -> Callable[[Path], None]:
    def change(package: Path) -> None:
        (package / name).unlink(missing_ok=True)
        os.symlink(target, package / name)

    return change
