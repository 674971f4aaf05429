"""Notebooks: what lasts from cell to cell, what cells tell, and what hostile ones cannot do."""

import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from proctor import LimitHit, Limits, Session, SessionEnded, open_session
from proctor.sandbox.notebook import CellResult, Notebook
from waiting import until

MIB = 1 << 20
LIMITS = Limits(cpu=5.0, memory=256 * MIB, processes=16, disk=8 * MIB, output=1 * MIB)

SEND_ALL = """
import os, socket
lines = []
for number in range(256):
    try:
        lines.append(socket.socket(fileno=number))
    except OSError:
        pass
assert lines
"""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session(limits=LIMITS) as opened:
        yield opened


@pytest.fixture
def notebook(session: Session) -> Iterator[Notebook]:
    opened = session.notebook()
    yield opened
    opened.close()


def fine(result: CellResult) -> CellResult:
    assert result.ok, result
    return result


def test_state_and_output(notebook: Notebook) -> None:
    first = fine(
        notebook.run_cell("import sys\nx = [1]\nprint('out')\nprint('err', file=sys.stderr)")
    )
    assert (first.stdout, first.stderr, first.result, first.fresh) == (
        b"out\n",
        b"err\n",
        None,
        True,
    )
    second = fine(notebook.run_cell("x.append(2)\nx"))
    assert (second.stdout, second.stderr, second.result) == (b"", b"", "[1, 2]")
    assert not second.fresh
    assert fine(notebook.run_cell("len(_);")).result is None
    assert fine(notebook.run_cell("")).result is None
    assert (
        fine(notebook.run_cell("import os; os.system('echo from a child')\nNone")).stdout
        == b"from a child\n"
    )
    assert fine(notebook.run_cell("import __main__; __main__.x is x")).result == "True"
    assert fine(notebook.run_cell("async def f(): return 5\nawait f()")).result == "5"


def test_stdin_is_at_its_end(notebook: Notebook) -> None:
    error = notebook.run_cell("input()").error
    assert error is not None
    assert error.name == "EOFError"


def test_two_notebooks_share_files_only(session: Session, notebook: Notebook) -> None:
    other = session.notebook()
    fine(notebook.run_cell("x = 1; open('shared', 'w').write('y')"))
    result = other.run_cell("print(open('shared').read(), flush=True)\nx")
    assert result.stdout == b"y\n"
    assert result.error is not None
    assert result.error.name == "NameError"
    other.close()
    assert fine(notebook.run_cell("x")).result == "1"


def test_an_error_has_its_lines_and_ends_nothing(notebook: Notebook) -> None:
    fine(notebook.run_cell("def f():\n    return 1 / 0"))
    result = notebook.run_cell("kept = 1\nf()\nkept = 2")
    assert not result.ok
    assert result.error is not None
    assert (result.error.name, result.error.value) == ("ZeroDivisionError", "division by zero")
    shown = "".join(result.error.traceback)
    assert 'File "<cell 2>", line 2, in <module>\n    f()' in shown
    assert "return 1 / 0" in shown
    assert "notebook_job" not in shown
    assert "solution.py" not in shown
    assert fine(notebook.run_cell("kept")).result == "1"


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("def f(:", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def f(): f()\nf()", "RecursionError"),
        ("class E(Exception):\n  def __str__(self): raise self\nraise E", "E"),
        ("class V:\n  def __repr__(self): return 1 / 0\nV()", "ZeroDivisionError"),
        ("raise ValueError('\\ud800' * 3)", "ValueError"),
        ("raise ValueError('x' * 3_000_000)", "ValueError"),
        ("for _ in range(8): display({'a/b': '\u1234' * 1_000_000}, raw=True)", "AnswerTooLong"),
        ("while True: display({'a/b': 'x' * 1_000_000}, raw=True)", "ValueError"),
        ("'(' * 99999 and (" + "(" * 5000 + "1" + ")" * 5000 + ")", "SyntaxError"),
    ],
)  # fmt: skip
def test_errors_of_all_sorts(notebook: Notebook, cell: str, name: str) -> None:
    fine(notebook.run_cell("kept = 1"))
    result = notebook.run_cell(cell)
    assert result.error is not None, result
    assert result.error.name in {name, "MemoryError"}
    assert fine(notebook.run_cell("kept")).result == "1"


