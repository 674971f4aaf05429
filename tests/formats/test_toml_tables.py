"""TOML that strangers wrote."""

import pytest

from proctor.errors import InputError
from proctor.formats.toml_tables import LARGEST, parse_toml


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 100_000 + " = 1", "x = {a" + ".a" * 100_000 + " = 1}",
        "[a" + " . a" * 100_000 + "]", "'a'" + ".'a'" * 100_000 + " = 1", "a = " + "[" * 100_000,
        "a = " + "9" * 5000, "#" * (LARGEST + 1), "a = {b = " * 50_000,
    ],
)  # fmt: skip
def test_a_text_that_takes_too_long_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_toml(text)


def test_the_line_of_a_mistake_is_named() -> None:
    with pytest.raises(InputError) as caught:
        parse_toml("a = 1\nb = \n")
    assert caught.value.line == 2


def test_usual_texts_are_read() -> None:
    dots = "1.2.3." * 5
    text = f'a.b."c.d" = 1.5\ntext = """\n{dots}\n"""\nlist = ["{dots}", "e"]\n'
    assert parse_toml(text) == {
        "a": {"b": {"c.d": 1.5}}, "text": dots + "\n", "list": [dots, "e"],
    }  # fmt: skip
