"""The square of circumstances: who we are, where the interpreter lies, what the machine forbids.

In each square a level works, and which one, how it is arranged and what it guarantees is what is
written here; or proctor refuses and names the remedy. Squares of other privileges take root, which
CI has: run by anybody else, this module says so and tries the one square that he is in.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import elsewhere
from elsewhere import AS_ROOT, SYSTEM_PYTHON, Elsewhere
from proctor.execution import GUARANTEES

pytestmark = pytest.mark.user

MIB = 1 << 20
FORBIDDEN = (
    "as-is", "masked-proc", "no-cgroup", "no-sys-admin", "no-user-namespaces", "container",
)  # fmt: skip
OF_THE_LEVEL = {"namespaces": set(), "landlock": {"filesystem", "processes"}}
"""Guarantees that a level itself gives in part only."""


@dataclass(frozen=True, slots=True)
class Square:
    """One square, and what must be found in it."""

    who: str
    python: str
    forbidden: str
    level: str
    arrangement: str
    counted: bool
    """Whether a control group counts memory and CPU time; else these guarantees are partial."""
    own_python: bool = True
    """Whether programs run under proctor's own interpreter."""

    @property
    def attacks(self) -> tuple[str, ...]:
        """Groups to attack with: what holds is the square's; what is spent is tested elsewhere."""
        return ("escape", "leakage")

    def __str__(self) -> str:
        return f"{self.who}-{self.python}-{self.forbidden}"


# As root, bubblewrap drops to a user of the cell's own first; without CAP_SYS_ADMIN (also in a
# container) that user cannot be shown an interpreter in root's home: the system's serves.
ROOT = {
    "as-is": ("namespaces", "standard", True, True),
    "masked-proc": ("namespaces", "standard, no /proc", True, True),
    "no-cgroup": ("namespaces", "standard", False, True),
    "no-sys-admin": ("namespaces", "standard", True, False),
    "no-user-namespaces": ("namespaces", "no user namespace", True, True),
    "container": ("landlock", "own users", False, False),
}
USER = {
    "as-is": ("namespaces", "standard"),
    "masked-proc": ("namespaces", "standard, no /proc"),
    "no-cgroup": ("namespaces", "standard"),
    "no-sys-admin": ("namespaces", "standard"),
    "no-user-namespaces": ("landlock", "scopes"),
    "container": ("landlock", "scopes"),
}
SQUARES = [
    Square("root", python, forbidden, level, way, counted, own_python or python == "system")
    for python in ("private", "system")
    for forbidden, (level, way, counted, own_python) in ROOT.items()
] + [Square("user", "system", forbidden, *USER[forbidden], False) for forbidden in FORBIDDEN]
# An ordinary user cannot start an interpreter in root's home at all; he can name it (see below).

