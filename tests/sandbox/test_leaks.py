"""Nothing of another job, no expected output and no later input is anywhere a submission can look.

Submissions search their own memory, heap, environment, descriptors and files for markers that
others were given. A marker is written as two halves, joined in memory only by whoever leaks it.
"""

import ctypes
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from proctor import Limits, Pool, Problem, Program, Test, judge, run
from proctor.judging.settings import JudgeSettings
from proctor.sandbox.cell import TestRun
from proctor.sandbox.command import Command
from proctor.sandbox.executor import in_pool
from proctor.sandbox.serving import AgentServing

pytestmark = pytest.mark.user

# Prints how often it finds each marker. Never joins the halves; a copy of memory that it makes
# holds a marker only if the memory did. `own` comes from its stdin and must be found, or the
# search is worth nothing.
SCANNER = r"""
import ctypes, gc, json, os, sys
HALVES = %(halves)r

def spellings(left, right):
    for codec in ("ascii", "utf-16-le", "utf-32-le"):
        yield left.encode(codec), right.encode(codec)
    yield left[::-1].encode(), None  # never found: a check of the check

def count(data, left, right):
    found, at = 0, data.find(left)
    while at >= 0:
        end = at + len(left)
        if right is not None and data[end:end + len(right)] == right:
            found += 1
        at = data.find(left, at + 1)
    return found

def places():
    maps = open("/proc/self/maps").read().splitlines()
    for line in maps:
        fields = line.split(None, 5)
        if "r" not in fields[1] or (fields[5:] and fields[5].startswith(("[vvar", "[vsys"))):
            continue
        start, end = (int(part, 16) for part in fields[0].split("-"))
        if end - start > 1 << 28:
            continue
        yield "memory", ctypes.string_at(start, end - start)
    gc.collect()
    for thing in gc.get_objects():
        if type(thing) in (dict, list, tuple, set):
            for item in thing.values() if type(thing) is dict else thing:
                if type(item) is str:
                    yield "heap", item.encode("utf-8", "surrogatepass")
                elif type(item) in (bytes, bytearray):
                    yield "heap", bytes(item)
    for name in ("environ", "cmdline", "maps", "status", "mountinfo", "auxv"):
        try:
            yield name, open("/proc/self/" + name, "rb").read()
        except OSError:
            pass
    for number in range(3, 300):
        try:
            size = min(os.fstat(number).st_size, 1 << 24)
            yield "descriptor", os.pread(number, size, 0)
        except OSError:
            pass
    for number in (1, 2):
        for how in (number, "/proc/self/fd/%%d" %% number):
            try:
                fd = os.open(how, os.O_RDONLY) if type(how) is str else how
                yield "output", os.pread(fd, 1 << 20, 0)
            except OSError:
                pass
    for top in ("/box", "/tmp", "/dev", "/proctor", "/packages", "/run", "/var", "/root", "/home",
                "/mnt", "/srv", "/opt", "/etc", "/sys", "/proc/1", "/work"):
        for directory, _, files in os.walk(top, onerror=None):
            yield "names", " ".join(files).encode("utf-8", "surrogateescape")
            for file in files[:200]:
                path = os.path.join(directory, file)
                try:
                    if os.path.isfile(path) and os.path.getsize(path) < 1 << 22:
                        with open(path, "rb") as opened:
                            yield path, opened.read()
                except OSError:
                    pass

def scan(given):
    left, right = given.split()
    own = left + right
    found = {}
    for where, data in places():
        for name, (one, other) in dict(HALVES, own=(left, right)).items():
            for spelling in spellings(one, other):
                hits = count(data, *spelling)
                if hits:
                    found.setdefault(name, {}).setdefault(where, 0)
                    found[name][where] += hits
    return json.dumps({"own": bool(found.pop("own", None)), "found": found})

def solve(given):
    return "REPORT " + scan(given)
"""

MAIN = "print(solve(sys.stdin.read().strip()), flush=True)\n"


@dataclass(frozen=True)
class Marker:
    """A random text, and its halves."""

    left: str
    right: str

    @property
    def whole(self) -> str:
        return self.left + self.right


def marker() -> Marker:
    return Marker("L" + secrets.token_hex(8), "R" + secrets.token_hex(8))


def scanner(**markers: Marker) -> str:
    return SCANNER % {"halves": {name: (m.left, m.right) for name, m in markers.items()}} + MAIN


CLEAN = b'REPORT {"own": true, "found": {}}\n'
LIMITS = Limits(cpu=60.0)
MODES = {
    "standard": JudgeSettings(limits=LIMITS, stop="never"),
    "fast": JudgeSettings(limits=LIMITS, stop="never", fast=True),
    "official": JudgeSettings("official", limits=Limits(cpu=60.0, memory=2 << 30)),
}


