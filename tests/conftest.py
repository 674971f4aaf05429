"""Shared by all tests: what they need, which are sampled, one pool of real cells, real data.

Four ways to run them: all (`pytest`), a quick sample (`--quick`, as `make test`), what a landing tries
(`--landing`: the sample, the slow tests of what changed, and a sixth of the others), and strictly
(PROCTOR_TEST_STRICT=1, as for a release: a skip is a failure, except where a test says "no case").
sampling.py chooses; with each landing it chooses others, so that all have their turn.
"""

import os
import secrets
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

import elsewhere
import needs
import sampling
from proctor.errors import NoLanguage
from proctor.sandbox.pool import Pool, open_pool

# Started in the background by a shell's `&`, or by nohup, we would ignore SIGINT or SIGHUP, and so
# would all that tests start: among it CPython as it is without us, whose Ctrl-C then does nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Other examples in each run, which depend on its seed alone: not on what failed before, and neither
# on how busy the machine is nor on how often chance had to try again.
hypothesis.settings.register_profile(
    "seeded", max_examples=100, derandomize=False, database=None, deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large,
        hypothesis.HealthCheck.filter_too_much,
    ],
)  # fmt: skip

# Runs that tests begin are signed with a key of theirs, also where the home cannot be written to.
_state = tempfile.TemporaryDirectory(prefix="proctor-state-")
os.environ["XDG_STATE_HOME"] = _state.name

T = TypeVar("T")
RECURSION_LIMIT = sys.getrecursionlimit()
STRICT = os.environ.get("PROCTOR_TEST_STRICT", "") not in ("", "0")
SEED = "PROCTOR_TEST_SEED"
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
        "that are named for one of them are in the sample; with --landing, slow tests in a file "
        "among them, or in the folder of tests of a package with one of them, are run",
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
        left_out = sampling.find_left_out(
            items, changed, asked_for, landing=config.getoption("--landing")
        )
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        for mark in item.iter_markers():
            unmet = needs.NEEDS[mark.name](*mark.args) if mark.name in needs.NEEDS else None
            if unmet is not None:
                item.add_marker(pytest.mark.skip(reason=unmet))


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
    """Return a function that picks a third of many things at a landing, and else gives them all."""

    def chosen(things: Sequence[T]) -> Sequence[T]:
        return sampling.in_turn(things) if pytestconfig.getoption("--landing") else things

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
