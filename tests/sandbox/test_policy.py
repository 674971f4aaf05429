"""Which level is used, and that nobody gets `none` without saying so twice."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor import Limits, Pool, open_pool, run
from proctor.errors import NoInterpreter, NoIsolation, SettingsError
from proctor.sandbox.choice import policy, proof, remedies
from proctor.sandbox.levels.bubblewrap import Bubblewrap
from proctor.sandbox.machine import interpreter

pytestmark = pytest.mark.user

Fail = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PROCTOR_"):
            monkeypatch.delenv(name)


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Write table `[isolation]` of the configuration file."""

    def write(table: str) -> None:
        place = tmp_path / "config.toml"
        place.write_text("[isolation]\n" + table)
        monkeypatch.setenv("PROCTOR_CONFIG", str(place))

    return write


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Let nothing work but these levels; returns the list of what is tried."""

    def arrange(*working: str) -> list[str]:
        tried: list[str] = []

        def failure(backend: policy.Backend, *_: object, **__: object) -> str | None:
            tried.append(f"{backend.level} {backend.arrangement}".strip())
            return None if backend.level in working else "bwrap: Operation not permitted"

        monkeypatch.setattr(proof, "failure", failure)
        monkeypatch.setattr(policy, "ways", _ways)
        return tried

    def _ways(level: str) -> Iterator[policy.Backend]:
        for way in ("one", "two"):
            yield _Way(level, way)

    return arrange


class _Way:
    private_files = True

    def __init__(self, level: str, arrangement: str) -> None:
        self.level, self.arrangement = level, arrangement

    def open_cell(self, setup: object, slot: int) -> Any:
        raise AssertionError("nothing is started here")


@pytest.mark.namespaces
def test_the_default_is_a_real_box() -> None:
    assert isinstance(policy.choose().backend, Bubblewrap)
    assert policy.choose().backend.level == "namespaces"


def test_none_has_to_be_allowed() -> None:
    with pytest.raises(NoIsolation, match="PROCTOR_ALLOW_UNSAFE=1") as caught:
        policy.choose("none")
    assert caught.value.exit_code == 125
    assert str(caught.value).startswith("level none runs programs with no isolation at all")
    with pytest.raises(NoIsolation):
        open_pool(isolation="none")


def test_level_none_is_never_fallen_back_to(only: Fail, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it is allowed: who wants it asks for it."""
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    tried = only("none")
    with pytest.raises(NoIsolation, match="none of namespaces, container, landlock works here"):
        policy.choose()
    assert not any(each.startswith("none") for each in tried)
    assert policy.choose("none").backend.level == "none"


