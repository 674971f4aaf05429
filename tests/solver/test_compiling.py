"""Programs are compiled where they are to run, before they do: what the host is told of that."""

import json
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

import proctor
from needs import BOTH_LEVELS
from proctor.cell import compiling
from proctor.errors import InfraFault
from proctor.execution import LimitHit
from proctor.limits import MIB
from proctor.sandbox.directory_job import DirectoryResult
from proctor.solver import gate
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from solver_corpus import GIVEN

TRACE = "open('result.json', 'w').write('{}')\nprint('it ran')\n"
LARGE = "x = [" + "[1]," * 100_000 + "]\n"


@pytest.fixture(scope="module", params=BOTH_LEVELS)
def host(request: pytest.FixtureRequest) -> Iterator[SolverHost]:
    with SolverHost(isolation=request.param, cells=1) as opened:
        yield opened


def packing(memory: int = 512 * MIB) -> Profile:
    loaded = profiles.load("packing")
    limits = msgspec.structs.replace(loaded.limits, memory=memory)
    return msgspec.structs.replace(loaded, warm=(), limits=limits)


def solved(host: SolverHost, code: str | bytes, profile: Profile) -> Envelope:
    return host.solve(SolveRequest(code, GIVEN, profile))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            TRACE + "while True print(1)",
            "SyntaxError: invalid syntax (solver_generated.py, line 3)",
        ),
        (
            TRACE + "return 1",
            "SyntaxError: 'return' outside function (solver_generated.py, line 3)",
        ),
        (TRACE + "x = " + "-" * 100_000 + "1", "MemoryError: "),  # from 3.13 on Python says why
        (TRACE + "x = y" + "[0]" * 50_000, "RecursionError: maximum recursion depth exceeded"),
    ],
    ids=["syntax", "compile", "memory", "recursion"],
)
def test_what_does_not_compile_is_not_run(host: SolverHost, code: str, why: str) -> None:
    envelope = solved(host, code, packing())
    told = (envelope.phase, envelope.status, envelope.status_detail, envelope.stdout)
    assert told == ("compile", "crashed", "syntax", "")
    assert envelope.error_digest.startswith(why)
    alone = host.check(code, packing())
    assert (alone.ok, alone.error) == (False, envelope.error_digest)


@pytest.mark.slow
def test_a_compiler_that_needs_more_memory_than_there_is(host: SolverHost) -> None:
    envelope = solved(host, TRACE + LARGE, packing(memory=40 * MIB))
    assert (envelope.phase, envelope.status, envelope.stdout) == ("compile", "crashed", "")
    assert envelope.error_digest in {
        "the compiler does not survive it (limit memory)", "MemoryError: nested too deep",
    }  # fmt: skip
    assert solved(host, TRACE + LARGE, packing()).stdout == "it ran"


def test_names_are_told_within_bounds(host: SolverHost) -> None:
    names = [f"ä{number}{'ä' * 80}" for number in range(300)]
    envelope = solved(host, TRACE + "if 0:\n  import " + ", ".join(names), packing())
    assert envelope.stdout == "it ran"
    assert len(envelope.warnings) == 21
    assert envelope.warnings[-1] == "and 280 more that the profile does not list"


def test_errors_are_told_within_bounds() -> None:
    said = compiling.look(b"def f(): nonlocal " + b"x" * 100_000, "p.py")
    assert len(json.dumps(said)) < 32_000
    assert said["error"].startswith("SyntaxError: no binding for nonlocal 'xxx")


def test_no_word_is_the_runs_own_end() -> None:
    """By whose doing it ended before the word came decides whether it is the compiler's."""
    done = proctor.run("pass")
    for ended, stopped, ok in [
        (replace(done, signal=11), False, False),
        (replace(done, signal=9), True, True),
        (replace(done, limit=LimitHit.MEMORY), False, False),
        (replace(done, limit=LimitHit.WALL, signal=9), False, True),
        (replace(done, exit_code=1), False, True),
    ]:
        worked = DirectoryResult(
            ended, None, "was not written", (), interrupted=False, stopped=stopped
        )
        assert gate.of(worked).ok is ok
    with pytest.raises(InfraFault):
        gate.of(replace(worked, compiled=b"{"))
