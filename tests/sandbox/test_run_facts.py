"""The facts of a run: exits, bytes, what a program sees, what it used. Limits: test_run_limits."""

import json
import random
import re
import signal

import pytest

from proctor import (
    Execution,
    InputError,
    JudgeSettings,
    Limits,
    Pool,
    Problem,
    Program,
    Test,
    judge,
    run,
)
from proctor.sandbox.levels.bubblewrap import ENVIRONMENT

pytestmark = pytest.mark.user

MIB = 1 << 20


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("", 0),
        ("import sys; sys.exit(0)", 0),
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit(255)", 255),
        ("import sys; sys.exit(256)", 0),
        ("import sys; sys.exit(-1)", 255),
        ("import os; os._exit(124)", 124),
        ("raise SystemExit", 0),
        ("1 / 0", 1),
        ("def f(): f()\nf()", 1),
        ("this is no python", 1),
        ("x = '\\ud800'\nprint(len(x))", 0),  # what JSON can carry, a program may hold
        ("print('" + "a" * 100_000 + "')", 0),
    ],
)
def test_exit_codes(source: str, code: int, pool: Pool) -> None:
    done = run(source, pool=pool)
    assert (done.exit_code, done.signal, done.limit) == (code, None, None), done
    assert done.ok is (code == 0)


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", signal.SIGTERM),
        ("import os; os.kill(os.getpid(), 9)", signal.SIGKILL),
        ("import os; os.kill(os.getpid(), 12)", signal.SIGUSR2),
        ("import os; os.abort()", signal.SIGABRT),
        ("import ctypes; ctypes.string_at(0)", signal.SIGSEGV),
        ("import signal; signal.alarm(1); signal.pause()", signal.SIGALRM),
        ("import os; os.killpg(0, 15)", signal.SIGTERM),
    ],
)
def test_signals(source: str, number: signal.Signals, pool: Pool) -> None:
    done = run(source, pool=pool)
    assert (done.exit_code, done.signal, done.limit) == (None, number, None), done
    assert not done.ok


def test_a_source_with_a_nul_or_a_lone_surrogate_does_not_compile(pool: Pool) -> None:
    for source in ("print(1)\0", "print('\ud800')"):
        done = run(source, pool=pool)
        assert done.exit_code == 1
        assert b"Error" in done.stderr
        assert b"proctor" not in done.stderr


EVERY_BYTE = bytes(range(256)) * 17 + b"\r\n\0\xff\xfe\xc3"
COPY = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"


@pytest.mark.parametrize(
    "data",
    [b"", b"\0", b"\n", b"no newline", EVERY_BYTE, random.Random(1).randbytes(9 * MIB)],
    ids=len,
)
def test_bytes_in_are_bytes_out(data: bytes, pool: Pool) -> None:
    done = run(COPY, data, pool=pool)
    assert done.stdout == data
    assert done.stderr == b""
    assert done.ok


def test_text_that_is_not_utf8_passes_through_unharmed(pool: Pool) -> None:
    data = b"caf\xe9 \xff\xfe \xed\xa0\x80 \xf0\x9f\x98\x80\n"
    source = "import sys\nfor line in sys.stdin: print(line, end='')"
    assert run(source, data, pool=pool).stdout == data


def test_both_streams_are_kept_apart_and_exact(pool: Pool) -> None:
    source = (
        "import os, sys\n"
        "os.write(1, b'\\x00\\xffone'); os.write(2, b'\\x00\\xfetwo')\n"
        "print('three'); print('four', file=sys.stderr)\n"
    )
    done = run(source, pool=pool)
    assert (done.stdout, done.stderr) == (b"\x00\xffonethree\n", b"\x00\xfetwofour\n")


def test_text_given_as_text(pool: Pool) -> None:
    assert run("print(input())", "grüße 😀", pool=pool).stdout == "grüße 😀\n".encode()
    assert run(Program("print(input())"), bytearray(b"x"), pool=pool).stdout == b"x\n"


def test_what_is_no_program_is_refused(pool: Pool) -> None:
    with pytest.raises(InputError, match="field `program`"):
        run(5, pool=pool)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="field `language`"):
        Program("", language="no such/thing")
    with pytest.raises(InputError, match="'cobol' is not a language"):
        run(Program("", language="cobol"), pool=pool)