def test_what_is_asked_for_by_name_is_tried_again(
    only: Fail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure of a moment ago is then no reason: its user may have mended it."""
    only()
    told: list[bool] = []

    def failure(*_: object, asked_for: bool, believe: bool) -> str:
        told.append(asked_for)
        return "no"

    monkeypatch.setattr(proof, "failure", failure)
    for level, asked in ((None, False), ("landlock", True)):
        told.clear()
        with pytest.raises(NoIsolation):
            policy.choose(level)
        assert set(told) == {asked}


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


@pytest.mark.namespaces
def test_the_environment_chooses_where_the_caller_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROCTOR_ISOLATION", "none")
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    assert policy.choose().backend.level == "none"
    assert policy.choose("namespaces").backend.level == "namespaces"


@pytest.mark.parametrize("level", ["docker", "NONE", "namespace", " none"])
def test_an_unknown_level_is_named(level: str) -> None:
    with pytest.raises(
        SettingsError, match=f"'{level}' is not one of namespaces, container, landlock, none"
    ):
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
        assert done.isolation.guarantees[guarantee].strength == "none"
    assert spun.limit == "cpu"
    assert after.ok


@pytest.mark.cgroup
def test_the_default_level_says_what_holds(pool: Pool) -> None:
    isolation = run("", pool=pool).isolation
    assert isolation.level == "namespaces"
    assert set(isolation.guarantees) == {
        "filesystem", "network", "processes", "signals", "memory", "cpu", "output", "kernel",
    }  # fmt: skip
    assert not [how for how in isolation.guarantees.values() if how.strength != "full"]


class TestOrder:
    """What is tried, and in which order."""

    def test_strongest_first_and_never_none(self, only: Fail) -> None:
        tried = only("landlock")
        assert policy.choose().backend.level == "landlock"
        assert tried == [
            "namespaces one", "namespaces two", "container one", "container two", "landlock one",
        ]  # fmt: skip

    def test_the_first_way_that_works_is_taken(self, only: Fail) -> None:
        tried = only("namespaces", "container", "landlock")
        assert policy.choose().backend.arrangement == "one"
        assert tried == ["namespaces one"]

    def test_the_order_of_the_configuration_counts(
        self, only: Fail, configure: Callable[[str], None]
    ) -> None:
        configure('backends = ["landlock", "namespaces"]')
        tried = only("namespaces")
        assert policy.choose().backend.level == "namespaces"
        assert tried == ["landlock one", "landlock two", "namespaces one"]

    def test_a_level_by_name_is_used_or_refused(self, only: Fail) -> None:
        tried = only("namespaces", "landlock")
        with pytest.raises(NoIsolation, match="level container does not work here"):
            policy.choose("container")
        assert set(tried) == {"container one", "container two"}

    def test_the_caller_goes_before_the_environment_before_the_configuration(
        self, configure: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configure('backends = ["landlock"]\nminimum = "landlock"')
        assert policy.wanted(None, None) == (("landlock",), "landlock")
        monkeypatch.setenv("PROCTOR_ISOLATION", "container")
        monkeypatch.setenv("PROCTOR_MIN_ISOLATION", "container")
        assert policy.wanted(None, None) == (("container",), "container")
        assert policy.wanted("namespaces", "namespaces") == (("namespaces",), "namespaces")

    def test_an_empty_variable_says_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PROCTOR_ISOLATION", "")
        monkeypatch.setenv("PROCTOR_MIN_ISOLATION", "")
        assert policy.wanted(None, None) == (policy.DEFAULT_ORDER, None)


class TestMinimum:
    """Nothing weaker than was demanded, wherever it was demanded."""

    @pytest.mark.parametrize(
        ("minimum", "order"),
        [
            ("namespaces", ("namespaces",)),
            ("container", ("namespaces", "container")),
            ("landlock", ("namespaces", "container", "landlock")),
            ("none", ("namespaces", "container", "landlock")),
        ],
    )
    def test_weaker_levels_are_not_tried(self, minimum: str, order: tuple[str, ...]) -> None:
        assert policy.wanted(None, minimum) == (order, minimum)

    @pytest.mark.parametrize("where", ["argument", "environment", "configuration"])
    def test_rather_nothing_than_less(
        self, where: str, only: Fail, configure: Callable[[str], None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        tried = only("landlock", "none")
        if where == "environment":
            monkeypatch.setenv("PROCTOR_MIN_ISOLATION", "container")
        elif where == "configuration":
            configure('minimum = "container"')
        with pytest.raises(NoIsolation, match=r"\(minimum container\)"):
            policy.choose(None, "container" if where == "argument" else None)
        assert {each.split()[0] for each in tried} == {"namespaces", "container"}

    @pytest.mark.parametrize("where", ["argument", "environment", "configuration"])
    def test_a_level_below_it_is_a_contradiction(
        self, where: str, configure: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        minimum = None
        if where == "argument":
            minimum = "namespaces"
        elif where == "environment":
            monkeypatch.setenv("PROCTOR_MIN_ISOLATION", "namespaces")
        else:
            configure('minimum = "namespaces"')
        said = r"level landlock was asked for, but at least namespaces( \(.*\))? is demanded"
        with pytest.raises(SettingsError, match=said) as caught:
            policy.choose("landlock", minimum)
        assert caught.value.exit_code == 2

    def test_an_order_without_anything_strong_enough_is_one_too(
        self, configure: Callable[[str], None]
    ) -> None:
        configure('backends = ["landlock", "none"]')
        with pytest.raises(
            SettingsError,
            match=r"landlock, none \(backends in .*\) was asked for, but at least contai",
        ):
            policy.wanted(None, "container")

    def test_an_order_is_cut_down_to_what_is_strong_enough(
        self, configure: Callable[[str], None]
    ) -> None:
        configure('backends = ["landlock", "none", "namespaces"]\nminimum = "landlock"')
        assert policy.wanted(None, None) == (("landlock", "namespaces"), "landlock")

    @pytest.mark.parametrize("where", ["argument", "PROCTOR_MIN_ISOLATION", "minimum", "backends"])
    def test_unknown_levels_are_named_wherever_they_stand(
        self, where: str, configure: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        minimum = None
        if where == "argument":
            minimum = "docker"
        elif where.isupper():
            monkeypatch.setenv(where, "docker")
        else:
            configure('minimum = "docker"' if where == "minimum" else 'backends = ["docker"]')
        named = "" if where == "argument" else rf" \({where}.*\)"
        with pytest.raises(
            SettingsError, match=rf"'docker'{named} is not one of namespaces, contai"
        ):
            policy.choose(None, minimum)


class TestRefusal:
    """Where nothing works: what was tried, why it failed, what would help."""

    def test_every_attempt_and_every_remedy(
        self, only: Fail, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        only()
        monkeypatch.setattr(
            remedies, "remedies", lambda order: [f"{each}: do so" for each in order]
        )
        with pytest.raises(NoIsolation) as caught:
            policy.choose()
        lines = str(caught.value).splitlines()
        assert lines[0] == "no isolation: none of namespaces, container, landlock works here"
        assert lines[1:7] == [
            f"  {level} ({way}): bwrap: Operation not permitted"
            for level in policy.DEFAULT_ORDER
            for way in ("one", "two")
        ]
        assert lines[7] == "what would help:"
        assert lines[8:] == [f"  {each}: do so" for each in policy.DEFAULT_ORDER]
        assert caught.value.exit_code == 125

    def test_of_a_traceback_only_the_exception_is_told(
        self, only: Fail, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        only()
        trace = (
            "the cell ended while starting: Traceback (most recent call last):\n"
            '  File "x.py", line 1, in main\nproctor.cell.keeper.NotContained: process 7, which is'
            " none of this cell's, could be signalled\n"
        )
        monkeypatch.setattr(proof, "failure", lambda *_, **__: trace)
        with pytest.raises(NoIsolation) as caught:
            policy.choose("landlock")
        assert "Traceback" not in str(caught.value)
        assert "the cell ended while starting: proctor.cell.keeper.NotContained: process 7" in str(
            caught.value
        )

    def test_it_names_an_interpreter_that_is_missing(
        self, only: Fail, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        only("namespaces", "landlock")

        def choose(python: str | None, *, private_files: bool) -> interpreter.Interpreter:
            raise NoInterpreter("root alone may read it")

        monkeypatch.setattr(interpreter, "choose", choose)
        with pytest.raises(NoIsolation, match=r"landlock \(two\): root alone may read it"):
            policy.choose()
        with pytest.raises(NoInterpreter, match="root alone"):
            policy.choose(python="/root/python")

    def test_none_that_was_not_allowed_is_an_attempt_like_others(
        self, configure: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proof, "failure", lambda *_, **__: "no")
        configure('backends = ["landlock", "none"]')
        with pytest.raises(NoIsolation, match="none: level none runs programs with no isolation"):
            policy.choose()
