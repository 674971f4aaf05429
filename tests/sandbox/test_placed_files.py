"""A program's own files, put in place by the agent's C part or, with a harvest, by Python."""

from collections.abc import Iterator

import pytest

from needs import BOTH_LEVELS
from proctor.execution import Execution, LimitHit
from proctor.limits import MIB, Limits
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy
from proctor.sandbox.command import Command
from proctor.sandbox.executor import in_pool
from proctor.sandbox.pool import Pool

pytestmark = pytest.mark.user

BOTH = pytest.mark.parametrize("collect", [(), ("nothing*",)], ids=["words", "bundle"])
LOOK = """
for each in HOME TMPDIR PWD; do test "$(printenv $each)" = "$(pwd)" && echo $each; done
find . -type d | LC_ALL=C sort
find . -type f | LC_ALL=C sort | while read -r name; do stat -c "%n %a %s" "$name"; done
cat a.txt b/c/d.txt
"""
LOOKED = """\
HOME
TMPDIR
PWD
.
./b
./b/c
./e
./e/f
./a.txt 700 3
./b/c/d.txt 700 70000
./ä b 700 0
"""
CONTENTS = b"A\n\0" + b"0123456" * 10_000


@pytest.fixture(scope="module", params=BOTH_LEVELS)
def any_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    choice = policy.choose(request.param, None, None)
    with Pool(choice.backend, CellSetup(choice.interpreter), 1) as opened:
        yield opened


def run(pool: Pool, command: Command, limits: Limits) -> Execution:
    return in_pool(pool)(command, b"", limits).execution


@BOTH
def test_they_are_there(any_pool: Pool, collect: tuple[str, ...]) -> None:
    command = Command(
        ("/bin/sh", "-c", LOOK),
        files={"a.txt": CONTENTS[:3], "b/c/d.txt": CONTENTS[3:], "ä b": b""},
        directories=("e/f",),
        collect=collect,
    )
    assert (command.words(Limits(disk=MIB)) is None) == bool(collect)
    done = run(any_pool, command, Limits(disk=MIB))
    assert (done.exit_code, done.stderr) == (0, b"")
    assert done.stdout == LOOKED.encode() + CONTENTS


@pytest.mark.namespaces
@BOTH
def test_no_room_for_them(cell_pool: Pool, collect: tuple[str, ...]) -> None:
    command = Command(("/bin/true",), files={"a": bytes(2 * MIB)}, collect=collect)
    done = run(cell_pool, command, Limits(disk=MIB))
    assert done.exit_code == 127
    assert b"files could not be put in place" in done.stderr


def test_many_or_large_ones_go_the_long_way(any_pool: Pool) -> None:
    """Copying them in the agent's memory could end the agent."""
    large = Command(("/bin/ls",), files={"a": bytes(9 * MIB)})
    many = Command(("/bin/ls",), files={f"{n:03}": b"" for n in range(100)})
    limits = Limits(memory=32 * MIB, disk=12 * MIB)
    for command in (large, many):
        assert command.words(limits) is None
        assert run(any_pool, command, limits).stdout.decode().split() == list(command.files)


@pytest.mark.cgroup
def test_directories_take_memory_too(cell_pool: Pool) -> None:
    """Names of a few bytes each: thirty thousand directories, whose memory is the cell's."""
    deep = {"/".join([str(n), *"d" * 490]): b"" for n in range(60)}
    command = Command(("/bin/true",), files=deep)
    limits = Limits(memory=16 * MIB, disk=256 * MIB)
    assert run(cell_pool, command, limits).limit is LimitHit.MEMORY
    assert command.words(limits) is None
    assert command.words(Limits(memory=1024 * MIB)) is not None