PROBES = f"""
import json, os, sys
from proctor import JudgeSettings, Limits, Problem, Test, judge, open_pool, run
MIB = {MIB}
out = {{}}
with open_pool(cells=1) as pool:
    def go(name, source, stdin=b"", **limits):
        done = run(source, stdin, limits=Limits(**({{"cpu": 20.0}} | limits)), pool=pool)
        out[name] = [done.exit_code, done.signal, done.stdout.decode(), done.limit]
        return done
    done = go("echo", "import sys; print(input(), sys.version)", b"hi")
    out["level"] = done.isolation.level
    go("spin", "while True: pass", cpu=0.2)
    go("orphan", '''
import os, time
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        while time.process_time() < 0.4: pass
        os.write(w, b"x")
    os._exit(0)
os.wait(); os.read(r, 1)
''', cpu=0.25)
    go("memory", "data = []\\nwhile True: data.append(bytearray(b'x' * (1 << 20)))", memory=100 * MIB)
    go("output", "while True: print('x' * 1000)", output=10_000)
    go("import", "import ctypes.util, xml.dom")  # not imported yet, so read by the job itself
    go("exit", "import sys; sys.exit(3)")
    go("signal", "import os; os.kill(os.getpid(), 12)")
    go("host", '''
import os, signal, socket
def tries():
    yield lambda: os.listdir("/root")
    yield lambda: os.listdir("/home")
    yield lambda: open("/etc/passwd").read()
    yield lambda: open("/tmp/left", "w")
    yield lambda: os.mkdir("/box/work/left")
    yield lambda: socket.create_connection(("127.0.0.1", 1))
    yield lambda: socket.socket(socket.AF_UNIX).connect("\\\\0proctor-test")
    yield lambda: os.kill({{host}}, 0)
    yield lambda: os.killpg({{host}}, 9)
    yield lambda: os.setuid(0)
for number, attempt in enumerate(tries()):
    try: attempt()
    except OSError: continue
    print("got through:", number)
'''.replace("{{host}}", str(os.getpid())))
    go("leave", "import os, time\\nif os.fork() == 0: os.setsid(); time.sleep(1000)")
    out["left"] = pool._live[0].job_pids()
    go("after", "print(sum(range(10)))")
    problem = Problem("p", (Test("1 2\\n", "3\\n"), Test("2 3\\n", "5\\n")))
    programs = (
        "print(sum(map(int, input().split())))", "print(0)", "while True: pass",
        "data = []\\nwhile True: data.append(bytearray(b'x' * (1 << 20)))",
    )
    for mode, fast in (("standard", False), ("standard", True), ("official", False)):
        settings = JudgeSettings(mode, Limits(cpu=0.5, memory=100 * MIB), fast=fast)
        out[f"{{mode}} {{fast}}"] = [
            judge(problem, source, settings=settings, pool=pool).verdict for source in programs
        ]
print(json.dumps(out))
"""
PROBED = {
    "spin": [None, 9, "", "cpu"],
    "memory": [None, 9, "", "memory"],
    "import": [0, None, "", None],
    "exit": [3, None, "", None],
    "signal": [None, 12, "", None],
    "host": [0, None, "", None],
    "leave": [0, None, "", None],
    "after": [0, None, "45\n", None],
    "standard False": ["AC", "WA", "TLE", "MLE"],
    "standard True": ["AC", "WA", "TLE", "MLE"],
    "official False": ["AC", "WA", "TLE", "MLE"],
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a square showed."""

    doctor: dict[str, Any]
    probes: dict[str, Any]
    selftest: dict[str, Any]


def look(there: Elsewhere, groups: Sequence[str]) -> Found:
    """Ask the doctor, run and judge programs, then attack."""
    results = []
    chosen = [part for group in groups for part in ("--group", group)]
    for arguments in (
        (*elsewhere.PROCTOR, "doctor", "--json"),
        ("-c", PROBES),
        (*elsewhere.PROCTOR, "selftest", "--json", *chosen),
    ):
        done = there.run(*arguments)
        # What got through is told by name, in the test.
        assert done.returncode in ((0, 1) if "selftest" in arguments else (0,)), elsewhere.said(
            done
        )
        results.append(json.loads(done.stdout))
    return Found(*results)


@pytest.fixture(scope="module")
def pythons() -> Iterator[dict[str, str]]:
    with elsewhere.private_python() as private:
        yield {"private": private, "system": SYSTEM_PYTHON}


def there(square: Square, library: Path, pythons: dict[str, str]) -> Elsewhere:
    names = elsewhere.names(square.forbidden, user=square.who == "user")
    return Elsewhere(library, pythons[square.python], names)


@pytest.fixture(scope="module")
def looks(
    library: Path, pythons: dict[str, str], parameters: Callable[[str], list[dict[str, Any]]]
) -> Iterator[dict[Square, Future[Found]]]:
    """All squares, one at a time: those of one user share its limit of processes."""
    wanted = [each["square"] for each in parameters("test_square")]
    here = wanted if AS_ROOT else [AS_WE_ARE]
    with ThreadPoolExecutor(1) as threads:
        yield {
            each: threads.submit(look, there(each, library, pythons), each.attacks) for each in here
        }


AS_WE_ARE = next(each for each in SQUARES if (each.who, each.forbidden) == ("user", "as-is"))


@pytest.mark.slow
@pytest.mark.sampled(5, always=("root-system-as-is", "user-system-as-is"))
@pytest.mark.parametrize(
    "square",
    [pytest.param(each, marks=() if each == AS_WE_ARE else pytest.mark.root) for each in SQUARES],
    ids=str,
)
def test_square(
    square: Square, looks: dict[Square, Future[Found]], pythons: dict[str, str]
) -> None:
    found = looks[square].result()
    report = found.doctor
    assert report["works"], report
    level = next(each for each in report["levels"] if each["level"] == square.level)
    assert (report["level"], level["arrangement"]) == (square.level, square.arrangement), report
    partial = OF_THE_LEVEL[square.level] | (set() if square.counted else {"memory", "cpu"})
    held = report["isolation"]["guarantees"]
    assert list(held) == list(GUARANTEES)
    strengths = {name: held[name]["strength"] for name in held}
    assert strengths == {name: "partial" if name in partial else "full" for name in held}, held
    assert all(bool(held[name]["gap"]) == (name in partial) for name in held), held
    used = pythons[square.python if square.own_python else "system"]
    assert report["interpreter"].split()[0] == str(Path(used).resolve())

    probes = found.probes
    assert probes["level"] == square.level
    assert probes["echo"][2].startswith("hi 3.")
    assert probes["orphan"][3] == "cpu", "the time of who was not waited for counts"
    assert probes["output"][3] == "output"
    assert len(probes["output"][2]) == 10_000
    assert {name: probes[name] for name in PROBED} == PROBED
    assert probes["left"] == []

    attacked = found.selftest
    through = {each["name"]: each for each in attacked["attacks"] if each["status"] == "through"}
    assert through == {}
    assert (attacked["level"], attacked["clean"], attacked["left"]) == (square.level, True, [])
    assert attacked["complete"]
    assert len(attacked["attacks"]) >= 70


class TestRefusal:
    """Where no level can be had as asked: what is missing, and what to do."""

    @pytest.fixture
    def private(self, pythons: dict[str, str]) -> str:
        return pythons["private"]

    def refused(self, names: tuple[str, ...], library: Path, *arguments: str) -> str:
        done = Elsewhere(library, names=names).proctor("run", "-", *arguments, stdin="print(1)")
        assert (done.returncode, done.stdout) == (125, ""), elsewhere.said(done)
        assert "Traceback" not in done.stderr
        return done.stderr

    @pytest.mark.parametrize("forbidden", FORBIDDEN)
    @pytest.mark.root
    def test_an_ordinary_user_names_an_interpreter_in_roots_home(
        self, forbidden: str, library: Path, private: str
    ) -> None:
        said = self.refused((forbidden, "user"), library, "--python", private)
        assert said.startswith(f"proctor: {private} ")
        assert "installed for everybody" in said

    @pytest.mark.parametrize("forbidden", ["no-sys-admin", "container"])
    @pytest.mark.root
    def test_root_who_cannot_hand_it_to_a_cell_names_it(
        self, forbidden: str, library: Path, private: str
    ) -> None:
        said = self.refused((forbidden,), library, "--python", private)
        assert said.startswith(f"proctor: {private} lies where root alone may read")
        assert "name an interpreter that is installed for everybody" in said

    @pytest.mark.parametrize("user", [True, False])
    @pytest.mark.root
    def test_a_level_that_is_forbidden(self, user: bool, library: Path) -> None:
        names = elsewhere.names("container", user=user)
        said = self.refused(names, library, "--isolation", "namespaces")
        assert said.startswith("proctor: no isolation: level namespaces does not work here\n")
        for way in ("standard", "standard, no /proc"):
            assert f"  namespaces ({way}): " in said
        assert "seccomp=unconfined" in said
        at_least = self.refused(names, library, "--min-isolation", "namespaces")
        assert "level namespaces does not work here (minimum namespaces)" in at_least

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("names", "levels"),
        [
            (("no-landlock", "user"), ("namespaces", "landlock")),
            (("no-landlock", "container"), ("namespaces", "landlock")),
        ],
        ids=["user", "root in a container"],
    )
    @pytest.mark.root
    def test_a_machine_that_offers_nothing(
        self, names: tuple[str, ...], levels: tuple[str, ...], library: Path
    ) -> None:
        """Neither namespaces nor Landlock: every level and what it lacks, and nothing is run."""
        said = self.refused(names, library)
        assert said.startswith("proctor: no isolation: none of namespaces, container, landlock ")
        for level in levels:
            assert f"\n  {level} (" in said
        remedies = said.partition("what would help:\n")[2]
        assert "  landlock: the kernel offers none; Linux 5.13 or newer has it" in remedies
        report = Elsewhere(library, names=names).proctor("doctor", "--json")
        assert report.returncode == 1
        assert json.loads(report.stdout)["works"] is False

    def test_a_level_that_was_not_allowed(self, library: Path) -> None:
        names = ("as-is", "user")
        said = self.refused(names, library, "--isolation", "none")
        assert "set PROCTOR_ALLOW_UNSAFE=1" in said
        contradiction = Elsewhere(library, names=names).proctor(
            "run", "-", "--isolation", "landlock", "--min-isolation", "namespaces"
        )
        assert contradiction.returncode == 2
        assert "landlock was asked for, but at least namespaces" in contradiction.stderr
