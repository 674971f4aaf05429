"""The program in front of the one-file build: what it unpacks, and what it refuses.

That the file works is for `make binary`, which builds and tries it.
"""

import functools
import hashlib
import importlib.util
import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.tar_filters

SOURCE = Path(__file__).resolve().parent.parent / "tools" / "binary" / "bootstrap.py"


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("proctor_bootstrap", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bootstrap = loaded()


@functools.cache
def payload() -> bytes:
    """Return an archive, the same one each time: it says in which second it was made."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        about = tarfile.TarInfo(bootstrap.PYTHON)
        about.mode, about.size = 0o755, 4
        tar.addfile(about, io.BytesIO(b"ELF!"))
    return packed.getvalue()


def whole(data: bytes, digest: bytes | None = None) -> bytes:
    digest = digest or hashlib.sha256(data).digest()
    trailer = bootstrap.TRAILER.pack(len(b"loader"), len(data), digest, bootstrap.MAGIC)
    return b"loader" + data + b"archive of the loader" + bytes(trailer)


def unpack(data: bytes) -> Path:
    found: Path = bootstrap.unpacked(io.BytesIO(data))
    return found


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_unpacks_once(cache: Path) -> None:
    place = unpack(whole(payload()))
    python = place / bootstrap.PYTHON
    assert python.read_bytes() == b"ELF!"
    assert python.stat().st_mode & 0o100
    assert list(cache.iterdir()) == [place]
    python.write_bytes(b"left")
    assert unpack(whole(payload())) == place
    assert python.read_bytes() == b"left"


def test_another_payload_has_another_place() -> None:
    data = payload()
    assert unpack(whole(data)) != unpack(whole(data + b"\0" * 512))


@pytest.mark.parametrize("place", [3, 20, -20])
def test_damage(place: int, cache: Path) -> None:
    data = bytearray(payload())
    digest = hashlib.sha256(data).digest()
    data[place] ^= 0xFF
    with pytest.raises((ValueError, OSError, tarfile.TarError)):
        unpack(whole(bytes(data), digest))
    assert list(cache.iterdir()) == []


def test_cut_short(cache: Path) -> None:
    with pytest.raises(ValueError, match="not whole"):
        unpack(whole(payload())[:-30])
    assert not cache.exists()


def test_what_others_may_write_to_is_refused() -> None:
    place = unpack(whole(payload()))
    place.chmod(0o777)
    with pytest.raises(PermissionError, match="others may write"):
        unpack(whole(payload()))


def test_two_at_once(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """The one that comes second finds the place taken, and uses it."""
    taken: list[Path] = []

    def rename(draft: Path, target: Path) -> Path:
        if not taken:
            taken.append(target)
            unpack(whole(payload()))
        return real(draft, target)

    real = Path.rename
    monkeypatch.setattr(Path, "rename", rename)
    assert unpack(whole(payload())) == taken[0]
    assert list(cache.iterdir()) == taken


def test_the_loaders_environment_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/tmp/_MEI1")
    monkeypatch.setenv("_PYI_APPLICATION_HOME_DIR", "/tmp/_MEI1")
    assert "/tmp/_MEI1" not in bootstrap.environment().values()
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/opt/lib")
    assert bootstrap.environment()["LD_LIBRARY_PATH"] == "/opt/lib"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["20"], "proctor-tack"),
        (["2.5"], "proctor-tack"),
        (["--daemon"], "proctor-tack"),
        (["--syntax-check"], "proctor-tack"),
        (["--ast-check"], "proctor-tack"),
        ([], "proctor"),
        (["daemon"], "proctor"),
        (["--version"], "proctor"),
        (["run", "20"], "proctor"),
    ],
)
def test_it_is_what_it_is_called_as(
    monkeypatch: pytest.MonkeyPatch, words: list[str], command: str
) -> None:
    monkeypatch.setattr("sys.argv", ["proctor-bin", *words])
    assert f"sys.argv[0] = '{command}'" in bootstrap.start()
    compile(bootstrap.start(), "start", "exec")
