"""Each core language's self-test, compiled and run in a cell; the rest is `make languages`."""

import pytest

from proctor.languages import registry
from proctor.languages.language import Language
from proctor.languages.selftest import selftest

pytestmark = pytest.mark.user

CORE = ["c", "cpp11", "cpp14", "cpp17", "cpp20", "cpp23", "python", "pypy", "java", "javascript"]


@pytest.mark.slow("java")
@pytest.mark.parametrize("name", CORE)
def test_core(name: str) -> None:
    (outcome,) = selftest([registry.get(name)])
    if outcome.missing:
        pytest.skip(outcome.complaint)
    assert outcome.complaint == ""
    assert outcome.cpu > 0


def changed(**fields: str) -> Language:
    import msgspec

    language = registry.get("python")
    test = msgspec.structs.replace(language.selftest, **fields)
    return msgspec.structs.replace(language, selftest=test)


def complaint(source: str) -> str:
    (outcome,) = selftest([changed(source=source)])
    assert not outcome.passed
    assert not outcome.missing
    return outcome.complaint


def test_a_wrong_answer_does_not_pass() -> None:
    assert complaint("print(41)") == r"it printed '41\n', not '42 18446744073709551616\n'"
    assert complaint("") == r"it printed '', not '42 18446744073709551616\n'"


def test_a_crash_does_not_pass() -> None:
    said = complaint("print('42 18446744073709551616'); raise SystemExit('so it is')")
    assert said == "it ended with code 1\nso it is"


def test_a_program_that_does_not_compile_does_not_pass() -> None:
    assert "SyntaxError" in complaint("print(")