@pytest.mark.parametrize(
    "expression",
    [
        "open('/dev/stdin').read()",
        "open('/proc/self/fd/0').read()",
        "open('/dev/fd/0').read()",
        "open(0).read()",
        "sys.stdin.read()",
        "os.read(0, 100).decode()",
        "''.join(iter(input, 'end')) + '\\nend\\n'",
        "sys.stdin.buffer.raw.readall().decode()",
    ],
)
def test_every_way_to_read_stdin(expression: str, pool: Pool) -> None:
    done = run(f"import os, sys; print(repr({expression}))", "abc\nend\n", pool=pool)
    expected = "abc\nend\n" if "input" not in expression else "abc\nend\n"
    assert done.stdout.decode() == repr(expected) + "\n", done.stderr


def test_stdin_can_be_rewound_and_ends(pool: Pool) -> None:
    source = (
        "import sys\n"
        "print(sys.stdin.read()); print(repr(sys.stdin.read()))\n"
        "sys.stdin.seek(0); print(sys.stdin.readline())\n"
        "sys.stdin.read()\n"
        "try: input()\n"
        "except EOFError: print('EOF')\n"
    )
    assert run(source, "a\nb", pool=pool).stdout == b"a\nb\n''\na\n\nEOF\n"


def test_stdin_cannot_be_written(pool: Pool) -> None:
    source = (
        "import os\n"
        "for path in ('/dev/stdin', '/proc/self/fd/0'):\n"
        "    for flags in (os.O_WRONLY, os.O_RDWR):\n"
        "        try: os.write(os.open(path, flags), b'x'); print('written')\n"
        "        except OSError: pass\n"
        "try: os.write(0, b'x'); print('written')\n"
        "except OSError: pass\n"
        "print(os.read(0, 9))\n"
    )
    assert run(source, "abc", pool=pool).stdout == b"b'abc'\n"


@pytest.mark.namespaces
def test_a_program_sees_itself_in_proc_and_nobody_else(pool: Pool) -> None:
    source = (
        "import json, os\n"
        "status = open('/proc/self/status').read()\n"
        "print(json.dumps({\n"
        "    'pid': os.getpid(), 'status': status,\n"
        "    'cmdline': open('/proc/self/cmdline').read(),\n"
        "    'maps': len(open('/proc/self/maps').read()),\n"
        "    'self': os.readlink('/proc/self'),\n"
        "    'pids': [p for p in os.listdir('/proc') if p.isdigit()],\n"
        "    'fds': sorted(int(fd) for fd in os.listdir('/proc/self/fd')),\n"
        "    'environ': dict(os.environ),\n"
        "    'initial': open('/proc/self/environ').read(),\n"
        "}))\n"
    )
    done = run(source, pool=pool)
    seen = json.loads(done.stdout)
    fields = dict(entry.split(":\t", 1) for entry in seen["status"].splitlines())
    # The numbers of /proc are the cell's, those of getpid() the job's: the job sees itself only.
    assert seen["pids"] == [seen["self"]]
    assert fields["Pid"] == seen["self"]
    assert fields["NSpid"].split()[-1] == str(seen["pid"])
    assert seen["maps"] > 1000
    assert seen["fds"] == [0, 1, 2, 3], "the three streams, and 3 is the listing itself"
    assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 0
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"
    assert fields["Threads"] == "1"
    assert set(fields["Uid"].split()) == {fields["Uid"].split()[0]}
    assert seen["environ"] == ENVIRONMENT | {"PWD": "/box/work"} or seen["environ"] == ENVIRONMENT
    for text in (seen["initial"], seen["cmdline"], str(seen["environ"])):
        assert "PYTEST_CURRENT_TEST" not in text, "nothing of the host's environment"


def test_a_program_can_start_itself_and_others(pool: Pool) -> None:
    source = (
        "import subprocess, sys\n"
        "out = subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True)\n"
        "print(out.stdout.decode().strip(), out.returncode)\n"
        "print(subprocess.run(['sh', '-c', 'echo hi; exit 3'], capture_output=True))\n"
    )
    done = run(source, pool=pool)
    assert done.stdout.splitlines()[0] == b"42 0", done.stderr
    assert b"returncode=3, stdout=b'hi\\n'" in done.stdout


