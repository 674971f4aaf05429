"""What asks for a level is named when it cannot be followed; what is remembered, and what not."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from proctor import Limits, config, open_pool, run
from proctor.errors import CellStartFailed, InputError, NoIsolation, SettingsError
from proctor.limits import MIB
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy, proof
from proctor.sandbox.levels.bubblewrap import Bubblewrap
from proctor.sandbox.levels.landlock import Landlock
from proctor.sandbox.machine.interpreter import current

pytestmark = pytest.mark.user


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PROCTOR_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write_config(text: str) -> Path:
    place = config.path()
    assert place is not None
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def test_the_caller_goes_before_the_environment_and_that_before_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_config('[isolation]\nbackends = ["landlock", "namespaces"]\nminimum = "landlock"\n')
    assert policy.wanted(None, None) == (("landlock", "namespaces"), "landlock")
    monkeypatch.setenv("PROCTOR_MIN_ISOLATION", "namespaces")
    assert policy.wanted(None, None) == (("namespaces",), "namespaces")
    assert policy.wanted(None, "container") == (("namespaces",), "container")
    monkeypatch.setenv("PROCTOR_ISOLATION", "container")
    assert policy.wanted(None, "landlock")[0] == ("container",)
    assert policy.wanted("namespaces", None)[0] == ("namespaces",)


@pytest.mark.parametrize(
    ("environment", "file", "said"),
    [
        ({"PROCTOR_ISOLATION": "docker"}, "", "level 'docker' (PROCTOR_ISOLATION) is not one of"),
        ({"PROCTOR_MIN_ISOLATION": "x"}, "", "level 'x' (PROCTOR_MIN_ISOLATION) is not one of"),
        ({}, '[isolation]\nminimum = "x"', "level 'x' (minimum in FILE) is not one of"),
        ({}, '[isolation]\nbackends = ["x"]', "level 'x' (backends in FILE) is not one of"),
        (
            {"PROCTOR_ISOLATION": "landlock"}, '[isolation]\nminimum = "namespaces"',
            "level landlock (PROCTOR_ISOLATION) was asked for, but at least namespaces"
            " (minimum in FILE) is demanded: ask for a stronger level or lower the minimum",
        ),
    ],
)  # fmt: skip
def test_whoever_asks_for_what_cannot_be_is_named(
    environment: Mapping[str, str], file: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    place = write_config(file)
    with pytest.raises(SettingsError) as caught:
        policy.choose()
    assert said.replace("FILE", str(place)) in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_that_may_not_be_read_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    place = write_config("")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="set HOME or XDG_CONFIG_HOME") as caught:
        config.load()
    assert caught.value.file == str(place)


def test_what_is_remembered_ends_when_the_c_part_is_built_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend, setup = Bubblewrap(), CellSetup(current())
    tried = []
    monkeypatch.setattr(proof, "_attempt", lambda *_: tried.append(1))
    assert proof.failure(backend, setup) is None
    assert proof.failure(backend, setup) is None
    assert len(tried) == 1
    monkeypatch.setattr(proof, "_changed", lambda path: f"other {path}")
    assert proof.failure(backend, setup) is None
    assert len(tried) == 2


def test_landlock_without_the_c_part_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    found = proof.failure(Landlock(), CellSetup(current()))
    assert found is not None
    assert "install a C compiler" in found
    assert found.count("\n") == 0


def test_landlock_does_without_a_place_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers with a read-only root have no temporary directory."""

    def nowhere(**_: object) -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.mkdtemp", nowhere)
    with open_pool(isolation="landlock", cells=1) as pool:
        assert run("print(1)", pool=pool).stdout == b"1\n"
        with pytest.raises(NoIsolation, match="a TMPDIR that can be written to"):
            run("print(1)", limits=Limits(disk=MIB), pool=pool)


def test_a_cell_whose_process_cannot_be_made_did_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with open_pool(isolation="landlock", cells=1) as pool:
        monkeypatch.setattr("proctor.sandbox.levels.bare.start_agent", full)
        with pytest.raises(CellStartFailed, match="could not be started: .* unavailable"):
            run("print(1)", pool=pool)
