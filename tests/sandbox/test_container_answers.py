"""Level container without an engine: what it makes of what a container answers."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from children import script

from proctor import Limits, Program
from proctor.cell.wire import Kind
from proctor.errors import CellDied, CellStartFailed, NoIsolation, ProctorError
from proctor.execution import GUARANTEES
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.container import box as container_box
from proctor.sandbox.container import crossing
from proctor.sandbox.container.cell import ContainerCell
from proctor.sandbox.container.engine import ContainerEngine
from proctor.sandbox.container.level import Container
from proctor.sandbox.machine.interpreter import in_image
from waiting import PATIENCE

SETUP = CellSetup(in_image(None))
pytestmark = pytest.mark.usefixtures("nothing_selected")
PLAYER = """
sys.path[:0] = {path!r}
from proctor.sandbox.container import frames
if sys.argv[1] != "run":
    open({log!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
    sys.exit(1)
class In:
    read = staticmethod(lambda n: os.read(0, n))
class Out:
    write = staticmethod(lambda b: os.write(1, b))
def hear():
    return frames.read(In, [1 << 30] * 4)
def say(header, parts=(), **more):
    frames.write(Out, {{**header, "token": token, **more}}, parts)
token = hear().header["token"]
"""
FACTS = {"exit_code": 0, "signal": None, "cpu": 0.0, "wall": 0.0, "memory": 0, "limit": None}
HELD = {name: {"strength": "full", "how": "a wall", "gap": ""} for name in GUARANTEES}
HELLO = {
    "level": "none", "guarantees": HELD, "memory_seen": True, "filter": True,
    "kernel": "Linux version 6", "interfaces": False,
}  # fmt: skip

Open = Callable[[str], ContainerCell]


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    """Open a cell whose container does what a script says after the opening."""
    cells: list[ContainerCell] = []

    def start(body: str, hello: object = HELLO) -> ContainerCell:
        before = PLAYER.format(path=[str(crossing.PACKAGE.parent)], log=str(tmp_path / "log"))
        greeting = f"say({hello!r})\n" if hello is not None else ""
        path = script(tmp_path, "docker", before + greeting + body)
        cells.append(Container(ContainerEngine("docker", str(path))).open_cell(SETUP, 0))
        return cells[-1]

    yield start
    for cell in cells:
        cell.close()


def run(cell: ContainerCell) -> Any:
    return cell.run(Program("pass"), b"in", Limits(output=10))


def test_a_well_behaved_container(opened: Open) -> None:
    cell = opened(
        "f = hear()\nassert f.header['do'] == 'run' and f.parts == (b'pass', b'in'), f\n"
        f"say({FACTS!r}, [b'out', b'err'], spent=False)\nhear()"
    )
    done = run(cell)
    assert (done.stdout, done.stderr, done.isolation) == (b"out", b"err", cell.isolation)
    assert not cell.spent


SENSELESS = {
    "too much output": f"hear(); say({FACTS!r}, [b'x' * 11, b''], spent=False); hear()",
    "too many payloads": f"hear(); say({FACTS!r}, [b'', b'', b''], spent=False); hear()",
    "too few payloads": f"hear(); say({FACTS!r}, [b''], spent=False); hear()",
    "facts that cannot be": f"hear(); say({FACTS!r}, [b'', b''], spent=False, cpu=-1); hear()",
    "no facts": "hear(); say({}, [b'', b''], spent=False); hear()",
    "no spent": f"hear(); say({FACTS!r}, [b'', b'']); hear()",
    "another's token": f"hear(); say({FACTS!r}, [b'', b''], spent=False, token='0' * 32); hear()",
    "no frame": "hear(); os.write(1, b'Traceback (most recent call last)' * 9); hear()",
}


@pytest.mark.parametrize("body", SENSELESS.values(), ids=SENSELESS)
def test_answers_that_make_no_sense_end_the_cell(opened: Open, body: str) -> None:
    cell = opened(body)
    with pytest.raises(CellDied, match="makes no sense"):
        run(cell)
    assert cell.spent


def test_a_container_that_ends_or_gives_up(opened: Open) -> None:
    with pytest.raises(CellDied, match="ended with a job in it: last words"):
        run(opened("hear(); sys.exit('last words')"))
    cell = opened("hear(); say({'fault': 'cell-died', 'message': 'the cell died'}); hear()")
    with pytest.raises(CellDied, match="the cell died"):
        run(cell)
    assert cell.spent
    cell = opened(f"hear(); say({FACTS!r}, [b'', b''], spent=True); hear()")
    assert run(cell).ok
    assert cell.spent


def test_a_silent_container_is_given_up(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.sandbox.container import cell as container_cell

    monkeypatch.setattr(container_box, "WATCH_EVERY", 0.01)
    monkeypatch.setattr(container_cell, "GRACE", 0.0)
    cell = opened("hear(); hear(); hear()")
    with pytest.raises(CellDied, match="silent for too long"):
        cell.run(Program("pass"), b"", Limits(wall=0.1))


def test_kill_wakes_who_waits(opened: Open) -> None:
    cell = opened("hear(); print(hear(), file=sys.stderr)")
    threading.Timer(0.2, cell.kill).start()
    with pytest.raises(CellDied):
        run(cell)


def test_close_removes_by_name_what_its_client_did_not(opened: Open, tmp_path: Path) -> None:
    cell = opened("os.kill(os.getpid(), 9)")
    with pytest.raises(CellDied):
        run(cell)
    cell.close()
    done = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    (removed,) = [words for words in done if words[0] == "rm"]
    assert removed[1] == "--force"
    assert removed[2].startswith(f"proctor-{os.getpid()}-0-")


def test_serving(opened: Open) -> None:
    test = {**FACTS, "raised": None, "harness_failure": None}
    cell = opened(
        "assert hear().header['do'] == 'load'\n"
        "say({'alive': True, 'unloadable': None, 'load_limit': None}, spent=False)\n"
        "f = hear(); assert f.header['do'] == 'test' and f.parts == (b'data',), f\n"
        f"say({test!r}, [b'o', b'e', b'r'], spent=False, alive=False)\n"
        "assert hear().header['do'] == 'unload'\nsay({}, spent=False)\nhear()"
    )
    from proctor.sandbox.machine import memfile

    limits = Limits()
    with cell.serve(Kind.SERVE_FORK, Program("x"), "", limits, ContestClock(limits)) as serving:
        assert serving.alive
        fd = memfile.sealed_reader(b"data")
        try:
            done = serving.test(fd, ContestClock(limits))
        finally:
            os.close(fd)
        assert (done.stdout, done.stderr, done.result) == (b"o", b"e", b"r")
        assert not serving.alive


STARTS = {
    "sys.exit('docker: Error response from daemon: No such image: x')": (NoIsolation, "image build"),
    "sys.stderr.write('odd'); sys.exit(125)": (NoIsolation, "did not start a container: odd"),
    "sys.exit('odd')": (CellStartFailed, "ended while starting: odd"),
    "os.write(1, b'Welcome to my image!' * 9); hear()": (CellStartFailed, "does not speak as"),
    "say({'fault': 'x', 'message': 'the image holds another proctor (0 1)'}); hear()": (
        NoIsolation, "was built from another proctor",
    ),
    "say({'fault': 'x', 'message': 'cannot import m in the cell'})": (
        CellStartFailed, "cannot import m",
    ),
    "say({})": (CellStartFailed, "does not speak as"),
}  # fmt: skip


@pytest.mark.parametrize("body", STARTS)
def test_containers_that_do_not_come_up(opened: Any, body: str) -> None:
    kind, part = STARTS[body]
    with pytest.raises(ProctorError) as caught:
        opened(body, None)
    assert type(caught.value) is kind
    assert part in str(caught.value)


def walls(**more: object) -> Any:
    from proctor.sandbox.container.frames import Fields
    from proctor.sandbox.container.guarantees import isolation

    return isolation(Fields({**HELLO, **more})).guarantees


def test_guarantees_follow_from_what_is_seen_inside() -> None:
    none = {name: {"strength": "none", "how": "level none", "gap": ""} for name in GUARANTEES}
    assert walls()["kernel"].strength == "full"
    weak = walls(guarantees=none)
    assert weak["filesystem"].strength == weak["network"].strength == "full"
    assert weak["kernel"].strength == weak["signals"].strength == "partial"
    assert "seccomp" in weak["kernel"].how
    assert "no seccomp" in walls(guarantees=none, filter=False)["kernel"].gap
    assert walls(interfaces=True)["network"].strength == "none"
    assert "cannot be seen" in walls(memory_seen=False)["memory"].gap
    gvisor = walls(
        guarantees=none, kernel="Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"
    )
    assert gvisor["kernel"].strength == "full"
    assert gvisor["cpu"].strength == "partial"


def test_the_inner_program_runs_in_containers_only() -> None:
    """It kills every process it sees that is not its cell's own."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "proctor.sandbox.container.inner"], capture_output=True, text=True,
        timeout=PATIENCE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 1
    assert "as process 1 of a container only" in done.stderr


def test_a_cell_that_is_killed_as_a_job_begins_has_ten_seconds_and_not_the_jobs(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job sets its own deadline after the kill has set one; the end of input is not heard."""
    monkeypatch.setattr(container_box, "WATCH_EVERY", 0.02)
    monkeypatch.setattr(container_box, "CLOSE_TIMEOUT", 0.1)
    cell = opened("import time; time.sleep(1000)")
    with monkeypatch.context() as deaf:
        deaf.setattr(container_box, "_close", lambda _stream: None)
        cell.kill()
    with pytest.raises(CellDied, match="silent"):
        cell.run(Program("pass"), b"", Limits(cpu=600.0))
