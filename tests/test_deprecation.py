"""What goes says so where it is used, once, with what to use and when it goes."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from proctor.deprecation import Deprecation, deprecated, renamed_argument


@deprecated(since="1.1", removed_in="1.3", instead="new()")
def old(a: int, *, b: int = 2) -> int:
    """Add."""
    return a + b


@renamed_argument("limit", "limits", since="1.1", removed_in="1.3")
def ask(a: int, *, limits: int = 0) -> int:
    return a + limits


def __getattr__(name: str) -> Any:
    if name == "OLD":
        Deprecation("1.1", "1.3", "NEW").warn(f"{__name__}.OLD")
        return 7
    raise AttributeError(name)


def _warned(use: Callable[[], Any]) -> tuple[Any, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = use()
    (warning,) = caught
    assert warning.category is DeprecationWarning
    assert warning.filename == __file__
    assert warning.lineno == use.__code__.co_firstlineno
    return found, str(warning.message)


def test_a_function() -> None:
    found, said = _warned(lambda: old(1, b=3))
    assert found == 4
    assert said.endswith("old() is deprecated since 1.1 and goes with 1.3: use new() instead")
    assert (old.__name__, old.__doc__) == ("old", "Add.")


def test_an_argument() -> None:
    found, said = _warned(lambda: ask(1, limit=5))  # type: ignore[call-arg]
    assert found == 6
    assert said == "limit= of ask() is deprecated since 1.1 and goes with 1.3: use limits= instead"
    assert ask(1, limits=5) == 6  # warnings are errors here
    with pytest.raises(TypeError, match="both limit= and limits="):
        ask(1, limit=5, limits=5)  # type: ignore[call-arg]


def test_a_name_of_a_module() -> None:
    import test_deprecation as module

    found, said = _warned(lambda: module.OLD)
    assert found == 7
    assert said == "test_deprecation.OLD is deprecated since 1.1 and goes with 1.3: use NEW instead"