def test_tracebacks_show_the_program_and_nothing_of_ours(pool: Pool) -> None:
    source = (
        "def inner():\n"
        "    try:\n"
        "        {}['missing']\n"
        "    except KeyError as error:\n"
        "        raise ValueError('grüße') from error\n"
        "inner()\n"
    )
    done = run(source, pool=pool)
    without_marks = re.sub(r"(?m)^ *[~^]+\n", "", done.stderr.decode())  # as each Python has them
    assert without_marks == (
        "Traceback (most recent call last):\n"
        '  File "solution.py", line 3, in inner\n'
        "    {}['missing']\n"
        "KeyError: 'missing'\n"
        "\nThe above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        '  File "solution.py", line 6, in <module>\n'
        "    inner()\n"
        '  File "solution.py", line 5, in inner\n'
        "    raise ValueError('grüße') from error\n"
        "ValueError: grüße\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "1 +",
        "raise Exception",
        "import threading\nthreading.Thread(target=lambda: 1 / 0).start()",
        "import atexit\natexit.register(lambda: 1 / 0)",
        "class A:\n    def __del__(self): 1 / 0\na = A()\ndel a",
        "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E",
        "class A:\n    def __str__(self): raise RuntimeError\nimport sys; sys.exit(A())",
        "import sys\nsys.stdout = 5",
        "import sys\ndel sys.stdout, sys.stderr",
        "import sys\nsys.excepthook = 5\n1 / 0",
        "import sys\ndel sys.modules['traceback'], sys.modules['linecache']\n1 / 0",
        "import sys\nsys.modules.clear()\n1 / 0",
        "raise BaseExceptionGroup('g', [KeyboardInterrupt(), ValueError()])",
        "exec(compile('1 / 0', 'other.py', 'exec'))",
        "def f(): f()\nf()",
    ],
)
def test_no_message_mentions_us(source: str, pool: Pool) -> None:
    done = run(source, pool=pool)
    assert b"proctor" not in done.stderr + done.stdout, done.stderr.decode()
    assert done.limit is None


def test_each_run_has_its_own_luck(cell_pool: Pool) -> None:
    numbers = {run("import random; print(random.random())", pool=cell_pool).stdout for _ in "abc"}
    assert len(numbers) == 3


def test_hash_order_is_the_same_everywhere(pool: Pool, cell_pool: Pool) -> None:
    source = "print(set('abcdefghij'), hash('x'))"
    outputs = {run(source, pool=chosen).stdout for chosen in (pool, pool, cell_pool)}
    assert len(outputs) == 1


STATE = (
    "import builtins, decimal, json, os, random, sys, threading\n"
    "left = [hasattr(builtins, 'left'), hasattr(json, 'left'), 'left' in os.environ,\n"
    "        'left' in sys.modules, sys.getrecursionlimit() == 77777, len(sys.argv) != 1,\n"
    "        decimal.getcontext().prec == 5, os.umask(0o22) == 0o77, '/left' in sys.path]\n"
    "print(any(left), left)\n"
    "builtins.left = json.left = 1\n"
    "os.environ['left'] = '1'\n"
    "sys.modules['left'] = json\n"
    "sys.setrecursionlimit(77777)\n"
    "sys.argv.append('left')\n"
    "decimal.getcontext().prec = 5\n"
    "os.umask(0o77)\n"
    "sys.path.append('/left')\n"
)


def test_no_state_passes_from_job_to_job(cell_pool: Pool) -> None:
    for _ in range(3):
        assert run(STATE, pool=cell_pool).stdout.startswith(b"False ")


def test_processes_left_behind_are_gone_before_the_next_job(cell_pool: Pool) -> None:
    daemon = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        for n in range(3, 50):\n"
        "            pass\n"
        "        time.sleep(1000)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print('parent done')\n"
    )
    done = run(daemon, pool=cell_pool)
    assert (done.stdout, done.exit_code) == (b"parent done\n", 0)
    cell = cell_pool._live[0]
    assert cell.job_pids() == []


