"""Digests: a program's own last exception, violations by kind, and never nothing."""

import pytest
from hypothesis import given as fuzzed
from hypothesis import strategies as st

from proctor.solver import digest
from proctor.solver.report import Unchecked, Violation, report

OWN = """Traceback (most recent call last):
  File "solver_generated.py", line 9, in <module>
    main()
  File "solver_generated.py", line 7, in main
    model.add(3)
    ^^^^^^^^^^^^
  File "/usr/lib/python3/ortools/sat/python/cp_model.py", line 1190, in add
    raise TypeError("not supported: CpModel.add(3)")
TypeError: not supported: CpModel.add(3)
"""
ENTRY = "solver_generated.py"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""), ("warning\n" * 5000, ""), ("x" * 200_000 + "\n", ""), ("", "\n\nbye\n"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 1\n\n"
         "During handling of the above exception, another exception occurred:\n\n", ""),
        ("", "Exception ignored in: <function D.__del__ at 0x7f>\nTraceback (most recent call last):\n"
         "  File \"solver_generated.py\", line 2, in __del__\nKeyError: 'unimportant'\n"),
    ],
)  # fmt: skip
def test_the_exception_and_the_programs_own_line(before: str, after: str) -> None:
    told = digest.of_program((before + OWN + after).encode(), b"SOLUTION_FOUND\n", ENTRY)
    assert 'File "solver_generated.py", line 7, in main\nmodel.add(3)\n' in told
    assert 'cp_model.py", line 1190, in add' in told
    assert "TypeError: not supported: CpModel.add(3)" in told
    assert len(told) <= digest.MOST


def test_an_exception_with_much_to_say() -> None:
    stderr = OWN.replace("Error: not supported", f"Error: {'y' * 300_000}").encode()
    told = digest.of_program(stderr, b"", ENTRY)
    assert 'File "solver_generated.py", line 7' in told
    assert "TypeError: yyy" in told
    assert len(told) <= digest.MOST


@pytest.mark.parametrize(
    ("stderr", "stdout", "told"),
    [
        (b"", b"SOLUTION_FOUND\n", ""), (b" solution_found \n", b"", ""),
        (b"", b"no bins\nSOLUTION_FOUND\n", "no bins"), (b"why\n", b"what\n", "why"),
        (b"\n" * 100, b"\n", ""), (b"\xff\n", b"", "\ufffd"),
        (("long " * 100 + "\n").encode() * 30 + b"the end\n", b"", "the end"),
        (b"Traceback (most recent call last):", b"", ""),
    ],
)  # fmt: skip
def test_what_is_no_traceback(stderr: bytes, stdout: bytes, told: str) -> None:
    found = digest.of_program(stderr, stdout, ENTRY, "SOLUTION_FOUND")
    assert found.endswith(told)
    assert told or found in {"", "Traceback (most recent call last):"}


@fuzzed(st.binary(max_size=2000), st.binary(max_size=2000))
def test_a_digest_has_bounds(stderr: bytes, stdout: bytes) -> None:
    for stream in (stderr, OWN.encode()[:300] + stderr):
        assert len(digest.of_program(stream, stdout, ENTRY, "M")) <= digest.MOST


def test_violations_by_kind() -> None:
    found = report(
        [
            *(Violation(f"c{n % 7}", "teacher_no_gaps", "hard", f"gap {n}") for n in range(20)),
            Violation("c1", "teacher_no_gaps", "hard", "and 80 more", count=80),
            Violation("base_clash", "base_clash", "hard", "Ada is in two places"),
            Violation("s", "soft_one", "soft", "nobody minds"),
        ],
        [
            Unchecked("u1", "own", "hard", "no such kind is known"),
            Unchecked("u2", "own", "soft", "nobody minds"),
        ],
    )
    assert digest.of_report(found).splitlines() == [
        "teacher_no_gaps: 100 violations (c0, c1, c2, c3, c4, 2 more): gap 0",
        "base_clash: 1 violation: Ada is in two places",
        "own: 1 not checked (u1): no such kind is known",
    ]


@fuzzed(
    st.lists(
        st.builds(
            Violation, st.text(max_size=400), st.text(max_size=400), st.just("hard"),
            st.text(max_size=2000),
        ),
        min_size=1, max_size=60,
    )
)  # fmt: skip
def test_a_digest_of_violations_has_bounds(violations: list[Violation]) -> None:
    found = digest.of_report(report(violations))
    assert 0 < len(found) <= digest.MOST
    kinds = {each.kind for each in violations}
    assert len(found.splitlines()) <= len(kinds) + 1