@pytest.fixture
def test_runs(monkeypatch: pytest.MonkeyPatch) -> list[TestRun]:
    """What programs really answered: a judgement does not tell. Listens, changes nothing."""
    heard: list[TestRun] = []
    real = AgentServing.test

    def listen(self: AgentServing, *arguments: object) -> TestRun:
        done = real(self, *arguments)  # type: ignore[arg-type]
        heard.append(done)
        return done

    monkeypatch.setattr(AgentServing, "test", listen)
    return heard


def reports(runs: list[TestRun]) -> list[bytes]:
    """The scanners' reports; official mode hands output over in an encoding of its own."""
    found = []
    for done in runs:
        match = re.search(rb"REPORT (\{.*\})", done.stdout.replace(b'\\"', b'"'))
        assert match is not None, done
        found.append(b"REPORT " + match[1] + b"\n")
    return found


@dataclass(frozen=True)
class Past:
    """What jobs before were given or made."""

    source: Marker
    stdin: Marker
    stdout: Marker
    stderr: Marker
    disk: Marker
    expected: Marker
    result: Marker
    placed: Marker
    word: Marker

    def all(self) -> dict[str, Marker]:
        return dict(vars(self))


@pytest.fixture(scope="module")
def past(cell_pool: Pool) -> Iterator[Past]:
    """Earlier jobs of every kind, right, wrong, crashing and stopped, in the one cell."""
    made = Past(*(marker() for _ in range(9)))
    source = (
        f"# {made.source.whole}\n"
        f"import sys\n"
        f"keep = ['{made.source.whole}'] * 10\n"
        f"text = sys.stdin.read()\n"
        f"print('{made.stdout.left}' + '{made.stdout.right}')\n"
        f"print('{made.stderr.left}' + '{made.stderr.right}', file=sys.stderr)\n"
    )
    disk = f"open('{made.disk.whole}', 'w').write('{made.disk.left}' + '{made.disk.right}')\n"
    for ending in ("", "1 / 0\n", "import os\nos.kill(os.getpid(), 9)\n", "while True: pass\n"):
        done = run(source + ending, made.stdin.whole * 100, limits=Limits(cpu=0.2), pool=cell_pool)
        assert made.stdout.whole.encode() in done.stdout or done.signal
    assert run(disk + source, made.stdin.whole, limits=Limits(disk=1 << 20), pool=cell_pool).ok
    tests = tuple(
        Test(made.stdin.whole + "\n", expected)
        for expected in (made.stdout.whole, made.expected.whole, made.stdout.whole)
    )
    function = (
        f"# {made.source.whole}\ndef f(x): return x + '{made.result.left}' + '{made.result.right}'"
    )
    calls = (Test(f'"{made.stdin.whole}"', f'"{made.expected.whole}"'),)
    for settings in MODES.values():
        judge(Problem("past", tests), source, settings=settings, pool=cell_pool)
        judge(Problem("past", calls, "f"), function, settings=settings, pool=cell_pool)
    place = made.word.whole
    for collect in ((), ("*",)):  # the two ways to place files
        command = Command(
            ("/bin/cat", f"{place}/{place}"),
            files={f"{place}/{place}": made.placed.whole.encode()},
            directories=(f"made/{place}",),
            environment={place: place},
            collect=collect,
        )
        finished = in_pool(cell_pool)(command, b"", Limits(disk=1 << 20))
        assert finished.execution.stdout == made.placed.whole.encode(), finished
    cell = cell_pool._live[0]
    yield made
    assert cell_pool._live[0] is cell, "a new cell has no past to find"


@pytest.mark.namespaces
def test_the_scanner_finds_what_is_there(cell_pool: Pool) -> None:
    """It finds its own input in memory, and a marker wherever somebody joined the halves."""
    there = marker()
    planted = f"joined = ''.join(['{there.left}', '{there.right}'])\n"
    done = run(planted + scanner(planted=there), "a1b2c3 d4e5f6", limits=LIMITS, pool=cell_pool)
    assert b'"own": true' in done.stdout, done
    assert b'"planted": {"memory"' in done.stdout
    assert b'"heap"' in done.stdout


@pytest.mark.namespaces
def test_run_finds_nothing_of_earlier_jobs(past: Past, cell_pool: Pool) -> None:
    for disk in (0, 1 << 20):
        limits = Limits(cpu=60.0, disk=disk)
        done = run(scanner(**past.all()), "a1b2c3 d4e5f6", limits=limits, pool=cell_pool)
        assert (done.stdout, done.stderr) == (CLEAN, b"")


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_judged_programs_find_nothing_of_others(
    mode: str, past: Past, cell_pool: Pool, test_runs: list[TestRun]
) -> None:
    """Neither earlier jobs, nor expected outputs (their own, too), nor the inputs of later tests."""
    test_runs.clear()
    expected = [marker() for _ in range(3)]
    later = marker()
    secret = {"first": expected[0], "second": expected[1], "third": expected[2], "later": later}
    program = scanner(**past.all(), **secret)
    clean = CLEAN.decode()
    # In official mode the first wrong test is the last: so the first expected output is the one
    # right answer, and the others are what must not be found.
    tests = (
        Test("a1b2c3 d4e5f6\n", clean),
        Test("a1b2c3 d4e5f6\n", expected[1].whole),
        Test(f"{later.whole} x\n", expected[2].whole),
    )
    judge(Problem("now", tests), program, settings=MODES[mode], pool=cell_pool)
    heard = [done for done in test_runs if b"later" not in done.stdout]
    assert len(heard) >= 2, test_runs
    assert set(reports(heard)) == {CLEAN}
    if mode == "fast":
        assert len(test_runs) == len(tests), "what the fast process has answered is final"


