"""Whatever a package holds, proctor's own format holds it; other formats do, or refuse it."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.formats.conversion.convert import convert_package
from proctor.formats.conversion.same import same
from proctor.formats.packages.model import (
    Bound,
    Claim,
    Expectation,
    Labelled,
    Package,
    Part,
    Timing,
)
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.limits import Limits
from proctor.problem import Aggregate, Batch, Interactive, Problem, Stub, Subtask, Test
from proctor.program import Program
from proctor.verdict import Verdict

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAME = st.text("aZ0_-. /*?[]!é\"'\\#", min_size=1, max_size=6)
FILE = st.sampled_from(["a.txt", "b/c.h", "é.h", "Makefile", "build", "d e.cpp"])
POINTS = st.integers(0, 100) | st.floats(0, 1e6).map(lambda number: round(number, 3))
VERDICTS = st.none() | st.frozensets(
    st.sampled_from([Verdict.AC, Verdict.PA, Verdict.WA, Verdict.TLE, Verdict.CE, Verdict.RE])
)
CLAIMS = st.builds(
    Claim,
    VERDICTS,
    VERDICTS,
    VERDICTS,
    st.none() | st.tuples(st.integers(0, 9), st.integers(10, 20)),
)
SECONDS = st.floats(0.001, 1e5)
SIZES = st.integers(1 << 23, 1 << 40)
LIMITS = st.builds(
    Limits,
    cpu=SECONDS,
    wall=st.none() | SECONDS,
    memory=SIZES,
    output=SIZES,
    processes=st.integers(1, 1000),
    disk=SIZES | st.just(0),
    stack=SIZES,
    elapsed=st.none() | SECONDS,
)
PROGRAMS = st.builds(
    Program,
    TEXT,
    st.sampled_from(["cpp17", "cpp20", "python", "pypy", "java"]),
    st.sampled_from(["main.cpp", "x.py", "src/Main.java", "noending", "odd.txt"]),
    st.dictionaries(FILE, st.binary(max_size=4), max_size=2),
)
COMPARISONS = st.builds(
    Comparison,
    st.sampled_from(Match),
    st.booleans(),
    st.booleans(),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 1),
)
CHECKERS = st.builds(
    Checker, PROGRAMS, st.sampled_from(Convention), st.tuples(TEXT), st.integers(1, 3)
)
RUNNING = st.builds(Batch, st.none() | FILE, st.none() | FILE) | st.builds(
    Interactive, PROGRAMS, st.sampled_from(Convention), st.tuples(TEXT), st.integers(1, 3)
)
STUBS = st.builds(
    Stub,
    st.dictionaries(FILE, st.binary(max_size=4), min_size=1, max_size=2),
    FILE,
    st.tuples(TEXT),
)


@st.composite
def packages(draw: st.DrawFn) -> Package:
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    tests = tuple(
        Test(
            draw(st.binary(max_size=3)),
            draw(st.none() | st.binary(max_size=3)),
            draw(st.booleans()),
            name,
            draw(st.integers(0, 3)),
            draw(st.integers(1, 3)),
            draw(st.just(()) | st.tuples(TEXT)),
            draw(st.just(()) | st.tuples(TEXT)),
            draw(st.just({}) | st.dictionaries(FILE, st.binary(max_size=3), max_size=2)),
        )
        for name in names
    )
    called = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    subtasks = []
    for number, name in enumerate(called):
        own = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
        depends = draw(st.lists(st.sampled_from(called[:number]), unique=True)) if number else []
        subtasks.append(
            Subtask(
                name,
                draw(POINTS),
                tuple(own),
                draw(st.sampled_from(Aggregate)),
                draw(st.sampled_from([0.5, 1.0])),
                tuple(depends),
            )
        )
    problem = Problem(
        id=draw(NAME),
        tests=tests,
        title=draw(TEXT.filter(bool)),
        statement=draw(TEXT.filter(lambda text: "\r" not in text and "\ufeff" not in text)),
        subtasks=tuple(subtasks),
        limits=draw(LIMITS),
        grading=draw(COMPARISONS | CHECKERS),
        running=draw(RUNNING),
        stubs=draw(st.dictionaries(st.sampled_from(["cpp", "python", "java"]), STUBS, max_size=2)),
        precision=draw(st.integers(0, 9)),
        languages=draw(st.just(()) | st.just(("cpp17", "python"))),
        integrity=draw(TEXT),
    )
    parts = st.builds(Part, st.sampled_from(called), CLAIMS) | st.builds(
        Part, NAME, CLAIMS, st.lists(st.sampled_from(names), min_size=1, unique=True).map(tuple)
    )
    labelled = st.builds(
        Labelled,
        st.sampled_from(["a.cpp", "x/b.py", "y/b.py", "dir"]),
        PROGRAMS,
        st.builds(Expectation, CLAIMS, st.lists(parts, max_size=2).map(tuple)),
        st.sampled_from(Bound),
        st.none() | LIMITS,
    )
    timing = st.builds(Timing, st.booleans(), st.floats(1, 9), st.floats(1, 9), st.floats(0.001, 1))
    return Package(
        problem, tuple(draw(st.lists(labelled, max_size=3))), "native", Path("made"), draw(timing)
    )


@pytest.mark.slow
@given(packages())
def test_own_format_holds_it(package: Package) -> None:
    with tempfile.TemporaryDirectory() as place:
        converted = convert_package(package, Path(place) / "own", "native")
    used = {name for each in package.problem.subtasks for name in each.tests}
    if len(used) == len(package.problem.tests):
        assert converted.notes == ()


@st.composite
def simple_packages(draw: st.DrawFn) -> Package:
    """Packages that more than one format can hold, with groups of tests and points."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    names = [f"t{number}" for number in range(sum(sizes))]
    tests = [
        Test(draw(TEXT), draw(TEXT), number < sizes[0], name) for number, name in enumerate(names)
    ]
    subtasks, rest = [], list(names)
    for number, size in enumerate(sizes):
        own, rest = tuple(rest[:size]), rest[size:]
        aggregate = draw(st.sampled_from([Aggregate.MIN, Aggregate.SUM, Aggregate.THRESHOLD]))
        points = draw(st.integers(0, 100) | st.just(1))
        subtasks.append(Subtask(f"s{number}", points, own, aggregate))
    memory = draw(st.integers(8, 4096)) << 20
    problem = Problem(
        id="other",
        tests=tuple(tests),
        subtasks=tuple(subtasks),
        limits=Limits(draw(st.integers(1, 20000)) / 1000, memory=memory, stack=memory),
        grading=Comparison(draw(st.sampled_from([Match.TOKENS, Match.LINES, Match.YES_NO]))),
        running=draw(st.sampled_from([Batch(), Batch("input.txt", "output.txt")])),
    )
    labelled = st.builds(
        Labelled,
        st.sampled_from(["a.cpp", "x/b.cpp", "y/b.cpp"]),
        st.builds(Program, TEXT, st.just("cpp17"), st.just("b.cpp")),
        st.builds(Expectation, CLAIMS),
    )
    submissions = draw(st.lists(labelled, max_size=3))
    return Package(problem, tuple(submissions), "native", Path("made"))


@pytest.mark.slow
@given(packages() | simple_packages(), st.sampled_from(["icpc", "polygon", "cms", "rows"]))
def test_others_hold_it_or_say_why_not(package: Package, to: str) -> None:
    drop = {"limits", "timing", "grading", "precision", "languages"}
    with tempfile.TemporaryDirectory() as place:
        try:
            converted = convert_package(package, Path(place) / "other", to, drop=drop)
            refusal = None
        except InputError as error:
            refusal = str(error)
        if refusal is None:
            grave = [each for each in same(package, converted.package) if not each.lesser]
            assert {each.field.partition(".")[0] for each in grave} <= drop
        else:
            assert "would be lost or changed" in refusal
            assert list(Path(place).iterdir()) == []