def test_displays(notebook: Notebook) -> None:
    result = fine(
        notebook.run_cell("""
class Rich:
    def __repr__(self): return "rich"
    def _repr_html_(self): return "<b>"
    def _repr_png_(self): return b"\\x89PNG"
display(3)
display({"application/json": "[1]"}, raw=True)
Rich()""")
    )
    assert result.result == "rich"
    assert [dict(shown) for shown in result.displays] == [
        {"text/plain": "3"},
        {"application/json": "[1]", "text/plain": ""},
        {"text/plain": "rich", "text/html": "<b>", "image/png": "iVBORw=="},
    ]


def test_an_overrun_is_interrupted_and_state_lasts(notebook: Notebook) -> None:
    result = notebook.run_cell("x = 7\nprint('begun')\nwhile True: pass", cpu=0.2)
    assert (result.limit, result.ended, result.stdout) == (LimitHit.CPU, None, b"begun\n")
    assert result.error is not None
    assert result.error.name == "KeyboardInterrupt"
    slept = notebook.run_cell("import time\ntime.sleep(1000)", wall=0.2)
    assert (slept.limit, slept.ended) == (LimitHit.WALL, None)
    assert fine(notebook.run_cell("x")).result == "7"


def test_a_child_of_the_cell_is_interrupted_too(notebook: Notebook) -> None:
    result = notebook.run_cell("import subprocess\nsubprocess.run(['sleep', '1000'])", wall=0.5)
    assert (result.limit, result.ended) == (LimitHit.WALL, None)


@pytest.mark.slow
def test_what_heeds_no_interrupt_is_killed(notebook: Notebook) -> None:
    fine(notebook.run_cell("x = 7"))
    stubborn = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    result = notebook.run_cell("print('begun', flush=True)\n" + stubborn, cpu=0.2)
    assert (result.limit, result.stdout) == (LimitHit.CPU, b"begun\n")
    assert result.ended is not None
    assert result.ended.signal == 9
    after = notebook.run_cell("x")
    assert after.fresh
    assert after.error is not None
    assert after.error.name == "NameError"


def test_a_flood_of_output_is_cut(notebook: Notebook) -> None:
    result = notebook.run_cell("kept = 1\nfor _ in range(64): print('x' * 1_000_000)")
    assert result.limit is LimitHit.OUTPUT
    assert len(result.stdout) == LIMITS.output
    after = fine(notebook.run_cell("print('on')\nkept"))
    assert (after.stdout, after.result) == (b"on\n", "1")


@pytest.mark.parametrize(
    ("cell", "code", "signal"),
    [
        ("import os; os._exit(3)", 3, None),
        ("import os; os.kill(os.getpid(), 9)", None, 9),
        ("import os; os.closerange(0, 256)", 1, None),
    ],
)
def test_the_end_of_the_interpreter(
    notebook: Notebook, cell: str, code: int | None, signal: int | None
) -> None:
    result = notebook.run_cell("print('last words', flush=True)\n" + cell)
    assert result.ended is not None
    assert (result.ended.exit_code, result.ended.signal) == (code, signal)
    assert (result.stdout, result.limit) == (b"last words\n", None)
    assert fine(notebook.run_cell("1")).fresh


def test_memory_ends_the_notebook_or_is_an_error(notebook: Notebook) -> None:
    result = notebook.run_cell(
        "kept = [bytes(1 << 20) for _ in range(2000)]\nkept = [bytearray(b'x' * (1 << 20)) for _ in range(2000)]"
    )
    assert not result.ok
    assert result.ended is None or result.limit is LimitHit.MEMORY


def test_a_child_that_a_cell_forked_does_not_answer(notebook: Notebook) -> None:
    result = fine(notebook.run_cell("import os\nx = os.fork()\n'child' if x == 0 else 'parent'"))
    assert result.result == "'parent'"
    assert fine(notebook.run_cell("os.waitpid(x, 0)[1]")).result == "0"


def test_survivors_of_an_interpreter_are_not_heard(notebook: Notebook) -> None:
    ended = notebook.run_cell(
        SEND_ALL
        + """
if os.fork() == 0:
    os.setsid()
    os.close(1)
    while True:
        for line in lines:
            try:
                line.send(line.recv(64))
            except OSError:
                os._exit(0)
os._exit(0)"""
    )
    assert ended.ended is not None
    for number in range(3):
        assert fine(notebook.run_cell(f"{number} + 1")).result == str(number + 1)


