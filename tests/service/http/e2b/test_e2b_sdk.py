"""E2B's own Python client: sandboxes, cells, files and commands, and whose they are."""

import io
import zipfile
from collections.abc import Iterator

import pytest

import needs
from served import OWNERS, Served, serving_two

pytest.importorskip("e2b_code_interpreter", reason=needs.package("e2b-code-interpreter"))

from e2b import (
    AuthenticationException,
    CommandExitException,
    FileNotFoundException,
    InvalidArgumentException,
    NotFoundException,
    RateLimitException,
    SandboxException,
    TimeoutException,
)
from e2b_code_interpreter import Sandbox
from e2b_code_interpreter.models import OutputMessage

pytestmark = pytest.mark.package("e2b-code-interpreter")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    packages = tmp_path_factory.mktemp("packages")
    packages.chmod(0o755)
    (packages / "answer.py").write_text("value = 42\n")
    with (
        serving_two(
            tmp_path_factory.mktemp("tokens"),
            "--no-access-log",
            "--package-set",
            f"mine={packages}",
        ) as served,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("E2B_API_URL", f"{served.url}/e2b")
        patch.setenv("E2B_SANDBOX_URL", f"{served.url}/e2b")
        patch.setenv("E2B_API_KEY", OWNERS["ann"])
        yield served


@pytest.fixture
def sandbox(server: Served) -> Iterator[Sandbox]:
    made = Sandbox.create(envs={"GREETING": "hi"}, metadata={"for": "a test"})
    yield made
    made.kill()


def test_cells_keep_their_state(sandbox: Sandbox) -> None:
    said: list[str] = []

    def on_stdout(message: OutputMessage) -> None:
        said.append(message.line)

    found = sandbox.run_code("a = 20\nprint('out')\na + 1", on_stdout=on_stdout)
    assert (found.text, found.logs.stdout, said) == ("21", ["out\n"], ["out\n"])
    assert sandbox.run_code("a, __import__('os').environ['GREETING']").text == "(20, 'hi')"
    failed = sandbox.run_code("import sys; print('err', file=sys.stderr); 1 / 0")
    assert failed.error is not None
    assert (failed.error.name, failed.logs.stderr) == ("ZeroDivisionError", ["err\n"])
    assert "1 / 0" in failed.error.traceback
    shown = sandbox.run_code(
        "class Bold:\n    def _repr_html_(self): return '<b>'\ndisplay(Bold())"
    )
    assert [each.html for each in shown.results] == ["<b>"]
    assert sandbox.run_code("echo $((6 * 7))", language="bash").logs.stdout == ["42\n"]
    with pytest.raises(SandboxException, match="cobol"):
        sandbox.run_code("x", language="cobol")


def test_contexts_have_a_state_of_their_own(sandbox: Sandbox) -> None:
    sandbox.run_code("a = 1")
    other = sandbox.create_code_context(cwd="/home/user/there")
    assert (other.language, other.cwd) == ("python", "/home/user/there")
    assert sandbox.run_code("'a' in dir()", context=other).text == "False"
    sandbox.run_code("a = 2; open('x', 'w').close()", context=other)
    assert sandbox.run_code("a").text == "1"
    assert (
        sandbox.run_code("a, __import__('os').environ['GREETING']", context=other).text
        == "(2, 'hi')"
    )
    assert sandbox.files.exists("there/x")
    shell = sandbox.create_code_context(cwd="there", language="bash")
    assert sandbox.run_code("basename $PWD", context=shell).logs.stdout == ["there\n"]
    listed = [each.id for each in sandbox.list_code_contexts()]
    assert listed == ["default", other.id, shell.id]
    sandbox.restart_code_context(other)
    assert sandbox.run_code("a", context=other).error is not None
    assert sandbox.run_code("__import__('os').listdir()", context=other).text == "['x']"
    sandbox.remove_code_context(other)
    with pytest.raises(NotFoundException, match="no context"):
        sandbox.run_code("a", context=other)
    for refused in ({"cwd": "/etc"}, {"language": "cobol"}):
        with pytest.raises(SandboxException, match=r"not below|cobol"):
            sandbox.create_code_context(**refused)
    made = [sandbox.create_code_context(language="bash") for _ in range(15)]
    with pytest.raises(SandboxException, match="no more than 16 contexts"):
        sandbox.create_code_context()
    assert len({each.id for each in made}) == 15


class Seen(Exception):
    """Output has come."""


def test_output_comes_while_a_cell_runs(sandbox: Sandbox) -> None:
    def on_output(message: OutputMessage) -> None:
        raise Seen(message.line)

    sandbox.run_code("a = 1")
    for language in (None, "bash"):
        cell = "import time\nprint('é first')\ntime.sleep(1000)"
        with pytest.raises(Seen, match="é first"):
            sandbox.run_code(
                cell if language is None else "echo é first; sleep 1000",
                language=language,
                on_stdout=on_output,
            )
    assert sandbox.run_code("a").text == "1"  # the cell was interrupted, as its client had gone


@pytest.mark.namespaces
def test_commands_read_what_is_sent(sandbox: Sandbox) -> None:
    handle = sandbox.commands.run("echo first; cat; echo last >&2", background=True, stdin=True)
    said: list[str] = []
    for out, err, _ in handle:
        said += [each for each in (out, err) if each]
        if out == "first\n":
            sandbox.commands.send_stdin(handle.pid, "some")
        if out == "some":
            sandbox.commands.close_stdin(handle.pid)
    assert said == ["first\n", "some", "last\n"]
    with pytest.raises(NotFoundException):
        sandbox.commands.send_stdin(handle.pid, "more")
    deaf = sandbox.commands.run("sleep 1000", background=True)
    with pytest.raises(InvalidArgumentException, match="without stdin"):
        sandbox.commands.send_stdin(deaf.pid, "x")
    assert deaf.kill()
    slow = sandbox.commands.run("sleep 1000", background=True, stdin=True)
    for _ in range(2):
        sandbox.commands.send_stdin(slow.pid, "x" * (1 << 20))
    with pytest.raises(RateLimitException, match="has not read"):
        sandbox.commands.send_stdin(slow.pid, "x")
    assert slow.kill()


def test_files_are_where_programs_look_for_them(sandbox: Sandbox) -> None:
    sandbox.files.write("/home/user/in/a.csv", "a,b\n")
    sandbox.files.write_files([{"path": "b", "data": b"\xff\0"}, {"path": "c/d", "data": "2"}])
    assert sandbox.files.read("b", format="bytes") == b"\xff\0"
    assert sandbox.run_code("open('in/a.csv').read()").text == r"'a,b\n'"
    listed = {
        each.path: each.size
        for each in sandbox.files.list("", depth=3)
        if each.type.value == "file"
    }
    assert listed == {"/home/user/b": 2, "/home/user/c/d": 1, "/home/user/in/a.csv": 4}
    assert sandbox.files.make_dir("new/one")
    assert not sandbox.files.make_dir("new")
    assert sandbox.files.rename("b", "new/b").path == "/home/user/new/b"
    sandbox.files.remove("new/b")
    assert (sandbox.files.exists("new"), sandbox.files.exists("new/b")) == (True, False)
    with pytest.raises(FileNotFoundException):
        sandbox.files.read("nothing")
    for outside in ("/etc/passwd", "../x", "/home/user/../other/x"):
        with pytest.raises(InvalidArgumentException, match="not below /home/user"):
            sandbox.files.read(outside)
        with pytest.raises(InvalidArgumentException, match="not below /home/user"):
            sandbox.files.write(outside, "x")


def test_absolute_paths_in_programs(sandbox: Sandbox) -> None:
    if sandbox.run_code("import os; os.path.exists('/home/user')").text != "True":
        pytest.skip("at level landlock /home/user is the machine's own")
    sandbox.files.write("x", "1")
    assert sandbox.commands.run("cat /home/user/x").stdout == "1"


@pytest.mark.namespaces
@pytest.mark.namespaces
def test_commands_and_cells_share_memory_between_processes(sandbox: Sandbox) -> None:
    source = (
        "import multiprocessing\ndef square(n): return n * n\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.Pool(2) as pool: print(pool.map(square, [1, 2, 3]))\n"
    )
    sandbox.files.write("prog.py", source)
    assert sandbox.commands.run("python3 prog.py").stdout == "[1, 4, 9]\n"
    assert sandbox.run_code(source).logs.stdout == ["[1, 4, 9]\n"]


def test_commands(sandbox: Sandbox) -> None:
    sandbox.files.make_dir("place")
    found = sandbox.commands.run(
        "basename $PWD; echo $GREETING $MORE; echo err >&2",
        cwd="/home/user/place",
        envs={"MORE": "x"},
    )
    assert (found.stdout, found.stderr, found.exit_code) == ("place\nhi x\n", "err\n", 0)
    with pytest.raises(CommandExitException) as failed:
        sandbox.commands.run("exit 3")
    assert failed.value.exit_code == 3
    running = sandbox.commands.run("sleep 1000", background=True)
    assert [each.pid for each in sandbox.commands.list()] == [running.pid]
    assert running.kill()
    assert not sandbox.commands.kill(running.pid)
    with pytest.raises(TimeoutException):
        sandbox.commands.run("sleep 1000", timeout=0.5)
    assert sandbox.commands.run("echo on").stdout == "on\n"


def test_a_template_is_a_package_set(server: Served, sandbox: Sandbox) -> None:
    code = "import answer; answer.value"
    failed = sandbox.run_code(code)
    assert failed.error is not None
    assert failed.error.name == "ModuleNotFoundError"
    with Sandbox.create("mine") as other:
        assert other.run_code(code).text == "42"


def test_wheels_of_pure_python(sandbox: Sandbox) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as wheel:
        wheel.writestr("pure/__init__.py", "value = 7")
    sandbox.files.write("pure-1-py3-none-any.whl", data.getvalue())
    code = "import glob, sys; sys.path[:0] = glob.glob('*.whl'); import pure; pure.value"
    assert sandbox.run_code(code).text == "7"


def test_sandboxes_are_found_again_and_are_their_owners(server: Served, sandbox: Sandbox) -> None:
    sandbox.run_code("a = 1")
    assert Sandbox.connect(sandbox.sandbox_id).run_code("a").text == "1"
    assert sandbox.get_info().metadata == {"for": "a test"}
    assert sandbox.sandbox_id in {each.sandbox_id for each in Sandbox.list().next_items()}
    bob = OWNERS["bob"]
    assert Sandbox.list(api_key=bob).next_items() == []
    with pytest.raises(SandboxException, match="not found"):
        Sandbox.connect(sandbox.sandbox_id, api_key=bob)
    with pytest.raises(AuthenticationException, match="TOKEN"):
        Sandbox.create(api_key="somebody-else-123")
    with pytest.raises(SandboxException, match="no template 'other'"):
        Sandbox.create("other")


def test_one_that_is_over(sandbox: Sandbox) -> None:
    sandbox.set_timeout(60)
    assert sandbox.is_running()
    assert sandbox.kill()
    assert not sandbox.is_running()
    with pytest.raises(TimeoutException):
        sandbox.run_code("1")
    with pytest.raises(SandboxException):
        sandbox.commands.run("true")
