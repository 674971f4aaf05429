"""Tack's environment variables, as proctor's own."""

import os

import pytest

from proctor.errors import SettingsError
from proctor.service.http.tack import environment
from proctor.solver.host import SolverHost
from proctor.solver.solve import make_request

SET_BY_IT = ("PROCTOR_PRODUCTION", "PROCTOR_ALLOW_UNSAFE", "PROCTOR_SOLVER_ISOLATION")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SET_BY_IT:
        monkeypatch.setenv(name, "")  # so that it is put back as it was
        monkeypatch.delenv(name)


def test_each_has_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_SANDBOX_MODE", "docker")
    monkeypatch.setenv("TT_SANDBOX_ALLOW_UNSAFE", "1")
    monkeypatch.setenv("TT_PRODUCTION", "1")
    environment.adopt()
    assert [os.environ[name] for name in SET_BY_IT] == ["1", "1", "container"]


def test_proctors_own_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_SANDBOX_MODE", "none")
    monkeypatch.setenv("PROCTOR_SOLVER_ISOLATION", "namespaces")
    environment.adopt()
    assert os.environ["PROCTOR_SOLVER_ISOLATION"] == "namespaces"


@pytest.mark.parametrize("mode", ["", "auto"])
def test_nothing_is_chosen_by(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_SANDBOX_MODE", mode)
    monkeypatch.setenv("TT_SANDBOX_ALLOW_UNSAFE", "yes")
    environment.adopt()
    assert not set(SET_BY_IT) & os.environ.keys()


def test_an_unknown_mode_is_refused_where_solvers_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TT_SANDBOX_MODE", "chroot")
    environment.adopt()
    given = {"capacity": 1, "items": [{"id": "a", "size": 1, "value": 1}]}
    with SolverHost() as host, pytest.raises(SettingsError, match="chroot"):
        host.solve(make_request("print(1)", given, "packing"))
