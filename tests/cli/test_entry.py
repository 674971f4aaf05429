"""Every command ends alike: one prefix on stderr, one exit code for each kind of end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, environment, problem, proctor, write_rows

import proctor as package
from waiting import PATIENCE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--frob", "No such option '--frob'. Try 'proctor --help'."),
        ("judg", "No such command 'judg'. Did you mean 'judge', 'rejudge'? Try 'proctor --help'."),
        ("run", "Missing argument 'FILE'. Try 'proctor run --help'."),
        ("run x --cppu 3", "No such option '--cppu'. Did you mean '--cpu'? Try 'proctor run --help'."),
        ("run x --zzz", "No such option '--zzz'. Put the program's own arguments after '--'. Try 'proctor run --help'."),
        ("run x --processes many", "Invalid value for '--processes': 'many' is not a valid integer. Try 'proctor run --help'."),
        ("--json run x", "No such option '--json'. Put options after the command: 'proctor COMMAND --json'."),
        ("eval --dry-run x.toml", "No such option '--dry-run'. Put options after the benchmark: 'proctor eval BENCHMARK --dry-run'."),
        ("eval x.toml --dry-run", "x.toml: cannot be read: No such file or directory"),
        ("eval livecodebench --model x --fail-under 90", "--fail-under: is a share from 0 to 1, not 90; 90% is 0.9"),
        ("eval livecodebench --model x --fail-under=-1", "--fail-under: is a share from 0 to 1, not -1"),
        ("resume runs --fail-under 1.5", "--fail-under: is a share from 0 to 1, not 1.5; 1.5% is 0.015"),
        ("run / --cpu soon --json", "--cpu: 'soon' is not a duration such as 6s or 500ms"),
        ("report [red].jsonl -o a[b].html", "[red].jsonl: cannot be read: No such file or directory"),
        ("run a[b].py", "a[b].py: cannot be read: No such file or directory"),
        ("run [/nope].py", "[/nope].py: cannot be read: No such file or directory"),
        ("judge / x.py", "/"),
        ("serve --token-file nowhere", "nowhere, --token-file: cannot be read: No such file or directory"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_exit_2(arguments: str, said: str) -> None:
    done = proctor(*arguments.split())
    assert (done.returncode, done.stdout) == (2, b""), done
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"proctor: {said}")


@pytest.mark.parametrize("words", [[], ["ioi"], ["image"], ["timetable"], ["eval"]])
def test_a_command_without_its_part_shows_help(words: list[str]) -> None:
    done = proctor(*words)
    assert (done.returncode, done.stderr) == (2, b"")
    assert f"Usage: {' '.join(['proctor', *words])} " in done.stdout.decode()


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str) -> None:
    done = proctor(option)
    assert (done.returncode, done.stdout) == (0, f"{package.__version__}\n".encode())


GOOD = {"question_id": "p", "code": "print(input())"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "programs.jsonl: there is no program in it"),
        (["{"], "programs.jsonl, line 1: broken JSON"),
        ([{"question_id": "q", "code": ""}], "programs.jsonl, line 1, field `question_id`"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_file_without_a_program_shows_no_table(
    rows: list[object], said: str, options: list[str], tmp_path: Path
) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [problem("p", [("1\n", "1\n")])])
    programs = write_rows(tmp_path / "programs.jsonl", rows)
    done = proctor("judge", "--problems", problems, "--programs", programs, *options)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"proctor: {tmp_path}/{said}")


def test_a_file_without_a_problem(tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [])
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD])
    done = proctor("judge", "--problems", problems, "--programs", programs)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"proctor: {problems}: there is no problem in it\n"


def test_a_bad_row_is_said_before_the_table_of_those_above_it(tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [problem("p", [("1\n", "1\n")])])
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD, GOOD, '{"question_id":'])
    done = subprocess.run(
        [COMMAND, "judge", "--problems", problems, "--programs", programs],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=PATIENCE, env=environment(),
    )  # fmt: skip
    first, second, *_ = done.stdout.decode().splitlines()
    assert done.returncode == 2
    assert first.startswith(f"proctor: {programs}, line 3: broken JSON")
    assert second == "2 programs: AC 2"


def test_one_is_not_counted_as_several(tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [problem("p", [("1\n", "1\n")])])
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD])
    done = proctor("judge", "--problems", problems, "--programs", programs)
    assert done.stdout.decode().splitlines()[0] == "1 program: AC 1"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["run", "stress"])
def test_an_interruption_is_said_once(command: str, number: signal.Signals, tmp_path: Path) -> None:
    """The program tells by a line on stderr, or by its generator's being read, that it runs."""
    endless, pipe = tmp_path / "endless.py", tmp_path / "pipe.py"
    endless.write_text("import time\nprint(1, flush=True)\ntime.sleep(10000)")
    os.mkfifo(pipe)
    words = {
        "run": ["run", pipe],
        "stress": ["stress", endless, endless, "--generator", pipe],
    }[command]
    with subprocess.Popen(
        [COMMAND, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        with pipe.open("w") as file:  # opened once the command reads it
            file.write(endless.read_text())
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (130, b"proctor: interrupted\n")


def test_an_ignored_hangup_is_not_heeded(tmp_path: Path) -> None:
    """As nohup has it."""
    program = tmp_path / "program.py"
    program.write_text("print('begun', flush=True)\nprint(input())")
    with subprocess.Popen(
        ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", COMMAND, "run", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGHUP)
        shown, said = process.communicate(b"on\n", timeout=PATIENCE)
    assert (process.returncode, shown, said) == (0, b"on\n", b"")


IN_A_COMMAND = """
import logging, warnings
from proctor.cli import entry
import typer

app = typer.Typer()

@app.callback(invoke_without_command=True)
def command():
    {}

raise SystemExit(entry.run(app, []))
"""


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("logging.getLogger('proctor.x').warning('a %s', 'b')", 0, ["proctor: a b"]),
        ("logging.getLogger('other').info('not told')", 0, []),
        ("warnings.warn('old', FutureWarning)", 0, ["proctor: old"]),
        ("open('/nowhere/x')", 2, ["proctor: /nowhere/x: No such file or directory"]),
        ("raise OSError(28, 'No space left on device')", 125, ["proctor: cannot write: No space left on device"]),
        ("raise KeyboardInterrupt", 130, ["proctor: interrupted"]),
        ("raise typer.Abort", 130, ["proctor: interrupted"]),
        ("raise BrokenPipeError", 141, []),
        ("raise typer.Exit(3)", 3, []),
    ],
)  # fmt: skip
def test_ends_of_commands(source: str, code: int, said: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_COMMAND.format(source)], capture_output=True, text=True,
        timeout=PATIENCE, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.splitlines()) == (code, "", said)


