"""`proctor run`: exit codes, streams, the JSON object."""

import base64
import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from command import COMMAND, environment, proctor

from needs import BOTH_LEVELS
from waiting import PATIENCE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


@pytest.mark.slow("while True: pass-options7-124")
@pytest.mark.parametrize(
    ("source", "options", "code"),
    [
        ("print(1)", [], 0),
        ("import sys; sys.exit(7)", [], 7),
        ("import sys; sys.exit(124)", [], 124),
        ("1 / 0", [], 1),
        ("1 +", [], 1),
        ("import os; os.kill(os.getpid(), 9)", [], 137),
        ("import os; os.abort()", [], 134),
        ("while True: pass", ["--cpu", "300ms"], 124),
        ("import time; time.sleep(1000)", ["--timeout", "0.3s"], 124),
        ("import time; time.sleep(1000)", ["--wall", "0.3s"], 124),
        ("x = bytearray(b'x' * (1 << 28))", ["--memory", "64M"], 124),
        ("print('x' * 100000)", ["--output", "1K"], 124),
        ("open('x', 'w').write('y' * 1000)", ["--disk", "64K"], 0),
        ("open('x', 'w')", [], 1),
    ],
)
def test_exit_codes(source: str, options: list[str], code: int, file: Path) -> None:
    file.write_text(source)
    assert proctor("run", file, *options).returncode == code


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.py"], "nowhere.py: cannot be read: No such file or directory"),
        (["/"], "/: cannot be read: Is a directory"),
        (["{file}", "--cpu", "soon"], "proctor: --cpu: 'soon' is not a duration"),
        (["{file}", "--timeout", "soon"], "proctor: --timeout: 'soon' is not a duration"),
        (["{file}", "--cpu", "-1"], "proctor: --cpu: '-1' is not a duration"),
        (["{file}", "--cpu", "0"], "proctor: --cpu: must be more than zero"),
        (["{file}", "--memory", "-5M"], "proctor: --memory: '-5M' is not a size"),
        (["{file}", "--memory", "1X"], "unknown unit in '1X'"),
        (["{file}", "--processes", "0"], "proctor: --processes: must be more than zero"),
        (["{file}", "--processes", "-3"], "proctor: --processes: must not be -3"),
        (["{file}", "--processes", "many"], "Invalid value for '--processes'"),
        (["{file}", "--stdin", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["{file}", "--isolation", "strong"], "isolation level 'strong' is not one of"),
        (
            ["{file}", "--packages", "/nowhere"],
            "proctor: --packages: '/nowhere' is not a directory",
        ),
        (["{file}", "--frobnicate"], "No such option"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage_is_exit_2_and_a_sentence(arguments: list[str], said: str, file: Path) -> None:
    file.write_text("print(1)")
    done = proctor("run", *(argument.format(file=file) for argument in arguments))
    assert done.returncode == 2, done
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


@pytest.mark.user
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--python", "/bin/false"], "/bin/false does not run as a Python interpreter"),
        (["--isolation", "none"], "PROCTOR_ALLOW_UNSAFE=1"),
        (["--preload", "no_such_module"], "cannot import no_such_module in the cell"),
    ],
)
def test_what_this_machine_cannot_do_is_exit_125(options: list[str], said: str, file: Path) -> None:
    file.write_text("print(1)")
    done = proctor("run", file, *options)
    assert done.returncode == 125, done
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_program_that_is_not_text_is_refused(file: Path) -> None:
    file.write_bytes(b"print('\xff')")
    done = proctor("run", file)
    assert done.returncode == 2
    assert f"{file}: not UTF-8 text" in done.stderr.decode()


@pytest.mark.slow
def test_streams_pass_through_byte_by_byte(file: Path, tmp_path: Path) -> None:
    data = bytes(range(256)) * 10
    file.write_text(
        "import sys\ndata = sys.stdin.buffer.read()\nsys.stdout.buffer.write(data)\n"
        "sys.stderr.buffer.write(data[::-1])\n"
    )
    given = tmp_path / "in"
    given.write_bytes(data)
    for done in (proctor("run", file, stdin=data), proctor("run", file, "--stdin", given)):
        assert (done.returncode, done.stdout, done.stderr) == (0, data, data[::-1])


def test_a_program_from_stdin_has_an_empty_stdin() -> None:
    done = proctor("run", "-", stdin=b"import sys; print(repr(sys.stdin.read()))")
    assert (done.returncode, done.stdout) == (0, b"''\n")


def test_without_any_stdin(file: Path) -> None:
    """Cron and some supervisors start programs with descriptor 0 closed."""
    file.write_text("import sys; print(repr(sys.stdin.read()))")
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", COMMAND, "run", str(file)],
        capture_output=True, timeout=PATIENCE, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"''\n", b"")


