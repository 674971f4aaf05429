"""The configuration file: where it is looked for, and what is wrong with it when it is."""

import os
from pathlib import Path

import pytest

from proctor import config
from proctor.errors import InputError
from proctor.languages import cache
from proctor.private_files import state_directory
from proctor.sandbox.choice import policy

pytestmark = pytest.mark.user


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("PROCTOR_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


def write(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


ISOLATION = '[isolation]\nbackends = ["landlock", "namespaces"]\nminimum = "landlock"\n'


def test_without_a_file_all_is_default(home: Path) -> None:
    assert config.path() == home / ".config/proctor/config.toml"
    assert config.load() == config.Config()
    assert config.load().isolation.backends == ()


def test_it_lies_in_the_users_configuration(home: Path) -> None:
    write(home / ".config/proctor/config.toml", ISOLATION)
    assert config.load().isolation.backends == ("landlock", "namespaces")
    assert config.load().isolation.minimum == "landlock"


def test_xdg_config_home_and_then_proctor_config_go_first(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / ".config/proctor/config.toml", '[isolation]\nminimum = "none"\n')
    write(tmp_path / "xdg/proctor/config.toml", '[isolation]\nminimum = "landlock"\n')
    named = write(tmp_path / "named.toml", '[container]\nengine = "podman"\nimage = "box:1"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert config.load().isolation.minimum == "landlock"
    monkeypatch.setenv("PROCTOR_CONFIG", str(named))
    assert config.load().isolation == config.IsolationConfig()
    assert (config.load().container.engine, config.load().container.image) == ("podman", "box:1")


@pytest.mark.parametrize(
    "name", ["proctor.toml", ".proctor.toml", "config.toml", "proctor/config.toml",
             ".config/proctor/config.toml", "pyproject.toml"],
)  # fmt: skip
def test_a_file_of_the_working_directory_is_ignored(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a stranger's project says of its own isolation is not asked."""
    project = tmp_path / "project"
    write(project / name, '[isolation]\nbackends = ["none"]\n[tool.proctor]\nminimum = "none"\n')
    monkeypatch.chdir(project)
    assert config.load() == config.Config()
    assert policy.wanted(None, None) == (policy.DEFAULT_ORDER, None)


def test_a_user_without_a_home_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In containers often: a number without a name. `~` must not become a directory's name."""
    write(tmp_path / "~/.config/proctor/config.toml", '[isolation]\nminimum = "none"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for an unknown user
    assert config.path() is None
    assert config.load() == config.Config()


def test_a_file_named_by_proctor_config_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "not there.toml"
    monkeypatch.setenv("PROCTOR_CONFIG", str(place))
    with pytest.raises(InputError, match="PROCTOR_CONFIG names it, but it is not there") as caught:
        config.load()
    assert caught.value.file == str(place)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[isolation\n", "cannot be read: .*line 1"),
        ("isolation = ", "cannot be read: "),
        ("[isolation]\nminimun = 'none'\n", "unknown field `minimun`.*isolation"),
        ("[isolatoin]\n", "unknown field `isolatoin`"),
        (
            "[isolation]\nbackends = 'landlock'\n",
            r"Expected `array`, got `str`.*isolation.backends",
        ),
        ("[isolation]\nbackends = [1]\n", r"Expected `str`, got `int`.*isolation.backends"),
        ("[isolation]\nminimum = true\n", r"Expected `str`, got `bool`.*isolation.minimum"),
        ("isolation = 5\n", r"Expected `object`, got `int`.*isolation"),
        ("[container]\nruntime = ['runsc']\n", r"Expected `str`, got `array`.*container.runtime"),
    ],
)
def test_what_is_wrong_is_named(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write(tmp_path / "wrong.toml", text)
    monkeypatch.setenv("PROCTOR_CONFIG", str(place))
    with pytest.raises(InputError, match=said) as caught:
        config.load()
    assert caught.value.file == str(place)


def test_a_file_that_is_no_text_or_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "binary.toml"
    place.write_bytes(b"\xff\xfe[isolation]")
    for path in (place, tmp_path):
        monkeypatch.setenv("PROCTOR_CONFIG", str(path))
        with pytest.raises(InputError, match="cannot be read: ") as caught:
            config.load()
        assert caught.value.file == str(path)


@pytest.mark.root
def test_a_file_of_another_user_is_refused_unless_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names programs to start; sudo may leave HOME as it was."""
    place = write(home / ".config/proctor/config.toml", ISOLATION)
    os.chown(place, 65534, 65534)
    with pytest.raises(InputError, match="belongs to user 65534"):
        config.load()
    monkeypatch.setenv("PROCTOR_CONFIG", str(place))
    assert config.load().isolation.minimum == "landlock"


def test_a_base_directory_is_absolute_or_not_used(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below the working directory a stranger may have put settings, compiled programs, proofs."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "proctor/config.toml", '[isolation]\nbackends = ["none"]\n')
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, ".")
    monkeypatch.delenv("PROCTOR_CACHE_DIR", raising=False)
    assert config.load() == config.Config()
    assert config.path() == home / ".config/proctor/config.toml"
    assert cache.directory() == home / ".cache/proctor"
    assert state_directory() == home / ".local/state/proctor"
