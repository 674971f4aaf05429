"""No entry is opened but the one that was sealed under its key."""

from dataclasses import replace

import pytest
from cache_parts import made
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.execution import GUARANTEES, Guarantee, Isolation, Strength
from proctor.judgement import Machine, UpstreamReport
from proctor.judging.cache import sealing
from proctor.judging.cache.sealing import (
    LARGEST,
    SECRET_VARIABLE,
    Remembered,
    VerdictSeal,
    shared_secret,
)
from proctor.judging.packed import pack
from proctor.problem import Problem, Test
from proctor.verdict import Verdict

SECRET = b"0123456789abcdef"
KEY, OTHER_KEY = b"\1" * 32, b"\2" * 32
HELD = Isolation("namespaces", dict.fromkeys(GUARANTEES, Guarantee(Strength.FULL, "how")))
REMEMBERED = Remembered(made(
    Verdict.WA, message="ä\0", isolation=HELD, machine=Machine("a", "b"),
    upstream=UpstreamReport((True, -2), -2, "Wrong Answer", {"inputs": "1"}),
), agreed=1)  # fmt: skip
SEALS = {"secret": VerdictSeal(SECRET), "none": VerdictSeal(None)}


def entry(seal: VerdictSeal) -> bytes:
    closed = seal.closed(KEY, REMEMBERED)
    assert closed is not None
    return closed


@pytest.mark.parametrize("seal", SEALS.values(), ids=SEALS)
def test_it_comes_back_under_its_key_alone(seal: VerdictSeal) -> None:
    assert seal.opened(KEY, entry(seal)) == REMEMBERED
    assert seal.opened(OTHER_KEY, entry(seal)) is None


@given(st.sampled_from(list(SEALS)), st.integers(0), st.integers(0, 7))
def test_no_bit_may_change(name: str, place: int, bit: int) -> None:
    seal = SEALS[name]
    data = bytearray(entry(seal))
    data[place % len(data)] ^= 1 << bit
    assert seal.opened(KEY, bytes(data)) is None


@given(st.sampled_from(list(SEALS)), st.integers(0))
def test_nothing_may_be_missing(name: str, size: int) -> None:
    seal = SEALS[name]
    assert seal.opened(KEY, entry(seal)[: size % len(entry(seal))]) is None


@given(st.binary(max_size=300))
def test_anything_else_is_nothing(data: bytes) -> None:
    for seal in SEALS.values():
        assert seal.opened(KEY, data) is None
        assert seal.opened(KEY, entry(seal) + data) in (None, REMEMBERED) or not data


def test_a_changed_verdict_is_not_believed() -> None:
    """Whoever can write to the store, but has not the secret, makes the best entry he can."""
    seal = VerdictSeal(SECRET)
    right = Remembered(replace(REMEMBERED.judgement, verdict=Verdict.AC, score=1.0))
    head = len(entry(seal)) - len(pack(REMEMBERED))
    for forger in (VerdictSeal(b"another secret!!"), VerdictSeal(None)):
        assert seal.opened(KEY, forger.closed(KEY, right) or b"") is None
    assert seal.opened(KEY, entry(seal)[:head] + pack(right)) is None
    assert VerdictSeal(None).opened(KEY, entry(seal)) is None


def test_what_was_sealed_by_another_version_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    seal = VerdictSeal(SECRET)
    monkeypatch.setattr(sealing, "_SEALED", b"proctor verdict 1 hmac\n")
    assert seal.opened(KEY, entry(VerdictSeal(SECRET))) is None


def test_what_is_no_judgement_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where somebody has the secret, and classes with other fields."""
    seal = VerdictSeal(SECRET)
    monkeypatch.setattr(sealing, "pack", lambda _: pack(Problem("a", (Test("1"),))))
    assert seal.opened(KEY, entry(seal)) is None


def test_a_judgement_may_be_too_large() -> None:
    seal = VerdictSeal(SECRET)
    large = replace(REMEMBERED.judgement, compiler_output="x" * LARGEST)
    assert seal.closed(KEY, Remembered(large)) is None
    grown = entry(seal) + b"x" * LARGEST
    assert seal.opened(KEY, grown) is None


def test_a_shared_secret_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    assert shared_secret() is None
    monkeypatch.setenv(SECRET_VARIABLE, "")
    assert shared_secret() is None
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef")
    assert shared_secret() == SECRET
    monkeypatch.setenv(SECRET_VARIABLE, "hunter2")
    with pytest.raises(InputError, match="openssl rand") as raised:
        shared_secret()
    assert "hunter2" not in str(raised.value)