@pytest.mark.parametrize("message", ["b''", "b'x' * 16", "b'x' * 60000"])
def test_forged_messages_are_not_answers(notebook: Notebook, message: str) -> None:
    forge = f"""
for line in lines:
    for _ in range(300):
        try:
            line.send({message}, socket.MSG_DONTWAIT)
        except OSError:
            break
    line.detach()
x = 5"""
    fine(notebook.run_cell(SEND_ALL + forge))
    assert fine(notebook.run_cell("x")).result == "5"


@pytest.mark.parametrize(
    "content",
    ["b''", "b'[' * 100000", "b'{}'", "b'\\xff'", 'b\'{"result": 1, "error": null, "shown": []}\''],
)
def test_a_forged_answer_ends_its_own_notebook_at_worst(notebook: Notebook, content: str) -> None:
    forge = f"""
import os, sys
frame = sys._getframe()
while "token" not in frame.f_locals:
    frame = frame.f_back
os.write(frame.f_locals["answer_fd"], {content})
frame.f_locals["host"].send(frame.f_locals["token"])
while True: pass"""
    result = notebook.run_cell(forge)
    assert result.ended is not None
    assert (result.result, result.error) == (None, None)
    assert fine(notebook.run_cell("1")).fresh


def test_one_that_no_longer_listens_is_given_up(notebook: Notebook) -> None:
    forge = """
import os, sys
frame = sys._getframe()
while "token" not in frame.f_locals:
    frame = frame.f_back
os.write(frame.f_locals["answer_fd"], b'{"result": null, "error": null, "shown": []}')
frame.f_locals["host"].send(frame.f_locals["token"])
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True: pass"""
    fine(notebook.run_cell(forge))
    result = notebook.run_cell("1", cpu=0.2)
    assert result.limit is LimitHit.CPU
    assert result.ended is not None


def test_one_that_hangs_up_and_goes_on_is_given_up(notebook: Notebook) -> None:
    result = notebook.run_cell("import os; os.closerange(3, 256)\nwhile True: pass", cpu=0.2)
    assert result.limit is LimitHit.CPU
    assert result.ended is not None
    assert fine(notebook.run_cell("1")).fresh


def test_a_notebook_ends_with_its_session() -> None:
    with open_session(limits=LIMITS) as session:
        notebook = session.notebook()
        fine(notebook.run_cell("1"))
    with pytest.raises(SessionEnded):
        notebook.run_cell("1")


def test_a_session_does_other_things_while_a_cell_runs(
    session: Session, notebook: Notebook
) -> None:
    """The cell ends only once another program, and another notebook, have run."""
    other = session.notebook()
    session.command(["mkfifo", "first", "second"])
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(notebook.run_cell, "open('first').read() + open('second').read()")
        assert session.run("open('first', 'w').write('from a program, ')").ok
        fine(other.run_cell("open('second', 'w').write('from a notebook')"))
        assert fine(waiting.result()).result == "'from a program, from a notebook'"
    other.close()


def test_a_session_may_be_closed_while_a_cell_runs() -> None:
    with open_session(limits=LIMITS) as session:
        notebook = session.notebook()
        fine(notebook.run_cell("import time, os; os.mkfifo('never')"))
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(notebook.run_cell, "open('begun', 'w').close()\nopen('never')")
            until(lambda: "begun" in session.files())
            session.close()
            with pytest.raises(SessionEnded):
                waiting.result()


def test_what_matplotlib_has_drawn_is_shown_once() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="figures need matplotlib")
    packages = (str(Path(matplotlib.__file__).parents[1]),)
    with open_session(limits=LIMITS, packages=packages) as opened:
        drawing = opened.notebook()
        drawing.run_cell("import matplotlib.pyplot as plt")
        shown = drawing.run_cell("plt.plot([1, 2])\nplt.show()").displays
        left = drawing.run_cell("plt.plot([2, 1])\nNone").displays
        none = drawing.run_cell("plt.figure()\nNone").displays
    for displays in (shown, left):
        (one,) = displays
        assert base64.b64decode(one["image/png"]).startswith(b"\x89PNG")
        assert one["text/plain"].startswith("<Figure")
    assert none == ()
