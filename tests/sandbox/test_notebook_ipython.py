"""IPython's additions to Python in cells, and how a notebook shows values and errors."""

from collections.abc import Iterator

import pytest

from proctor import Limits, Session, open_session
from proctor.sandbox.notebook import CellResult, Notebook

LIMITS = Limits(cpu=5.0, memory=256 << 20, processes=16, disk=8 << 20, output=1 << 20)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with open_session(limits=LIMITS) as opened:
        yield opened


@pytest.fixture(scope="module")
def notebook(session: Session) -> Iterator[Notebook]:
    opened = session.notebook()
    yield opened
    opened.close()


def shown(result: CellResult) -> str:
    """Return all that a cell shows, in one text."""
    assert result.error is None, result
    return result.stdout.decode() + result.stderr.decode() + (result.result or "")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("\n    a = 1\n    a\n    ", "1"),
        (">>> a = 2\n>>> for n in range(a):\n...     print(n)\n", "0\n1\n"),
        ("In [7]: a = 3\nIn [8]: a", "3"),
        ("!echo to a shell", "to a shell\n"),
        ("n = 6\nfound = !echo $n {n + 1} $$((1 + 1))\nfound", "['6 7 2']"),
        ("!exit 3\n_exit_code", "3"),
        ("for n in range(2):\n    !echo \\\n  $n\nprint('!no', '%no')", "0\n1\n!no %no\n"),
        ("text = '''\n!echo no\n%pwd\n'''\n%env ONE=1\nlen(text)", "env: ONE=1\n15"),
        ("x = (7\n%4)\nx", "3"),
        ("%%bash\necho hi\necho error >&2", "hi\nerror\n"),
        ("%%python\nprint(__name__)", "__main__\n"),
        ("%%writefile a.txt\nline\n", "Writing a.txt\n"),
        ("%cat a.txt", "line\n"),
        ("%%capture out\nprint(5)\n6", ""),
        ("out.stdout", "'5\\n6\\n'"),
        ("%cd /\nplace = %pwd\nplace", "/\n'/'"),
        ("pwd", "'/'"),
        ("pip install x\n", "pip: nothing can be installed here, where there is no network: a cell"
         " imports the standard library and the packages that its server offers\n"),
        ("%precision 2\n[0.125, 3]", "[0.12, 3]"),
        ("%precision %r\n0.125", "0.125"),
        ("def f(a, b=1):\n    'does it'\nf?", "Signature: f(a, b=1)\nDocstring: does it\n"
         "Type:      function\n"),
        ("?nothing.here", "Object `nothing.here` not found.\n"),
        ("exit", ""),
        ("quit()", ""),
        ("%load_ext autoreload\n%autoreload 2", ""),
        ("get_ipython().run_cell('40 + 2')\nNone", ""),
    ],
)  # fmt: skip
def test_what_is_no_python(notebook: Notebook, cell: str, expected: str) -> None:
    assert shown(notebook.run_cell(cell)) == expected


def test_magics_that_measure(notebook: Notebook) -> None:
    timed = notebook.run_cell("%%time\nx = {1: 2}\nx")
    assert timed.result == "{1: 2}"
    assert timed.stdout.startswith(b"CPU times: user ")
    assert b"\nWall time: " in timed.stdout
    assert notebook.run_cell("%time {1, 2}").result == "{1, 2}"
    assert b" per loop (mean +- std. dev. of 2 runs, 3 loops each)\n" in (
        notebook.run_cell("%timeit -n3 -r2 x[1]").stdout
    )


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%nothing", "Line magic function `%nothing` not found."),
        ("%%nothing\nx", "Cell magic `%%nothing` not found."),
        ("%%script /no/such\nx", "/no/such cannot be executed in this cell: No such file or directory"),
    ],
)  # fmt: skip
def test_magics_that_cannot_be(notebook: Notebook, cell: str, said: str) -> None:
    result = notebook.run_cell(cell)
    assert result.error is not None
    assert (result.error.name, result.error.plain) == ("UsageError", "")
    assert result.stderr.decode() == f"UsageError: {said}\n"


def test_a_script_that_fails_is_an_error(notebook: Notebook) -> None:
    error = notebook.run_cell("%%bash\nexit 3").error
    assert error is not None
    assert error.name == "CalledProcessError"


def test_earlier_values_and_cells_have_names(session: Session) -> None:
    notebook = session.notebook()
    for cell in ("2", "x = 3", "_ + x"):
        shown(notebook.run_cell(cell))
    assert notebook.run_cell("_, __, Out, _1, In[3]").result == "(5, 2, {1: 2, 3: 5}, 2, '_ + x')"
    shown(notebook.run_cell("_ = 'mine'\n7"))
    assert notebook.run_cell("_").result == "'mine'"
    shown(notebook.run_cell("%reset -f"))
    assert notebook.run_cell("'x' in globals(), 'In' in globals()").result == "(False, True)"
    notebook.close()


def test_displays_know_their_place(notebook: Notebook) -> None:
    result = notebook.run_cell("print('é')\ndisplay(1)\nprint('b')\ndisplay(2)")
    assert (result.stdout, result.shown_at) == ("é\nb\n".encode(), (3, 5))


@pytest.mark.parametrize(
    ("cell", "plain", "brief"),
    [
        ("1 / 0", "Traceback (most recent call last):\n    1 / 0\n", "ZeroDivisionError: division by zero\n"),
        ("def f(a):\n    return a['k']\n\nf({})",
         "Traceback (most recent call last):\n    f({})\n    return a['k']\n", "KeyError: 'k'\n"),
        ("a = 2\n b = 3", "", "    b = 3\n    ^\nIndentationError: unexpected indent\n"),
        ("def f(:\n  pass", "", "    def f(:\n          ^\nSyntaxError: invalid syntax\n"),
        ("raise ValueError", "Traceback (most recent call last):\n    raise ValueError\n", "ValueError\n"),
        ("import sys; sys.exit(3)",
         "An exception has occurred, use %tb to see the full traceback.\n", "SystemExit: 3\n"),
        ("e = ValueError('v')\ne.add_note('note')\nraise e",
         "Traceback (most recent call last):\n    raise e\n", "ValueError: v\nnote\n"),
        ("exec('1/0')", "Traceback (most recent call last):\n    exec('1/0')\n  File <string>:1\n",
         "ZeroDivisionError: division by zero\n"),
        ("try:\n    1 / 0\nexcept ArithmeticError as e:\n    raise ValueError('bad') from e",
         "Traceback (most recent call last):\n    1 / 0\nZeroDivisionError: division by zero\n\n"
         "The above exception was the direct cause of the following exception:\n"
         "Traceback (most recent call last):\n    raise ValueError('bad') from e\n", "ValueError: bad\n"),
    ],
)  # fmt: skip
def test_errors_as_a_terminal_shows_them(
    notebook: Notebook, cell: str, plain: str, brief: str
) -> None:
    error = notebook.run_cell(cell).error
    assert error is not None
    assert (error.plain, error.brief) == (plain + brief, brief)