@pytest.mark.slow("official")
@pytest.mark.namespaces
@pytest.mark.parametrize("mode", MODES)
def test_called_functions_find_nothing_of_others(
    mode: str, past: Past, cell_pool: Pool, test_runs: list[TestRun]
) -> None:
    test_runs.clear()
    expected, later = marker(), marker()
    halves = {**past.all(), "expected": expected, "later": later}
    program = scanner(**halves).removesuffix(MAIN)
    tests = (
        Test('"a1b2c3 d4e5f6"', f'"{expected.whole}"'),
        Test(f'"{later.left} {later.right}"', f'"{later.whole}"'),
    )
    judge(Problem("now", tests, "solve"), program, settings=MODES[mode], pool=cell_pool)
    first = test_runs[0]
    answer = (first.result or first.stdout).replace(b'\\"', b'"')
    assert b'REPORT {"own": true, "found": {}}' in answer, first


def host_memory(pid: int) -> Iterator[tuple[str, bytes]]:
    """Every readable mapping of a process, read from outside as root."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        for entry in maps:
            fields = entry.split(None, 5)
            start, end = (int(part, 16) for part in fields[0].split("-"))
            if "r" not in fields[1] or (fields[5:] and fields[5].startswith("[v")):
                continue
            memory.seek(start)
            yield entry, memory.read(end - start)


@pytest.mark.root
def test_the_agent_never_holds_a_payload(past: Past, cell_pool: Pool) -> None:
    """Seen from outside: every later job is forked from this memory."""
    cell = cell_pool._live[0]
    assert cell.job_pids() == []
    pids = cell._all_pids()
    texts = [b"WARM_IMPORTS", b"PYTHONHASHSEED"]  # something that is there, or we read nothing
    seen = 0
    for pid in pids:
        for where, data in host_memory(pid):
            seen += any(text in data for text in texts)
            for name, made in past.all().items():
                for codec in ("ascii", "utf-16-le", "utf-32-le"):
                    assert made.whole.encode(codec) not in data, (name, codec, pid, where)
        for fd in os.listdir(f"/proc/{pid}/fd"):
            target = Path(f"/proc/{pid}/fd/{fd}")
            if "memfd:" in os.readlink(target):
                content = target.read_bytes()
                assert not [n for n, made in past.all().items() if made.whole.encode() in content]
    assert len(pids) >= 2
    assert seen


def test_reading_memory_from_outside_works() -> None:
    """The check of the check: our own memory holds what we joined."""
    made = marker()
    kept = ctypes.create_string_buffer(made.whole.encode())
    assert any(made.whole.encode() in data for _, data in host_memory(os.getpid()))
    del kept


def test_a_job_cannot_look_into_the_agent_or_its_init(cell_pool: Pool) -> None:
    source = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "seen = []\n"
        "try: own = int(os.readlink('/proc/self'))\n"  # by the cell's numbers, not the program's
        "except OSError: own = os.getpid()\n"
        "for pid in [1, os.getppid(), *range(2, 60)]:\n"
        "    if pid in (own, os.getpid()): continue\n"
        "    for name in ('mem', 'maps', 'environ', 'fd', 'cwd', 'root', 'exe', 'stack'):\n"
        "        path = f'/proc/{pid}/{name}'\n"
        "        try: seen.append((path, os.readlink(path) if name in ('cwd', 'root', 'exe')\n"
        "                          else os.listdir(path) if name == 'fd' else open(path).read(1)))\n"
        "        except (OSError, UnicodeDecodeError): pass\n"
        "    if libc.ptrace(16, pid, 0, 0) == 0: seen.append((pid, 'ptrace'))\n"
        "    local = ctypes.create_string_buffer(64)\n"
        "    class V(ctypes.Structure): _fields_ = [('b', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
        "    one, two = V(ctypes.addressof(local), 64), V(0x400000, 64)\n"
        "    if libc.process_vm_readv(pid, ctypes.byref(one), 1, ctypes.byref(two), 1, 0) > 0:\n"
        "        seen.append((pid, 'vm'))\n"
        "print(seen)\n"
    )
    done = run(Program(source), pool=cell_pool)
    assert (done.stdout, done.stderr) == (b"[]\n", b"")
