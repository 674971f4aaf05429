"""`proctor serve --systemd`: units that systemd takes, made for this installation."""

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.service import systemd
from waiting import PATIENCE

COMMAND = str(Path(sysconfig.get_path("scripts"), "proctor"))
BEYOND = (("--host", "0.0.0.0"), ("--token-file", "/etc/proctor-tokens"))


def proctor(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "serve", *arguments], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE
    )


def command_line(unit: str) -> str:
    (line,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    return line.removeprefix("ExecStart=")


def test_a_unit_of_the_user_has_what_was_typed_with_paths_that_hold_elsewhere(
    tmp_path: Path,
) -> None:
    made = proctor(
        "--systemd", "user", "--port", "0", "--preload", "math", "--preload", "json",
        "--token-file", "tokens", "--package-set", "a=b c", "--no-access-log", cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    words = shlex.split(command_line(made.stdout))
    assert words[0] == COMMAND
    assert words[1:] == [
        "serve", "--port", "0", "--token-file", f"{tmp_path}/tokens", "--preload", "math",
        "--preload", "json", "--package-set", f"a={tmp_path}/b c", "--no-access-log",
    ]  # fmt: skip
    assert "DynamicUser" not in made.stdout


def test_tokens_reach_a_service_of_the_system_as_a_credential() -> None:
    unit = systemd.unit("system", BEYOND, ["/opt/proctor/bin/proctor"])
    expected = "/opt/proctor/bin/proctor serve --host 0.0.0.0 --token-file %d/tokens"
    assert command_line(unit) == expected
    assert "\nLoadCredential=tokens:/etc/proctor-tokens\n" in unit
    assert "LoadCredential" not in systemd.unit("system", (), ["/bin/true"])


def test_nothing_in_an_option_is_expanded() -> None:
    unit = systemd.unit("user", [("--config", 'a "$HOME" %h \\ b')], ["/bin/true"])
    assert command_line(unit) == r'/bin/true serve --config "a \"$$HOME\" %%h \\ b"'


@pytest.mark.parametrize("hidden", ["/root/venv/bin/python", "/home/ann/.venv/bin/python"])
def test_what_the_system_cannot_reach_is_refused(
    hidden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", hidden)
    with pytest.raises(UsageError, match=f"cannot reach {hidden}.*--systemd user"):
        systemd.unit("system", ())


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    made = proctor("--systemd", "everything", cwd=tmp_path)
    assert made.returncode == 2
    assert "--systemd is system or user, not 'everything'" in made.stderr


@pytest.mark.command("systemd-analyze")
@pytest.mark.parametrize("kind", systemd.KINDS)
def test_systemd_takes_it(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "proctor.service"
    place.write_text(systemd.unit(kind, BEYOND, [COMMAND]))
    verify = ["systemd-analyze", "verify", *(["--user"] if kind == "user" else []), str(place)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    # A unit that is wrong is told of, too: what is quiet is right.
    taken = subprocess.run(
        verify, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (taken.returncode, taken.stdout + taken.stderr) == (0, "")
    place.write_text(place.read_text().replace("Restart=", "Restrat="))
    taken = subprocess.run(
        verify, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "Restrat" in taken.stderr
