"""Ends of pipes that are held for a program, which this process plays itself."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.sandbox.command import Streams
from proctor.sandbox.machine import closings, procfs
from proctor.sandbox.pipe_ends import PipeEnds

pytestmark = pytest.mark.user


def readable(fd: int) -> bytes | None:
    """Return what a pipe holds; b"" at its end, None if more may come."""
    os.set_blocking(fd, False)
    try:
        return os.read(fd, 100)
    except BlockingIOError:
        return None


class Talk:
    """A program's two pipes, with the ends of its partner and those that the program got."""

    def __init__(self, named: bool) -> None:
        self.ending = self.partner_ending = False
        reads, self.to = os.pipe()
        self.come, writes = os.pipe()
        given = {"inherit": (reads, writes)} if named else {"stdin": reads, "stdout": writes}
        self.ends = PipeEnds(
            Streams(**given, keep=True, partner_ending=self.is_partner_ending)  # type: ignore[arg-type]
        )
        self.ends.open()
        got = self.ends.given.descriptors()
        if named:
            flags = (os.O_RDONLY, os.O_WRONLY)
            paths = [f"/proc/self/fd/{fd}" for fd in got]
            self.stdin, self.stdout = map(os.open, paths, flags)
        else:
            self.stdin, self.stdout = map(os.dup, got)
        self.ends.handed_over()

    def is_partner_ending(self) -> bool:
        if self.partner_ending:  # and it goes on to end
            self.partner_ending = False
            os.close(self.come)
            self.come = -1
            return True
        return False

    def follow(self) -> None:
        self.ends.follow(lambda: self.ending)

    def close(self) -> None:
        self.ends.close()
        for fd in {self.to, self.come, self.stdin, self.stdout} - {-1}:
            os.close(fd)


@pytest.fixture(params=[False, True], ids=["streams", "named"])
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    made = Talk(request.param)
    yield made
    made.close()


def test_an_output_that_is_closed_ends(talk: Talk) -> None:
    os.write(talk.stdout, b"all")
    talk.follow()
    assert (readable(talk.come), readable(talk.come)) == (b"all", None)
    os.close(talk.stdout)
    talk.stdout = -1
    talk.follow()
    assert readable(talk.come) == b""
    assert talk.ends.let_go
    assert not talk.ends.hung_up()


def test_an_input_that_is_closed_has_no_reader(talk: Talk) -> None:
    os.write(talk.to, b"word")
    os.close(talk.stdin)
    talk.stdin = -1
    talk.follow()
    with pytest.raises(BrokenPipeError):
        os.write(talk.to, b"word")
    assert not talk.ends.let_go


def test_an_end_is_kept_while_any_descriptor_of_it_is_open(talk: Talk) -> None:
    other = os.dup(talk.stdout)
    os.close(talk.stdout)
    talk.stdout = other
    talk.follow()
    assert readable(talk.come) is None


def test_what_a_program_closes_by_ending_stays_open_until_that_is_recorded(talk: Talk) -> None:
    os.close(talk.stdout)
    talk.stdout, talk.ending = -1, True
    talk.follow()
    assert readable(talk.come) is None
    assert not talk.ends.hung_up()
    talk.ends.close()
    assert readable(talk.come) == b""


def test_a_partner_that_has_said_all_is_still_there(talk: Talk) -> None:
    os.close(talk.to)
    talk.to = -1
    assert not talk.ends.hung_up()


@pytest.mark.parametrize("at_once", [False, True])
def test_a_partner_that_ends_is_not(talk: Talk, at_once: bool) -> None:
    """It may be held up after it has closed the first of its files."""
    os.close(talk.to)
    talk.to = -1
    talk.partner_ending = True
    if at_once:
        talk.is_partner_ending()
    assert talk.ends.hung_up()


def test_where_no_closing_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.sandbox.pipe_ends.watcher", lambda: None)
    reads, writes = os.pipe()
    ends = PipeEnds(Streams(b"", writes, keep=True))
    ends.open()
    assert ends.given.stdout == writes
    ends.follow(lambda: False)
    ends.handed_over()
    assert readable(reads) is None
    ends.close()
    assert readable(reads) == b""
    os.close(reads)


def test_a_pipe_is_forgotten() -> None:
    """The kernel keeps a pipe for as long as it is watched."""
    watching = closings.Closings()
    reads, writes = os.pipe()
    watch, same = watching.watch(reads), watching.watch(writes)
    assert watch == same
    assert not watching.closed(watch, closings.READER | closings.WRITER)
    os.close(writes)
    watching.forget(watch)
    assert watching.closed(same, closings.WRITER)
    assert not watching.closed(same, closings.READER)
    watching.forget(same)
    watches = Path(f"/proc/self/fdinfo/{watching._fd}").read_text().count("inotify wd")
    assert (watches, watching._seen) == (0, {})
    os.close(reads)
    os.close(watching._fd)


def test_no_closing_is_lost_in_a_flood_of_others() -> None:
    """A program may open its pipe and close it as often as it likes; all share one queue."""
    watching = closings.Closings()
    (reads, writes), (other, its) = os.pipe(), os.pipe()
    flooded, watch = watching.watch(reads), watching.watch(other)
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(most + 2):  # equal events in turn would count as one
        os.close(os.open(f"/proc/self/fd/{reads}", (os.O_RDONLY, os.O_WRONLY)[number % 2]))
    os.close(its)
    assert watching.closed(watch, closings.WRITER)
    watching.forget(flooded)
    watching.forget(watch)
    for fd in (reads, writes, other, watching._fd):
        os.close(fd)


def test_a_process_that_ends_is_ending() -> None:
    wait, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(wait, 1)
        os._exit(0)
    assert not procfs.ending(child)
    assert not procfs.closing(child)
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert procfs.ending(child)
    assert not procfs.closing(child)
    os.waitpid(child, 0)
    assert procfs.ending(child)
    os.close(wait)
    os.close(go)