def test_peak_memory_is_that_of_the_program(pool: Pool) -> None:
    def peak(source: str) -> int:
        done = run(source, limits=Limits(memory=500 * MIB), pool=pool)
        assert done.ok, done
        return done.memory

    touched = "data = bytearray(%d)\nfor at in range(0, len(data), 4096): data[at] = 1"
    small = peak("print(1)")
    assert 0 < small < 30 * MIB
    assert 80 * MIB <= peak(touched % (80 * MIB)) <= 80 * MIB + 30 * MIB
    freed = touched % (80 * MIB) + "\ndel data"
    assert peak(freed) >= 80 * MIB, "what was given back was still used"
    assert peak("print(1)") < 30 * MIB, "and it is not the next program's"
    tree = f"import os\nfor _ in range(3):\n    if os.fork() == 0:\n        exec({touched % (30 * MIB)!r}); os._exit(0)\nfor _ in range(3): os.wait()"
    assert 30 * MIB <= peak(tree) <= 120 * MIB


def cpu_of(done: Execution) -> float:
    assert done.ok, done
    return done.cpu


BURN = "import time\nwhile time.process_time() - begun < 0.3: pass\n"


def test_cpu_time_is_that_of_all_processes(pool: Pool) -> None:
    assert cpu_of(run("print(1)", pool=pool)) < 0.25
    burn = "import time\nbegun = time.process_time()\n" + BURN
    assert 0.3 <= cpu_of(run(burn, pool=pool)) < 2
    waited = (
        "import os, time\nbegun = 0\n"
        "for _ in range(2):\n    if os.fork() == 0:\n        begun = time.process_time()\n"
        "        while time.process_time() - begun < 0.3: pass\n        os._exit(0)\n"
        "for _ in range(2): os.wait()\n"
    )
    assert 0.6 <= cpu_of(run(waited, pool=pool)) < 4


@pytest.mark.cgroup
def test_cpu_time_of_orphans_counts(pool: Pool) -> None:
    """A grandchild whose parent is gone shows in no rusage; without a group, looks may miss its end."""
    orphan = (
        "import os, time\n"
        "r, w = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    if os.fork() == 0:\n"
        "        begun = time.process_time()\n"
        "        while time.process_time() - begun < 0.4: pass\n"
        "        os.write(w, b'x')\n"
        "    os._exit(0)\n"
        "os.wait(); os.read(r, 1)\n"
    )
    # What it used since the kernel's last tick need not be in its group's account yet.
    assert cpu_of(run(orphan, pool=pool)) > 0.35


def test_wall_time_contains_sleep_and_cpu_time_does_not(pool: Pool) -> None:
    done = run("import time; time.sleep(0.4)", pool=pool)
    assert done.wall >= 0.4
    assert done.cpu < done.wall - 0.35


def test_official_mode_changes_nothing_for_the_jobs_after_it(cell_pool: Pool) -> None:
    """Its programs live in a process dressed up as lcb_runner's; theirs only."""
    source = (
        "import builtins, faulthandler, os, shutil, subprocess, sys, threading\n"
        "print(os.kill, os.fork, os.getcwd(), shutil.rmtree, subprocess.Popen, builtins.quit,\n"
        "      sys.getrecursionlimit(), sys.modules.get('resource', 0), sys.modules.get('psutil', 0),\n"
        "      faulthandler.is_enabled(), sorted(vars(builtins)), sys.argv, sys.path,\n"
        "      [name for name in sorted(sys.modules) if sys.modules[name] is None],\n"
        "      threading.active_count(), sys.stdin.encoding, type(sys.stdout), sep='\\n')\n"
    )
    before = run(source, pool=cell_pool)
    problem = Problem("p", (Test("1\n", "1\n"),))
    cell = cell_pool._live[0]
    for program in ("print(input())", "import os; os._exit(1)", "def f(:", "while True: pass"):
        settings = JudgeSettings("official", Limits(cpu=0.2))
        judge(problem, program, settings=settings, pool=cell_pool)
    after = run(source, pool=cell_pool)
    assert cell_pool._live[0] is cell
    assert before.ok, before
    strip = re.compile(rb" at 0x[0-9a-f]+")
    assert strip.sub(b"", after.stdout) == strip.sub(b"", before.stdout)
