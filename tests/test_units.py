"""Durations and sizes as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.units import seconds, size


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6", 6.0), ("6s", 6.0), ("500ms", 0.5), ("1.5m", 90.0), ("2min", 120.0), ("1h", 3600.0),
        (".5s", 0.5), ("3.", 3.0), (" 6 S ", 6.0), ("0", 0.0), ("10MS", 0.01),
    ],
)  # fmt: skip
def test_durations(text: str, value: float) -> None:
    assert seconds(text, "--cpu") == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("1", 1), ("17b", 17), ("1k", 1024), ("1K", 1024), ("64KiB", 65536),
        ("64KB", 65536), ("256M", 256 << 20), ("256 mib", 256 << 20), ("1G", 1 << 30),
        ("1.5g", 3 << 29), ("2T", 2 << 40),
    ],
)  # fmt: skip
def test_sizes(text: str, value: int) -> None:
    assert size(text, "--memory") == value


HOPELESS = ["", " ", "-1", "-1s", "+1", "s", "1e3", "0x10", "1 2", "1,5", "nan", "inf", "٣", "1..2"]


@pytest.mark.parametrize("text", [*HOPELESS, "5 days", "1kb"])
def test_what_is_no_duration_names_its_option(text: str) -> None:
    with pytest.raises(InputError, match="--cpu") as caught:
        seconds(text, "--cpu")
    assert repr(text) in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", [*HOPELESS, "3s", "1x", "1kk", "1ib", "1kibi"])
def test_what_is_no_size_names_its_option(text: str) -> None:
    with pytest.raises(InputError, match="--memory") as caught:
        size(text, "--memory")
    assert repr(text) in str(caught.value)


@given(st.text())
def test_anything_typed_is_a_finite_number_or_an_input_error(text: str) -> None:
    for parse in (seconds, size):
        try:
            value = parse(text, "--option")
        except InputError:
            continue
        assert 0 <= value < float("inf")


@given(st.integers(0, 1 << 50))
def test_plain_bytes_are_exact(number: int) -> None:
    assert size(str(number), "--memory") == number
