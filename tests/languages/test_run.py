"""One way to run a program, in whatever language."""

import asyncio

import pytest

from proctor.errors import CompileFailed, InputError
from proctor.languages.cache import Cache
from proctor.languages.run import Runner, RunRequest, run, run_async
from proctor.limits import Limits
from proctor.program import Program
from proctor.sandbox.pool import Pool

pytestmark = pytest.mark.user

BESIDE = Program("import sys, helper\nprint(helper.x, sys.argv[0])", files={"helper.py": b"x = 6"})


def test_files_lie_beside_a_python_program(pool: Pool) -> None:
    assert run(BESIDE, pool=pool).stdout == b"6 main.py\n"
    assert asyncio.run(run_async(BESIDE, pool=pool)).stdout == b"6 main.py\n"


def test_a_program_that_does_not_compile(pool: Pool) -> None:
    with pytest.raises(CompileFailed) as caught:
        run(Program("int main() {", "c"), pool=pool)
    assert "main.c" in caught.value.output


def test_all_that_a_request_may_ask_for(pool: Pool) -> None:
    source = "import os, sys\nopen('o', 'w').write(sys.argv[1] + os.environ['A'] + input())"
    request = RunRequest(
        Program(source), b"c", ("a",), {"A": "b"}, Limits(disk=1 << 20), collect=("o", "p")
    )
    runner = Runner(pool.setup, Cache())
    ran = pool.submit(lambda cell, _queued: runner.run(cell, request)).result()
    assert ran.files == {"o": b"abc"}


@pytest.mark.parametrize("wrong", [{"program": 1}, {"stdin": 1}, {"limits": 1}])
def test_values_of_a_wrong_type(wrong: dict[str, object], pool: Pool) -> None:
    with pytest.raises(InputError):
        run(**{"program": "", **wrong}, pool=pool)  # type: ignore[arg-type]
