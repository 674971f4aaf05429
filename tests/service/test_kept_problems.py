"""Problems that a server keeps: by owner, as long as they are used, and no more than there is room."""

import asyncio
import struct

import msgspec
import pytest

from proctor.errors import Busy, InputError, UnknownProblem
from proctor.grading import Checker, Comparison
from proctor.judging.foreign import MOST_PASSES, MOST_PROCESSES, check_foreign
from proctor.judging.packed import digest_of, pack
from proctor.limits import Limits
from proctor.problem import Communication, Interactive, Problem, Stub, Subtask, Test
from proctor.program import Program
from proctor.service.kept_problems import MOST_VALUES, ProblemStore

TEXT = "x" * 10_000
PROGRAM = Program("")


def packed(name: str) -> tuple[str, bytes]:
    data = pack(Problem(name, (Test(TEXT, ""),)))
    return digest_of(data), data


def test_an_owner_has_what_it_has_put() -> None:
    async def used() -> None:
        store = ProblemStore()
        await store.put("ann", *packed("a"))
        await store.put("ann", *packed("a"))
        with store.use("ann", packed("a")[0]) as problem:
            assert problem.id == "a"
        with pytest.raises(UnknownProblem), store.use("bob", packed("a")[0]):
            pass

    asyncio.run(used())


def kept(store: ProblemStore, owner: str, names: str) -> str:
    """Which of these problems an owner still has."""
    found = ""
    for name in names:
        try:
            with store.use(owner, packed(name)[0]):
                found += name
        except UnknownProblem:
            pass
    return found


def test_the_least_recently_used_goes_first_and_ones_own() -> None:
    async def used() -> None:
        store = ProblemStore(most_of_one=35_000, most=60_000)
        for name in "abc":
            await store.put("ann", *packed(name))
        assert kept(store, "ann", "cba") == "cba"  # and now c was used first
        await store.put("ann", *packed("d"))
        assert kept(store, "ann", "abcd") == "abd"
        for name in "abc":
            await store.put("bob", *packed(name))
        assert len(kept(store, "ann", "abd")) == 2  # what was too much in all
        assert kept(store, "bob", "abc") == "abc"

    asyncio.run(used())


def test_what_is_used_stays_and_leaves_no_room() -> None:
    async def used() -> None:
        store = ProblemStore(most_of_one=25_000, most=60_000)
        await store.put("ann", *packed("a"))
        await store.put("ann", *packed("b"))
        with store.use("ann", packed("a")[0]), store.use("ann", packed("b")[0]):
            with pytest.raises(Busy):
                await store.put("ann", *packed("c"))
            await store.put("bob", *packed("c"))
            with pytest.raises(UnknownProblem), store.use("ann", packed("c")[0]):
                pass
        await store.put("ann", *packed("c"))
        assert kept(store, "ann", "abc") == "bc"

    asyncio.run(used())


def test_one_that_is_too_large_is_kept_alone() -> None:
    async def used() -> None:
        store = ProblemStore(most_of_one=5_000, most=5_000)
        await store.put("ann", *packed("a"))
        await store.put("ann", *packed("b"))
        assert kept(store, "ann", "ab") == "b"

    asyncio.run(used())


def refused(data: bytes, digest: str | None = None) -> str:
    async def put() -> None:
        await ProblemStore().put("ann", digest or digest_of(data), data)

    with pytest.raises(InputError) as raised:
        asyncio.run(put())
    return str(raised.value)


def test_what_is_not_the_problem_of_the_digest_is_refused() -> None:
    assert "SHA-256" in refused(packed("a")[1], packed("b")[0])
    assert "not a packed Problem" in refused(pack(PROGRAM))
    assert "values" in refused(b"\xdd" + (MOST_VALUES + 1).to_bytes(4, "big") + b"\x90" * 5_000)
    assert "cut off" in refused(packed("a")[1][:-1])
    much = Problem("much", (Test("", ""),), limits=Limits(memory=1 << 60))
    assert "limits.memory" in refused(pack(much))


def test_a_packed_problem_names_no_file_of_the_host() -> None:
    """What is a path where a problem is read is bytes in what is packed, and nothing else."""
    test = {"class": "Test", "input": {"class": "PosixPath", "path": "/etc/passwd"}}
    plain = {"class": "Problem", "id": "a", "tests": [test]}
    assert "not a packed Problem" in refused(msgspec.msgpack.encode(plain))
    test["input"] = "/etc/passwd"  # type: ignore[assignment]

    async def put() -> None:
        store, data = ProblemStore(), msgspec.msgpack.encode(plain)
        await store.put("ann", digest_of(data), data)
        with store.use("ann", digest_of(data)) as problem:
            assert problem.tests[0].input_bytes() == b"/etc/passwd"

    asyncio.run(put())


TEST = Test("", "", name="a")


@pytest.mark.parametrize(
    ("problem", "field"),
    [
        (Problem("a", (TEST,), precision=1_000_000), "precision"),
        (Problem("a", (TEST,), precision=-5), "precision"),
        (Problem("a", (TEST,), running=Communication(PROGRAM, MOST_PROCESSES + 1)), "processes"),
        (Problem("a", (TEST,), running=Communication(PROGRAM, 0)), "processes"),
        (Problem("a", (TEST,), running=Interactive(PROGRAM, passes=MOST_PASSES + 1)), "running"),
        (Problem("a", (TEST,), grading=Checker(PROGRAM, passes=0)), "grading.passes"),
        (Problem("a", (TEST,), grading=Checker(PROGRAM, flags=("\ud800",))), "grading.flags"),
        (Problem("a", (TEST,), grading=Comparison(absolute=float("nan"))), "absolute"),
        (Problem("a", (Test("", "", weight=float("inf")),)), "weight"),
        (Problem("a", (Test("", "", full=0.0),)), "full"),
        (Problem("a", (Test("", "", args=("a\0b",)),)), "args"),
        (Problem("a", (TEST,), subtasks=tuple(Subtask(str(n), 1.0, ()) for n in range(501))), "501"),
        (Problem("a", (TEST,), stubs={"cpp": Stub({}, flags=("\udfff",))}), "stubs.cpp"),
        (Problem("a", (TEST,), running=Communication(PROGRAM, manager_args=("\0",))), "manager"),
    ],
)  # fmt: skip
def test_what_would_cost_a_server_too_much_is_refused(problem: Problem, field: str) -> None:
    with pytest.raises(InputError, match=field):
        check_foreign(problem)
    assert field in refused(pack(problem))


def test_points_that_are_no_number_are_refused() -> None:
    packed = pack(Problem("a", (TEST,), subtasks=(Subtask("s", 7.25, ("a",)),)))
    nan = packed.replace(struct.pack(">d", 7.25), struct.pack(">d", float("nan")))
    assert nan != packed
    assert "points" in refused(nan)