@pytest.mark.user
def test_a_limit_is_named_on_stderr(file: Path) -> None:
    file.write_text("print('before', flush=True)\nwhile True: pass")
    done = proctor("run", file, "--cpu", "0.3")
    assert done.stdout == b"before\n"
    assert done.stderr.startswith(b"proctor: stopped at the cpu limit (0.3")


@pytest.mark.user
def test_the_process_limit_is_named_on_stderr(file: Path) -> None:
    file.write_text(
        "import threading\nover = threading.Event()\n"
        "for _ in range(30): threading.Thread(target=over.wait, daemon=True).start()\n"
    )
    done = proctor("run", file, "--processes", "8")
    note = b"proctor: process limit: 8 processes and threads at once; --processes allows more\n"
    assert (done.returncode, done.stderr.endswith(note)) == (1, True), done.stderr


@pytest.mark.user
def test_json_is_one_object_with_all_facts(file: Path, level: str) -> None:
    file.write_text("import sys\nprint('grüße'); sys.stderr.write('oh'); sys.exit(3)")
    done = proctor("run", file, "--json")
    assert done.returncode == 3
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1
    facts = json.loads(done.stdout)
    assert set(facts) == {
        "exit_code", "signal", "stdout", "stderr", "cpu", "wall", "memory", "queue", "limit",
        "isolation",
    }  # fmt: skip
    assert (facts["exit_code"], facts["signal"], facts["limit"]) == (3, None, None)
    assert (facts["stdout"], facts["stderr"]) == ("grüße\n", "oh")
    assert 0 < facts["cpu"] < 60
    assert 0 < facts["wall"] < 60
    assert facts["memory"] > 0
    assert facts["queue"] >= 0
    assert facts["isolation"]["level"] == level
    assert facts["isolation"]["guarantees"]["network"]


def test_json_of_a_signal_and_of_a_limit(file: Path) -> None:
    file.write_text("import os; os.kill(os.getpid(), 15)")
    facts = json.loads(proctor("run", file, "--json").stdout)
    assert (facts["exit_code"], facts["signal"], facts["limit"]) == (None, 15, None)
    file.write_text("while True: pass")
    done = proctor("run", file, "--json", "--cpu", "0.2")
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["limit"], done.stderr) == (124, "cpu", b"")
    assert facts["cpu"] > 0.2


def test_json_gives_bytes_that_are_no_text_in_base64(file: Path) -> None:
    file.write_text("import sys; sys.stdout.buffer.write(bytes(range(256)))")
    facts = json.loads(proctor("run", file, "--json").stdout)
    assert base64.b64decode(facts["stdout_base64"]) == bytes(range(256))
    assert "stderr_base64" not in facts


@pytest.mark.user
@pytest.mark.own_python
def test_the_chosen_interpreter_runs_the_program(file: Path) -> None:
    file.write_text("import sys; print(sys.version)")
    system = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print(sys.version)"], capture_output=True
    ).stdout
    done = proctor("run", file, "--python", "/usr/bin/python3")
    assert (done.returncode, done.stdout) == (0, system)
    assert proctor("run", file).stdout != system


@pytest.mark.user
def test_packages_are_given_or_they_are_not_there(file: Path) -> None:
    file.write_text("import numpy; print(numpy.arange(3).tolist())")
    packages = sysconfig.get_path("purelib")
    assert proctor("run", file).returncode == 1
    done = proctor("run", file, "--packages", packages)
    assert (done.returncode, done.stdout) == (0, b"[0, 1, 2]\n")


def test_a_reader_that_leaves_early_ends_the_program_silently(file: Path) -> None:
    file.write_text("while True: print('x' * 1000)")
    done = subprocess.run(
        ["bash", "-c", '"$@" | head -c 1; exit ${PIPESTATUS[0]}', "sh", COMMAND, "run", str(file)],
        capture_output=True, timeout=PATIENCE, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (141, b"x", b"")


def test_output_that_cannot_be_written_is_said(file: Path) -> None:
    file.write_text("print(1)")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, "run", file], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
            timeout=PATIENCE, env=environment(),
        )  # fmt: skip
    said = b"proctor: cannot write: No space left on device\n"
    assert (done.returncode, done.stderr) == (125, said)


