"""What is said to an administrator: the exact command, and only where it would help."""

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.cell import _lockdown
from proctor.errors import NoIsolation
from proctor.sandbox.choice import policy, remedies
from proctor.sandbox.levels import bubblewrap

pytestmark = pytest.mark.user

Machine = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which nothing stands in the way but what is said here."""

    def arrange(
        *, files: dict[str, str] | None = None, marks: tuple[str, ...] = (), abi: int = 7,
        c_part: bool = True, bwrap: bool = True, engines: tuple[str, ...] = ("docker",),
    ) -> None:  # fmt: skip
        shown = {"/proc/self/mountinfo": "22 27 0:21 / /proc rw - proc proc rw", **(files or {})}
        monkeypatch.setattr(remedies, "text", lambda path: shown.get(str(path), ""))
        exists = Path.exists
        ours = ("/.dockerenv", "/run/.containerenv")
        monkeypatch.setattr(
            Path, "exists", lambda path: str(path) in marks if str(path) in ours else exists(path)
        )
        monkeypatch.setattr(_lockdown, "landlock_abi", lambda: abi)
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: object() if c_part else None)
        monkeypatch.setattr(shutil, "which", lambda name: name if name in engines else None)

        def find(*, system: bool = False) -> tuple[str, None]:
            if not bwrap:
                raise NoIsolation("bubblewrap is missing: install it")
            return "/usr/bin/bwrap", None

        monkeypatch.setattr(bubblewrap, "find_bwrap", find)

    return arrange


def test_where_nothing_stands_in_the_way_nothing_is_advised(machine: Machine) -> None:
    machine()
    assert remedies.remedies(policy.DEFAULT_ORDER) == []
    assert remedies.blocked_user_namespaces() is None


@pytest.mark.parametrize(
    ("path", "value", "command"),
    [
        ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0",
         "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
         f"cp {remedies.PROFILE} /etc/apparmor.d/ && apparmor_parser -r"
         " /etc/apparmor.d/proctor-bwrap"),
    ],
)  # fmt: skip
def test_a_switch_that_forbids_user_namespaces(
    path: str, value: str, command: str, machine: Machine
) -> None:
    machine(files={path: value})
    (remedy,) = remedies.remedies(policy.DEFAULT_ORDER)
    assert remedy.startswith(f"namespaces: {path} is {value}")
    assert f"as root: {command}" in remedy
    machine(files={path: "0" if value == "1" else "15000"})
    assert remedies.remedies(policy.DEFAULT_ORDER) == []


def test_the_profile_that_is_named_is_there_and_is_for_bwrap() -> None:
    profile = remedies.PROFILE.read_text()
    assert "userns," in profile
    assert "bwrap" in profile
    assert profile.count("{") == profile.count("}") > 0


MASKED = (
    "22 27 0:21 / /proc rw - proc proc rw\n99 22 0:6 /null /proc/kcore rw - devtmpfs devtmpfs rw"
)


@pytest.mark.parametrize(
    ("files", "marks", "inside"),
    [
        ({}, (), False),
        ({"/proc/self/mountinfo": MASKED}, (), True),
        ({"/proc/self/status": "Seccomp:\t2"}, ("/.dockerenv",), True),
        ({"/proc/self/status": "Seccomp:\t2"}, ("/run/.containerenv",), True),
        ({"/proc/self/status": "Seccomp:\t2"}, (), False),  # a service with a filter
        ({"/proc/self/status": "Seccomp:\t0"}, ("/.dockerenv",), False),  # once an image
    ],
)
def test_a_container_is_told_by_what_it_forbids(
    files: dict[str, str], marks: tuple[str, ...], inside: bool, machine: Machine
) -> None:
    machine(files=files, marks=marks)
    assert remedies.in_container() is inside
    found = remedies.remedies(("namespaces",))
    assert len(found) == inside
    for remedy in found:
        for flag in ("seccomp=unconfined", "systempaths=unconfined", "appArmorProfile"):
            assert flag in remedy


@pytest.mark.parametrize(
    ("circumstances", "said"),
    [
        ({"bwrap": False}, "namespaces: bubblewrap is missing: install it"),
        ({"abi": 0}, "landlock: the kernel offers none; Linux 5.13 or newer"),
        ({"abi": 5}, "has Landlock ABI 5; Linux 6.12 has scopes (ABI 6)"),
        ({"c_part": False}, "landlock: install a C compiler and Python's headers"),
        ({"engines": ()}, "container: install docker or podman"),
    ],
)
def test_what_is_missing_is_named_with_the_level_it_serves(
    circumstances: dict[str, object], said: str, machine: Machine
) -> None:
    machine(**circumstances)
    (remedy,) = remedies.remedies(policy.DEFAULT_ORDER)
    assert said in remedy
    level = remedy.split(":")[0]
    assert remedies.remedies([level]) == [remedy]
    assert remedies.remedies([each for each in policy.DEFAULT_ORDER if each != level]) == []


def test_podman_is_an_engine_too(machine: Machine) -> None:
    machine(engines=("podman",))
    assert remedies.remedies(("container",)) == []


def test_text_of_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    (tmp_path / "switch").write_text(" 1\n")
    assert remedies.text(str(tmp_path / "switch")) == "1"
    assert remedies.text(str(tmp_path / "none")) == ""
    assert remedies.text(str(tmp_path)) == ""
