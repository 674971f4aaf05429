"""A virtual machine with another kernel: Debian's own, control groups v2, systemd.

`run` boots it, has it run a list of commands one after the other, and returns what they printed.
The system is built once (mmdebstrap) and kept in build/vm; each boot leaves it as it was. A second,
read-only disk brings proctor, its dependencies and tests/vm/checks, seen inside as /payload. There
is no network inside. Without KVM everything takes about ten times as long.
"""

import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import proctor
from waiting import PATIENCE

HERE = Path(__file__).parent
BUILT = HERE.parent.parent / "build" / "vm"
RELEASE = "bookworm"
KERNEL = "linux-image-cloud-amd64"  # NVMe and ext4 built in: boots without an initramfs
INCLUDE = (
    "systemd,systemd-sysv,libpam-systemd,dbus,dbus-user-session,python3,base-files,base-passwd,"
    "bash,coreutils,dash,diffutils,findutils,grep,hostname,libc-bin,login,mount,passwd,procps,sed,"
    "util-linux"
)
USER = "somebody"
SERVICE = """
[Unit]
After=basic.target dbus.service systemd-logind.service
Wants=dbus.service systemd-logind.service
[Service]
Type=oneshot
TimeoutStartSec=infinity
StandardOutput=file:/dev/ttyS0
ExecStartPre=/bin/mount -o ro /dev/nvme0n2 /payload
ExecStart=/usr/bin/python3 -B /payload/guest.py
ExecStopPost=/bin/systemctl poweroff --force --force
"""
PYTHON = ("/usr/bin/python3", "-B")
PROCTOR = (*PYTHON, "-c", "from proctor.cli.main import main; main()")


@dataclass(frozen=True, slots=True)
class Check:
    """A command to run inside, as root in a service of systemd's. `argv` may begin with one of
    the functions below."""

    name: str
    argv: Sequence[str]
    timeout: float = 1000.0


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int | None
    """Exit status as subprocess gives it; None if it was ended for taking too long."""
    stdout: str
    stderr: str
    seconds: float

    def json(self) -> Any:
        """What it printed, if it ended well and said nothing else."""
        assert (self.status, self.stderr) == (0, ""), self
        return json.loads(self.stdout)


def script(name: str, *arguments: str) -> list[str]:
    """A program of tests/vm/checks."""
    return [*PYTHON, f"/payload/checks/{name}", *arguments]


def as_user(argv: Sequence[str]) -> list[str]:
    """As an ordinary user in a service's group, which is not his."""
    return ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--", *argv]


def logged_in(argv: Sequence[str]) -> list[str]:
    """As an ordinary user in a login session, with a systemd of his own."""
    return ["su", "-l", USER, "-w", "PYTHONPATH,PYTHONWARNINGS", "-c", shlex.join(argv)]


def delegated(argv: Sequence[str]) -> list[str]:
    """As an ordinary user in a delegated scope of his systemd."""
    scope = ["systemd-run", "--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes", "--"]
    return logged_in([*scope, *argv])


def given(argv: Sequence[str]) -> list[str]:
    """As an ordinary user in a group whose directory was made his."""
    return [*script("given.py"), *as_user(argv)]


def contained(argv: Sequence[str]) -> list[str]:
    """As root in a control group namespace with a writable hierarchy, as in some containers."""
    return [*script("contained.py"), *argv]


def run(checks: Sequence[Check], kernel_arguments: str = "") -> dict[str, Outcome]:
    """Boot, run the checks in order, and return their outcomes by name."""
    kernel, system = build()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        payload, results = place / "payload.img", place / "results"
        make_payload(payload, checks)
        console = BUILT / "console.log"
        command = [
            "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2",
            "-m", "1536", "-nodefaults", "-display", "none", "-no-reboot", "-kernel", str(kernel),
            "-drive", f"file={system},format=raw,if=none,id=system,snapshot=on",
            "-drive", f"file={payload},format=raw,if=none,id=payload,readonly=on",
            "-device", "nvme,id=disks,serial=1", "-device", "nvme-ns,drive=system,nsid=1",
            "-device", "nvme-ns,drive=payload,nsid=2",
            "-serial", f"file:{console}", "-serial", f"file:{results}",
            "-append", "root=/dev/nvme0n1 rw console=ttyS0 quiet panic=-1 mitigations=off"
            f" systemd.show_status=no {kernel_arguments}",
        ]  # fmt: skip
        limit = 60 + sum(check.timeout for check in checks)
        # What came out before the time was up is told below.
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                command, check=True, timeout=limit, stdin=subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": scratch},  # what is written inside goes there
            )  # fmt: skip
        lines = results.read_text().splitlines() if results.exists() else []
        outcomes = {}
        for line in lines:
            said = json.loads(line)
            name = said.pop("name")
            outcomes[name] = Outcome(**said)
    lost = [check.name for check in checks if check.name not in outcomes]
    assert not lost, f"no outcome of {lost}; see {console}: {console.read_text()[-2000:]}"
    return outcomes


