"""Processes that outlive their program may finish what they write, and no more."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from proctor import JudgeSettings, Limits, Pool, Problem, Program, Test, judge, open_pool, run
from proctor.sandbox.command import Command
from proctor.sandbox.executor import in_pool

pytestmark = pytest.mark.user

# The child goes on when its parent has closed its files, which is when it has ended.
LEFT = """
import os, select
closed, until = os.pipe()
if os.fork() == 0:
    os.close(until)
    os.read(closed, 1)
    select.select([], [], [], {pause})
    {then}
os._exit(0)
"""
PRINTS = "os.write(1, b'late\\n'); os._exit(0)"
AT_ONCE, NEVER = "0", "1000"
BY_SHELL = "cat > left.py <<'END'\n{source}\nEND\nexec python3 left.py"
# At level none an ordinary user's programs share their number with all that this user runs.
MANY = Limits(processes=2000)
COMMAND = replace(MANY, disk=1 << 20)


@pytest.fixture(
    scope="module",
    params=[pytest.param("namespaces", marks=pytest.mark.namespaces), "landlock", "none"],
)
def level(request: pytest.FixtureRequest) -> Iterator[Pool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
        with open_pool(isolation=request.param, cells=1) as opened:
            yield opened


@pytest.mark.parametrize(("pause", "printed"), [(AT_ONCE, b"late\n"), (NEVER, b"")])
def test_what_it_prints_at_once_counts(level: Pool, pause: str, printed: bytes) -> None:
    source = LEFT.format(pause=pause, then=PRINTS)
    assert run(source, limits=MANY, pool=level).stdout == printed
    shell = Program(BY_SHELL.format(source=source), "bash")
    assert run(shell, limits=COMMAND, pool=level).stdout == printed


@pytest.mark.parametrize(("pause", "passed"), [(AT_ONCE, True), (NEVER, False)])
def test_a_judged_program_is_treated_alike(level: Pool, pause: str, passed: bool) -> None:
    stdio = Problem("p", (Test("", "late\n"), Test("", "late\n")))
    settings = JudgeSettings(limits=MANY)
    source = LEFT.format(pause=pause, then=PRINTS)
    assert judge(stdio, source, settings=settings, pool=level).passed is passed
    body = LEFT.format(pause=pause, then="return x").replace("\n", "\n    ")
    called = Problem("f", (Test("1", "1"), Test("2", "2")), function="f")
    assert judge(called, f"def f(x):{body}", settings=settings, pool=level).passed is passed


@pytest.mark.parametrize(("pause", "found"), [(AT_ONCE, {"left": b"x"}), (NEVER, {})])
def test_files_that_it_leaves_are_found(pool: Pool, pause: str, found: dict[str, bytes]) -> None:
    source = LEFT.format(pause=pause, then="open('left', 'w').write('x')")
    command = Command(("/bin/sh", "-c", BY_SHELL.format(source=source)), collect=("left",))
    finished = in_pool(pool)(command, b"", COMMAND)
    assert finished.files == found
