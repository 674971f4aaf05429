"""Bundles: whole or not there, and read without trust."""

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats import bundle
from proctor.formats.bundle import MANIFEST, read_bundle, write_bundle
from proctor.limits import MIB

FILES = {"README.txt": b"hello\n", "a/b/c.bin": bytes(range(256)), "empty": b""}


@pytest.fixture(params=["bundle", "bundle.zip"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def listed(files: Mapping[str, bytes]) -> dict[str, Any]:
    return {name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()}  # fmt: skip


def zipped(place: Path, files: Mapping[str, bytes], manifest: Any = None) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest or {"files": listed(files)}))
        for name, data in files.items():
            archive.writestr(name, data)
    return place


def directory(place: Path, manifest: Any) -> Path:
    place.mkdir()
    (place / MANIFEST).write_text(json.dumps(manifest))
    return place


def test_there_and_back(place: Path) -> None:
    write_bundle(place, {"says": "\ud800 ☃"}, FILES)
    content, files = read_bundle(place)
    assert (content["says"], files) == ("\ud800 ☃", FILES)
    assert content["files"] == listed(FILES)
    assert [each.name for each in place.parent.iterdir()] == [place.name]


@pytest.mark.parametrize("there", ["file", "directory", "link"])
def test_nothing_is_overwritten(place: Path, there: str) -> None:
    if there == "file":
        place.write_text("mine")
    elif there == "directory":
        place.mkdir()
    else:
        place.symlink_to("nowhere")
    before = os.lstat(place)
    with pytest.raises(InputError, match="is there already"):
        write_bundle(place, {}, FILES)
    assert os.lstat(place) == before
    assert [each.name for each in place.parent.iterdir()] == [place.name]


def test_a_place_that_is_taken_meanwhile(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def take(descriptor: int) -> None:
        real(descriptor)
        if not place.exists():
            place.write_text("theirs")

    monkeypatch.setattr(os, "fsync", take)
    with pytest.raises(InputError, match="cannot be written"):
        write_bundle(place, {}, FILES)
    assert place.read_text() == "theirs"
    assert [each.name for each in place.parent.iterdir()] == [place.name]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    for name in ("a" * 300, "a/" + "b" * 300):
        with pytest.raises(InputError, match="cannot be written"):
            write_bundle(tmp_path / "b", {}, FILES | {name: b""})
    with pytest.raises(InputError, match="cannot be written"):
        write_bundle(tmp_path / "none" / "b.zip", {}, FILES)
    with pytest.raises(InputError, match="plain relative path"):
        write_bundle(tmp_path / "b", {}, FILES | {"../x": b""})
    assert list(tmp_path.iterdir()) == []


def test_bounds_hold_for_who_writes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MOST_FILES", 2)
    with pytest.raises(InputError, match="at most 2 files"):
        write_bundle(place, {}, FILES)
    monkeypatch.setattr(bundle, "MOST", 0)
    with pytest.raises(InputError, match="and 0 MiB"):
        write_bundle(place, {}, {"a": b"b"})
    assert not place.exists()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", ["more", "other", "gone"])
def test_a_changed_file(tmp_path: Path, name: str, change: str) -> None:
    write_bundle(tmp_path / "b", {}, FILES)
    file = tmp_path / "b" / name
    data = FILES[name]
    if change == "gone":
        file.unlink()
    else:
        file.write_bytes(data + b"x" if change == "more" or not data else b"x" + data[1:])
    with pytest.raises(InputError, match=f"{name}: ") as caught:
        read_bundle(tmp_path / "b")
    assert caught.value.file == str(tmp_path / "b")
    zipped(tmp_path / "b.zip", {name: file.read_bytes() for name in FILES if file.exists()},
           {"files": listed(FILES)})  # fmt: skip
    with pytest.raises(InputError):
        read_bundle(tmp_path / "b.zip")


def test_a_file_that_the_manifest_does_not_name_is_not_read(tmp_path: Path) -> None:
    write_bundle(tmp_path / "b", {}, FILES)
    os.mkfifo(tmp_path / "b" / "pipe")
    assert read_bundle(tmp_path / "b")[1] == FILES


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "a/../../secret", "a//b", ".", ""])
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("x")
    manifest = {"files": listed({name: b"x"})}
    for place in (directory(tmp_path / "b", manifest), zipped(tmp_path / "b.zip", {}, manifest)):
        with pytest.raises(InputError, match="is not a plain relative path"):
            read_bundle(place)


