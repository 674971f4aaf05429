"""What of foreign text is shown, and that JSON keeps its meaning."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.plain_text import plain, plain_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "\ufffd]0;title\ufffd"),
        ("\x1b[2J\x9b2J\x90", "\ufffd[2J\ufffd2J\ufffd"),
        ("a\rb\r\nc\td\n\x08\x7f", "a\ufffdb\nc\td\n\ufffd\ufffd"),
        ("\u202egnp.exe\u2066\u200f\u061c", "\ufffdgnp.exe\ufffd\ufffd\ufffd"),
        ("\ud800 \U000e0041", "\ufffd \ufffd"),
        (
            "naïve 数独 👩\u200d🔬 \u3000 [/nope] \\[red]",
            "naïve 数独 👩\u200d🔬 \u3000 [/nope] \\[red]",
        ),
    ],
)
def test_controls_are_replaced_and_nothing_else(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text())
def test_json_means_what_it_meant_and_holds_nothing_that_is_obeyed(text: str) -> None:
    encoded = plain_json(json.dumps({text: text}, ensure_ascii=False))
    assert json.loads(encoded) == {text: text}
    assert plain(encoded) == encoded
