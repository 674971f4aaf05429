"""Answers of checkers by every convention, and outputs that are not an answer."""

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.execution import Execution, Isolation, LimitHit
from proctor.grading import Convention
from proctor.judging.checkers import FEEDBACK, Opinion, opinion
from proctor.verdict import Verdict

AC, PA, WA, PE, FAULT = (
    Verdict.AC, Verdict.PA, Verdict.WA, Verdict.PE, Verdict.TASK_FAULT,
)  # fmt: skip


def ended(
    code: int | None = 0, stdout: bytes = b"", stderr: bytes = b"", *,
    signalled: int | None = None, limit: LimitHit | None = None,
) -> Execution:  # fmt: skip
    return Execution(
        code, signalled, stdout, stderr, 0.1, 0.1, 1, 0.0, limit, Isolation("none", {})
    )


def judged(
    convention: Convention, execution: Execution, files: dict[str, bytes] | None = None, *,
    on_stderr: bool = False,
) -> Opinion:  # fmt: skip
    return opinion(convention, execution, files or {}, stderr_scores=on_stderr)


@pytest.mark.parametrize(
    ("code", "stderr", "verdict", "score"),
    [
        (0, b"ok", AC, 1.0), (1, b"wrong", WA, 0.0), (2, b"", PE, 0.0), (4, b"", PE, 0.0),
        (8, b"", PE, 0.0), (3, b"FAIL", FAULT, 0.0), (7, b"points 0.25 x", PA, 0.25),
        (7, b"points 1", AC, 1.0), (7, b"points 0", WA, 0.0), (7, b"points 2", FAULT, 0.0),
        (7, b"points nan", FAULT, 0.0), (7, b"points -1", FAULT, 0.0), (7, b"points", FAULT, 0.0),
        (7, b"", FAULT, 0.0), (7, b"points 1e999", FAULT, 0.0), (50, b"", WA, 0.0),
        (100, b"", PA, 0.5), (150, b"", AC, 1.0), (49, b"", FAULT, 0.0), (151, b"", FAULT, 0.0),
        (127, b"", PA, 0.77), (5, b"", FAULT, 0.0), (255, b"", FAULT, 0.0),
        (101, b"half right", PA, 0.51), (101, b"\nthread 'main' panicked at main.rs:6:37:\n", FAULT, 0.0),
        (120, b"most of it", PA, 0.7), (120, b"Exception ignored in: <_io.TextIOWrapper>", FAULT, 0.0),
    ],
)  # fmt: skip
def test_testlib(code: int, stderr: bytes, verdict: Verdict, score: float) -> None:
    found = judged(Convention.TESTLIB, ended(code, b"noise", stderr))
    assert (found.verdict, found.score) == (verdict, score)


@pytest.mark.parametrize(
    ("stderr", "verdict", "score"),
    [(b"points 5", PA, 0.25), (b"points 20", AC, 1.0), (b"points 21", FAULT, 0.0)],
)
def test_points_are_of_the_tests_own(stderr: bytes, verdict: Verdict, score: float) -> None:
    found = opinion(Convention.TESTLIB, ended(7, b"", stderr), {}, full=20.0)
    assert (found.verdict, found.score) == (verdict, score)


@pytest.mark.parametrize(
    ("code", "verdict"), [(0, AC), (1, WA), (2, FAULT), (7, FAULT), (42, FAULT), (100, FAULT)]
)
def test_exit_codes_alone(code: int, verdict: Verdict) -> None:
    assert judged(Convention.EXIT_CODE, ended(code, b"", b"points 1")).verdict is verdict


@pytest.mark.parametrize(
    ("code", "hustoj", "qduoj"),
    [(0, AC, AC), (1, WA, WA), (2, PE, FAULT), (3, WA, FAULT), (7, WA, FAULT),
     (255, WA, FAULT)],
)  # fmt: skip
def test_exit_codes_of_special_judges(code: int, hustoj: Verdict, qduoj: Verdict) -> None:
    assert judged(Convention.HUSTOJ, ended(code, b"", b"points 1")).verdict is hustoj
    assert judged(Convention.QDUOJ, ended(code)).verdict is qduoj


