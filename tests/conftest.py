"""Shared by all tests: what they need, which are sampled, one pool of real cells, real data.

Four ways to run them: all (`pytest`), a quick sample (`--quick`, as `make test`), what a landing tries
(`--landing`: the sample, the slow tests of what changed, and a sixth of the others), and strictly
(PROCTOR_TEST_STRICT=1, as for a release: a skip is a failure, except where a test says "no case").
Which cases are in the sample, and which slow tests in the sixth, changes with each landing, so that
all have their turn.
"""

import os
import secrets
import signal
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

import elsewhere
import needs
from proctor.errors import NoLanguage
from proctor.sandbox.pool import Pool, open_pool

# Started in the background, as by a shell's `&`, we would ignore SIGINT, and so would all that tests
# start: among it CPython as it is without us, whose Ctrl-C then does nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Other examples in each run, which depend on its seed alone: not on what failed before, and neither
# on how busy the machine is nor on how often chance had to try again.
hypothesis.settings.register_profile(
    "seeded", max_examples=100, derandomize=False, database=None, deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large,
        hypothesis.HealthCheck.filter_too_much,
    ],
)  # fmt: skip

T = TypeVar("T")
RECURSION_LIMIT = sys.getrecursionlimit()
STRICT = os.environ.get("PROCTOR_TEST_STRICT", "") not in ("", "0")
SEED = "PROCTOR_TEST_SEED"
ROOT = Path(__file__).parents[1]
LANDINGS = ROOT / ".ci" / "landings"
TURNS = 6
"""Number of landings in which each slow test has its turn."""
NO_CASE = "no case: "
"""How the reason begins of a skip that no machine can help, as of two parameters that exclude
one another."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true",
        help="a sample of the corpora, and neither slow tests nor real parts (containers, browser, "
        "second kernel, packages of others) that -m does not name",
    )  # fmt: skip
    parser.addoption(
        "--landing", action="store_true", help="as --quick, and a sixth of the slow tests"
    )
    parser.addoption(
        "--changed", metavar="FILE", type=Path,
        help="with --quick or --landing: a file that lists paths that changed, one in a line: cases "
        "that are named for one of them are in the sample, and it is the turn of slow tests in a file "
        "among them, or in the folder of tests of a package with one of them",
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)  # before hypothesis reads its options
def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("seeded")
    seed = config.option.hypothesis_seed or os.environ.get(SEED) or str(secrets.randbits(32))
    config.option.hypothesis_seed = os.environ[SEED] = seed  # for pytest-xdist's workers


def pytest_report_header(config: pytest.Config) -> str:
    return f"examples of property tests: {_repeated(config)}"


def _repeated(config: pytest.Config) -> str:
    return f"{SEED}={config.option.hypothesis_seed} gives the same ones"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick") or config.getoption("--landing"):
        listed = config.getoption("--changed")
        changed = set(listed.read_text("utf-8").splitlines()) if listed else set()
        asked_for = set(config.getoption("markexpr").split())
        left_out = _left_out(items, changed, asked_for, slow=not config.getoption("--landing"))
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        for mark in item.iter_markers():
            unmet = needs.NEEDS[mark.name](*mark.args) if mark.name in needs.NEEDS else None
            if unmet is not None:
                item.add_marker(pytest.mark.skip(reason=unmet))


def _left_out(
    items: list[pytest.Item], changed: set[str], asked_for: set[str], *, slow: bool
) -> set[pytest.Item]:
    """Return slow tests (or those whose turn it is not), what is not in the sample, and real parts.

    A real part that -m names (`asked_for`) is not left out.
    """
    left_out, seen, turn, near = set(), Counter[str](), _turn(), _near(changed)
    real_parts = set(needs.REAL_PARTS) - asked_for
    for item in items:
        test, _, case = item.nodeid.removesuffix("]").partition("[")
        if (sampled := item.get_closest_marker("sampled")) is not None:
            number = seen[test]
            seen[test] += 1
            always = any(each in case for each in sampled.kwargs.get("always", ()))
            meant = always or any(path in case for path in changed)
            if (number - turn) % sampled.args[0] and not meant:
                left_out.add(item)
        mark = item.get_closest_marker("slow")
        its_turn = not slow and (
            not near.isdisjoint((item.path, item.path.parent))
            or (zlib.crc32(test.encode()) - turn) % TURNS == 0
        )
        if mark is not None and (not mark.args or case in mark.args) and not its_turn:
            left_out.add(item)
        if any(item.get_closest_marker(name) for name in real_parts):
            left_out.add(item)
    return left_out


def _near(changed: set[str]) -> set[Path]:
    """Return the files of tests that changed, and the folders of those of packages that changed."""
    found = {ROOT / path for path in changed}
    for path in changed:
        if path.startswith("src/proctor/"):
            folder = ROOT / "tests" / Path(path).parent.relative_to("src/proctor")
            found.add(next(each for each in (folder, *folder.parents) if each.is_dir()))
    return found - {ROOT / "tests"}


def _turn() -> int:
    """Number the next landing: .ci/landings has a line for each before it."""
    lines = LANDINGS.read_text("utf-8").splitlines() if LANDINGS.exists() else []
    return sum(not line.startswith("#") for line in lines if line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Sum up skips by their reasons: one by one, which is pytest's way, nobody reads them."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", ()))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"SKIPPED {count:4}  {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    text = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    return text.removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """A language that is not installed is a need too; strictly, no need may be unmet."""
    if call.excinfo is not None and call.excinfo.errisinstance(NoLanguage):
        skipped = pytest.skip.Exception(str(call.excinfo.value), _use_item_location=True)
        skipped.__traceback__ = call.excinfo.tb
        call.excinfo = pytest.ExceptionInfo.from_exception(skipped)
    report: pytest.TestReport = yield
    if report.failed and item.get_closest_marker("hypothesis"):
        report.sections.append(("examples", _repeated(item.config)))
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        if NO_CASE not in reason:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: PROCTOR_TEST_STRICT is set, but: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that leaves another limit of recursion: it would fell others, and the runner."""
    yield
    left = sys.getrecursionlimit()
    if left != RECURSION_LIMIT:
        sys.setrecursionlimit(RECURSION_LIMIT)
        raise AssertionError(f"{item.nodeid} leaves a limit of recursion of {left}")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    report: pytest.CollectReport = yield
    if STRICT and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid}: PROCTOR_TEST_STRICT is set, but: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def parameters(request: pytest.FixtureRequest) -> Callable[[str], list[dict[str, Any]]]:
    """Return the parameters with which a test is run this time, by the test's name.

    For a fixture that judges many programs at once: no others need be judged.
    """

    def of(name: str) -> list[dict[str, Any]]:
        return [
            item.callspec.params
            for item in request.session.items
            if isinstance(item, pytest.Function) and item.originalname == name
        ]

    return of