def test_a_mistake_of_our_own_is_125_with_its_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_COMMAND.format("{}['missing']")], capture_output=True,
        text=True, timeout=PATIENCE, env=environment(),
    )  # fmt: skip
    assert done.returncode == 125
    assert "KeyError: 'missing'" in done.stderr
    assert done.stderr.endswith("proctor: this is a mistake of proctor's own: please report it\n")


@pytest.mark.parametrize("words", ["--help", "languages", "languages --json", "run --help"])
def test_a_reader_that_has_left_is_no_complaint(words: str) -> None:
    ours, its = os.pipe()
    os.close(ours)
    with os.fdopen(its, "wb") as closed:
        done = subprocess.run(
            [COMMAND, *words.split()], stdin=subprocess.DEVNULL, stdout=closed,
            stderr=subprocess.PIPE, timeout=PATIENCE, env=environment(),
        )  # fmt: skip
    assert done.stderr == b""
    assert done.returncode in {1, 141}


COMPLETE = """
source <("$1" --show-completion bash)
complete -p proctor
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_proctor_completion "$1"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (["proctor", "jud"], "judge"),
        (["proctor", "run", "--tim"], "--timeout"),
        (["proctor", "ioi", "s"], "score"),
        (["proctor", "eval", "human"], "humaneval humanevalfix"),
        (["proctor", "run", "x"], ""),  # bash then completes names of files
    ],
)
def test_bash_completes(typed: list[str], completed: str) -> None:
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", COMMAND, *typed], capture_output=True, text=True,
        timeout=PATIENCE, env=environment(),
    )  # fmt: skip
    assert done.stderr == ""
    registered, answer = done.stdout.splitlines()
    assert registered == "complete -o default -F _proctor_completion proctor"
    assert answer == completed


def test_completion_can_be_installed(tmp_path: Path) -> None:
    # It looks for a shell among its parents, of which the tests themselves may have none.
    done = subprocess.run(
        ["bash", "-c", '"$0" --install-completion bash; exit $?', COMMAND], capture_output=True,
        timeout=PATIENCE, env=environment(HOME=str(tmp_path)),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    script = tmp_path / ".bash_completions" / "proctor.sh"
    assert str(script) in (tmp_path / ".bashrc").read_text()
    assert "_PROCTOR_COMPLETE=complete_bash" in script.read_text()


@pytest.mark.slow
def test_a_hub_that_is_away_is_one_error(tmp_path: Path) -> None:
    """It was told for each of the four ways to have the problems, and all of them once more."""
    away = {"HF_ENDPOINT": "http://127.0.0.1:1", "PROCTOR_CACHE_DIR": str(tmp_path)}
    words = ["eval", "livecodebench", "--model", "x", "--source", "huggingface", "--dry-run"]
    done = proctor(*words, env=away)
    assert (done.returncode, done.stdout) == (125, b"")
    *again, error = done.stderr.decode().splitlines()
    assert all(each.startswith("proctor: trying again: ") for each in again)
    assert error.startswith("proctor: huggingface:release_v3 cannot be had: ")
    assert error.count("the hub cannot be reached") == 1
    assert error.endswith("; --source FILE needs no hub")