NUMBERS = [
    (b"1", AC, 1.0), (b"1.0\n", AC, 1.0), (b"0", WA, 0.0), (b" 0.5 \nmore\n", PA, 0.5),
    (b"+.5", PA, 0.5), (b"5e-1", PA, 0.5), (b"1.", AC, 1.0), (b"", FAULT, 0.0), (b"\n", FAULT, 0.0),
    (b"nan", FAULT, 0.0), (b"inf", FAULT, 0.0), (b"-0.5", FAULT, 0.0), (b"1.5", FAULT, 0.0),
    (b"2", FAULT, 0.0), (b"1e999", FAULT, 0.0), (b"0x1", FAULT, 0.0), (b"1_0", FAULT, 0.0),
    (b"0,5", FAULT, 0.0), (b"0.5 0.5", FAULT, 0.0), (b"ok", FAULT, 0.0), (b"\xff", FAULT, 0.0),
    ("１".encode(), FAULT, 0.0), (b"0." + b"1" * 5000, FAULT, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("said", "verdict", "score"), NUMBERS)
def test_score_on_stdout(said: bytes, verdict: Verdict, score: float) -> None:
    for convention in (Convention.SCORE, Convention.TESTLIB_SCORE):
        found = judged(convention, ended(0, said, b"message\n"))
        assert (found.verdict, found.score) == (verdict, score)
        assert verdict is FAULT or found.message == "message"
        assert judged(convention, ended(1, said)).verdict is FAULT


@pytest.mark.parametrize(("said", "verdict", "score"), NUMBERS)
def test_score_on_stderr(said: bytes, verdict: Verdict, score: float) -> None:
    found = judged(
        Convention.SCORE, ended(0, b"1", said.split(b"\n")[0] + b"\nmessage"), on_stderr=True
    )
    assert (found.verdict, found.score) == (verdict, score)
    assert verdict is FAULT or found.message == "message"


@pytest.mark.parametrize(
    ("said", "verdict", "score"),
    [
        (b"1", AC, 1.0), (b"100\n", AC, 1.0), (b"0", WA, 0.0), (b"50 points", PA, 0.5),
        (b"0.25", PA, 0.25), (b"", FAULT, 0.0), (b"101", FAULT, 0.0), (b"1e999", FAULT, 0.0),
        (b"nan", FAULT, 0.0), (b"-1", FAULT, 0.0), (b"right", FAULT, 0.0), (b"True", FAULT, 0.0),
    ],
)  # fmt: skip
def test_printed(said: bytes, verdict: Verdict, score: float) -> None:
    found = judged(Convention.PRINTED, ended(0, said))
    assert (found.verdict, found.score) == (verdict, score)
    assert judged(Convention.PRINTED, ended(1, said)).verdict is FAULT


@pytest.mark.parametrize(
    ("code", "files", "verdict", "score"),
    [
        (42, {}, AC, 1.0), (43, {}, WA, 0.0), (43, {"score.txt": b"1"}, WA, 0.0),
        (42, {"score.txt": b"0.5\n"}, PA, 0.5), (42, {"score_multiplier.txt": b"0.5"}, PA, 0.5),
        (42, {"score.txt": b"1"}, AC, 1.0), (42, {"score.txt": b"0"}, WA, 0.0),
        (42, {"score.txt": b""}, FAULT, 0.0), (42, {"score.txt": b"2"}, FAULT, 0.0),
        (42, {"score.txt": b"nan"}, FAULT, 0.0), (42, {"score.txt": b"1e999"}, FAULT, 0.0),
        (42, {"score.txt": b"-1"}, FAULT, 0.0), (0, {}, FAULT, 0.0), (1, {}, FAULT, 0.0),
        (44, {}, FAULT, 0.0), (0, {"score.txt": b"1"}, FAULT, 0.0),
    ],
)  # fmt: skip
def test_kattis(code: int, files: dict[str, bytes], verdict: Verdict, score: float) -> None:
    messages = {"teammessage.txt": b"to you", "judgemessage.txt": b"to us"}
    given = {f"{FEEDBACK}/{name}": data for name, data in {**messages, **files}.items()}
    found = judged(Convention.KATTIS, ended(code), given)
    assert (found.verdict, found.score) == (verdict, score)
    assert "to us" in found.log or verdict is FAULT
    assert "to us" not in found.message


@pytest.mark.parametrize(
    ("name", "said", "verdict", "score"),
    [
        ("score.txt", b"50", PA, 0.5), ("score.txt", b"100", AC, 1.0), ("score.txt", b"101", FAULT, 0.0),
        ("score_multiplier.txt", b"0.5", PA, 0.5), ("score_multiplier.txt", b"1", AC, 1.0),
        ("score_multiplier.txt", b"50", FAULT, 0.0),
    ],
)  # fmt: skip
def test_full_marks_are_of_scores_not_of_multipliers(
    name: str, said: bytes, verdict: Verdict, score: float
) -> None:
    found = opinion(Convention.KATTIS, ended(42), {f"{FEEDBACK}/{name}": said}, full=100.0)
    assert (found.verdict, found.score) == (verdict, score)


@pytest.mark.parametrize("convention", list(Convention))
@pytest.mark.parametrize("limit", list(LimitHit))
def test_a_checker_over_its_limits_has_no_say(convention: Convention, limit: LimitHit) -> None:
    for code in (0, 42, 43):
        execution = ended(code, b"1", b"1\n", limit=limit)
        for on_stderr in (False, True):
            found = judged(convention, execution, on_stderr=on_stderr)
            assert (found.verdict, found.score) == (FAULT, 0.0)
            assert limit.value in found.message


@pytest.mark.parametrize("convention", list(Convention))
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
def test_a_checker_that_is_killed_has_no_say(convention: Convention, number: int) -> None:
    found = judged(convention, ended(None, b"1", b"boom", signalled=number))
    assert (found.verdict, found.score) == (FAULT, 0.0)
    assert "boom" in found.log


@given(
    st.sampled_from(list(Convention)), st.integers(0, 255), st.binary(max_size=20),
    st.binary(max_size=20), st.booleans(),
    st.dictionaries(
        st.sampled_from([f"{FEEDBACK}/score.txt", f"{FEEDBACK}/score_multiplier.txt"]),
        st.binary(max_size=10),
    ),
)  # fmt: skip
def test_whatever_it_says_a_score_is_a_share(
    convention: Convention, code: int, out: bytes, err: bytes, on_stderr: bool,
    files: dict[str, bytes],
) -> None:  # fmt: skip
    found = judged(convention, ended(code, out, err), files, on_stderr=on_stderr)
    assert 0 <= found.score <= 1
    assert (found.score == 1) == (found.verdict is AC)
    assert (0 < found.score < 1) == (found.verdict is PA)


@pytest.mark.parametrize(
    ("convention", "execution", "files", "said"),
    [
        (Convention.TESTLIB, ended(7, b"", b"points 10 x"), {},
         "the checker gives points 10, and must give a number from 0 to 1"),
        (Convention.TESTLIB, ended(7, b"", b"so-so"), {},
         "the checker gives no points, and must give a number from 0 to 1"),
        (Convention.KATTIS, ended(42), {f"{FEEDBACK}/score.txt": b"much"},
         "the validator's score.txt holds 'much', no number from 0 to 1"),
    ],
)  # fmt: skip
def test_a_score_that_is_none_is_shown(
    convention: Convention, execution: Execution, files: dict[str, bytes], said: str
) -> None:
    assert judged(convention, execution, files).message == said


@pytest.mark.parametrize("who", ["manager", "interactor"])
def test_who_failed_is_named(who: str) -> None:
    crashed = ended(None, signalled=signal.SIGSEGV)
    found = opinion(Convention.SCORE, crashed, {}, who=who)
    assert found.message == f"the {who} was ended by signal 11"
    wrong = opinion(Convention.SCORE, ended(0, b"0\n", b"as the checker knows"), {}, who=who)
    assert wrong.message == "as the checker knows"