@pytest.fixture(scope="session")
def in_turn(pytestconfig: pytest.Config) -> Callable[[Sequence[T]], Sequence[T]]:
    """Return of many things that a slow test tries those whose turn it is: a third at a landing."""

    def chosen(things: Sequence[T]) -> Sequence[T]:
        landing = pytestconfig.getoption("--landing")
        return things[_turn() // TURNS % 3 :: 3] if landing else things

    return chosen


@pytest.fixture(scope="session")
def level() -> str:
    """The isolation level that is chosen here where none is asked for."""
    return "landlock" if needs.namespaces() else "namespaces"


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Real cells with the default settings."""
    with open_pool() as opened:
        yield opened


@pytest.fixture(scope="session")
def library() -> Iterator[Path]:
    """Proctor and what it needs where everybody may read it."""
    with elsewhere.installed() as place:
        yield place


@pytest.fixture
def ends() -> Iterator[None]:
    """Break a test off that would take hours: for what must not be quadratic.

    Two CPU-minutes are far from both the second that it takes here and from a loaded machine's.
    """

    def break_off(number: int, frame: object) -> None:
        raise TimeoutError("two CPU-minutes are over: this does not end on hostile input")

    before = signal.signal(signal.SIGPROF, break_off)
    signal.setitimer(signal.ITIMER_PROF, 120)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Real problems and programs; see PROCTOR_TEST_DATA in CONTRIBUTING.md."""
    if unmet := needs.data():
        pytest.skip(unmet)
    return Path(needs.DATA)
