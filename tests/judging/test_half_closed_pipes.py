"""Programs that close one end of a pipe and go on: the other party sees it, and nothing else.

One party, the speaker, says 3 and 4, closes its output and waits for 7; the other, the adder, reads
to the end of its input before it answers.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
from tasks import problem

from proctor.grading import Convention
from proctor.judging.judge import judge
from proctor.problem import Communication, Interactive, Running
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

pytestmark = pytest.mark.compiler

# Each is formatted with the exit codes for right and wrong.
PYTHON_CLOSES = {
    "os.close": "os.close(1)",
    "close the object": "sys.stdout.close(); os.close(1)",
    "shared with a child": "os.fork() or (time.sleep(0.01), os._exit(0)); os.close(1); os.wait()",
    "put something else there": "os.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
    "two descriptors": "n = os.dup(1); os.close(1); os.close(n)",
}
CPP_CLOSES = {
    "fclose": "fclose(stdout);",
    "close": "fflush(stdout); close(1);",
    "freopen": 'freopen("/dev/null", "w", stdout);',
}
SPEAKS_PYTHON = """
import os, sys, time
print("3\\n4", flush=True)
{close}
sys.exit({right} if sys.stdin.readline().strip() == "7" else {wrong})
"""
SPEAKS_CPP = """
#include <cstdio>
#include <unistd.h>
int main() {{
    int heard = 0;
    puts("3\\n4");
    {close}
    return scanf("%d", &heard) == 1 && heard == 7 ? {right} : {wrong};
}}
"""
ADDS_PYTHON = """
import sys
print(sum(map(int, sys.stdin)), flush=True)
sys.exit({right})
"""
ADDS_CPP = """
#include <cstdio>
int main() {{
    int one, sum = 0;
    while (scanf("%d", &one) == 1) sum += one;
    printf("%d\\n", sum);
    return {right};
}}
"""
# A manager's processes are told the names of their pipes; so is it, for each in turn.
MANAGER_SPEAKS = """
import sys
pairs = list(zip(sys.argv[1::2], sys.argv[2::2]))
heard = []
for come, go in [(open(come), open(go, "w")) for come, go in pairs]:
    go.write("3\\n4\\n")
    go.close()
    heard.append(come.readline())
print(float(heard == ["7\\n"] * len(pairs)))
"""
MANAGER_SPEAKS_CPP = """
#include <cstdio>
int main(int count, char **names) {
    int right = 0;
    for (int i = 1; i < count; i += 2) {
        FILE *go = fopen(names[i + 1], "w"), *come = fopen(names[i], "r");
        int heard = 0;
        fputs("3\\n4\\n", go);
        fclose(go);
        right += fscanf(come, "%d", &heard) == 1 && heard == 7;
    }
    puts(2 * right == count - 1 ? "1.0" : "0.0");
}
"""
MANAGER_ADDS = """
import sys
for come, go in zip(sys.argv[1::2], sys.argv[2::2]):
    print(sum(map(int, open(come))), file=open(go, "w"))
print("1.0")
"""
NAMED_SPEAKS = """
import os, sys
with open(sys.argv[2], "w") as go:
    go.write("3\\n4\\n")
