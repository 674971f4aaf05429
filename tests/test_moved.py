"""Old import paths lead to the modules that have moved, and warn once."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from proctor.moved import MOVED, new_path
from waiting import PATIENCE

_MEETING = """
import sys, warnings
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    {statements}
print([str(each.message) for each in warned if each.category is DeprecationWarning])
print({{each.filename for each in warned}} <= {{"<string>"}})
"""


def _meet(*statements: str) -> str:
    code = _MEETING.format(statements="\n    ".join(statements))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "statements",
    [
        ("import proctor.compat.lcb_runner as old", "import proctor.integrations.lcb_runner as new"),
        ("import proctor.integrations.lcb_runner as new", "import proctor.compat.lcb_runner as old"),
        ("from proctor.compat import lcb_runner as old", "from proctor.integrations import lcb_runner as new"),
        ("from proctor.client import connect as old", "from proctor.clients import connect as new"),
        ("import proctor.client as old", "import proctor.clients as new"),
        ("import proctor.bench.models.model as old", "import proctor.evals.models.model as new"),
        ("import proctor.serve.app as old", "import proctor.service.http.app as new"),
        (
            "import proctor.solver.timetable.validate as old",
            "import proctor.timetable.validate as new",
        ),
    ],
)  # fmt: skip
def test_an_old_path_gives_the_very_module_and_one_warning_at_the_import(
    statements: tuple[str, ...],
) -> None:
    warnings, at_the_import, *_ = _meet(
        *statements,
        "assert old is new, (old, new)",
        "assert old.__spec__.name == new.__name__ if hasattr(old, '__spec__') else True",
        # Again, and with a module loaded by its new path meanwhile: nothing is loaded twice.
        statements[0],
        "assert old is new, (old, new)",
    ).splitlines()
    assert warnings.count(" goes with 1.0: use proctor.") == 1, warnings
    assert at_the_import == "True"


def test_modules_below_a_moved_package_are_loaded_once() -> None:
    _meet(
        "import proctor.report.tallies",
        "import proctor.report.figures",
        "new = sys.modules['proctor.reports.figures']",
        "assert sys.modules['proctor.report.figures'] is new",
        "assert new.Tally is sys.modules['proctor.report.tallies'].Tally",
    )


def test_what_was_never_there_is_not_found_by_its_own_name() -> None:
    _meet(
        "try:",
        "    import proctor.compat.nothing",
        "except ModuleNotFoundError as error:",
        "    assert error.name == 'proctor.compat.nothing', error.name",
        "else:",
        "    raise AssertionError",
    )


def test_what_is_found_does_not_even_load_it() -> None:
    _meet(
        "import proctor, proctor.limits, proctor.verdict, proctor.judging.settings",
        "assert sys.meta_path[-1].__name__ == '_OldPaths'",
        "assert 'proctor.moved' not in sys.modules",
    )


@pytest.mark.parametrize("old", MOVED)
def test_every_new_path_is_there_and_the_old_one_is_not(old: str) -> None:
    assert find_spec(MOVED[old]) is not None
    assert new_path(f"{old}.part") == f"{MOVED[old]}.part"


def test_other_names_have_not_moved() -> None:
    for name in ("proctor", "proctor.judging", "proctor.servers", "proctor.clients.connecting"):
        assert new_path(name) is None
