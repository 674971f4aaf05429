"""Nothing that a program, a compiler or a file says is obeyed by a terminal, or taken for markup."""

import errno
import json
import os
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, environment, proctor

from waiting import PATIENCE

MARKUP = "\\[/nope] [/nope] [red]x"
RUDE = f"{MARKUP} \x1b]52;c;aGk=\x07\x9b2J\u202e"
SAYS = f"import sys\nsys.stderr.write({RUDE!a})\nsys.exit(3)"
COMPLAINT = f'#error "{RUDE}"\nint main() {{}}\n'
OBEYED = ("\x1b", "\x07", "\x9b", "\u202e")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A package whose test has a name like markup, and programs."""
    (tmp_path / "1.in").write_text("3 4\n")
    (tmp_path / "1.ans").write_text("7\n")
    name = json.dumps(MARKUP)
    test = f'{{name = {name}, input = "1.in", answer = "1.ans"}}'
    (tmp_path / "problem.toml").write_text(f'id = "sum"\ntest = [{test}]\n')
    (tmp_path / "says.py").write_text(SAYS)
    (tmp_path / "complaint.cpp").write_text(COMPLAINT)
    return tmp_path


def at_terminal(*arguments: str | Path) -> str:
    """Return what the command writes to a terminal."""
    ours, its = os.openpty()
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=its, stderr=its,
        env=environment(TERM="xterm"),
    )  # fmt: skip
    os.close(its)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError as error:
        if error.errno != errno.EIO:  # which says that the other end is closed
            raise
    finally:
        os.close(ours)
        process.wait(PATIENCE)
    return shown.decode()


def test_what_a_program_says_is_no_markup_and_is_not_obeyed(place: Path) -> None:
    """`\\[/nope]` on stderr ended `proctor judge` with a traceback of rich's."""
    done = proctor("judge", place, place / "says.py")
    shown = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown.count(f"{MARKUP} \ufffd]52;c;aGk=\ufffd") == 2
    assert shown.count(MARKUP) == 4  # name and message
    assert not any(each in shown for each in OBEYED)


@pytest.mark.slow
def test_what_a_compiler_says_is_not_obeyed(place: Path) -> None:
    judged = proctor("judge", place, place / "complaint.cpp")
    run = proctor("run", place / "complaint.cpp")
    assert (judged.returncode, run.returncode) == (0, 1)
    for shown in (judged.stdout.decode(), run.stderr.decode()):
        assert "[/nope] [red]x \ufffd]52;c;aGk=\ufffd\ufffd2J\ufffd" in shown
        assert not any(each in shown for each in OBEYED)


def test_run_passes_bytes_through_to_pipes_and_text_to_terminals(place: Path) -> None:
    data = RUDE.encode() + b"\xff\x00\r\n"
    program = place / "bytes.py"
    program.write_text(f"import os\nos.write(1, {data!r})\nos.write(2, {data!r})\n")
    piped = proctor("run", program)
    assert (piped.stdout, piped.stderr) == (data, data)
    shown = at_terminal("run", program)
    assert shown.count("[red]x \ufffd]52;c;aGk=\ufffd\ufffd2J\ufffd") == 2
    assert not any(each in shown for each in OBEYED)


def test_json_is_what_it_was_and_holds_nothing_that_is_obeyed(place: Path) -> None:
    done = proctor("judge", place, place / "says.py", "--json")
    shown = done.stdout.decode()
    assert RUDE in json.loads(shown)["tests"][0]["message"]
    assert not any(each in shown for each in OBEYED)


def test_what_the_report_is_made_of_is_not_obeyed(place: Path) -> None:
    records = place / "re\u202ecords.jsonl"
    shown = proctor("report", records, "-o", place / "page.html").stderr.decode()
    assert "re\ufffdcords.jsonl" in shown


def test_a_usage_error_is_not_obeyed() -> None:
    """It repeats names, which a shell's `*` may have brought."""
    done = proctor("timetable", "skeleton", "\x1b]0;title\x07")
    assert done.returncode == 2
    assert b"unexpected extra argument" in done.stderr
    assert b"\x1b]" not in done.stderr