@pytest.mark.slow
def test_arguments_reach_the_program(file: Path) -> None:
    file.write_text("import sys; print(sys.argv, __file__)")
    done = proctor("run", file, "--disk", "64K", "--", "--disk", "a b", "-x", "--")
    shown = f"{[str(file), '--disk', 'a b', '-x', '--']} {file}\n"
    assert (done.returncode, done.stdout.decode()) == (0, shown)
    assert proctor("run", file, "1", "2").stdout.decode() == f"{[str(file), '1', '2']} {file}\n"
    of_stdin = proctor("run", "-", "--", "-v", stdin=b"import sys; print(sys.argv)")
    assert of_stdin.stdout == b"['<stdin>', '-v']\n"


@pytest.mark.user
@pytest.mark.compiler
def test_arguments_and_input_reach_a_native_program(tmp_path: Path) -> None:
    source = tmp_path / "echo.cpp"
    source.write_text(
        "#include <cstdio>\nint main(int n, char **words) {\n"
        "    for (int i = 1; i < n; i++) puts(words[i]);\n"
        "    for (int c; (c = getchar()) != EOF;) putchar(c);\n    return 3;\n}\n"
    )
    done = proctor("run", source, "--", "--cpu", "a b", stdin=b"typed")
    assert (done.returncode, done.stdout) == (3, b"--cpu\na b\ntyped")


@pytest.mark.compiler
def test_a_compiler_names_the_users_file(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cpp"
    source.write_text("int main() {\n  retur 0;\n}\n")
    done = proctor("run", source)
    assert done.returncode == 1
    assert b"wrong.cpp:2:" in done.stderr
    assert done.stderr.endswith(b"proctor: the program does not compile\n")


@pytest.mark.parametrize("level", BOTH_LEVELS)
def test_tracebacks_name_the_users_file_and_lines(file: Path, level: str) -> None:
    """At level landlock a program sees that the file is there, and may not read it."""
    file.write_text("def divide(x):\n    return 1 / x\n\n\ndivide(0)\n")
    said = proctor("run", file, "--isolation", level).stderr.decode()
    assert f'File "{file}", line 5, in <module>\n    divide(0)\n' in said
    assert f'File "{file}", line 2, in divide\n    return 1 / x\n' in said
    file.write_text("x = 1\nprint(1\n")
    assert f'File "{file}", line 2\n    print(1\n' in proctor("run", file).stderr.decode()


def test_output_comes_as_it_is_written_and_input_as_it_is_sent(file: Path) -> None:
    """Neither waits for the other's end: each line is the answer to the one before."""
    file.write_text("for i in range(3): print(i, input(), flush=True)")
    with subprocess.Popen(
        [COMMAND, "run", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(b"line %d\n" % number)
            process.stdin.flush()
            assert process.stdout.readline() == b"%d line %d\n" % (number, number)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import numpy", f"--packages {sysconfig.get_path('purelib')}, where numpy is installed"),
        ("import no_such_thing", "`pip install --target packages no_such_thing`"),
        ("import beside", "--packages {place} lets this one import beside"),
    ],
)
def test_a_missing_module_gets_a_hint(source: str, said: str, file: Path) -> None:
    file.write_text(source)
    (file.parent / "beside.py").write_text("x = 1")
    done = proctor("run", file)
    assert done.returncode == 1
    assert said.format(place=file.parent) in done.stderr.decode().splitlines()[-1]


def test_other_failures_get_no_hint(file: Path) -> None:
    file.write_text("try:\n    import numpy\nexcept ImportError:\n    raise SystemExit('no')")
    assert proctor("run", file).stderr == b"no\n"


@pytest.mark.user
@pytest.mark.slow
def test_doctor_finds_this_machine_fit(level: str) -> None:
    done = proctor("doctor", "--json")
    assert done.returncode == 0, done
    assert done.stderr == b""
    report = json.loads(done.stdout)
    assert report["works"] is True
    assert report["level"] == level
    assert report["error"] == ""
    assert {finding["name"] for finding in report["findings"]} >= {"bubblewrap", "seccomp"}
    assert all(set(finding) == {"name", "ok", "found", "remedy"} for finding in report["findings"])
    shown = proctor("doctor")
    assert shown.returncode == 0
    assert f"level {level} is used" in shown.stdout.decode()


@pytest.mark.user
def test_doctor_says_no_where_no_job_can_run() -> None:
    done = proctor("doctor", "--json", env={"PROCTOR_ISOLATION": "none"})
    report = json.loads(done.stdout)
    assert done.returncode != 0
    assert report["works"] is False
    assert "PROCTOR_ALLOW_UNSAFE" in report["error"]


def test_as_a_module(file: Path) -> None:
    file.write_text("print(6 * 7)")
    command = [sys.executable, "-m", "proctor", "run", file]
    assert subprocess.check_output(command, env=environment(), timeout=PATIENCE) == b"42\n"
