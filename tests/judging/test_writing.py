"""Programs that write files or share memory: each test has a working directory of its own."""

import pytest

from proctor.judging.judge import judge
from proctor.judging.one_test import output_on
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool, open_pool

ECHO = Problem("echo", (Test("1\n", "1"), Test("2\n", "2"), Test("3\n", "3")))
CALLED = Problem("called", (Test("1", "1"), Test("2", "2")), "f")
TEMPORARY = """
import tempfile
with tempfile.TemporaryFile("w+") as file:
    file.write(input())
    file.seek(0)
    print(file.read())
"""
NAMED = "import os\nos.mkdir('d')\nopen('d/x', 'x').write(input())\nprint(open('d/x').read())"
SHARING = """
import concurrent.futures, multiprocessing, os
def square(number): return number * number
def put(queue, lock):
    for _ in range(50):
        with lock: queue.put(1)
if __name__ == "__main__":
    number = int(input())
    found = os.listdir("/dev/shm")
    multiprocessing.shared_memory = __import__("multiprocessing.shared_memory").shared_memory
    multiprocessing.shared_memory.SharedMemory("kept", create=True, size=100)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert list(pool.map(square, range(4))) == [0, 1, 4, 9]
    with multiprocessing.Manager() as manager:
        assert list(manager.list([1])) == [1]
    queue, lock = multiprocessing.Queue(), multiprocessing.Lock()
    each = [multiprocessing.Process(target=put, args=(queue, lock)) for _ in range(3)]
    for one in each: one.start()
    assert sum(queue.get() for _ in range(150)) == 150
    for one in each: one.join()
    print(*found, number)
"""
SHARING_FUNCTION = """
from concurrent.futures import ProcessPoolExecutor
def square(number): return number * number
def f(n):
    with ProcessPoolExecutor(2) as pool:
        return int(sum(pool.map(square, [n])) ** 0.5)
"""
UNSEEN = "import importlib\nimportlib.import_module('multi' + 'processing').Lock()\nprint(input())"
FUTEX = """
import ctypes, multiprocessing, os
multiprocessing.Lock()
number = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_void_p(ctypes.cast(libc.printf, ctypes.c_void_p).value & ~3)
allowed = []
for operation in (1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13):
    done = libc.syscall(number, word, operation, 1, 0, 0, 1)
    if done >= 0 or ctypes.get_errno() != 1: allowed.append(operation)
print(allowed)
"""
FUNCTION = "def f(n):\n    open('x', 'x').write(str(n))\n    return int(open('x').read())"


@pytest.mark.namespaces
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    ("problem", "program"),
    [
        (ECHO, TEMPORARY),
        (ECHO, NAMED),
        (CALLED, FUNCTION),
        (ECHO, SHARING),
        (CALLED, SHARING_FUNCTION),
        (ECHO, UNSEEN),
    ],
)
def test_they_have_a_directory(problem: Problem, program: str, fast: bool, pool: Pool) -> None:
    made = judge(problem, program, settings=JudgeSettings(fast=fast), pool=pool)
    assert (made.verdict, made.message) == ("AC", "")
    assert len(made.tests) == len(problem.tests)


@pytest.mark.namespaces
def test_nothing_is_left_for_the_next_test(pool: Pool) -> None:
    """Neither files nor the numbers that they get: the directory is a new file system."""
    program = """
import os
found = os.listdir(".")
numbers = []
for name in "abc":
    open(name, "x").close()
    numbers.append(os.stat(name).st_ino)
input()
print(found, numbers)
"""
    problem = Problem("p", (Test("\n", "[] [2, 3, 4]"),) * 3)
    made = judge(problem, program, pool=pool)
    assert made.verdict == "AC", made.message


def test_a_wrong_answer_before_is_final(pool: Pool) -> None:
    program = "n = input()\nif n == '2': open('x', 'w')\nprint('wrong' if n == '1' else n)"
    made = judge(ECHO, program, settings=JudgeSettings(stop="never"), pool=pool)
    assert [test.verdict for test in made.tests] == ["WA", "RE", "AC"]


@pytest.mark.namespaces
def test_the_directory_is_small(pool: Pool) -> None:
    program = "with open('x', 'wb') as file:\n    for _ in range(65): file.write(bytes(1 << 20))"
    settings = JudgeSettings(limits=Limits(cpu=2.0))
    made = judge(ECHO, program, settings=settings, pool=pool)
    assert (made.verdict, "No space left" in made.message) == ("RE", True)


@pytest.mark.namespaces
def test_what_is_shown_of_them(pool: Pool) -> None:
    assert output_on(ECHO.tests[1], ECHO, Program(NAMED), JudgeSettings(), pool) == b"2\n"


def test_elsewhere_nothing_is_writable(pool: Pool) -> None:
    made = judge(ECHO, "open('/etc/proctor', 'w')", pool=pool)
    assert made.verdict == "RE"


def test_at_landlock_the_message_says_why() -> None:
    with open_pool(isolation="landlock", cells=1) as pool:
        made = judge(ECHO, TEMPORARY, pool=pool)
    assert made.verdict == "RE"
    assert "No usable temporary directory" in made.message
    assert made.message.endswith(
        "(programs can write to files and share memory at level namespaces only)"
    )


def test_at_landlock_a_program_cannot_share_memory() -> None:
    with open_pool(isolation="landlock", cells=1) as pool:
        made = judge(ECHO, SHARING, pool=pool)
    assert made.verdict == "RE"
    assert "at level namespaces only" in made.message


@pytest.mark.namespaces
def test_official_mode_has_locks_too(pool: Pool) -> None:
    """Of processes it has none, as upstream; but a lock can be made and used."""
    program = (
        "import multiprocessing\nlock, queue = multiprocessing.Lock(), multiprocessing.Queue()\n"
        "with lock: print(input())"
    )
    made = judge(ECHO, program, settings=JudgeSettings(mode="official"), pool=pool)
    assert made.verdict == "AC", made.message


@pytest.mark.namespaces
def test_of_shared_futexes_only_a_wake_up_is_added(pool: Pool) -> None:
    made = judge(Problem("p", (Test("", "[1]"),)), FUTEX, pool=pool)
    assert made.verdict == "AC", made.message
