"""Programs in runtimes that bring their own memory management and threads, under limits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from needs import BOTH_LEVELS
from proctor.errors import CompileFailed
from proctor.execution import Execution
from proctor.languages import registry
from proctor.languages.cache import Cache
from proctor.languages.compiler import Compiler
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.choice import policy
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Finished, Streams
from proctor.sandbox.executor import in_pool
from proctor.sandbox.pool import Pool

pytestmark = pytest.mark.user

LIMITS = Limits(cpu=10.0, memory=256 * MIB)

GARBAGE = {
    "java": """
import java.util.*;
class Garbage {
    public static void main(String[] args) {
        byte[][] kept = new byte[16 * %d][];
        Random random = new Random(1);
        for (int i = 0; i < 40000; i++) {
            byte[] fresh = new byte[1 << 16];
            Arrays.fill(fresh, (byte) 1);
            kept[i < kept.length ? i : random.nextInt(kept.length)] = fresh;
        }
        System.out.println("done");
    }
}
""",
    "javascript": """
const kept = new Array(16 * %d);
let random = 1;
for (let i = 0; i < 20000; i++) {
    random = (random * 48271) %% 2147483647;
    kept[i < kept.length ? i : random %% kept.length] = new Array(8192).fill(i + 0.5);
}
console.log("done");
""",
}
DEEP = {
    "java": """
class Deep {
    static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
    public static void main(String[] args) { System.out.println(depth(400000)); }
}
""",
    "javascript": "const depth = n => n === 0 ? 0 : 1 + depth(n - 1);\nconsole.log(depth(400000));\n",
    "python": """
import sys
sys.setrecursionlimit(10 ** 6)
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
print(depth(400000))
""",
}
BROKEN = {
    "c": "int main(void) { return; ",
    "cpp17": '#include "no_such.h"\nint main() {}',
    "java": 'class A { int x = "text"; }',
    "javascript": "let x = ;",
    "python": "if True:\nprint(1)",
    "pypy": "print(",
}


class Runner:
    def __init__(self, level: str, scratch: Path) -> None:
        choice = policy.choose(level, None, None)
        setup = CellSetup(choice.interpreter, directories=registry.reads())
        self.pool = Pool(choice.backend, setup, 1)
        self.compiler = Compiler(in_pool(self.pool), Cache(scratch))

    def run(self, language: str, source: str) -> Execution:
        built = self.compiler.build(Program(source, language))
        command = built.command(memory=LIMITS.memory)
        limits = built.limits(LIMITS, command)

        def job(cell: Cell, _queued: float) -> Finished:
            return cell.execute(command, Streams(), limits, ContestClock(limits))

        return self.pool.submit(job).result().execution


@pytest.fixture(scope="module", params=BOTH_LEVELS)
def runner(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runner]:
    made = Runner(request.param, tmp_path_factory.mktemp("cache"))
    with made.pool:
        yield made


@pytest.mark.slow("landlock-java", "namespaces-java")
@pytest.mark.cgroup
@pytest.mark.parametrize("language", GARBAGE)
def test_garbage_does_not_count_as_the_programs(runner: Runner, language: str) -> None:
    execution = runner.run(language, GARBAGE[language] % 60)
    assert (execution.limit, execution.stdout) == (None, b"done\n"), execution.stderr


@pytest.mark.cgroup
@pytest.mark.parametrize("language", GARBAGE)
def test_a_heap_that_is_full_says_so(runner: Runner, language: str) -> None:
    execution = runner.run(language, GARBAGE[language] % 400)
    assert execution.stdout == b""
    words = registry.get(language).run.out_of_memory
    assert any(word.encode() in execution.stderr for word in words) or execution.limit == "memory"


@pytest.mark.parametrize(
    "language",
    [pytest.param(each, marks=pytest.mark.cgroup if each == "java" else ()) for each in DEEP],
)
def test_the_stack_is_deep(runner: Runner, language: str) -> None:
    execution = runner.run(language, DEEP[language])
    assert (execution.limit, execution.stdout) == (None, b"400000\n"), execution.stderr


@pytest.mark.parametrize("language", BROKEN)
def test_what_is_wrong_with_the_source_is_said(runner: Runner, language: str) -> None:
    with pytest.raises(CompileFailed) as caught:
        runner.run(language, BROKEN[language])
    name = "A.java" if language == "java" else registry.get(language).source
    assert name in caught.value.output
    assert "/box" not in caught.value.output
    assert "/tmp" not in caught.value.output