@pytest.mark.parametrize("link", ["file", "directory", "manifest"])
def test_links_are_not_followed(tmp_path: Path, link: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret").write_text("x")
    place = directory(tmp_path / "b", {"files": listed({"d/secret": b"x"})})
    if link == "manifest":
        (place / MANIFEST).rename(tmp_path / "m.json")
        (place / MANIFEST).symlink_to(tmp_path / "m.json")
    elif link == "directory":
        (place / "d").symlink_to(tmp_path / "out")
    else:
        (place / "d").mkdir()
        (place / "d" / "secret").symlink_to(tmp_path / "out" / "secret")
    with pytest.raises(InputError, match="cannot be read"):
        read_bundle(place)


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    place = directory(tmp_path / "b", {"files": listed({"p": b"x"})})
    os.mkfifo(place / "p")
    with pytest.raises(InputError, match="is not a regular file"):
        read_bundle(place)
    (place / MANIFEST).unlink()
    os.mkfifo(place / MANIFEST)
    with pytest.raises(InputError, match="is not a regular file"):
        read_bundle(place)


def test_huge_files(tmp_path: Path) -> None:
    place = directory(tmp_path / "b", {"files": listed({"p": b"x"})})
    os.truncate(place / MANIFEST, 1 << 40)  # sparse: it takes no room
    with pytest.raises(InputError, match="bytes, more than"):
        read_bundle(place)
    (place / MANIFEST).write_text(json.dumps({"files": listed({"p": b"x"})}))
    (place / "p").write_bytes(b"x")
    os.truncate(place / "p", 1 << 40)
    with pytest.raises(InputError, match="more than 1"):
        read_bundle(place)
    big = tmp_path / "b.zip"
    big.touch()
    os.truncate(big, 1 << 40)
    with pytest.raises(InputError, match="bytes, more than"):
        read_bundle(big)
    for sparse in (place / "p", big):  # or who copies what pytest keeps would fill a disk
        sparse.unlink()


def test_a_bomb_is_read_no_further_than_it_says(tmp_path: Path) -> None:
    for size in (1, 10 * MIB):
        manifest = {"files": {"p": {"size": size, "sha256": "0" * 64}}}
        with pytest.raises(InputError, match="it was changed"):
            read_bundle(zipped(tmp_path / "b.zip", {"p": bytes(64 * MIB)}, manifest))


@pytest.mark.parametrize(
    "manifest",
    [
        [], {}, {"files": []}, {"files": {"a": {"size": 1}}}, {"files": {"a": {"size": -1, "sha256": ""}}},
        {"files": {"a": {"size": bundle.MOST + 1, "sha256": ""}}},
        {"files": {str(n): {"size": 0, "sha256": ""} for n in range(bundle.MOST_FILES + 1)}},
    ],
    ids=range(7),
)  # fmt: skip
def test_manifests_that_are_none(tmp_path: Path, manifest: Any) -> None:
    with pytest.raises(InputError, match=r"manifest\.json: "):
        read_bundle(directory(tmp_path / "b", manifest))


def test_what_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(InputError, match="there is no such bundle"):
        read_bundle(tmp_path / "b")
    (tmp_path / "b.zip").write_bytes(b"no zip")
    with pytest.raises(InputError, match="no zip archive"):
        read_bundle(tmp_path / "b.zip")
    (tmp_path / "b" / MANIFEST).write_text("[" * 100_000)
    with pytest.raises(InputError):
        read_bundle(tmp_path / "b")


def test_methods_that_take_much_memory_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(MANIFEST, json.dumps({"files": {}}))
    with pytest.raises(InputError, match="is neither stored nor deflated"):
        read_bundle(tmp_path / "b.zip")