sys.exit(open(sys.argv[1]).readline() != "7\\n")
"""
NAMED_SPEAKS_CPP = """
#include <cstdio>
int main(int, char **names) {
    FILE *come = fopen(names[1], "r"), *go = fopen(names[2], "w");
    int heard = 0;
    fputs("3\\n4\\n", go);
    fclose(go);
    return fscanf(come, "%d", &heard) != 1 || heard != 7;
}
"""
NAMED_ADDS = """
import sys
print(sum(map(int, open(sys.argv[1]))), file=open(sys.argv[2], "w"))
"""
INTERACTORS = {
    Convention.KATTIS: (42, 43),
    Convention.EXIT_CODE: (0, 1),
    Convention.TESTLIB: (0, 1),
}


def speakers(right: int, wrong: int) -> dict[str, Program]:
    """Make a speaker for each way to close."""
    codes = {"right": right, "wrong": wrong}
    python = {
        name: Program(SPEAKS_PYTHON.format(close=close, **codes))
        for name, close in PYTHON_CLOSES.items()
    }
    cpp = {
        name: Program(SPEAKS_CPP.format(close=close, **codes), "cpp17")
        for name, close in CPP_CLOSES.items()
    }
    return python | cpp


def adders(right: int) -> dict[str, Program]:
    return {
        "Python": Program(ADDS_PYTHON.format(right=right)),
        "C++": Program(ADDS_CPP.format(right=right), "cpp17"),
    }


def verdicts(pool: Pool, cases: Mapping[str, tuple[Running, Program]]) -> dict[str, Verdict]:
    """Judge each submission with its partner, some at a time."""

    def one(case: tuple[Running, Program]) -> Verdict:
        running, submission = case
        return judge(problem("half", "", b"", running), submission, pool=pool).verdict

    with ThreadPoolExecutor(3) as threads:
        return dict(zip(cases, threads.map(one, cases.values()), strict=True))


@pytest.fixture(params=["contest_pool", "landlock_pool"], ids=["default", "landlock"])
def pool(request: pytest.FixtureRequest) -> Pool:
    found: Pool = request.getfixturevalue(request.param)
    return found


def all_right(found: Mapping[str, Verdict]) -> bool:
    return found == dict.fromkeys(found, Verdict.AC)


@pytest.mark.parametrize("convention", INTERACTORS)
def test_an_interactor_that_says_no_more(pool: Pool, convention: Convention) -> None:
    partners = speakers(*INTERACTORS[convention])
    cases = {
        f"{name}, {language}": (Interactive(partner, convention), adder)
        for name, partner in partners.items()
        for language, adder in adders(0).items()
    }
    found = verdicts(pool, cases)
    assert all_right(found), found


@pytest.mark.parametrize("convention", INTERACTORS)
def test_a_submission_that_says_no_more(pool: Pool, convention: Convention) -> None:
    partners = adders(INTERACTORS[convention][0])
    cases = {
        f"{name}, {language}": (Interactive(partner, convention), speaker)
        for name, speaker in speakers(0, 1).items()
        for language, partner in partners.items()
    }
    found = verdicts(pool, cases)
    assert all_right(found), found


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("named", [False, True], ids=["stdin and stdout", "names of pipes"])
def test_managers(pool: Pool, processes: int, named: bool) -> None:
    speaking = {"Python": Program(MANAGER_SPEAKS), "C++": Program(MANAGER_SPEAKS_CPP, "cpp17")}
    if named:
        submissions = {"Python": Program(NAMED_SPEAKS), "C++": Program(NAMED_SPEAKS_CPP, "cpp17")}
        adding = {"Python": Program(NAMED_ADDS)}
    else:
        submissions, adding = speakers(0, 1), adders(0)
    cases = {
        f"manager {name}, submission {language}": (
            Communication(manager, processes, named),
            adder,
        )
        for name, manager in speaking.items()
        for language, adder in adding.items()
    }
    cases |= {
        name: (Communication(Program(MANAGER_ADDS), processes, named), speaker)
        for name, speaker in submissions.items()
    }
    found = verdicts(pool, cases)
    assert all_right(found), found


DEAF = """
import os, select, sys
os.close(0)
wait = select.poll()
wait.register(1, 0)
wait.poll()
sys.exit({right})
"""
SPEAKS_ON = """
import os, sys
try:
    while True:
        os.write(1, b"word\\n" * 1000)
except BrokenPipeError:
    sys.exit({right})
"""


@pytest.mark.parametrize("convention", [Convention.KATTIS, Convention.EXIT_CODE])
def test_a_party_that_listens_no_more(pool: Pool, convention: Convention) -> None:
    """A party that writes to it gets a broken pipe; otherwise both would wait, and be idle."""
    right, _ = INTERACTORS[convention]
    deaf, speaks = Program(DEAF.format(right=0)), Program(SPEAKS_ON.format(right=0))
    cases = {
        "interactor": (Interactive(Program(DEAF.format(right=right)), convention), speaks),
        "submission": (Interactive(Program(SPEAKS_ON.format(right=right)), convention), deaf),
    }
    found = verdicts(pool, cases)
    assert all_right(found), found


SAYS_ALL = "import os, sys\nos.write(1, b'3 4')\nos.close(1)\n"
HEARS = "import sys\nsys.exit(42 if sys.stdin.readline() == '7\\n' else 43)\n"
HEARS_ALL = "import os, sys\nsys.stdin.read()\n"
SILENT = "import os, sys\nos.close(1)\n"
FOREVER = "while True: os.read(os.pipe()[0], 1)\n"


@pytest.mark.parametrize(
    ("interactor", "submission", "verdict"),
    [
        (SAYS_ALL + HEARS, HEARS_ALL + "os.abort()\n", Verdict.RE),
        (SAYS_ALL + HEARS, HEARS_ALL + "while True: os.write(1, b'8\\n')\n", Verdict.WA),
        (HEARS, SILENT + HEARS_ALL + "os.abort()\n", Verdict.WA),
        (HEARS_ALL + "sys.exit(42)\n", SILENT + HEARS_ALL + "os.abort()\n", Verdict.RE),
        ("input()\n", SILENT + HEARS_ALL, Verdict.WA),
    ],
)
def test_whose_fault_it_is(pool: Pool, interactor: str, submission: str, verdict: Verdict) -> None:
    """Several at a time, which compete for the CPUs: it is no matter of luck."""
    running = Interactive(Program(interactor), Convention.KATTIS)
    cases = {f"{i}": (running, Program(submission)) for i in range(6)}
    found = verdicts(pool, cases)
    assert found == dict.fromkeys(cases, verdict)


def test_who_is_waited_for_in_vain(contest_pool: Pool) -> None:
    """A party that has said all it has to say may still be the one that hangs, or is hung for."""
    expected = {
        Verdict.TLE: (SAYS_ALL + HEARS, HEARS_ALL + "while True: pass\n"),
        Verdict.ILE: (SAYS_ALL + HEARS, HEARS_ALL + FOREVER),
        Verdict.WA: (
            SAYS_ALL + FOREVER,
            HEARS_ALL,
        ),  # nothing that is known to be good can be tried
    }
    cases = {
        verdict: (Interactive(Program(interactor), Convention.KATTIS), Program(submission))
        for verdict, (interactor, submission) in expected.items()
    }
    found = verdicts(contest_pool, cases)
    assert found == {verdict: verdict for verdict in expected}
