"""Which level is used, and that nobody gets `none` without saying so twice."""

import pytest

from proctor import Limits, Pool, open_pool, run
from proctor.errors import NoIsolation, SettingsError
from proctor.sandbox import policy
from proctor.sandbox.bubblewrap import Bubblewrap


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROCTOR_ISOLATION", "PROCTOR_ALLOW_UNSAFE", "PROCTOR_PRODUCTION"):
        monkeypatch.delenv(name, raising=False)


def test_the_default_is_a_real_box() -> None:
    assert isinstance(policy.choose(), Bubblewrap)
    assert policy.choose().level == "namespaces"


def test_none_has_to_be_allowed() -> None:
    with pytest.raises(NoIsolation, match="PROCTOR_ALLOW_UNSAFE=1") as caught:
        policy.choose("none")
    assert caught.value.exit_code == 125
    with pytest.raises(NoIsolation):
        open_pool(isolation="none")


@pytest.mark.parametrize("value", ["0", "", "yes", "true"])
def test_only_1_allows_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", value)
    with pytest.raises(NoIsolation):
        policy.choose("none")


def test_production_refuses_none_whatever_else_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    monkeypatch.setenv("PROCTOR_PRODUCTION", "1")
    with pytest.raises(NoIsolation, match="PROCTOR_PRODUCTION=1"):
        policy.choose("none")
    monkeypatch.setenv("PROCTOR_ISOLATION", "none")
    with pytest.raises(NoIsolation, match="PROCTOR_PRODUCTION=1"):
        policy.choose()


def test_the_environment_chooses_where_the_caller_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROCTOR_ISOLATION", "none")
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    assert policy.choose().level == "none"
    assert policy.choose("namespaces").level == "namespaces"


@pytest.mark.parametrize("level", ["docker", "NONE", "namespace", " none"])
def test_an_unknown_level_is_named(level: str) -> None:
    with pytest.raises(SettingsError, match=f"'{level}' is not one of namespaces, none"):
        policy.choose(level)


def test_level_none_runs_and_says_that_nothing_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    with open_pool(isolation="none", cells=1) as pool:
        done = run("print(input()[::-1])", "abc", pool=pool)
        spun = run("while True: pass", limits=Limits(cpu=0.2), pool=pool)
        after = run("print(1)", pool=pool)
    assert (done.stdout, done.exit_code) == (b"cba\n", 0)
    assert done.isolation.level == "none"
    for guarantee in ("filesystem", "network", "signals", "kernel"):
        assert done.isolation.guarantees[guarantee].startswith("not enforced")
    assert spun.limit == "cpu"
    assert after.ok


def test_the_default_level_says_what_holds(pool: Pool) -> None:
    isolation = run("", pool=pool).isolation
    assert isolation.level == "namespaces"
    assert set(isolation.guarantees) == {
        "filesystem", "network", "processes", "signals", "memory", "cpu", "output", "kernel",
    }  # fmt: skip
    assert not [how for how in isolation.guarantees.values() if how.startswith("not enforced")]