def build() -> tuple[Path, Path]:
    """Make the kernel and the system's disk if they are not there; return both."""
    recipe = hashlib.sha256(repr((RELEASE, KERNEL, INCLUDE, SERVICE, USER)).encode()).hexdigest()
    kernel, system = BUILT / f"vmlinuz-{recipe[:12]}", BUILT / f"system-{recipe[:12]}.img"
    if kernel.exists() and system.exists():
        return kernel, system
    BUILT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILT) as scratch:
        place = Path(scratch)
        (place / "checks.service").write_text(SERVICE)
        fetch_kernel = f"""
            cd {shlex.quote(scratch)}
            package=$(apt-cache depends {KERNEL} | sed -n 's/.*Depends: //p' | grep ^linux-image)
            apt-get -qq -o APT::Sandbox::User=root download $package
            dpkg-deb --fsys-tarfile linux-image-*.deb | tar -x --wildcards './boot/vmlinuz-*'
        """
        subprocess.run(
            [
                "mmdebstrap", "--quiet", "--variant=custom", f"--include={INCLUDE}",
                f"--customize-hook=chroot \"$1\" useradd -m -u 1000 {USER}",
                '--customize-hook=mkdir -p "$1/payload" "$1/var/lib/systemd/linger"',
                f'--customize-hook=touch "$1/var/lib/systemd/linger/{USER}"',
                f'--customize-hook=copy-in {place / "checks.service"} /etc/systemd/system',
                '--customize-hook=chroot "$1" systemctl --quiet add-wants multi-user.target'
                " checks.service",
                '--customize-hook=APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" sh -ec '
                + shlex.quote(fetch_kernel),
                RELEASE, str(place / "system.tar"), "http://deb.debian.org/debian",
            ],
            check=True, timeout=280,
        )  # fmt: skip
        root = place / "root"
        with tarfile.open(place / "system.tar") as archive:
            archive.extractall(root, filter="fully_trusted")  # devices and owners; it is ours
        make_disk(root, place / "system.img", megabytes=700)
        next((place / "boot").glob("vmlinuz-*")).rename(kernel)
        (place / "system.img").rename(system)
    return kernel, system


def make_payload(image: Path, checks: Sequence[Check]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        place.chmod(0o755)
        shutil.copy(HERE / "guest.py", place)
        shutil.copytree(HERE / "checks", place / "checks")
        (place / "checks.json").write_text(json.dumps([asdict(check) for check in checks]))
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(proctor.__file__).parent, place / "site" / "proctor", ignore=ignored)
        for source, target in dependencies("proctor", extra="serve"):
            (place / "site" / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place / "site" / target)
        make_disk(place, image, megabytes=200)


def dependencies(
    name: str, seen: set[str] | None = None, extra: str = ""
) -> Iterator[tuple[Path, Path]]:
    """Files of what a distribution needs, but not its own: (where it is, where it belongs)."""
    seen = set() if seen is None else seen
    for requirement in importlib.metadata.requires(name) or []:
        needed = re.match(r"[\w.-]+", requirement)
        assert needed is not None
        optional = "extra ==" in requirement and f'extra == "{extra}"' not in requirement
        if optional or needed[0] in seen:
            continue
        seen.add(needed[0])
        try:
            distribution = importlib.metadata.distribution(needed[0])
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        for file in distribution.files or []:
            if file.suffix != ".pyc" and ".." not in file.parts:
                yield Path(str(file.locate())), Path(file)
        yield from dependencies(needed[0], seen)


def make_disk(directory: Path, image: Path, megabytes: int) -> None:
    command = ["mke2fs", "-q", "-t", "ext4", "-d", str(directory), str(image), f"{megabytes}M"]
    subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True)
